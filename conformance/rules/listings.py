"""What lists of models have in common on every wire, and their shape where that is ``{models: [...]}``."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.rules.reading import Reading
from conformance.rules.views import NOT_OURS, Run, View, Violation
from conformance.types import WireName

NOT_ASKED_FOR = ("unknown-model", "wrong-key")
"""Probes whose model is no model under test."""


def gets(run: Run, wires: Container[WireName], ending: str = "") -> Iterator[Reading]:
    """The answers, whatever their status, to every ``GET`` over these wires of a path that ends so."""
    for reading in run.readings:
        got = reading.exchange.request.method.upper() == "GET" and reading.exchange.wire in wires
        if got and reading.status and reading.path.endswith(ending):
            yield reading


def tested(run: Run, model_of: Callable[[Reading], Any]) -> frozenset[str]:
    """The models under test: those that the requests of a run name, as ``model_of`` reads one."""
    named = (model_of(one) for one in run.readings if one.exchange.probe not in NOT_ASKED_FOR)
    return frozenset(name for name in named if isinstance(name, str) and name)


@dataclass(frozen=True, slots=True)
class Listing(View):
    """An answer to a request for all models, which are under ``models``; ``tested`` are those under test."""

    tested: frozenset[str] = frozenset()

    @property
    def entries(self) -> list[Any]:
        """``models``, or nothing where that is no array."""
        return self.array("models") if self.reading.succeeded else []

    def shaped(self) -> Iterator[Violation]:
        """Nothing where it is a list, or where refused credentials, quota and load leave that open."""
        if not self.reading.succeeded:
            if self.reading.status not in NOT_OURS:
                yield self.http.found("status", wanted="200 with a list")
        elif not isinstance(self.get("models"), list):
            yield self.found("models", wanted="an array")

"""Deviations of what the model says, before any wire has words for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.quirks.conditions import Condition
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, condition, labelled
from conformance.simulator.request import ChatRequest
from conformance.types import Turn

TurnChange = Callable[[ChatRequest, Turn], Turn]


def unchanged(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
    """The turn as it is."""
    return turn


@dataclass(frozen=True, slots=True)
class Turning(Behaviour):
    """``change`` applied to turns that answer requests which meet ``when``, ``otherwise`` to others."""

    change: TurnChange = field(default=unchanged, compare=False)
    when: Condition | None = field(default=None, hash=False)
    otherwise: TurnChange = field(default=unchanged, compare=False)

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:
        met = self.when is None or self.when.culprits(request.body, request.model)
        return self.change(request, turn) if met else self.otherwise(request, turn)


def turning(
    name: str, change_of: Callable[..., TurnChange], otherwise: TurnChange = unchanged
) -> tuple[str, Maker]:
    """A maker by the name ``name``: beside the options of ``change_of`` it takes ``when``, clauses."""

    def made(when: Sequence[Mapping[str, Any]] | None = None, **options: Any) -> Behaviour:
        told = labelled(name, when=when, **options)
        return Turning(told, change_of(**options), condition(when), otherwise)

    return name, made

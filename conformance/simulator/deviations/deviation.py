"""A deviation: a change of the answers to those requests that a condition picks."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from conformance.quirks.conditions import Condition
from conformance.simulator.addresses import address
from conformance.simulator.answer import Actions
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.fronts import fronts
from conformance.simulator.mutants.mutant import Answer, Change, taken_apart
from conformance.types import WIRES, HttpRequest, WireName

Maker = Callable[..., Behaviour]
"""Makes a behaviour from the options that a quirk gives it."""

_FRONTS = fronts()
_MOST_ACTIONS = 100_000


def wire_of(request: HttpRequest) -> WireName:
    """The wire that a request is of."""
    rest = address(request).rest
    return next(front.wire for front in _FRONTS if front.speaks(request, rest))


@dataclass(frozen=True, slots=True)
class Picked(Behaviour):
    """A behaviour for some requests only; its ``name`` tells it with its options."""

    wires: tuple[WireName, ...] = WIRES
    when: Condition | None = field(default=None, hash=False)

    def concerns(self, wire: WireName, body: Mapping[str, Any], model: str | None = None) -> bool:
        """Whether a request with this JSON is one of them."""
        return wire in self.wires and (self.when is None or bool(self.when.culprits(body, model)))


@dataclass(frozen=True, slots=True)
class Deviation(Picked):
    """``change`` applied to the answers, good ones, refusals and lists of models.

    One that is no honest answer any more, because a fault came before, stays as it is.
    """

    change: Change = field(default=lambda answer: None, compare=False)  # noqa: ARG005

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        if not self.concerns(wire_of(request), asked(request)):
            return actions
        rest = iter(actions)
        begun = list(islice(rest, _MOST_ACTIONS))
        if len(begun) == _MOST_ACTIONS:
            return chain(begun, rest)
        try:
            answer = taken_apart(request, copy.deepcopy(begun))
        except (AssertionError, ValueError):
            return begun
        before = _told(answer)
        self.change(answer)
        return begun if _told(answer) == before else list(answer.actions())


def asked(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object; empty where its body is none."""
    return Answer(request, 0, {}).asked


def deviation(name: str, change_of: Callable[..., Change]) -> tuple[str, Maker]:
    """A maker of deviations by the name ``name``.

    Beside the options of ``change_of`` it takes ``when``, the clauses of a condition on the request, and
    ``wires``, which are Chat Completions if nothing is said.
    """

    def made(
        when: Sequence[Mapping[str, Any]] | None = None,
        wires: Sequence[WireName] = ("openai-chat",),
        **options: Any,
    ) -> Behaviour:
        told = labelled(name, when=when, wires=wires, **options)
        return Deviation(told, tuple(wires), condition(when), change_of(**options))

    return name, made


def condition(clauses: Sequence[Mapping[str, Any]] | None) -> Condition | None:
    """The condition that all of the clauses hold."""
    return None if clauses is None else Condition.model_validate({"all": clauses})


def labelled(name: str, **options: Any) -> str:
    """A name that tells a behaviour from the same one with other options."""
    return f"{name} {json.dumps(options, ensure_ascii=False, sort_keys=True)}"


def documents(answer: Answer) -> Iterator[dict[str, Any]]:
    """The JSON objects of a good answer: the one, or those of the events."""
    if answer.status < 300:
        yield from (one for one in (answer.events or [answer.body]) if isinstance(one, dict))


def _told(answer: Answer) -> str:
    return repr((answer.status, answer.headers, answer.body, answer.events, answer.cut))

"""A deviation: a change of the answers to those requests that its wires and its condition pick."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from conformance.quirks.conditions import Condition
from conformance.simulator.answer import Actions
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.fronts import front_of
from conformance.simulator.mutants.mutant import Answer, Change, taken_apart
from conformance.types import HttpRequest, WireName

Maker = Callable[..., Behaviour]
"""Makes a behaviour from the options that a quirk gives it."""

CHAT: tuple[WireName, ...] = ("openai-chat",)

_MOST_ACTIONS = 100_000
"""Actions of an answer; one with more is taken to be endless."""


def wire_of(request: HttpRequest) -> WireName:
    """The wire that a request is of."""
    return front_of(request).wire


@dataclass(frozen=True, slots=True)
class Deviation(Behaviour):
    """``change`` applied to whole answers, streams, refusals and lists of models.

    What breaks off, hangs or never ends, because a fault came before, stays as it is. The ``name`` tells the
    options, too, so that equal deviations are one.
    """

    change: Change = field(default=lambda answer: None, compare=False)  # noqa: ARG005
    when: Condition | None = field(default=None, hash=False)
    wires: tuple[WireName, ...] = CHAT

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        if not self._concerns(request):
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
        # Whoever changed nothing did not act: the journal tells who did.
        return begun if _told(answer) == before else list(answer.actions())

    def _concerns(self, request: HttpRequest) -> bool:
        asked = Answer(request, 0, {}).asked
        return wire_of(request) in self.wires and (self.when is None or bool(self.when.culprits(asked)))


def deviation(name: str, change_of: Callable[..., Change]) -> tuple[str, Maker]:
    """A maker of deviations by the name ``name``.

    Beside the options of ``change_of`` it takes ``when``, the clauses of a condition on the request, and
    ``wires``, which are Chat Completions if nothing is said.
    """

    def made(
        when: Sequence[Mapping[str, Any]] | None = None, wires: Sequence[WireName] = CHAT, **options: Any
    ) -> Behaviour:
        told = labelled(name, when=when, wires=wires, **options)
        return Deviation(told, change_of(**options), condition(when), tuple(wires))

    return name, made


def condition(clauses: Sequence[Mapping[str, Any]] | None) -> Condition | None:
    """The condition that all of the clauses hold."""
    return None if clauses is None else Condition.model_validate({"all": clauses})


def labelled(name: str, /, **options: Any) -> str:
    """A name that tells a behaviour from the same one with other options."""
    given = {key: value for key, value in options.items() if value is not None}
    return f"{name} {json.dumps(given, ensure_ascii=False, sort_keys=True)}"


def documents(answer: Answer) -> Iterator[dict[str, Any]]:
    """The JSON objects of a good answer: the one, or those of the events."""
    if answer.status < 300:
        given = [answer.body] if answer.events is None else answer.events
        yield from (one for one in given if isinstance(one, dict))


def _told(answer: Answer) -> str:
    return repr((answer.status, answer.headers, answer.body, answer.events, answer.cut))

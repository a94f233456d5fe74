"""Changes to what the model says or to what goes out, for the requests that meet a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.quirks.conditions import Condition
from conformance.simulator.answer import Actions, Bytes, Event, Head, Line, Pause, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.mutants.mutant import Change, taken_apart
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Turn

_HONEST = (Respond, Head, Event, Line, Bytes, Pause)


def condition(clauses: Any) -> Condition | None:
    """The condition that a quirk's options spell out, if any."""
    return None if clauses is None else Condition.model_validate(clauses)


def met(when: Condition | None, body: Mapping[str, Any]) -> bool:
    """Whether a request's JSON meets the condition; no condition is always met."""
    return when is None or bool(when.culprits(body))


@dataclass(frozen=True, slots=True)
class OnTurn(Behaviour):
    """What the model says, changed."""

    change: Callable[[ChatRequest, Turn], Turn] = field(default=lambda request, turn: turn)  # noqa: ARG005
    when: Condition | None = field(default=None, hash=False)

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:
        return self.change(request, turn) if met(self.when, request.body) else turn


@dataclass(frozen=True, slots=True)
class OnAnswer(Behaviour):
    """Whole answers, streams and refusals, changed; what breaks off or hangs stays as it is."""

    change: Change = field(default=lambda answer: None)  # noqa: ARG005
    when: Condition | None = field(default=None, hash=False)

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        given = list(actions)
        if not all(isinstance(action, _HONEST) for action in given):
            return given
        answer = taken_apart(request, given)
        if not met(self.when, answer.asked):
            return given
        self.change(answer)
        return answer.actions()

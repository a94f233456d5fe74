"""What a mutant is: an endpoint that is honest but for one thing, which is the thing one rule forbids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from conformance.simulator.answer import Action, Actions, Bytes, Close, Event, Head, Line, Pause, Respond
from conformance.simulator.behaviour import Behaviour, Persona
from conformance.types import HttpRequest, WireName


@dataclass(slots=True)
class Answer:
    """An honest answer taken apart, for one thing in it to be changed in place.

    A whole answer has its document (or bytes) in ``body``. A stream has ``events``: documents, texts such
    as ``[DONE]``, or bytes that go out as they are, ``gap_s`` seconds apart, after ``delay_s``. Documents are
    events, ``named`` ones after their member ``type``, or ``lines``.
    One that is ``cut`` ends with its connection, before the body's framing says so. ``cost`` is the usage of
    a stream, told or not.
    """

    request: HttpRequest
    status: int
    headers: dict[str, str]
    body: Any = None
    events: list[Any] | None = None
    gap_s: float = 0.0
    delay_s: float = 0.0
    cut: bool = False
    named: bool = False
    lines: bool = False
    cost: Mapping[str, Any] | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """The request's JSON object; empty where its body is none."""
        try:
            asked = json.loads(self.request.body)
        except (ValueError, RecursionError):
            return {}
        return asked if isinstance(asked, dict) else {}

    def become(self, status: int, document: Any, media_type: str = "application/json") -> None:
        """Another answer in place of this one, and a whole one."""
        self.status, self.body, self.events = status, document, None
        self.headers["content-type"] = media_type

    def actions(self) -> Iterator[Action]:
        """The answer as the server performs it."""
        headers = tuple(self.headers.items())
        yield Pause(self.delay_s)
        if self.events is None:
            yield Respond(self.status, headers, self.body)
        else:
            yield Head(self.status, headers, cost=self.cost)
            for event in self.events:
                yield self._written(event)
                yield Pause(self.gap_s)
        if self.cut:
            yield Close()

    def _written(self, event: Any) -> Action:
        if isinstance(event, bytes):
            return Bytes(event)
        if self.lines:
            return Line(event)
        return Event(event, event.get("type") if self.named and isinstance(event, dict) else None)


Change: TypeAlias = Callable[[Answer], None]
"""Changes an answer in place, or leaves it alone where it is not of the kind that the change is about."""


def taken_apart(request: HttpRequest, actions: Actions) -> Answer:
    """The answer that these actions are."""
    answer = Answer(request, 0, {})
    for action in actions:
        match action:
            case Respond(status, headers, body):
                answer.status, answer.headers, answer.body = status, dict(headers), body
            case Head(status, headers):
                answer.status, answer.headers, answer.events = status, dict(headers), []
                answer.cost = action.cost
            case Event(data, name):
                assert answer.events is not None
                answer.events.append(data)
                answer.named |= name is not None
            case Line(data) | Bytes(data):
                assert answer.events is not None
                answer.events.append(data)
                answer.lines |= isinstance(action, Line)
            case Pause(seconds):
                answer.gap_s = max(answer.gap_s, seconds)
            case _:
                raise ValueError(f"no part of an honest answer: {action}")
    return answer


@dataclass(frozen=True, slots=True)
class Mutation(Behaviour):
    """A change to every answer, refusals and lists of models included."""

    change: Change = field(default=lambda answer: None)  # noqa: ARG005

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        answer = taken_apart(request, actions)
        self.change(answer)
        return answer.actions()


@dataclass(frozen=True, slots=True)
class Mutant:
    """The smallest ``change`` to the answers of a scenario that breaks ``rule``.

    ``also`` are the rules that break with it, ``because`` says why no smaller change would spare them.
    ``variant`` tells several mutants of a rule apart. ``wire`` is the one over which the scenario runs;
    the clean answers over the wire ``beside`` stand before it.
    """

    rule: str
    scenario: str
    change: Change
    also: tuple[str, ...] = ()
    because: str = ""
    variant: str = ""
    wire: WireName = "openai-chat"
    beside: WireName | None = None

    @property
    def name(self) -> str:
        """The persona's name, part of its base URL."""
        return f"{self.rule}~{self.variant}" if self.variant else self.rule

    def persona(self) -> Persona:
        """The endpoint that is honest but for the change."""
        return Persona(self.name, (Mutation(self.name, self.change),))

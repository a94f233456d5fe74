"""One server, several wires: the same question gets the same answer, whatever the envelope.

Judged only where the model is deterministic (our scripted model, the simulator): there every difference is
of the server's making. The exchanges of one wire stand before those of the other, step by step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from conformance.rules.check import check
from conformance.rules.examples import Exchanges, answer, call, conversation, exchange
from conformance.rules.reading import Reading
from conformance.rules.registry import RULES, Rule, rule
from conformance.rules.scripted import led_astray
from conformance.rules.views import Run, View, Violation
from conformance.types import WIRES, Exchange, Finding, Rulebook, ToolCall, Turn
from conformance.wires import wire

SOURCE = "canonical form: ARCHITECTURE.md, one conversation over every wire"
PREFIX = "across."


@dataclass(frozen=True, slots=True)
class SameStep(View):
    """An answer over one wire (``value`` is unused) beside that to the same request over another."""

    here: Turn = field(default_factory=Turn)
    there: Turn = field(default_factory=Turn)
    other: str = ""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        groups: dict[str, list[Reading]] = {}
        for reading in run.readings:
            groups.setdefault(reading.exchange.wire, []).append(reading)
        if len(groups) < 2:
            return
        first, *others = groups.values()
        for group in others:
            for one, another in zip(first, group, strict=False):
                there, here = _turn(one), _turn(another)
                if there is not None and here is not None:
                    at = f"/exchanges/{another.index}/response"
                    yield cls(another, at, None, None, here, there, one.exchange.wire)

    @property
    def cut(self) -> bool:
        """Whether a cap cut either answer: some wires have no word for a piece of a call."""
        return "length" in (self.here.finish_reason, self.there.finish_reason)

    def differs(self, what: str, here: Any, there: Any) -> Violation:
        """The violation that says what this answer has and what the other one."""
        wanted = f"{what} as over {self.other}: {json.dumps(there, ensure_ascii=False, default=str)}"
        return self.found(wanted=wanted, saw=json.dumps(here, ensure_ascii=False, default=str))


def _turn(reading: Reading) -> Turn | None:
    """The one turn of a whole 2xx answer, which a grammar did not lead astray."""
    response = reading.exchange.response
    if response is None or not reading.succeeded or reading.exchange.ending != "complete":
        return None
    if led_astray(reading):
        return None
    turns = wire(reading.exchange.wire).decode(response)
    return turns[0] if len(turns) == 1 else None


def compared(
    beside: Sequence[Exchange],
    exchanges: Sequence[Exchange],
    rules: Iterable[Rule] | None = None,
    rulebook: Rulebook = "default",
) -> tuple[Finding, ...]:
    """How ``exchanges`` differ from those of the same scenario over another wire, ``beside``."""
    chosen = RULES.values() if rules is None else rules
    across = [one for one in chosen if one.id.startswith(PREFIX)]
    found = check((*beside, *exchanges), rules=across, rulebook=rulebook)
    return tuple(replace(one, path=_shifted(one.path, len(beside))) for one in found)


def _shifted(path: str, by: int) -> str:
    _, name, number, *rest = path.split("/")
    return "/".join(["", name, str(int(number) - by), *rest])


def _elsewhere(text: str = "Hello.", stop: str = "end_turn", **usage: int) -> Exchanges:
    """The clean answer over ``anthropic-messages``."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "example-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3, **usage},
    }
    return _anthropic(body)


def _call_elsewhere(name: str = "get_weather", **given: Any) -> Exchanges:
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "example-model",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": name, "input": given or {"city": "Oslo"}}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    return _anthropic(body)


def _anthropic(body: Any) -> Exchanges:
    asked = {
        "model": "example-model",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Say hello."}],
        "tools": [{"name": name, "input_schema": {"type": "object"}} for name in ("get_weather", "get_time")],
    }
    return exchange(
        request=asked,
        body=json.dumps(body).encode(),
        path="/v1/messages",
        base="https://api.example.com",
        wire="anthropic-messages",
        headers={"request-id": "req_1"},
        credentials={"x-api-key": "example-key-0123456789", "anthropic-version": "2023-06-01"},
    )


@rule(
    "across.calls",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=SOURCE,
    violating=conversation(answer(calls=[call()]), _call_elsewhere(name="get_time")),
    conforming=conversation(answer(calls=[call()]), _call_elsewhere()),
    consequence="an agent that changes the wire runs other tools",
)
def calls(step: SameStep) -> Iterator[Violation]:
    """The same request is answered with the same calls over every wire: names and order."""
    here, there = ([one.name for one in turn.calls] for turn in (step.here, step.there))
    if here != there and not step.cut:
        yield step.differs("the calls", here, there)


@rule(
    "across.arguments",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=SOURCE,
    violating=conversation(answer(calls=[call()]), _call_elsewhere(city="Lima")),
    conforming=conversation(answer(calls=[call(arguments='{ "city":"Oslo" }')]), _call_elsewhere()),
    consequence="a tool is run with other arguments, depending on the wire",
)
def arguments(step: SameStep) -> Iterator[Violation]:
    """The arguments of the same call are the same values over every wire, however spelt."""
    if step.cut:
        return
    pairs = zip(step.here.calls, step.there.calls, strict=False)
    for one, other in pairs:
        if one.name == other.name and _value(one) != _value(other):
            yield step.differs(f"the arguments of {one.name}", one.arguments, other.arguments)


@rule(
    "across.text",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=SOURCE,
    violating=conversation(answer(), _elsewhere("Hello")),
    conforming=conversation(answer(), _elsewhere()),
    consequence="text is lost or added on the way through one of the wires",
)
def text(step: SameStep) -> Iterator[Violation]:
    """The same request is answered with the same visible text over every wire, blanks around it aside.

    A refusal counts as text: some wires have no other place for it.
    """
    here, there = ((turn.text + turn.refusal).strip() for turn in (step.here, step.there))
    if here != there:
        yield step.differs("the text", here, there)


@rule(
    "across.finish",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=SOURCE,
    violating=conversation(answer(), _elsewhere(stop="max_tokens")),
    conforming=conversation(answer(), _elsewhere()),
    consequence="a client that reads the finish reason goes on over one wire and stops over the other",
)
def finish(step: SameStep) -> Iterator[Violation]:
    """The same answer ends for the same reason over every wire, in Chat's words."""
    if step.here.finish_reason != step.there.finish_reason:
        yield step.differs("the finish reason", step.here.finish_reason, step.there.finish_reason)


@rule(
    "across.usage",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=SOURCE,
    violating=conversation(answer(), _elsewhere(output_tokens=30)),
    conforming=conversation(answer(), _elsewhere(input_tokens=11)),
    consequence="the bill depends on the wire",
)
def usage(step: SameStep) -> Iterator[Violation]:
    """The same answer costs the same number of output tokens over every wire, where both count them.

    Prompt tokens are not compared: each wire's template may frame a conversation its own way.
    """
    here, there = (turn.usage.completion_tokens if turn.usage else None for turn in (step.here, step.there))
    if here is not None and there is not None and here != there:
        yield step.differs("the output tokens", here, there)


def _value(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments

"""The words that changes of Anthropic's answers are written in, beside those for every wire."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

from conformance.simulator.mutants.edits import Edit, body, events
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

BLOCK = ("content", 0)
CITY = {"city": "Oslo"}


def over(rule: str, scenario: str, change: Change, variant: str = "", **more: Any) -> Mutant:
    """A mutant over this wire."""
    return Mutant(rule, scenario, change, variant=variant, wire="anthropic-messages", **more)


def of_type(kind: str, edit: Edit, place: int = 0) -> Change:
    """Edits the document of one event of that type, the first unless told otherwise."""

    def change(given: list[Any]) -> None:
        edit(given[at(given, kind, place)])

    return events(change)


def at(given: list[Any], kind: str, place: int = 0) -> int:
    """Where the event of that type is."""
    return [n for n, one in enumerate(given) if isinstance(one, dict) and one["type"] == kind][place]


def gone(kind: str, place: int = 0) -> Change:
    """One event of that type does not come."""

    def change(given: list[Any]) -> None:
        del given[at(given, kind, place)]

    return events(change)


def moved(kind: str, to: int, place: int = 0) -> Change:
    """One event of that type comes elsewhere: before what is at ``to``, or so far from the end."""

    def change(given: list[Any]) -> None:
        one = given.pop(at(given, kind, place))
        given.insert(to, one)

    return events(change)


def added(to: int, one: Any) -> Change:
    """One event more, before what is at ``to``."""
    return events(lambda given: given.insert(to, one))


def named(number: int, name: str | None, edit: Edit | None = None) -> Change:
    """One event under another name than its type, or under none."""

    def change(given: list[Any]) -> None:
        if edit is not None:
            edit(given[number])
        field = b"" if name is None else f"event: {name}\n".encode()
        given[number] = field + b"data: " + json.dumps(given[number]).encode() + b"\n\n"

    return events(change)


def ends_in(last: bytes) -> Change:
    """The stream breaks off with an event of these bytes."""

    def change(given: list[Any]) -> None:
        given[4:] = [last]

    return events(change)


def says(*blocks: Any, reason: str = "end_turn") -> Change:
    """A whole message has these blocks."""

    def edit(document: Any) -> None:
        document["content"], document["stop_reason"] = list(blocks), reason

    return body(edit)


def call(name: str = "get_weather") -> dict[str, Any]:
    """A call of a tool."""
    return {"type": "tool_use", "id": f"toolu_{secrets.token_hex(8)}", "name": name, "input": CITY}


def has(text: bytes) -> Callable[[Answer], bool]:
    """Answers to the requests with this in their body."""
    return lambda answer: text in answer.request.body


def lacks(text: bytes) -> Callable[[Answer], bool]:
    """Answers to the requests without this in their body."""
    return lambda answer: text not in answer.request.body


def refused(answer: Answer) -> None:
    """A request is refused, although it is valid."""
    failed_with(400, "invalid_request_error")(answer)


def failed_with(status: int, kind: str) -> Change:
    """A request fails, although it is valid."""

    def change(answer: Answer) -> None:
        if answer.status < 300:
            error = {"type": kind, "message": "No."}
            answer.become(status, {"type": "error", "error": error, "request_id": "req_1"})

    return change


def accepted(answer: Answer) -> None:
    """A request is answered, although it is not valid."""
    if answer.status >= 400:
        answer.become(200, message())


def message() -> dict[str, Any]:
    """A plain message."""
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": "reference",
        "content": [{"type": "text", "text": "Fine."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }

"""Deviations of servers that read the markup of Hermes' calls carelessly."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from conformance.simulator.arguments import as_value
from conformance.simulator.deviations.deviation import Maker
from conformance.simulator.deviations.turning import TurnChange, turning
from conformance.simulator.request import ChatRequest
from conformance.types import Part, Text, ToolCall, Turn

_MARKER = "<tool_call>"
_END = "</tool_call>"
_NAME = re.compile(r'"name"\s*:\s*"([^"]+)"')
_ARGUMENTS = re.compile(r'"arguments"\s*:\s*')


def _searched() -> TurnChange:
    """All that follows the first marker is a call: name and arguments are found by search, and not parsed.

    Without a name what follows is lost.
    """

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        before, marker, rest = turn.text.partition(_MARKER)
        if turn.calls or not marker:
            return turn
        body, end, _ = rest.partition(_END)
        said: tuple[Part, ...] = (Text(before),) if before else ()
        name, arguments = _NAME.search(body), _ARGUMENTS.search(body)
        if name is None:
            return replace(turn, parts=said)
        given = body[arguments.end() :].strip() if arguments else ""
        call = ToolCall("", name[1], given.removesuffix("}").rstrip() if end else given)
        return replace(turn, parts=(*said, call), finish_reason="tool_calls")

    return change


def _cut_at_marker() -> TurnChange:
    """The end marker inside of an argument ends its call: streamed it is cut there, whole all is text."""

    def change(request: ChatRequest, turn: Turn) -> Turn:
        if not any(_END in call.arguments for call in turn.calls):
            return turn
        if not request.stream:
            return replace(turn, parts=(Text(_written(turn)),), finish_reason="stop")
        parts = (
            replace(part, arguments=part.arguments.partition(_END)[0].rstrip())
            if isinstance(part, ToolCall)
            else part
            for part in turn.parts
        )
        return replace(turn, parts=tuple(parts))

    return change


def _written_out() -> TurnChange:
    """Calls are text, in Hermes' markup; a cap cuts that text."""

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        return replace(turn, parts=(Text(_written(turn)),), finish_reason="stop") if turn.calls else turn

    return change


def _vanishing() -> TurnChange:
    """A text ends where the markup of a call begins, and no call is made of it."""

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        before, marker, _ = turn.text.partition(_MARKER)
        return replace(turn, parts=(Text(before),)) if marker and not turn.calls else turn

    return change


def _text_behind_lost() -> TurnChange:
    """Text after the first call is lost."""

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        kept: list[Part] = []
        for part in turn.parts:
            if not (isinstance(part, Text) and any(isinstance(other, ToolCall) for other in kept)):
                kept.append(part)
        return replace(turn, parts=tuple(kept))

    return change


def _written(turn: Turn) -> str:
    calls = (
        json.dumps({"name": call.name, "arguments": as_value(call.arguments)}, ensure_ascii=False)
        for call in turn.calls
    )
    return turn.text + "\n".join(f"{_MARKER}\n{call}\n{_END}" for call in calls)


MARKUP: Mapping[str, Maker] = dict(
    (
        turning("markup-searched", _searched),
        turning("calls-cut-at-marker", _cut_at_marker),
        turning("calls-written-out", _written_out),
        turning("markup-vanishes", _vanishing),
        turning("text-behind-calls-lost", _text_behind_lost),
    )
)
"""Makers by name."""

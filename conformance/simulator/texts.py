"""A server without a parser of calls: what the model writes reaches the client as it is.

Formats of the field, written from their own documentation: Hermes 2 Pro (NousResearch,
Hermes-Function-Calling README), ReAct (Yao et al. 2022, the prompt of the appendix), and the JSON action of
LangChain's structured chat agent. With tools in the request the same text is a leak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.simulator.arguments import as_value
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.request import ChatRequest
from conformance.types import Part, Text, ToolCall, Turn


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _body(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": as_value(call.arguments)}


def _hermes(calls: Sequence[ToolCall]) -> str:
    bodies = (_dumps(_body(call)) for call in calls)
    return "\n".join(f"<tool_call>\n{body}\n</tool_call>" for body in bodies)


def _hermes_line(calls: Sequence[ToolCall]) -> str:
    return "".join(f"<tool_call>{_dumps(_body(call))}</tool_call>" for call in calls)


def _react(calls: Sequence[ToolCall]) -> str:
    return "\n".join(
        f"Action: {call.name}\nAction Input: {_dumps(as_value(call.arguments))}" for call in calls
    )


def _json_action(calls: Sequence[ToolCall]) -> str:
    actions = [{"action": call.name, "action_input": as_value(call.arguments)} for call in calls]
    return _dumps(actions[0] if len(actions) == 1 else actions)


@dataclass(frozen=True, slots=True)
class CallsAsText(Behaviour):
    """The calls of a turn are text after its other text; the turn stops like any other."""

    write: Callable[[Sequence[ToolCall]], str] = _hermes

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG002
        if not turn.calls:
            return turn
        said = "".join(part.text for part in turn.parts if isinstance(part, Text))
        others: tuple[Part, ...] = tuple(p for p in turn.parts if not isinstance(p, Text | ToolCall))
        text = "\n".join(filter(None, (said, self.write(turn.calls))))
        return replace(turn, parts=(*others, Text(text)), finish_reason="stop")


@dataclass(frozen=True, slots=True)
class ChannelsRunTogether(Behaviour):
    """A host of gpt-oss that drops the markers of Harmony's channels (openai/harmony), not their words."""

    name: str = "channels-run-together"

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG002
        if turn.calls or not turn.text:
            return turn
        thought = turn.reasoning or "We answer."
        return replace(turn, parts=(Text(f"analysis{thought}assistantfinal{turn.text}"),))


_QUOTED = re.compile(r"```[^`<]*<tool_call>\s*(\{[^`]*?\})\s*</tool_call>")


@dataclass(frozen=True, slots=True)
class QuotedCallsMade(Behaviour):
    """A parser that takes the markup of a call in a code fence for a call; the text ends at the fence."""

    name: str = "quoted-calls-made"

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:
        quoted = _QUOTED.search(turn.text) if request.tools else None
        if quoted is None:
            return turn
        try:
            said = json.loads(quoted[1])
            call = ToolCall("", said["name"], _dumps(said.get("arguments", {})))
        except (ValueError, KeyError, TypeError):
            return turn
        return Turn((Text(turn.text[: quoted.start()]), call), finish_reason="tool_calls")


TEXTS: tuple[Behaviour, ...] = (
    CallsAsText("calls-as-hermes-text", _hermes),
    CallsAsText("calls-as-one-line-text", _hermes_line),
    CallsAsText("calls-as-react-text", _react),
    CallsAsText("calls-as-json-action-text", _json_action),
    ChannelsRunTogether(),
    QuotedCallsMade(),
)

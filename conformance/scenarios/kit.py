"""The tools, turns and small phrases that several chapters share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.types import Message, Part, Reasoning, Text, Tool, ToolCall, Turn


def _object(properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


WEATHER = Tool(
    name="get_weather",
    description="Get the current weather of a city.",
    parameters=_object({"city": {"type": "string", "description": "Name of the city."}}, ("city",)),
)
TIME = Tool(
    name="get_time",
    description="Get the current local time of a city.",
    parameters=_object({"city": {"type": "string", "description": "Name of the city."}}, ("city",)),
)
PING = Tool(
    name="ping",
    description="Check that the station is reachable. Takes no arguments.",
    parameters=_object({}, ()),
)


def said(text: str) -> Turn:
    """The ideal turn that says ``text`` and stops."""
    return Turn((Text(text),), finish_reason="stop")


def called(*calls: tuple[str, Mapping[str, Any]], text: str = "", reasoning: str = "") -> Turn:
    """The ideal turn that makes ``calls``, perhaps after reasoning and text."""
    parts: list[Part] = []
    if reasoning:
        parts.append(Reasoning(reasoning))
    if text:
        parts.append(Text(text))
    parts += [
        ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    return Turn(tuple(parts), finish_reason="tool_calls")


def thought(reasoning: str, text: str) -> Turn:
    """The ideal turn that reasons, then says ``text``."""
    return Turn((Reasoning(reasoning), Text(text)), finish_reason="stop")


def results(turn: Turn, texts: Mapping[str, str]) -> tuple[Message, ...]:
    """One tool message per call of the turn: the text for the tool of that name, or a plain refusal."""
    return tuple(Message.tool(call, texts.get(call.name, "No such station.")) for call in turn.calls)


def calls_to(turn: Turn, name: str) -> tuple[ToolCall, ...]:
    """The turn's calls of the tool of that name."""
    return tuple(call for call in turn.calls if call.name == name)

"""Arguments of strict tools, held against their schemas where no server does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from conformance.profiles.profile import Asked
from conformance.types import ToolCall, Turn
from conformance.wires.body import compact, parse


def pruned(document: Any, asked: Asked) -> Any:
    """A whole Chat answer without the arguments that a closed strict schema does not know."""
    strict = _strict(asked)
    choices = document.get("choices") if isinstance(document, dict) else None
    if not strict or not isinstance(choices, list):
        return document
    return {**document, "choices": [_pruned_choice(choice, strict) for choice in choices]}


def misfit(turn: Turn, asked: Asked) -> str | None:
    """Why the arguments of a strict tool's call are none, if they don't fit its schema."""
    strict = _strict(asked)
    for call in turn.calls if turn.finish_reason != "length" else ():
        if call.name in strict and not _fits(call, dict(strict[call.name])):
            return f"the arguments of {call.name} do not fit its schema, which is strict"
    return None


def _strict(asked: Asked) -> Mapping[str, Mapping[str, Any]]:
    return {tool.name: tool.parameters for tool in asked.request.tools if tool.strict}


def _pruned_choice(choice: Any, strict: Mapping[str, Mapping[str, Any]]) -> Any:
    message = choice.get("message") if isinstance(choice, dict) else None
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(calls, list):
        return choice
    return {**choice, "message": {**message, "tool_calls": [_pruned_call(call, strict) for call in calls]}}


def _pruned_call(call: Any, strict: Mapping[str, Mapping[str, Any]]) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    schema = strict.get(str(function.get("name")))
    known = schema.get("properties") if schema is not None else None
    if schema is None or not isinstance(known, dict) or schema.get("additionalProperties") is not False:
        return call
    try:
        given = parse(function["arguments"])
    except (ValueError, TypeError, KeyError):
        return call
    if not isinstance(given, dict) or given.keys() <= known.keys():
        return call
    kept = compact({key: value for key, value in given.items() if key in known})
    return {**call, "function": {**function, "arguments": kept}}


def _fits(call: ToolCall, schema: dict[str, object]) -> bool:
    try:
        return jsonschema_rs.is_valid(schema, parse(call.arguments))
    except ValueError:
        return False

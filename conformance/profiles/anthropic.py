"""Anthropic, over its own wire and behind its OpenAI layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import jsonschema_rs

from conformance.profiles import bodies, messages, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body, Headers
from conformance.types import Request, ToolCall, Turn, WireName
from conformance.wires.body import compact, parse

NEVER_FORCED = r"mythos|fable"
MAX_STRICT = 6
"""Seven strict tools were refused."""


class Anthropic(Compatible):
    """api.anthropic.com, Messages."""

    name = "anthropic"
    providers: ClassVar[tuple[str, ...]] = (
        "anthropic",
        "anthropic(mythos/fable class)",
        "anthropic gateways",
    )
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "anthropic-models-reject-forcing",
        "anthropic-strict-grammar-too-large",
        "anthropic-thinking-forced-tool-choice",
        "anthropic-x-api-key",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `anthropic-strict-grammar-too-large`: the first six strict tools stay strict."""
        return tools.strict_at_most(super().prepare_tools(request, asked), MAX_STRICT)

    def prepare_choice(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `anthropic-models-reject-forcing`: a call is asked for in words."""
        return tools.softened(request) if bodies.matches(NEVER_FORCED, asked.model) else request

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `anthropic-thinking-forced-tool-choice`: no thinking beside a forced call."""
        body = super().prepare_body(body, asked)
        choice, thinking = body.get("tool_choice"), body.get("thinking")
        forced = isinstance(choice, dict) and choice.get("type") in ("any", "tool")
        thinks = isinstance(thinking, dict) and thinking.get("type") != "disabled"
        if asked.wire != "anthropic-messages" or not (forced and thinks):
            return body
        return bodies.without(body, ("thinking",))

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:
        """Works around quirk `anthropic-x-api-key`: the key in its own header on the Messages wire."""
        if asked_wire != "anthropic-messages":
            return headers
        return tuple(_own(name, value) for name, value in headers)


def _own(name: str, value: str) -> tuple[str, str]:
    if name.lower() == "authorization" and value.startswith("Bearer "):
        return "x-api-key", value.removeprefix("Bearer ")
    return name, value


class AnthropicCompat(Anthropic):
    """Anthropic's OpenAI layer, which takes much and ignores some of it."""

    name = "anthropic-compat"
    providers: ClassVar[tuple[str, ...]] = ("anthropic(openai layer)",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Anthropic.works_around,
        "anthropic-compat-strict-ignored",
        "anthropic-compat-system-hoisted",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `anthropic-compat-system-hoisted`: later instructions stay where they are."""
        return messages.changed(super().prepare_messages(request, asked), messages.later_system_as_user)

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """Works around quirk `anthropic-compat-strict-ignored`: no member that a strict schema has not."""
        document = super().repair_document(document, asked)
        strict = {tool.name: tool.parameters for tool in asked.request.tools if tool.strict}
        if not strict or not isinstance(document, dict):
            return document
        choices = [_pruned_choice(choice, strict) for choice in document.get("choices") or ()]
        return {**document, "choices": choices} if choices else document

    def unusable(self, turn: Turn, asked: Asked) -> str | None:
        """Works around quirk `anthropic-compat-strict-ignored`: arguments are held against their schema
        here.
        """
        strict = {tool.name: tool.parameters for tool in asked.request.tools if tool.strict}
        for call in turn.calls if turn.finish_reason != "length" else ():
            if call.name in strict and not _fits(call, dict(strict[call.name])):
                return f"the arguments of {call.name} do not fit its schema, which is strict"
        return super().unusable(turn, asked)


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

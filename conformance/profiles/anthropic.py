"""Anthropic, over its own wire and behind its OpenAI layer."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.profiles import bodies, messages, strict_arguments, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body, Headers
from conformance.types import Request, Turn, WireName

NEVER_FORCED = r"mythos|fable"
MAX_STRICT = 6
"""Seven strict tools were refused."""


class Anthropic(Compatible):
    """api.anthropic.com: Messages, and the OpenAI layer, which takes much and ignores some of it."""

    name = "anthropic"
    providers: ClassVar[tuple[str, ...]] = ("anthropic",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "anthropic-compat-strict-ignored",
        "anthropic-compat-system-hoisted",
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

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `anthropic-compat-system-hoisted`: later instructions stay where they are."""
        request = super().prepare_messages(request, asked)
        if asked.wire != "openai-chat":
            return request
        return messages.changed(request, messages.later_system_as_user)

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """Works around quirk `anthropic-compat-strict-ignored`: no member that a strict schema has not."""
        return strict_arguments.pruned(super().repair_document(document, asked), asked)

    def unusable(self, turn: Turn, asked: Asked) -> str | None:
        """Works around quirk `anthropic-compat-strict-ignored`: arguments are held against their schema."""
        misfit = strict_arguments.misfit(turn, asked) if asked.wire == "openai-chat" else None
        return misfit or super().unusable(turn, asked)

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:
        """Works around quirk `anthropic-x-api-key`: the key in its own header on the Messages wire."""
        if asked_wire != "anthropic-messages":
            return headers
        return tuple(_own(name, value) for name, value in headers)


def _own(name: str, value: str) -> tuple[str, str]:
    if name.lower() == "authorization" and value.startswith("Bearer "):
        return "x-api-key", value.removeprefix("Bearer ")
    return name, value

"""MiniMax."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, messages
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.profiles.reading import Reading
from conformance.types import Request

M3 = r"m3"
ALWAYS_THINKS = r"m3\.1"


class MiniMax(Compatible):
    """api.minimax.io."""

    name = "minimax"
    providers: ClassVar[tuple[str, ...]] = ("minimax",)
    reading = Reading(inline_reasoning=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "minimax-error-2013-envelope",
        "minimax-reasoning-inline-unless-split",
        "minimax-system-role-rejected",
        "minimax-thinking-type-enabled-rejected",
        "think-tag-unterminated",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `minimax-system-role-rejected`."""
        return messages.changed(super().prepare_messages(request, asked), messages.system_as_user)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Reasoning apart from the text; thinking ``adaptive`` where others say ``enabled``.

        Works around quirk `minimax-reasoning-inline-unless-split`. Works around quirk
        `minimax-thinking-type-enabled-rejected`. Tags that are never closed the base reads all the same, and
        a code that stands in an error's message: Works around quirk `think-tag-unterminated`. Works around
        quirk `minimax-error-2013-envelope`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        thinking = body.get("thinking")
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        if bodies.matches(M3, asked.model) and kind == "enabled":
            body = {**body, "thinking": {"type": "adaptive"}}
        if bodies.matches(ALWAYS_THINKS, asked.model) and kind == "disabled":
            body = bodies.without(body, ("thinking",))
        return {"reasoning_split": True, **body}

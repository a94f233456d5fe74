"""Groq: reasoning must not come back, and a call that fits no schema is an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.profiles import bodies
from conformance.profiles.compatible import Compatible
from conformance.profiles.mistral import UNKNOWN
from conformance.profiles.profile import Again, Asked, Body, Echo, Refusal
from conformance.types import Message, Text

FAILED = "tool_use_failed"
RETRY = (
    "Your last tool call could not be used: {said}\nCall the tool again, with arguments that fit its schema."
)
MAX_SAID = 2_000


class Groq(Compatible):
    """api.groq.com: refuses the reasoning that DeepSeek demands back."""

    name = "groq"
    providers: ClassVar[tuple[str, ...]] = ("groq",)
    echo: ClassVar[Echo] = "never"
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "groq-reasoning-fields-unsupported",
        "groq-tool-use-failed",
        "groq-tool-use-failed-after-text",
        "unknown-message-fields-rejected",
        "unknown-top-level-field-rejected",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """No reasoning and no foreign members in messages, no parameters of others.

        Works around quirk `groq-reasoning-fields-unsupported`. Works around quirk
        `unknown-message-fields-rejected`. Works around quirk `unknown-top-level-field-rejected`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        return bodies.without(bodies.known_members(body), UNKNOWN)

    def again(self, refusal: Refusal | None, asked: Asked) -> Again | None:
        """After ``tool_use_failed`` the model is shown what it said; a turn begun in a stream is thrown away.

        Works around quirk `groq-tool-use-failed`. Works around quirk `groq-tool-use-failed-after-text`.
        """
        if refusal is None or FAILED not in refusal.text:
            return super().again(refusal, asked)
        said = _generation(refusal.document)[:MAX_SAID] or "it was malformed."
        told = Message("user", (Text(RETRY.format(said=said)),))
        return Again(replace(asked.request, messages=(*asked.request.messages, told)), "told what went wrong")


def _generation(document: Any) -> str:
    error = document.get("error") if isinstance(document, dict) else None
    said = error.get("failed_generation") if isinstance(error, dict) else None
    return said if isinstance(said, str) else ""

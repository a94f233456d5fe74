"""Xiaomi's MiMo."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, efforts, messages
from conformance.profiles.compatible import Compatible
from conformance.profiles.echoes import as_reasoning_content
from conformance.profiles.profile import Asked, Body
from conformance.types import Request


class XiaomiMimo(Compatible):
    """api.xiaomimimo.com: content beside calls must be null, where Cerebras wants an empty string."""

    name = "xiaomi-mimo"
    providers: ClassVar[tuple[str, ...]] = ("xiaomi-mimo",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "max-tokens-vs-max-completion-tokens",
        "mimo-empty-string-content-with-tool-calls",
        "mimo-reasoning-echo-required",
        "mimo-system-must-be-first",
        "mimo-tool-call-needs-type",
        "mistral-empty-assistant-rejected",
        "tool-message-list-content-rejected",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """The system first, and no assistant message that says nothing.

        Works around quirk `mimo-system-must-be-first`. Works around quirk `mistral-empty-assistant-rejected`.
        """
        request = super().prepare_messages(request, asked)
        request = messages.changed(request, messages.hoisted_system)
        return messages.changed(request, messages.without_empty)

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `mimo-reasoning-echo-required`."""
        return as_reasoning_content(request, pad=efforts.wants_thinking(request) is not False)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Null content beside calls, calls in full, results as text, the cap under its newer name.

        Works around quirk `mimo-empty-string-content-with-tool-calls`. Works around quirk
        `mimo-tool-call-needs-type`. Works around quirk `tool-message-list-content-rejected`. Works around
        quirk `max-tokens-vs-max-completion-tokens`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        body = bodies.results_as_text(bodies.whole_calls(bodies.null_content(body)))
        return bodies.cap_spelt(body, "max_completion_tokens")

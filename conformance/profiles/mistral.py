"""Mistral: ids of nine letters, roles in a fixed order."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, messages, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.ids import nine_letters
from conformance.profiles.profile import Asked, Body
from conformance.types import Request


class Mistral(Compatible):
    """api.mistral.ai, and hosts that use Mistral's templates."""

    name = "mistral"
    providers: ClassVar[tuple[str, ...]] = ("mistral",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "gemini-extra-content-rejected-elsewhere",
        "max-completion-tokens-unsupported",
        "mistral-empty-assistant-rejected",
        "mistral-tool-after-user",
        "mistral-tool-choice-none-garbled",
        "mistral-tool-id-9-alnum",
        "mistral-user-after-tool",
        "unknown-message-fields-rejected",
        "unknown-top-level-field-rejected",
    )

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `mistral-tool-choice-none-garbled`: tools that may not be called are not
        offered.
        """
        return tools.none_by_absence(request)

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Results next after their calls, nobody who says nothing.

        Works around quirk `mistral-tool-after-user`. Works around quirk `mistral-empty-assistant-rejected`.
        """
        request = super().prepare_messages(request, asked)
        return self.paired(messages.changed(request, messages.without_empty), asked)

    def prepare_ids(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `mistral-tool-id-9-alnum`."""
        return nine_letters(super().prepare_ids(request, asked))

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Nothing but what OpenAI's schema has in messages and calls, no parameters of others, an assistant's
        words between a result and a user's, the pictures of a result among them.

        Works around quirk `mistral-user-after-tool`.

        Works around quirk `unknown-message-fields-rejected`. Works around quirk
        `gemini-extra-content-rejected-elsewhere`. Works around quirk `unknown-top-level-field-rejected`.
        Works around quirk `max-completion-tokens-unsupported`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        body = bodies.bridged(bodies.without(bodies.known_members(body), bodies.OTHERS_PARAMETERS))
        return bodies.cap_spelt(body, "max_tokens")

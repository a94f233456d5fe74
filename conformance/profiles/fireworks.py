"""Fireworks and SambaNova: messages of OpenAI's schema and nothing else."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body, Echo


class Fireworks(Compatible):
    """api.fireworks.ai."""

    name = "fireworks"
    providers: ClassVar[tuple[str, ...]] = ("fireworks", "sambanova")
    echo: ClassVar[Echo] = "never"
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "gemini-extra-content-rejected-elsewhere",
        "unknown-message-fields-rejected",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `unknown-message-fields-rejected`. Works around quirk
        `gemini-extra-content-rejected-elsewhere`.
        """
        body = super().prepare_body(body, asked)
        return bodies.known_members(body) if asked.wire == "openai-chat" else body

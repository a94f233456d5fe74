"""Ollama's compatible route, and its cloud."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import efforts, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Echo
from conformance.profiles.reading import Reading
from conformance.types import Request

EFFORTS = efforts.table({r"": "none low medium high max"})


class Ollama(Compatible):
    """Ollama under ``/v1``."""

    name = "ollama"
    providers: ClassVar[tuple[str, ...]] = ("ollama", "ollama-cloud")
    echo: ClassVar[Echo] = "as-it-came"
    reading = Reading(inline_reasoning=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "ollama-think-flag-ignored-on-v1",
        "strict-not-supported-compat",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `strict-not-supported-compat`."""
        return tools.without_strict(super().prepare_tools(request, asked))

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `ollama-think-flag-ignored-on-v1`: the effort ``none`` in its place. Works
        around quirk `reasoning-effort-vocabulary-mismatch`.
        """
        if asked.wire != "openai-chat":
            return request
        wanted = efforts.wants_thinking(request)
        if wanted is not None and efforts.effort_of(request) is None:
            request = efforts.with_extra(request, reasoning_effort=None if wanted else "none")
        request = efforts.with_extra(request, think=None, thinking=None)
        return efforts.clamped(request, asked.model, EFFORTS)

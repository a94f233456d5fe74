"""The server in Hugging Face's transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.profiles.reading import Reading


class Transformers(Compatible):
    """transformers serve."""

    name = "transformers"
    providers: ClassVar[tuple[str, ...]] = ("transformers",)
    reading = Reading(keeps_first=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "parallel-tool-calls-false-ignored",
        "transformers-created-per-chunk",
        "transformers-errors-as-detail",
        "transformers-no-done",
        "transformers-nulls-left-out",
        "transformers-responses-streams-unasked",
        "transformers-stop-text-kept",
        "transformers-usage-on-finish-chunk",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `transformers-responses-streams-unasked`: a whole response is asked for."""
        body = super().prepare_body(body, asked)
        return {"stream": False, **body} if asked.wire == "openai-responses" else body

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """Works around quirk `transformers-stop-text-kept`: a whole text ends before its stop sequence; of a
        stream nothing is held back for it.

        The base puts right the rest: Works around quirk `transformers-created-per-chunk`. Works around quirk
        `transformers-errors-as-detail`. Works around quirk `transformers-no-done`. Works around quirk
        `transformers-nulls-left-out`. Works around quirk `transformers-usage-on-finish-chunk`. Works around
        quirk `parallel-tool-calls-false-ignored`: the first call is kept.
        """
        document = super().repair_document(document, asked)
        stops = asked.request.stop
        choices = document.get("choices") if isinstance(document, dict) else None
        if asked.wire != "openai-chat" or not stops or not isinstance(choices, list):
            return document
        return {**document, "choices": [_stopped(choice, stops) for choice in choices]}


def _stopped(choice: Any, stops: Sequence[str]) -> Any:
    message = choice.get("message") if isinstance(choice, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(text, str):
        return choice
    for stop in stops:
        text = text.partition(stop)[0] if stop else text
    return {**choice, "message": {**message, "content": text}}

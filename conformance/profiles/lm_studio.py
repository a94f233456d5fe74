"""LM Studio and other desktop servers."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.ids import nine_letters
from conformance.profiles.profile import Asked, Body
from conformance.profiles.reading import Reading
from conformance.types import Request


class LMStudio(Compatible):
    """LM Studio, oMLX, mlx-lm."""

    name = "lm-studio"
    providers: ClassVar[tuple[str, ...]] = ("lm-studio", "omlx", "mlx-lm", "mlx-vlm", "mistralrs")
    reading = Reading(keeps_first=True, inline_reasoning=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "lmstudio-required-returns-text",
        "lmstudio-tool-choice-object-rejected",
        "mlx-lm-errors-are-strings",
        "mlx-lm-null-stream-refused",
        "mlx-lm-role-in-every-chunk",
        "mlx-lm-usage-chunk-is-completion",
        "parallel-tool-calls-false-ignored",
        "server-breaks-on-its-own-tool-id",
        "stream-parallel-broken-version",
    )

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `lmstudio-tool-choice-object-rejected`: ``required``, and no other tool.

        Calls that come as text the base takes out: Works around quirk `lmstudio-required-returns-text`. Calls
        that a stream garbles it asks for whole: Works around quirk `stream-parallel-broken-version`.
        """
        return tools.by_name_as_required(tools.allowed_alone(request))

    def prepare_ids(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `server-breaks-on-its-own-tool-id`: nine letters are an id to every template."""
        return nine_letters(super().prepare_ids(request, asked))

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `mlx-lm-null-stream-refused`: what is null is not said.

        In answers the base puts right the rest: Works around quirk `mlx-lm-errors-are-strings`. Works around
        quirk `mlx-lm-role-in-every-chunk`. Works around quirk `mlx-lm-usage-chunk-is-completion`. Works
        around quirk `parallel-tool-calls-false-ignored`: the first call is kept.
        """
        body = super().prepare_body(body, asked)
        return bodies.without(body, [key for key, value in body.items() if value is None])

"""Moonshot's Kimi."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from conformance.profiles import bodies, efforts, schemas, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.echoes import as_reasoning_content
from conformance.profiles.profile import Asked, Body
from conformance.types import Request

EFFORTS = efforts.table({r"k(?:imi-)?(?:k)?3": "low high max", r"": "minimal low medium high"})


class Moonshot(Compatible):
    """api.moonshot.ai and api.kimi.com."""

    name = "moonshot"
    providers: ClassVar[tuple[str, ...]] = ("moonshot",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "kimi-id-functions-name-idx",
        "kimi-reasoning-echo-required",
        "kimi-temperature-server-managed",
        "kimi-thinking-and-effort-exclusive",
        "moonshot-effort-none-rejected",
        "moonshot-schema-subset",
        "moonshot-tool-choice-required-unsupported",
        "strict-not-supported-compat",
        "unknown-message-fields-rejected",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Schemas in Moonshot's subset of JSON Schema, none of them strict.

        Works around quirk `moonshot-schema-subset`. Works around quirk `strict-not-supported-compat`.
        """
        request = super().prepare_tools(request, asked)
        return tools.without_strict(tools.with_schemas(request, schemas.for_moonshot))

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `moonshot-tool-choice-required-unsupported`: asked for in words."""
        return tools.softened(request)

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `kimi-reasoning-echo-required`."""
        return as_reasoning_content(request, pad=efforts.wants_thinking(request) is not False)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """An effort or the thinking flag, never both; the server's own temperature.

        Works around quirk `moonshot-effort-none-rejected`. Works around quirk
        `kimi-thinking-and-effort-exclusive`. Works around quirk `kimi-temperature-server-managed`. Works
        around quirk `reasoning-effort-vocabulary-mismatch`.
        """
        request = replace(request, temperature=None)
        if efforts.effort_of(request) == "none":
            return efforts.with_extra(request, reasoning_effort=None, thinking={"type": "disabled"})
        request = efforts.clamped(request, asked.model, EFFORTS)
        return efforts.with_extra(request, thinking=None) if efforts.effort_of(request) else request

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `unknown-message-fields-rejected`. Kimi's ids (``functions.alpha:3``) go back as
        they are, which the base sees to: Works around quirk `kimi-id-functions-name-idx`.
        """
        body = super().prepare_body(body, asked)
        return bodies.known_members(body, bodies.REASONING_MEMBERS) if asked.wire == "openai-chat" else body

"""Cerebras."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from conformance.profiles import bodies, echoes, efforts, schemas, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Again, Asked, Body, Refusal
from conformance.profiles.reading import Reading
from conformance.types import Request

GLM = r"glm|zai"
ALWAYS_THINKS = r"gpt-oss"
FORMAT_KEYWORDS = ("minItems", "maxItems", "items", "prefixItems")


class Cerebras(Compatible):
    """api.cerebras.ai: content beside calls must be a string, where MiMo wants null."""

    name = "cerebras"
    providers: ClassVar[tuple[str, ...]] = ("cerebras",)
    reading = Reading(keeps_first=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "cerebras-gpt-oss-cannot-disable-reasoning",
        "cerebras-parallel-false-rejected",
        "cerebras-reasoning-content-unsupported",
        "cerebras-response-format-keywords",
        "cerebras-strict-mixed",
        "cerebras-strict-unsupported-model",
        "null-content-rejected",
        "unknown-message-fields-rejected",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `cerebras-strict-mixed`."""
        return tools.uniformly_strict(super().prepare_tools(request, asked))

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:
        """GLM's reasoning goes back as text in think tags, others' not at all.

        Works around quirk `cerebras-reasoning-content-unsupported`.
        """
        return echoes.as_think_text(request) if bodies.matches(GLM, asked.model) else echoes.never(request)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `cerebras-gpt-oss-cannot-disable-reasoning`. Works around quirk
        `cerebras-response-format-keywords`. Works around quirk `cerebras-parallel-false-rejected`: it is not
        said, and of several calls the first is kept.
        """
        request = super().prepare_parameters(request, asked)
        if bodies.matches(ALWAYS_THINKS, asked.model):
            effort = None if efforts.effort_of(request) == "none" else efforts.effort_of(request)
            request = efforts.with_extra(request, disable_reasoning=None, reasoning_effort=effort)
        wanted = request.response_format
        if wanted is not None:
            request = replace(
                request,
                response_format=replace(wanted, schema=schemas.without(wanted.schema, FORMAT_KEYWORDS)),
            )
        return replace(request, parallel_tool_calls=request.parallel_tool_calls or None)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `null-content-rejected`. Works around quirk
        `unknown-message-fields-rejected`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        body = bodies.empty_content(bodies.known_members(body))
        return {**body, "clear_thinking": False} if bodies.matches(GLM, asked.model) else body

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:
        """Works around quirk `cerebras-strict-unsupported-model`."""
        strict = any(tool.strict for tool in asked.request.tools)
        if not isinstance(failure, str) and strict and "strict" in failure.text.lower():
            return Again(tools.without_strict(asked.request), "without strict tools", concedes=True)
        return super().again(failure, asked)

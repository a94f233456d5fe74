"""Alibaba's Qwen."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, efforts, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.types import Request


class AlibabaDashScope(Compatible):
    """DashScope's compatible mode, and ModelScope."""

    name = "alibaba"
    providers: ClassVar[tuple[str, ...]] = ("alibaba", "modelscope", "alibaba-coding-plan")
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "aliyun-reasoning-object-blackhole",
        "qwen-thinking-nonstream-rejected",
        "qwen-thinking-tool-choice-required",
    )

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """No choice that is an object beside thinking: Works around quirk
        `qwen-thinking-tool-choice-required`.
        """
        return tools.allowed_alone(request)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Thinking is said: on in a stream where it is asked for and no call is forced, off elsewhere.

        Works around quirk `qwen-thinking-nonstream-rejected`. Works around quirk
        `qwen-thinking-tool-choice-required`. The effort is flat, never in an object, which is not answered at
        all: Works around quirk `aliyun-reasoning-object-blackhole`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        reasoning = body.get("reasoning")
        body = bodies.without(body, ("reasoning", "thinking"))
        if isinstance(reasoning, dict) and isinstance(reasoning.get("effort"), str):
            body.setdefault("reasoning_effort", reasoning["effort"])
        request = asked.request
        wanted = efforts.wants_thinking(request)
        on = bool(request.stream and wanted and not tools.is_forced(request))
        return {**body, "enable_thinking": on}


class QwenPortal(AlibabaDashScope):
    """portal.qwen.ai."""

    name = "qwen-portal"
    providers: ClassVar[tuple[str, ...]] = ("qwen-portal",)
    works_around: ClassVar[tuple[str, ...]] = (*AlibabaDashScope.works_around, "qwen-portal-content-parts")

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `qwen-portal-content-parts`."""
        body = super().prepare_body(body, asked)
        return bodies.content_as_parts(body) if asked.wire == "openai-chat" else body

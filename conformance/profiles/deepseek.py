"""DeepSeek: a thinking flag that is on unless it is off, and reasoning that has to come back."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import efforts, responses_bodies, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.echoes import as_reasoning_content
from conformance.profiles.profile import Asked, Body
from conformance.types import Request


def thinks(request: Request) -> bool:
    """Whether thinking is on: as it is by default, unless it is switched off or a call is forced."""
    return efforts.wants_thinking(request) is not False and not tools.is_forced(request)


class DeepSeek(Compatible):
    """api.deepseek.com, V4 and later.

    R1's documentation said the opposite of V4's: to strip the reasoning. Its models are gone from the API.
    """

    name = "deepseek"
    providers: ClassVar[tuple[str, ...]] = ("deepseek",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "deepseek-reasoning-echo-required",
        "deepseek-reasoning-empty-string-rejected",
        "deepseek-responses-no-interleave",
        "deepseek-responses-reasoning-per-call",
        "deepseek-thinking-default-on",
        "deepseek-thinking-tool-choice-required",
    )

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """No choice that is an object beside thinking: Works around quirk
        `deepseek-thinking-tool-choice-required`.
        """
        return tools.allowed_alone(request)

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Every assistant turn's reasoning goes back, that of a text between calls too; one space where it is
        lost.

        Works around quirk `deepseek-reasoning-echo-required`. Works around quirk
        `deepseek-reasoning-empty-string-rejected`.
        """
        return as_reasoning_content(request, pad=thinks(request))

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Thinking is said, never left to a default: on where reasoning is asked for, off beside a forced
        call.

        Works around quirk `deepseek-thinking-default-on`. Works around quirk
        `deepseek-thinking-tool-choice-required`. On Responses each call has its reasoning before it, and
        calls end their turn: Works around quirk `deepseek-responses-reasoning-per-call`. Works around quirk
        `deepseek-responses-no-interleave`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire == "openai-responses":
            body = responses_bodies.items(body, responses_bodies.calls_last)
            given = body.get("input")
            reasoned = (
                responses_bodies.reasoning_before_each_call(given) if isinstance(given, list) else given
            )
            if reasoned is None or not thinks(asked.request):
                # What is lost can't be told again; without thinking it is not missed.
                body = responses_bodies.items(body, responses_bodies.in_pairs)
                return {**body, "reasoning": {"effort": "none"}}
            return {**body, "input": reasoned}
        if asked.wire != "openai-chat":
            return body
        on = thinks(asked.request)
        body = {key: value for key, value in body.items() if on or key != "reasoning_effort"}
        return {**body, "thinking": {"type": "enabled" if on else "disabled"}}

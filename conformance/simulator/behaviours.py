"""Deviations of real providers, by name; each cites the quirk of the catalogue that it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from conformance.simulator.answer import Refused, refusal
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.faults import FAULTS
from conformance.simulator.messages import PastMessage
from conformance.simulator.request import ChatRequest
from conformance.simulator.texts import TEXTS
from conformance.types import Reasoning, Turn


def _thinks(request: ChatRequest) -> bool:
    if request.body.get("reasoning_effort") == "none":
        return False
    thinking = request.body.get("thinking")
    return not (isinstance(thinking, dict) and thinking.get("type") == "disabled")


@dataclass(frozen=True, slots=True)
class ReasoningAlways(Behaviour):
    """Quirk ``deepseek-thinking-default-on``: every answer carries reasoning unless thinking is disabled.

    Source: DeepSeek's guide "Thinking Mode" (the toggle is on by default).
    """

    name: str = "reasoning-always"

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:
        if not _thinks(request):
            return replace(turn, parts=tuple(part for part in turn.parts if not isinstance(part, Reasoning)))
        if turn.reasoning:
            return turn
        return replace(turn, parts=(Reasoning("Let me think about what is asked."), *turn.parts))


@dataclass(frozen=True, slots=True)
class RefuseMissingReasoningEcho(Behaviour):
    """Quirk ``deepseek-reasoning-echo-required``: history without its reasoning is refused.

    Between two user messages in which a tool was called, every assistant message must bring its
    ``reasoning_content`` back; where none was called it is not needed. Source: DeepSeek's guide
    "Thinking Mode"; that a text-only turn after the calls needs it too is a comment on
    NousResearch/hermes-agent PR 14941. (Reports that every assistant message needs it conflict with
    anomalyco/opencode issue 24722.)
    """

    name: str = "refuse-missing-reasoning-echo"

    def refuse(self, request: ChatRequest) -> Refused | None:
        if not _thinks(request):
            return None
        for span in _spans(request.messages):
            assistants = [message for message in span if message.role == "assistant"]
            if any(message.calls for message in assistants) and any(
                "reasoning_content" not in message.members for message in assistants
            ):
                return refusal(
                    "The `reasoning_content` in the thinking mode must be passed back to the API.",
                    code="invalid_request_error",
                    why="missing-reasoning-echo",
                )
        return None


def _spans(messages: tuple[PastMessage, ...]) -> Iterator[list[PastMessage]]:
    span: list[PastMessage] = []
    for message in messages:
        if message.role == "user":
            yield span
            span = []
        span.append(message)
    yield span


@dataclass(frozen=True, slots=True)
class RefuseDuplicateToolNames(Behaviour):
    """Quirk ``duplicate-tool-names-rejected``: a function name that occurs twice is refused."""

    name: str = "refuse-duplicate-tool-names"

    def refuse(self, request: ChatRequest) -> Refused | None:
        names = [tool.name for tool in request.tools]
        if len(names) == len(set(names)):
            return None
        # The quirk's evidence has neither param nor code; null says the same within OpenAI's schema.
        return refusal("Tool names must be unique.", why="duplicate-tool-names")


@dataclass(frozen=True, slots=True)
class RefuseToolChoiceRequired(Behaviour):
    """Quirks ``gemini-tool-choice-required-unreliable`` and ``gemini-error-body-array``.

    The error body is Google's, in an array, as in editor-code-assistant/eca issue 247.
    """

    name: str = "refuse-tool-choice-required"

    def refuse(self, request: ChatRequest) -> Refused | None:
        if request.choice != "required":
            return None
        message = "The value 'required' of tool_choice is not supported."
        error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
        return Refused(400, [{"error": error}], "tool-choice-required")


BEHAVIOURS: Mapping[str, Behaviour] = {
    behaviour.name: behaviour
    for behaviour in (
        ReasoningAlways(),
        RefuseMissingReasoningEcho(),
        RefuseDuplicateToolNames(),
        RefuseToolChoiceRequired(),
        *TEXTS,
        *FAULTS,
    )
}

"""OpenRouter, and gateways like it."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.profiles import bodies, efforts, schemas, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Again, Asked, Body, Echo, Refusal
from conformance.types import Request

ANTHROPIC = r"anthropic/|claude"


class OpenRouter(Compatible):
    """openrouter.ai: one address, many servers behind it."""

    name = "openrouter"
    providers: ClassVar[tuple[str, ...]] = ("openrouter",)
    echo: ClassVar[Echo] = "as-it-came"
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "aggregator-429-from-upstream",
        "cannot-disable-reasoning-400",
        "gemini-schema-required-not-in-properties",
        "gemini-tool-choice-required-unreliable",
        "max-completion-tokens-unsupported",
        "openrouter-forced-tool-drops-reasoning",
        "openrouter-null-fields-or-nested",
        "openrouter-reasoning-details-index",
        "openrouter-tool-choice-404",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `gemini-schema-required-not-in-properties`, for Gemini's models."""

        request = super().prepare_tools(request, asked)
        if not bodies.matches("gemini", asked.model):
            return request
        return tools.with_schemas(request, schemas.required_declared)

    def prepare_choice(self, request: Request, asked: Asked) -> Request:
        """A forced call in words, for Gemini's models, and for Anthropic's where reasoning is asked for too.

        Works around quirk `gemini-tool-choice-required-unreliable`. Works around quirk
        `openrouter-forced-tool-drops-reasoning`.
        """
        request = tools.allowed_alone(request)
        reasons = bool(efforts.wants_thinking(request)) and bodies.matches(ANTHROPIC, asked.model)
        return tools.softened(request) if reasons or bodies.matches("gemini", asked.model) else request

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `cannot-disable-reasoning-400`: that reasoning be off is not said."""
        return reasoning_not_off(super().prepare_parameters(request, asked))

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `max-completion-tokens-unsupported`."""
        body = super().prepare_body(body, asked)
        return bodies.cap_spelt(body, "max_tokens") if asked.wire == "openai-chat" else body

    def repair_document(self, document: Any, asked: Asked) -> Any:
        """A completion inside of another object is taken out by the base, one of nulls is asked for again;
        details of reasoning that share an index with others of another type get their own.

        Works around quirk `openrouter-null-fields-or-nested`. Works around quirk
        `openrouter-reasoning-details-index`.
        """
        if isinstance(document, dict) and document.get("choices", ()) is None:
            return {
                "error": {
                    "message": "the answer has no choices",
                    "type": "server_error",
                    "param": None,
                    "code": "502",
                }
            }
        return super().repair_document(document, asked)

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """Works around quirk `openrouter-tool-choice-404`: no model is missing, so it is no 404."""
        status, document = super().repair_error(status, document, asked)
        error = document.get("error") if isinstance(document, dict) else None
        said = error.get("message") if isinstance(error, dict) else None
        capability = status == 404 and isinstance(said, str) and "No endpoints found that support" in said
        return (400 if capability else status), document

    def again(self, failure: Refusal | str, asked: Asked) -> Again | None:
        """Works around quirk `openrouter-tool-choice-404`: a capability that is missing, not a model.

        A 429 of a server behind it is tried again, and then elsewhere, as any: Works around quirk
        `aggregator-429-from-upstream`.
        """
        if not isinstance(failure, str) and failure.status in (400, 404) and "tool_choice" in failure.text:
            softer = tools.softened(asked.request)
            if softer != asked.request:
                return Again(softer, "tool_choice auto, and words that ask for the call")
        return super().again(failure, asked)


def reasoning_not_off(request: Request) -> Request:
    """The request without words that switch reasoning off."""
    reasoning = request.extra.get("reasoning")
    off = isinstance(reasoning, dict) and reasoning.get("enabled") is False
    effort = efforts.effort_of(request)
    return efforts.with_extra(
        request, reasoning=None if off else reasoning, reasoning_effort=None if effort == "none" else effort
    )


class NousPortal(OpenRouter):
    """inference-api.nousresearch.com."""

    name = "nous-portal"
    providers: ClassVar[tuple[str, ...]] = ("nous-portal",)
    works_around: ClassVar[tuple[str, ...]] = (*OpenRouter.works_around, "nous-portal-routing-prefs-rejected")

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `nous-portal-routing-prefs-rejected`."""
        return bodies.without(super().prepare_body(body, asked), ("provider",))


class Aggregator(Compatible):
    """Hosts that serve other companies' models; what counts is the host, not the model's name.

    No reasoning goes back: Works around quirk `kimi-reexporters-reject-echo`.
    """

    name = "aggregator"
    providers: ClassVar[tuple[str, ...]] = ()
    echo: ClassVar[Echo] = "never"
    works_around: ClassVar[tuple[str, ...]] = (*Compatible.works_around, "kimi-reexporters-reject-echo")

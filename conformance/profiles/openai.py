"""OpenAI itself."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from conformance.profiles import bodies, efforts, messages, responses_bodies, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.types import Request

REASONING_MODEL = r"(?:^|/)(?:o\d|gpt-5|codex)"
NO_SYSTEM = r"(?:^|/)o1-(?:mini|preview)"
SAMPLING_WITHOUT_EFFORT = r"gpt-5\.[1-9]"
"""From 5.1 on sampling parameters are taken where the effort is ``none``."""
SAMPLING = ("top_p", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias")
EFFORTS = efforts.table(
    {
        r"gpt-5\.[6-9]": "none low medium high xhigh",
        r"gpt-5\.[2-5]": "none low medium high xhigh",
        r"gpt-5\.1": "none low medium high",
        r"gpt-5": "minimal low medium high",
        r"(?:^|/)o\d": "low medium high",
    }
)
MAX_TOOLS = 128


class OpenAI(Compatible):
    """api.openai.com, over Chat and Responses: the limits of the reference."""

    name = "openai"
    providers: ClassVar[tuple[str, ...]] = ("openai",)
    keeps_developer = True
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "max-tokens-vs-max-completion-tokens",
        "prompt-cache-key-64",
        "responses-empty-input-rejected",
        "responses-function-call-needs-reasoning-item",
        "responses-item-ids-rotate",
        "responses-json-object-needs-word",
        "sampling-params-rejected-reasoning",
        "tools-array-max-128",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """No more than 128 tools. Works around quirk `tools-array-max-128`."""
        return tools.at_most(super().prepare_tools(request, asked), MAX_TOOLS)

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `system-role-unsupported`: what the system says, said by the user."""
        request = super().prepare_messages(request, asked)
        if not bodies.matches(NO_SYSTEM, asked.model):
            return request
        return messages.changed(request, messages.system_as_user)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Only what a reasoning model takes.

        Works around quirk `sampling-params-rejected-reasoning`. Works around quirk
        `reasoning-effort-vocabulary-mismatch`.
        """
        request = efforts.clamped(request, asked.model, EFFORTS)
        if not bodies.matches(REASONING_MODEL, asked.model):
            return request
        if bodies.matches(SAMPLING_WITHOUT_EFFORT, asked.model) and efforts.effort_of(request) == "none":
            return request
        kept = {key: value for key, value in request.extra.items() if key not in SAMPLING}
        temperature = request.temperature if request.temperature == 1 else None
        return replace(request, temperature=temperature, extra=kept)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `max-tokens-vs-max-completion-tokens`. On Responses, items in pairs, an input
        and the word JSON in it, and short cache keys: Works around quirk
        `responses-function-call-needs-reasoning-item`. Works around quirk `responses-empty-input-rejected`.
        Works around quirk `responses-json-object-needs-word`. Works around quirk `prompt-cache-key-64`.

        In streams the base follows items by their index: Works around quirk `responses-item-ids-rotate`.
        """
        body = responses_bodies.short_cache_key(super().prepare_body(body, asked))
        if asked.wire == "openai-responses":
            body = responses_bodies.items(body, responses_bodies.in_pairs)
            return responses_bodies.json_named(responses_bodies.never_empty(body))
        if asked.wire == "openai-chat" and bodies.matches(REASONING_MODEL, asked.model):
            return bodies.cap_spelt(body, "max_completion_tokens")
        return body


class ChatGptCodex(OpenAI):
    """The backend of ChatGPT's coding agent, over Responses."""

    name = "chatgpt-codex"
    providers: ClassVar[tuple[str, ...]] = ("chatgpt-codex",)
    works_around: ClassVar[tuple[str, ...]] = (
        *OpenAI.works_around,
        "codex-backend-error-detail-shape",
        "codex-backend-max-output-tokens",
        "codex-backend-store-false",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Nothing is stored, and no cap is said.

        Works around quirk `codex-backend-store-false`. Works around quirk `codex-backend-max-output-tokens`.
        Errors that are a ``detail`` alone are put in OpenAI's form by the base: Works around quirk
        `codex-backend-error-detail-shape`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-responses":
            return body
        body = bodies.without(body, ("max_output_tokens", "previous_response_id"))
        return {**body, "store": False}

"""Inference servers: vLLM, SGLang, TGI, and what is built on them."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.profiles import bodies, efforts, llama_cpp_answers, messages, responses_bodies, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.ids import kimi_native, nine_letters
from conformance.profiles.profile import Asked, Body, Echo, Headers
from conformance.profiles.reading import Reading
from conformance.types import Request, WireName

MISTRAL = r"mistral|devstral|magistral"
GEMMA = r"gemma"
GPT_OSS = efforts.table({r"gpt-oss": "low medium high"})


class VLLM(Compatible):
    """vLLM."""

    name = "vllm"
    providers: ClassVar[tuple[str, ...]] = ("vllm", "vmlx", "trt-llm")
    reading = Reading(keeps_first=True, inline_reasoning=True)
    echo: ClassVar[Echo] = "as-it-came"
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "harmony-channels-in-content",
        "kimi-foreign-ids-break-parser",
        "kimi-id-functions-name-idx",
        "mistral-tool-id-9-alnum",
        "mistral-user-after-tool",
        "multiple-system-messages-rejected",
        "null-content-rejected",
        "responses-status-must-be-null",
        "vllm-anthropic-bearer-only",
        "vllm-anthropic-error-types",
        "vllm-anthropic-invalid-in-openais-form",
        "vllm-error-code-integer",
        "vllm-finish-tool-calls-empty",
        "vllm-parallel-tool-calls-ignored",
        "vllm-required-nonstream-stop",
        "vllm-stream-id-missing",
        "vllm-unauthorized-text",
        "vllm-usage-absent-not-null",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """One system message, which chat templates take; none where a model has no such role.

        Works around quirk `multiple-system-messages-rejected`. Works around quirk `system-role-unsupported`.
        """
        request = messages.changed(super().prepare_messages(request, asked), messages.merged_system)
        if bodies.matches(GEMMA, asked.model):
            return messages.changed(request, messages.system_as_user)
        if bodies.matches(MISTRAL, asked.model):
            return self.paired(request, asked)
        return request

    def prepare_ids(self, request: Request, asked: Asked) -> Request:
        """Ids in Kimi's own form, which only its template writes into the prompt; Mistral's template
        wants its own.

        Works around quirk `kimi-foreign-ids-break-parser`. Works around quirk
        `kimi-id-functions-name-idx`. Works around quirk `mistral-tool-id-9-alnum`.
        """
        request = super().prepare_ids(request, asked)
        return nine_letters(request) if bodies.matches(MISTRAL, asked.model) else kimi_native(request)

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `reasoning-effort-vocabulary-mismatch`."""
        return efforts.clamped(request, asked.model, GPT_OSS)

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `null-content-rejected`. Mistral's template has its own order of roles: Works
        around quirk `mistral-user-after-tool`. On Responses: Works around quirk
        `responses-status-must-be-null`.

        In answers the base puts right what this family gets wrong. Works around quirk
        `vllm-finish-tool-calls-empty`. Works around quirk `vllm-parallel-tool-calls-ignored`: the first call
        is kept. Works around quirk `vllm-required-nonstream-stop`. Works around quirk
        `vllm-stream-id-missing`. Works around quirk `harmony-channels-in-content`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire == "openai-responses":
            return responses_bodies.items(body, responses_bodies.without_status)
        if asked.wire != "openai-chat":
            return body
        body = bodies.empty_content(body)
        return bodies.bridged(body) if bodies.matches(MISTRAL, asked.model) else body

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:
        """Works around quirk `vllm-anthropic-bearer-only`: the key as a bearer token, too."""
        if asked_wire != "anthropic-messages" or any(name.lower() == "authorization" for name, _ in headers):
            return headers
        keys = (value for name, value in headers if name.lower() == "x-api-key")
        return (*headers, *(("Authorization", f"Bearer {key}") for key in keys))

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """Errors of the Messages API in its own form.

        Works around quirk `vllm-anthropic-error-types`. Works around quirk
        `vllm-anthropic-invalid-in-openais-form`. Over Chat the base takes a number for a code, a text for an
        error, and null for usage that is not there yet: Works around quirk `vllm-error-code-integer`. Works
        around quirk `vllm-unauthorized-text`. Works around quirk `vllm-usage-absent-not-null`.
        """
        if asked.wire == "anthropic-messages":
            return status, llama_cpp_answers.error(status, document)
        return super().repair_error(status, document, asked)


class SGLang(VLLM):
    """SGLang."""

    name = "sglang"
    providers: ClassVar[tuple[str, ...]] = ("sglang",)
    works_around: ClassVar[tuple[str, ...]] = (*VLLM.works_around, "sglang-dsml-leak-tool-choice-none")

    def prepare_choice(self, request: Request, asked: Asked) -> Request:  # noqa: ARG002
        """Works around quirk `sglang-dsml-leak-tool-choice-none`: tools that may not be called are not
        offered.
        """
        return tools.none_by_absence(request)


class TGI(VLLM):
    """Text Generation Inference."""

    name = "tgi"
    providers: ClassVar[tuple[str, ...]] = ("tgi",)

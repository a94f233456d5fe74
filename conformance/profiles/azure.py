"""Azure: OpenAI's models, and others' in its Foundry."""

from __future__ import annotations

from typing import ClassVar

from conformance.profiles import bodies, responses_bodies
from conformance.profiles.openai import OpenAI
from conformance.profiles.profile import Asked, Body, Headers
from conformance.profiles.reading import Reading
from conformance.types import WireName

OTHERS = r"mistral|ministral|codestral|deepseek|llama|phi"


class Azure(OpenAI):
    """openai.azure.com and services.ai.azure.com."""

    name = "azure"
    providers: ClassVar[tuple[str, ...]] = ("azure", "azure-ai")
    reading = Reading(format_in_reasoning=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *OpenAI.works_around,
        "azure-api-key-header",
        "azure-chunk-without-delta",
        "azure-deepseek-structured-output-in-reasoning",
        "azure-empty-choices-first-chunk",
        "azure-foundry-encrypted-reasoning-replay",
        "max-completion-tokens-unsupported",
        "unknown-top-level-field-rejected",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """The cap under its older name and no words of others for models that are not OpenAI's.

        Works around quirk `max-completion-tokens-unsupported`. Works around quirk
        `unknown-top-level-field-rejected`. On Responses only the newest encrypted reasoning goes back: Works
        around quirk `azure-foundry-encrypted-reasoning-replay`.

        In answers the base drops what is no chunk, and reads JSON that stands in the reasoning. Works around
        quirk `azure-empty-choices-first-chunk`. Works around quirk `azure-chunk-without-delta`. Works around
        quirk `azure-deepseek-structured-output-in-reasoning`.
        """
        body = super().prepare_body(body, asked)
        if asked.wire == "openai-responses":
            body = responses_bodies.items(body, responses_bodies.newest_reasoning)
            return responses_bodies.items(body, responses_bodies.in_pairs)
        if asked.wire != "openai-chat":
            return body
        body = bodies.without(body, bodies.OTHERS_PARAMETERS)
        return bodies.cap_spelt(body, "max_tokens") if bodies.matches(OTHERS, asked.model) else body

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:  # noqa: ARG002
        """Works around quirk `azure-api-key-header`, beside the bearer token that ``/openai/v1``
        takes too.
        """
        if any(name.lower() == "api-key" for name, _ in headers):
            return headers
        return (*headers, *(("api-key", value[7:]) for name, value in headers if _is_key(name, value)))


def _is_key(name: str, value: str) -> bool:
    return name.lower() == "authorization" and value.startswith("Bearer ")

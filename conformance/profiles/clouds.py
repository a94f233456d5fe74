"""Gateways and clouds of which little is known: each overrides one hook or two."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from conformance.profiles import bodies, messages, tools
from conformance.profiles.compatible import Compatible
from conformance.profiles.profile import Asked, Body
from conformance.profiles.reading import Reading
from conformance.types import Request

_UNREAD = re.compile(
    r"^litellm\.APIConnectionError: .{0,100}?(?:Unsupported (?:response_format|tool) type|is not iterable"
    r"|Invalid user message at|Invalid Message passed|Missing corresponding tool call"
    r"|Unable to convert openai tool calls|doesn't define __round__|dictionary update sequence"
    r"|'(?:name|function|json_schema)'$)"
)
"""How LiteLLM tells, in a 500, what it could not read in a request."""


class Bedrock(Compatible):
    """Amazon Bedrock behind an OpenAI front."""

    name = "bedrock"
    providers: ClassVar[tuple[str, ...]] = ("bedrock", "bedrock-mantle")
    unique_call_ids = True
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "bedrock-mantle-call-ids-reset",
        "bedrock-toolconfig-required",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `bedrock-toolconfig-required`. On Responses call ids bear the response's own,
        since each response counts them anew: Works around quirk `bedrock-mantle-call-ids-reset`.
        """
        return tools.with_placeholder(super().prepare_tools(request, asked))


class Perplexity(Compatible):
    """api.perplexity.ai."""

    name = "perplexity"
    providers: ClassVar[tuple[str, ...]] = ("perplexity",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "perplexity-cumulative-message",
        "perplexity-role-alternation",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `perplexity-role-alternation`. Of chunks that hold a message and a delta the
        base reads the delta: Works around quirk `perplexity-cumulative-message`.
        """
        request = messages.changed(super().prepare_messages(request, asked), messages.later_system_as_user)
        return messages.changed(request, messages.alternating)


class Cohere(Compatible):
    """api.cohere.ai's compatible route."""

    name = "cohere"
    providers: ClassVar[tuple[str, ...]] = ("cohere",)
    works_around: ClassVar[tuple[str, ...]] = (*Compatible.works_around, "mistral-empty-assistant-rejected")

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `mistral-empty-assistant-rejected`."""
        return messages.changed(super().prepare_messages(request, asked), messages.without_empty)


class GitHubCopilot(Compatible):
    """api.githubcopilot.com: an answer may come in pieces, each a choice of its own."""

    name = "github-copilot"
    providers: ClassVar[tuple[str, ...]] = ("github-copilot",)
    reading = Reading(one_choice=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "copilot-multi-choice-split",
        "gemini-last-message-assistant-rejected",
        "max-tokens-vs-max-completion-tokens",
        "responses-item-ids-rotate",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `gemini-last-message-assistant-rejected`."""
        request = messages.changed(super().prepare_messages(request, asked), messages.trailing_system_as_user)
        gemini = bodies.matches("gemini", asked.model)
        return messages.changed(request, messages.user_last) if gemini else request

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `max-tokens-vs-max-completion-tokens`.

        In answers the base makes one choice of several: Works around quirk `copilot-multi-choice-split`.
        Items of a stream it follows by their index: Works around quirk `responses-item-ids-rotate`.
        """
        body = super().prepare_body(body, asked)
        newer = asked.wire == "openai-chat" and bodies.matches(r"(?:^|/)(?:o\d|gpt-5)", asked.model)
        return bodies.cap_spelt(body, "max_completion_tokens") if newer else body


class NvidiaNim(Compatible):
    """integrate.api.nvidia.com."""

    name = "nvidia"
    providers: ClassVar[tuple[str, ...]] = ("nvidia",)
    reading = Reading(inline_reasoning=True)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "nim-tool-message-name-rejected",
        "think-tag-unterminated",
    )

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Works around quirk `nim-tool-message-name-rejected`. Tags that are never closed the base reads all
        the same: Works around quirk `think-tag-unterminated`.
        """
        body = super().prepare_body(body, asked)
        return bodies.unnamed_results(body) if asked.wire == "openai-chat" else body


class LiteLLM(Compatible):
    """LiteLLM's proxy, which stands before anything."""

    name = "litellm-proxy"
    providers: ClassVar[tuple[str, ...]] = ("litellm-proxy",)
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "litellm-finish-reason-left-out",
        "litellm-line-separators-lost",
        "litellm-malformed-messages-500",
        "litellm-response-format-text-500",
        "litellm-unknown-model-detail",
        "litellm-untranslatable-500",
        "litellm-usage-absent-not-null",
        "litellm-usage-chunk-with-choice",
        "litellm-wrong-key-400",
        "multiple-system-messages-rejected",
    )

    def prepare_messages(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `multiple-system-messages-rejected`."""
        return messages.changed(super().prepare_messages(request, asked), messages.merged_system)

    def repair_error(self, status: int, document: Any, asked: Asked) -> tuple[int, Any]:
        """What it can't read of a request is the request's fault; a key that it has no database for is wrong.

        Works around quirk `litellm-malformed-messages-500`. Works around quirk
        `litellm-response-format-text-500`. Works around quirk `litellm-untranslatable-500`. Works around
        quirk `litellm-wrong-key-400`. The base makes an error object of a detail: Works around quirk
        `litellm-unknown-model-detail`.

        In streams the base tells null where nothing is told, and usage in a chunk of its own: Works around
        quirk `litellm-finish-reason-left-out`. Works around quirk `litellm-usage-absent-not-null`. Works
        around quirk `litellm-usage-chunk-with-choice`. It asks for the whole answer where arguments can't be
        read: Works around quirk `litellm-line-separators-lost`.
        """
        error = document.get("error") if isinstance(document, dict) else None
        said = error if isinstance(error, dict) else {}
        if status == 400 and said.get("type") == "no_db_connection":
            status = 401
        elif status == 500 and _UNREAD.search(str(said.get("message"))):
            status = 400
        return super().repair_error(status, document, asked)


class Gateway(Compatible):
    """Gateways and frontends of the lab; what they break, no client can mend beyond what it always does.

    A stream may end without a word: Works around quirk `ogx-stream-without-done`. What is null in the later
    deltas of a call takes nothing away: Works around quirk `ogx-call-type-null`.
    """

    name = "gateway"
    providers: ClassVar[tuple[str, ...]] = (
        *("portkey", "claude-code-router", "ogx", "aimock"),
        *("dynamo", "smg", "tensorzero"),
    )
    works_around: ClassVar[tuple[str, ...]] = (
        *Compatible.works_around,
        "ogx-call-type-null",
        "ogx-stream-without-done",
    )


class ByteDance(Compatible):
    """Volcengine's Ark. The catalogue has no quirk of its own for it."""

    name = "bytedance"
    providers: ClassVar[tuple[str, ...]] = ("bytedance",)


class Snowflake(Compatible):
    """Snowflake's Cortex."""

    name = "snowflake"
    providers: ClassVar[tuple[str, ...]] = ("snowflake",)
    works_around: ClassVar[tuple[str, ...]] = (*Compatible.works_around, "strict-not-supported-compat")

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `strict-not-supported-compat`."""
        return tools.without_strict(super().prepare_tools(request, asked))

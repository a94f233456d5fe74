"""OpenCode's gateways, Zen and Go."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from conformance.profiles import bodies, tools
from conformance.profiles.deepseek import DeepSeek
from conformance.profiles.echoes import never
from conformance.profiles.profile import Asked, Body, Headers
from conformance.profiles.reading import Reading
from conformance.types import Request, WireName

RESERVED = frozenset({"web_search", "search_files"})
MIMO_CAP = 32_768
"""An output cap, in tokens, that MiMo's relay takes: unasked it sends more than the model allows."""
USER_AGENT = ("User-Agent", "Mozilla/5.0 (compatible; llm-wire-conformance)")


class OpenCode(DeepSeek):
    """opencode.ai/zen and its like; DeepSeek's models keep their rules there."""

    name = "opencode"
    providers: ClassVar[tuple[str, ...]] = ("opencode-zen", "opencode-go")
    reading = Reading(reserved=RESERVED)
    works_around: ClassVar[tuple[str, ...]] = (
        *DeepSeek.works_around,
        "kimi-thinking-and-effort-exclusive",
        "relay-default-max-tokens-too-large",
        "reserved-tool-names-opencode-responses",
        "tool-message-list-content-rejected",
        "unknown-message-fields-rejected",
        "waf-blocks-default-user-agent",
    )

    def prepare_tools(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `reserved-tool-names-opencode-responses`."""
        return tools.aliased(super().prepare_tools(request, asked), self.reading.reserved)

    def prepare_reasoning(self, request: Request, asked: Asked) -> Request:
        """DeepSeek's models want their reasoning back, Kimi's here don't."""
        if bodies.matches("deepseek", asked.model):
            return super().prepare_reasoning(request, asked)
        return never(request) if bodies.matches("kimi", asked.model) else request

    def prepare_parameters(self, request: Request, asked: Asked) -> Request:
        """Works around quirk `relay-default-max-tokens-too-large`."""
        request = super().prepare_parameters(request, asked)
        if bodies.matches("mimo", asked.model) and request.max_tokens is None:
            return replace(request, max_tokens=MIMO_CAP)
        return request

    def prepare_body(self, body: Body, asked: Asked) -> Body:
        """Members of OpenAI's schema, results as text, thinking or an effort but never both.

        Works around quirk `unknown-message-fields-rejected`. Works around quirk
        `tool-message-list-content-rejected`. Works around quirk `kimi-thinking-and-effort-exclusive`.
        """
        deepseek = bodies.matches("deepseek", asked.model)
        given = body.get("thinking")
        body = super().prepare_body(body, asked)
        if asked.wire != "openai-chat":
            return body
        if not deepseek:
            body = bodies.without(body, ("thinking",)) | ({"thinking": given} if given else {})
            effort = asked.request.extra.get("reasoning_effort")
            body |= {"reasoning_effort": effort} if effort else {}
        if "thinking" in body and "reasoning_effort" in body:
            body = bodies.without(body, ("thinking",))
        return bodies.results_as_text(bodies.known_members(body, bodies.REASONING_MEMBERS))

    def headers(self, headers: Headers, asked_wire: WireName) -> Headers:  # noqa: ARG002
        """Works around quirk `waf-blocks-default-user-agent`: a name of its own."""
        return headers if any(n.lower() == "user-agent" for n, _ in headers) else (*headers, USER_AGENT)

"""anthropic-sdk-python over Messages; a request under a beta goes through ``client.beta``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Usage, WireName
from conformance.wires import ErrorInfo

from .openai_common import arguments_of
from .oracle import Question, Raised
from .said import Said, Words, call, said
from .typed import strangers

FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "pause_turn": "stop",
}
"""The canonical words of ``stop_reason``."""


class AnthropicSdk:
    """``client.messages`` and ``client.beta.messages``, with the SDK's strict validation of answers."""

    wire: WireName = "anthropic-messages"
    ordered = True
    identified = True

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, question: Question) -> tuple[Said, ...]:
        messages = self._client.beta.messages if question.betas else self._client.messages
        more: dict[str, Any] = {"betas": list(question.betas)} if question.betas else {}
        if question.version:
            more["extra_headers"] = {"anthropic-version": question.version}
        if not question.streamed:
            return (_read(messages.create(**arguments_of(messages.create, question.body), **more)),)
        arguments = arguments_of(messages.stream, question.body)
        with messages.stream(**arguments, **more) as events:
            for _ in events:
                pass
            return (_read(events.current_message_snapshot),)

    def ask_in_vain(self, question: Question) -> Raised:
        import anthropic

        try:
            answer = self.ask(question)
        except anthropic.APIStatusError as error:
            body: Any = error.body if isinstance(error.body, dict) else {}
            told = body.get("error") or {}
            info = ErrorInfo(told.get("message", ""), told.get("type"))
            return Raised(type(error).__name__, error.status_code, info)
        raise AssertionError(f"no error but {answer}")

    def unsaid(self, question: Question) -> tuple[str, ...]:
        from anthropic.types import message_create_params as plain
        from anthropic.types.beta import message_create_params as beta

        params: Any = beta if question.betas else plain
        forms = (params.MessageCreateParamsNonStreaming, params.MessageCreateParamsStreaming)
        return tuple(strangers(question.body, forms[question.streamed]))

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """As it is: the SDK sends what it is given."""
        return body


def _read(message: Any) -> Said:
    parts: list[Words] = []
    for block in message.content:
        match block.type:
            case "text":
                parts.append(("text", block.text))
            case "thinking":
                parts.append(("reasoning", block.thinking))
            case "redacted_thinking":
                pass
            case "tool_use":
                parts.append(call(block.id, block.name, block.input))
            case kind:
                raise AssertionError(kind)
    usage = message.usage
    cached, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    prompt = usage.input_tokens + (cached or 0) + (written or 0)
    return Said(
        said(parts, ordered=True),
        message.stop_reason and FINISHES[message.stop_reason],
        Usage(
            prompt_tokens=prompt,
            completion_tokens=usage.output_tokens,
            total_tokens=prompt + usage.output_tokens,
            cached_tokens=cached,
            cache_write_tokens=written,
            reasoning_tokens=usage.output_tokens_details and usage.output_tokens_details.thinking_tokens,
        ),
        message.id,
        message.model,
    )

"""openai-python over Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Usage, WireName

from .openai_common import arguments_of, raised
from .oracle import Question, Raised
from .said import Said, Words, call, said
from .typed import strangers


class ChatSdk:
    """``client.chat.completions``, with the SDK's strict validation of answers."""

    wire: WireName = "openai-chat"
    ordered = False
    identified = True

    def __init__(self, client: Any) -> None:
        self._completions = client.chat.completions

    def ask(self, question: Question) -> tuple[Said, ...]:
        if question.streamed:
            arguments = arguments_of(self._completions.stream, question.body)
            with self._completions.stream(**arguments) as events:
                for _ in events:
                    pass
                completion = events.current_completion_snapshot
        else:
            completion = self._completions.create(**arguments_of(self._completions.create, question.body))
        return tuple(_read(choice, completion) for choice in completion.choices)

    def ask_in_vain(self, question: Question) -> Raised:
        return raised(lambda: self.ask(question))

    def unsaid(self, question: Question) -> tuple[str, ...]:
        from openai.types.chat import completion_create_params as params

        forms = (params.CompletionCreateParamsNonStreaming, params.CompletionCreateParamsStreaming)
        return tuple(strangers(question.body, forms[question.streamed]))

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """As it is: the SDK sends what it is given."""
        return body


def _read(choice: Any, completion: Any) -> Said:
    message = choice.message
    parts: list[Words] = [
        # Other providers' member; the SDK keeps what it does not know.
        ("reasoning", getattr(message, "reasoning_content", None) or ""),
        ("text", message.content or ""),
        ("refusal", message.refusal or ""),
    ]
    parts += [call(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or ()]
    return Said(
        said(parts, ordered=False),
        choice.finish_reason,
        _usage(completion.usage),
        completion.id,
        completion.model,
    )


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
        cached_tokens=prompt and prompt.cached_tokens,
        cache_write_tokens=getattr(prompt, "cache_write_tokens", None),
        reasoning_tokens=completion and completion.reasoning_tokens,
    )

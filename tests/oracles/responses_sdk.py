"""openai-python over Responses."""

from __future__ import annotations

from typing import Any

from conformance.types import Usage, WireName

from .openai_common import arguments_of, raised
from .oracle import Question, Raised
from .said import Said, Words, call, said
from .typed import strangers

FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""The canonical words of ``incomplete_details.reason``."""


class ResponsesSdk:
    """``client.responses``, with the SDK's strict validation of answers."""

    sdk = "openai"
    wire: WireName = "openai-responses"
    ordered = True

    def __init__(self, client: Any) -> None:
        self._responses = client.responses

    def ask(self, question: Question) -> tuple[Said, ...]:
        if not question.streamed:
            response = self._responses.create(**arguments_of(self._responses.create, question.body))
            return (_read(response, response.output),)
        arguments = arguments_of(self._responses.stream, question.body)
        arguments.get("extra_body", arguments).pop("stream")
        done: list[Any] = []
        with self._responses.stream(**arguments) as events:
            for event in events:
                if event.type == "response.output_item.done":
                    done.append(event.item)
                if event.type in ("response.completed", "response.incomplete"):
                    return (_read(event.response, event.response.output),)
        return (_read(None, done),)

    def ask_in_vain(self, question: Question) -> Raised:
        return raised(lambda: self.ask(question))

    def unsaid(self, question: Question) -> tuple[str, ...]:
        from openai.types.responses import response_create_params as params

        forms = (params.ResponseCreateParamsNonStreaming, params.ResponseCreateParamsStreaming)
        return tuple(strangers(question.body, forms[question.streamed]))


def _read(response: Any, output: list[Any]) -> Said:
    parts: list[Words] = []
    for item in output:
        match item.type:
            case "message":
                parts += [
                    ("refusal", part.refusal) if part.type == "refusal" else ("text", part.text)
                    for part in item.content
                ]
            case "reasoning":
                parts += [("reasoning", part.text) for part in item.content or item.summary]
            case "function_call":
                parts.append(call(item.call_id, item.name, item.arguments))
            case kind:
                raise AssertionError(kind)
    told = said(parts, ordered=True)
    if response is None:
        return Said(told, None)
    return Said(told, _finish(response, told), _usage(response.usage), response.id, response.model)


def _finish(response: Any, told: tuple[Words, ...]) -> str | None:
    if response.status == "incomplete":
        return FINISHES[response.incomplete_details.reason]
    assert response.status == "completed"
    return "tool_calls" if any(words[0] == "call" for words in told) else "stop"


def _usage(usage: Any) -> Usage | None:
    return usage and Usage(
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        cached_tokens=usage.input_tokens_details.cached_tokens,
        cache_write_tokens=getattr(usage.input_tokens_details, "cache_write_tokens", None),
        reasoning_tokens=usage.output_tokens_details.reasoning_tokens,
    )

"""openai-python over Responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Usage, WireName
from conformance.wires import ErrorInfo

from .openai_common import arguments_of, raised
from .oracle import IN_STREAM, Question, Raised
from .said import Said, Words, call, said
from .typed import strangers

FINISHES = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""The canonical words of ``incomplete_details.reason``."""

PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
}
"""Events that tell a piece of a text, of a stream that ends before its last."""


class _ErrorEvent(Exception):
    """An event ``error`` came."""


class ResponsesSdk:
    """``client.responses``, with the SDK's strict validation of answers."""

    wire: WireName = "openai-responses"
    ordered = True
    identified = True

    def __init__(self, client: Any) -> None:
        self._responses = client.responses

    def ask(self, question: Question) -> tuple[Said, ...]:
        if not question.streamed:
            response = self._responses.create(**arguments_of(self._responses.create, question.body))
            return (_read(response),)
        arguments = arguments_of(self._responses.stream, question.body)
        so_far: list[Words] = []
        with self._responses.stream(**arguments) as events:
            for event in events:
                if event.type in PIECES:
                    so_far.append((PIECES[event.type], event.delta))
                if event.type == "response.output_item.done" and event.item.type == "function_call":
                    so_far.append(call(event.item.call_id, event.item.name, event.item.arguments))
                if event.type == "error":
                    raise _ErrorEvent(event)
                if event.type in ("response.completed", "response.incomplete"):
                    return (_read(event.response),)
        return (Said(said(so_far, ordered=True), None),)

    def ask_in_vain(self, question: Question) -> Raised:
        """The SDK hands the event ``error`` of a stream to its user like any other, and ends."""
        try:
            return raised(lambda: self.ask(question))
        except _ErrorEvent as error:
            (event,) = error.args
            info = ErrorInfo(event.message, event.type, event.code, event.param)
            return Raised(type(event).__name__, IN_STREAM, info)

    def unsaid(self, question: Question) -> tuple[str, ...]:
        from openai.types.responses import response_create_params as params

        forms = (params.ResponseCreateParamsNonStreaming, params.ResponseCreateParamsStreaming)
        return tuple(strangers(question.body, forms[question.streamed]))

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """As it is: the SDK sends what it is given."""
        return body


def _read(response: Any) -> Said:
    parts: list[Words] = []
    for item in response.output:
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

"""Chat completions and their streams, written from a canonical turn.

This is the suite's second, independent reading of OpenAI's specification (openai/openai-openapi,
``CreateChatCompletionResponse`` and ``CreateChatCompletionStreamResponse``): it shares no code with
the wire that decodes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.simulator import chance
from conformance.simulator.answer import (
    JSON_TYPE,
    STREAM_TYPE,
    Action,
    Actions,
    Event,
    Head,
    Pause,
    Respond,
)
from conformance.simulator.request import ChatRequest
from conformance.simulator.tokens import groups, tokens
from conformance.simulator.turns import count, spent
from conformance.types import Reasoning, Refusal, Text, ToolCall, Turn

_FINGERPRINT = "fp_reference"


def fresh_id(prefix: str, length: int) -> str:
    """``prefix`` and that many random letters and digits."""
    return prefix + chance.letters(length)


def write(turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
    """The honest answer: ``turn`` as each of the ``n`` choices, ``gap_s`` seconds between events."""
    choices = [_with_fresh_ids(turn) for _ in range(request.n)]
    if request.stream:
        return _stream(choices, request, gap_s)
    return [Respond(200, JSON_TYPE, _completion(choices, request))]


def _with_fresh_ids(turn: Turn) -> Turn:
    parts = tuple(
        ToolCall(fresh_id("call_", 24), part.name, part.arguments) if isinstance(part, ToolCall) else part
        for part in turn.parts
    )
    return replace(turn, parts=parts)


def _envelope(kind: str, request: ChatRequest) -> dict[str, Any]:
    return {
        "id": fresh_id("chatcmpl-", 29),
        "object": kind,
        "created": chance.now_s(),
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def _usage(choices: Sequence[Turn], request: ChatRequest) -> dict[str, Any]:
    completion = sum(spent(turn) for turn in choices)
    reasoning = sum(count(p for p in turn.parts if isinstance(p, Reasoning)) for turn in choices)
    return {
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": request.prompt_tokens + completion,
        "prompt_tokens_details": {"cached_tokens": request.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


# ---------------------------------------------------------------------------------------- completion


def _completion(choices: Sequence[Turn], request: ChatRequest) -> dict[str, Any]:
    written = [
        {
            "index": index,
            "message": _message(turn),
            "logprobs": _logprobs(_content_tokens(turn), request),
            "finish_reason": turn.finish_reason,
        }
        for index, turn in enumerate(choices)
    ]
    return {**_envelope("chat.completion", request), "choices": written, "usage": _usage(choices, request)}


def _message(turn: Turn) -> dict[str, Any]:
    silent = bool(turn.calls or turn.refusal) and not turn.text
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if silent else turn.text,
        "refusal": turn.refusal or None,
        "annotations": [],
    }
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    return message


def _content_tokens(turn: Turn) -> list[str]:
    return [token for part in turn.parts if isinstance(part, Text) for token in tokens(part.text)]


def _logprobs(content: Sequence[str], request: ChatRequest) -> dict[str, Any] | None:
    if not request.logprobs:
        return None
    entries = []
    for token in content:
        rivals = [token, *(f"{token}{i}" for i in range(1, 20))][: request.top_logprobs]
        top = [_logprob(rival, -0.01 - 2.0 * i) for i, rival in enumerate(rivals)]
        entries.append({**_logprob(token, -0.01), "top_logprobs": top})
    return {"content": entries, "refusal": None}


def _logprob(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "logprob": value, "bytes": list(token.encode())}


# -------------------------------------------------------------------------------------------- stream


def _stream(choices: Sequence[Turn], request: ChatRequest, gap_s: float) -> Iterator[Action]:
    envelope = _envelope("chat.completion.chunk", request)
    if request.include_usage:
        envelope["usage"] = None
    usage = _usage(choices, request)
    yield Head(200, STREAM_TYPE, cost=usage)
    for index, turn in enumerate(choices):
        for delta, shown in _deltas(turn):
            choice = _chunk(index, delta, _logprobs_of(shown, request), None)
            padding = {"obfuscation": _padding(delta)} if request.obfuscate else {}
            yield Event({**envelope, "choices": [choice], **padding})
            yield Pause(gap_s)
        yield Event({**envelope, "choices": [_chunk(index, {}, None, turn.finish_reason)]})
    if request.include_usage:
        yield Event({**envelope, "choices": [], "usage": usage})
    yield Event("[DONE]")


def _padding(delta: Any) -> str:
    """Letters that hide the length of a delta (``include_obfuscation`` in the schema)."""
    return fresh_id("", 16 - len(str(delta)) % 16)


def _chunk(index: int, delta: Any, logprobs: Any, finish_reason: str | None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish_reason}


def _logprobs_of(shown: Sequence[str], request: ChatRequest) -> dict[str, Any] | None:
    return _logprobs(shown, request) if shown else None


def _deltas(turn: Turn) -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
    """Each delta with the content tokens it shows, in the order of the turn's parts."""
    silent = bool(turn.calls or turn.refusal) and not turn.text
    yield {"role": "assistant", "content": None if silent else "", "refusal": None}, ()
    position = 0
    for part in turn.parts:
        match part:
            case Text(text):
                for group in groups(tokens(text)):
                    yield {"content": "".join(group)}, group
            case Reasoning(text):
                yield from (({"reasoning_content": piece}, ()) for piece in _pieces(text))
            case Refusal(text):
                yield from (({"refusal": piece}, ()) for piece in _pieces(text))
            case ToolCall(call_id, name, arguments):
                function = {"name": name, "arguments": ""}
                yield _call(index=position, id=call_id, type="function", function=function), ()
                for piece in _pieces(arguments):
                    yield _call(index=position, function={"arguments": piece}), ()
                position += 1
            case _:
                continue


def _pieces(text: str) -> list[str]:
    return ["".join(group) for group in groups(tokens(text))]


def _call(**members: Any) -> dict[str, Any]:
    return {"tool_calls": [members]}

"""Messages and their streams, written from a canonical turn.

This is the suite's second, independent reading of Anthropic's specification (the types of
anthropic-sdk-python 2.14.0, the guide "Streaming messages"): it shares no code with the wire that decodes
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.simulator import seal
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
from conformance.simulator.anthropic_request import MessagesRequest
from conformance.simulator.arguments import as_object
from conformance.simulator.chat import fresh_id
from conformance.simulator.tokens import groups, tokens
from conformance.simulator.turns import count, spent
from conformance.types import Part, Reasoning, Refusal, Text, ToolCall, Turn

_REFUSED = {"type": "refusal", "category": None, "explanation": None}


@dataclass(frozen=True, slots=True)
class _Written:
    """A content block, how it starts in a stream, and its deltas there."""

    whole: Mapping[str, Any]
    start: Mapping[str, Any]
    deltas: tuple[Mapping[str, Any], ...] = ()


def write(turn: Turn, request: MessagesRequest, gap_s: float) -> Actions:
    """The honest answer: ``turn`` as a message, ``gap_s`` seconds between the events of its stream."""
    parts = _unprefilled(turn.parts, request.prefill)
    blocks = [block for part in _opened(parts, request) for block in _blocks(part, request)]
    reason = _stop_reason(turn)
    ended = {
        "stop_reason": reason,
        "stop_sequence": turn.native_finish_reason if reason == "stop_sequence" else None,
        "stop_details": _REFUSED if reason == "refusal" else None,
    }
    usage = _usage(replace(turn, parts=parts), request)
    if request.stream:
        return _stream(blocks, ended, usage, request, gap_s)
    message = {
        **_envelope(request),
        "content": [block.whole for block in blocks],
        **ended,
        "usage": usage,
        **_edits(request),
    }
    return [Respond(200, JSON_TYPE, message)]


def _envelope(request: MessagesRequest) -> dict[str, Any]:
    return {"model": request.model, "id": fresh_id("msg_01", 22), "type": "message", "role": "assistant"}


def _unprefilled(parts: tuple[Part, ...], prefill: str) -> tuple[Part, ...]:
    """An answer goes on where the request's last message ends."""
    first = next((part for part in parts if isinstance(part, Text)), None)
    if not prefill or first is None or not first.text.startswith(prefill):
        return parts
    rest = Text(first.text.removeprefix(prefill))
    return tuple(rest if part is first else part for part in parts)


def _opened(parts: tuple[Part, ...], request: MessagesRequest) -> tuple[Part, ...]:
    """A turn that must come back with its thinking has some, be it empty."""
    called = any(isinstance(part, ToolCall) for part in parts)
    if request.opens and called and not isinstance(parts[0], Reasoning):
        return (Reasoning(""), *parts)
    return parts


def _stop_reason(turn: Turn) -> str:
    match turn.finish_reason:
        case "length":
            return "max_tokens"
        case "content_filter":
            return "refusal"
        case _ if turn.calls:
            return "tool_use"
        case _:
            return "end_turn" if turn.native_finish_reason is None else "stop_sequence"


def _usage(turn: Turn, request: MessagesRequest) -> dict[str, Any]:
    cache = request.cache
    thought = count(part for part in turn.parts if isinstance(part, Reasoning))
    return {
        "input_tokens": request.prompt_tokens - cache.read - cache.written,
        "cache_creation_input_tokens": cache.written,
        "cache_read_input_tokens": cache.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": cache.written_5m,
            "ephemeral_1h_input_tokens": cache.written_1h,
        },
        "output_tokens": spent(turn),
        "output_tokens_details": {"thinking_tokens": thought},
        "service_tier": "standard",
        "inference_geo": "global",
    }


def _edits(request: MessagesRequest) -> dict[str, Any]:
    if request.edits is None:
        return {}
    return {"context_management": {"applied_edits": list(request.edits)}}


# -------------------------------------------------------------------------------------------- blocks


def _blocks(part: Part, request: MessagesRequest) -> Iterator[_Written]:
    match part:
        case Reasoning(text):
            yield _thinking(text, request)
        case Text(text) | Refusal(text):
            if text:
                yield _text(text)
        case ToolCall(_, name, arguments):
            yield _tool_use(name, arguments)


def _thinking(text: str, request: MessagesRequest) -> _Written:
    if request.thinking == "redacted":
        block = {"type": "redacted_thinking", "data": seal.sealed("redacted_thinking")}
        return _Written(block, block)
    shown = "" if request.thinking == "omitted" else text
    signature = seal.sealed("thinking", shown)
    return _Written(
        {"type": "thinking", "thinking": shown, "signature": signature},
        {"type": "thinking", "thinking": "", "signature": ""},
        (
            *({"type": "thinking_delta", "thinking": piece} for piece in _pieces(shown)),
            {"type": "signature_delta", "signature": signature},
        ),
    )


def _text(text: str) -> _Written:
    deltas = tuple({"type": "text_delta", "text": piece} for piece in _pieces(text))
    return _Written({"type": "text", "text": text}, {"type": "text", "text": ""}, deltas)


def _tool_use(name: str, arguments: str) -> _Written:
    """A call that was cut off in its arguments has none."""
    given = as_object(arguments)
    block = {
        "type": "tool_use",
        "id": fresh_id("toolu_01", 22),
        "name": name,
        "input": {} if given is None else given,
        "caller": {"type": "direct"},
    }
    pieces = ["", *(_pieces(arguments.strip()) if given is not None else ())]
    deltas = tuple({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
    return _Written(block, {**block, "input": {}}, deltas)


def _pieces(text: str) -> list[str]:
    return ["".join(group) for group in groups(tokens(text))]


# -------------------------------------------------------------------------------------------- stream


def _stream(
    blocks: list[_Written],
    ended: Mapping[str, Any],
    usage: Mapping[str, Any],
    request: MessagesRequest,
    gap_s: float,
) -> Iterator[Action]:
    started = {**usage, "output_tokens": min(1, usage["output_tokens"])}
    del started["output_tokens_details"]
    begun = {
        **_envelope(request),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": started,
    }
    yield Head(200, STREAM_TYPE)
    yield _event("message_start", message=begun)
    yield _event("ping")
    for index, block in enumerate(blocks):
        yield _event("content_block_start", index=index, content_block=block.start)
        for delta in block.deltas:
            yield _event("content_block_delta", index=index, delta=delta)
            yield Pause(gap_s)
        yield _event("content_block_stop", index=index)
    counts = {name: usage[name] for name in usage if name.endswith(("_tokens", "_details"))}
    yield _event("message_delta", delta=dict(ended), usage=counts, **_edits(request))
    yield _event("message_stop")


def _event(name: str, **members: Any) -> Event:
    return Event({"type": name, **members}, name)

"""Messages answers for the tests: canonical turns, and the two ways an endpoint can send them.

Written from Anthropic's API reference, apart from the wire under test, so that one misreading cannot
hide on both sides.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.types import (
    JSON,
    Fact,
    HttpResponse,
    Loss,
    Message,
    Part,
    Reasoning,
    Request,
    Text,
    ToolCall,
    Turn,
    Usage,
)
from conformance.wires.anthropic_messages import AnthropicMessages

A: Any = "anthropic-messages"
WIRE = AnthropicMessages()
JSON_TYPE = (("Content-Type", "application/json"),)
SSE_TYPE = (("Content-Type", "text/event-stream; charset=utf-8"),)

words = st.text(min_size=1, max_size=20)
names = st.sampled_from(["f", "get_weather"])
inputs = st.dictionaries(
    words, st.one_of(words, st.integers(), st.none(), st.lists(words, max_size=2)), max_size=3
)
counts = st.integers(0, 10**6)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def citation(words: str) -> dict[str, Any]:
    return {
        "type": "char_location",
        "cited_text": words,
        "document_index": 0,
        "start_char_index": 0,
        "end_char_index": len(words),
    }


texts = st.builds(Text, words)
cited = st.builds(lambda text, said: Text(text, {A: {"citations": [citation(said)]}}), words, words)
thoughts = st.builds(
    lambda t, s: Reasoning(t, "thinking", {A: {"signature": s}}), st.text(max_size=20), words
)
redacted = st.builds(lambda data: Reasoning("", "redacted_thinking", {A: {"data": data}}), words)
searches = st.builds(
    lambda i, value: Text(
        "", {A: {"@block": {"type": "server_tool_use", "id": i, "name": "web_search", "input": value}}}
    ),
    words,
    inputs,
)
calls = st.builds(lambda name, value: ToolCall("", name, compact(value)), names, inputs)


@st.composite
def contents(draw: st.DrawFn) -> tuple[Part, ...]:
    """An answer's parts in any order, call ids unique."""
    parts = draw(st.lists(st.one_of(texts, cited, thoughts, redacted, searches, calls), max_size=6))
    return tuple(
        replace(part, id=f"toolu_{i}") if isinstance(part, ToolCall) else part for i, part in enumerate(parts)
    )


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    given, said, cached, written = (draw(counts) for _ in range(4))
    prompt = given + cached + written
    return Usage(prompt, said, prompt + said, cached, written, draw(st.one_of(st.none(), counts)))


_REASONS: dict[str, list[str | None]] = {
    "stop": [None, "stop_sequence", "pause_turn"],
    "tool_calls": [None, "end_turn", "pause_turn"],
    "length": [None, "model_context_window_exceeded"],
    "content_filter": [None],
}


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """A regular turn of this wire."""
    parts = draw(contents())
    calls = any(isinstance(part, ToolCall) for part in parts)
    finish = draw(st.sampled_from(["tool_calls" if calls else "stop", "length", "content_filter"]))
    native = draw(st.sampled_from(_REASONS[finish]))
    if native == "stop_sequence":
        parts = (*parts, Text("", {A: {"@message": {"stop_sequence": draw(words)}}}))
    return Turn(
        parts=parts,
        finish_reason=finish,
        usage=draw(usages()),
        id="msg_1",
        model="m",
        native_finish_reason=native,
    )


_OWN_WORDS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def block(part: Part) -> dict[str, Any]:
    """The content block of a part."""
    mine = dict((part.opaque or {}).get(A, {}))
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": json.loads(part.arguments)}
    if isinstance(part, Reasoning):
        if part.spelling == "redacted_thinking":
            return {"type": "redacted_thinking", **mine}
        return {"type": "thinking", "thinking": part.text, **mine}
    assert isinstance(part, Text)
    return dict(mine.get("@block") or {"type": "text", "text": part.text, **mine})


def whole(turn: Turn) -> dict[str, Any]:
    """The answer as one JSON body."""
    usage = turn.usage or Usage()
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    said: list[Part] = []
    members: dict[str, Any] = {}
    for part in turn.parts:
        found = (part.opaque or {}).get(A, {}).get("@message")
        members |= found or {}
        said += [] if found else [part]
    details = {} if usage.reasoning_tokens is None else {"thinking_tokens": usage.reasoning_tokens}
    return {
        "id": turn.id,
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [block(part) for part in said],
        "stop_reason": turn.native_finish_reason or _OWN_WORDS[str(turn.finish_reason)],
        "stop_sequence": None,
        "usage": {
            "input_tokens": (usage.prompt_tokens or 0) - cached - written,
            "output_tokens": usage.completion_tokens,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            **({"output_tokens_details": details} if details else {}),
        },
        **members,
    }


def cut(text: str, chance: random.Random) -> list[str]:
    """The text in one or more pieces."""
    pieces = []
    while text:
        size = chance.randint(1, len(text))
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def events(body: dict[str, Any], chance: random.Random, *, overlapping: bool = False) -> list[dict[str, Any]]:
    """The events that stream a whole answer; pings anywhere. ``overlapping``: blocks at the same time."""
    started = {
        **body,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**body["usage"], "output_tokens": 1},
    }
    queues = [_block_events(i, item, chance) for i, item in enumerate(body["content"])]
    middle: list[dict[str, Any]] = []
    if overlapping:  # starts in order, everything else mixed
        middle += [queue.pop(0) for queue in queues]
        while any(queues):
            middle.append(chance.choice([queue for queue in queues if queue]).pop(0))
    else:
        middle += [event for queue in queues for event in queue]
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": body["stop_sequence"]}
    usage = {"output_tokens": body["usage"]["output_tokens"]}
    out: list[dict[str, Any]] = [{"type": "message_start", "message": started}]
    for event in middle:
        out += [{"type": "ping"}] * chance.choice([0, 0, 1])
        out.append(event)
    return [*out, {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def _block_events(index: int, item: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    start, deltas = dict(item), []
    if item["type"] == "text":
        start["text"] = ""
        deltas += [{"type": "text_delta", "text": piece} for piece in cut(item["text"], chance)]
        for citation in start.pop("citations", ()):
            deltas.append({"type": "citations_delta", "citation": citation})
    elif item["type"] == "thinking":
        start |= {"thinking": "", "signature": ""}
        deltas += [{"type": "thinking_delta", "thinking": piece} for piece in cut(item["thinking"], chance)]
        deltas.append({"type": "signature_delta", "signature": item["signature"]})
    elif "input" in item:
        start["input"] = {}
        pieces = cut(compact(item["input"]), chance) if item["input"] else [""]
        deltas += [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def sse(some: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (str(event["type"]).encode(), json.dumps(event).encode())
        for event in some
    )


def response(body: Any, headers: Any = JSON_TYPE, status: int = 200) -> HttpResponse:
    return HttpResponse(status, headers, body if isinstance(body, bytes) else json.dumps(body).encode())


def answer(*content: Any, **members: Any) -> dict[str, Any]:
    """A whole answer with this content."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    } | members


def assemble(some: Iterable[Any]) -> Turn:
    """The turn of a stream of events (objects, or data as it is)."""
    assembler = WIRE.assembler()
    for event in some:
        assembler.feed(event if isinstance(event, str) else json.dumps(event))
    (turn,) = assembler.turns()
    return turn


def decode(body: Any) -> Turn:
    (turn,) = WIRE.decode(response(body))
    return turn


def facts(found: Iterable[Fact]) -> list[tuple[str, str]]:
    return [(fact.name, fact.path) for fact in found]


def encode(request: Request) -> tuple[dict[str, Any], list[Loss]]:
    losses: list[Loss] = []
    return WIRE.encode(request, model="m", losses=losses), losses


def ask(*messages: Message, **fields: Any) -> Request:
    """A request with ``max_tokens``, which would be a loss without."""
    return Request(messages=messages or (Message.user("hi"),), **{"max_tokens": 100, **fields})


def body_of(*messages: Any, **members: Any) -> dict[str, JSON]:
    given = list(messages) or [{"role": "user", "content": "hi"}]
    return {"model": "m", "messages": given, "max_tokens": 100, **members}

"""Whole exchanges of the ``anthropic-messages`` wire from a few words: the material of its rules' examples.

The defaults are clean. A mapping patches the member it is named for, and ``ABSENT`` takes a member away.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from conformance.rules.eventlists import Event, framed
from conformance.rules.examples import KEY, MODEL, WEATHER_SCHEMA, Exchanges, Patch, dumped, exchange, patched
from conformance.rules.reading import ABSENT
from conformance.types import Ending, Expect, WireName

WIRES: tuple[WireName, ...] = ("anthropic-messages",)
BASE = "https://api.example.com"
CREDENTIALS = {"anthropic-version": "2023-06-01", "x-api-key": KEY}
_sent = partial(exchange, wire="anthropic-messages", base=BASE, credentials=CREDENTIALS)
QUESTION = {"role": "user", "content": "Say hello."}
USAGE: dict[str, Any] = {
    "input_tokens": 9,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 3,
}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
SIGNATURE = "EqQBCkYIARgC"


def tool(name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """A tool of the client's."""
    return {"name": name, "input_schema": WEATHER_SCHEMA, **more}


def text(words: Any = "Hello.", **more: Any) -> dict[str, Any]:
    """A text block."""
    return patched({"type": "text", "text": words}, more)


def tool_use(number: int = 1, **more: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    base = {"type": "tool_use", "id": f"toolu_{number}", "name": "get_weather", "input": {"city": "Oslo"}}
    return patched(base, more)


def thinking(words: Any = "They greet me.", **more: Any) -> dict[str, Any]:
    """A block of reasoning."""
    return patched({"type": "thinking", "thinking": words, "signature": SIGNATURE}, more)


def tool_result(number: int = 1, content: Any = "18 degrees", **more: Any) -> dict[str, Any]:
    """The block that answers a call."""
    return patched({"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content}, more)


def user(*blocks: Any) -> dict[str, Any]:
    """A user message of these blocks."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    """An assistant message of these blocks."""
    return {"role": "assistant", "content": list(blocks)}


def history(*messages: Any) -> dict[str, Any]:
    """What is asked: these messages, with the weather tool."""
    return {"messages": list(messages), "tools": [tool()]}


def message(*blocks: Any, **top: Any) -> dict[str, Any]:
    """A message; one text unless blocks are given."""
    content = list(blocks) or [text()]
    base = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": "tool_use" if _called(content) else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }
    return patched(base, top)


def answer(
    *blocks: Any,
    asked: Patch | None = None,
    raw: bytes | None = None,
    status: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
    **top: Any,
) -> Exchanges:
    """A request and its whole answer; ``top`` patches the message."""
    said = message(*blocks, **top)
    return _exchange(
        _asked(blocks, asked), dumped(said) if raw is None else raw, status, headers, probe, expect, ending
    )


def told(*blocks: Any, **top: Any) -> list[Event]:
    """The events of the stream of a message."""
    content = list(blocks) or [text()]
    whole = message(*content, **top)
    usage = whole.get("usage")
    started = {**usage, "output_tokens": 1} if isinstance(usage, dict) else usage
    begun = {**whole, "content": [], "stop_reason": None, "stop_sequence": None, "usage": started}
    ended = {name: whole.get(name) for name in ("stop_reason", "stop_sequence")}
    events: list[Event] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(content):
        events += _block(index, block)
    return [
        *events,
        {"type": "message_delta", "delta": ended, "usage": usage},
        {"type": "message_stop"},
    ]


def stream(
    events: Sequence[Event | bytes] | None = None,
    *,
    asked: Patch | None = None,
    named: bool = True,
    end: bytes = b"",
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
) -> Exchanges:
    """A request and its streamed answer, which is a short text unless given. ``end`` follows the events."""
    sent = told() if events is None else events
    blocks = [event.get("content_block") for event in sent if isinstance(event, dict)]
    body = b"".join(one if isinstance(one, bytes) else framed(one, named) for one in sent) + end
    asking = _asked([block for block in blocks if block is not None], {"stream": True, **(asked or {})})
    headers = {"content-type": "text/event-stream; charset=utf-8", **(headers or {})}
    return _exchange(asking, body, 200, headers, probe, expect, ending)


def error(
    status: int = 400,
    type: Any = "invalid_request_error",
    *,
    error: Any = None,
    body: Any = None,
    asked: Patch | None = None,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "refusal",
) -> Exchanges:
    """A request that is refused; ``error`` patches the error object, ``body`` replaces all."""
    refused = patched({"type": type, "message": "Bad."}, error or {})
    whole = {"type": "error", "error": refused, "request_id": "req_1"} if body is None else body
    if status == 429:
        headers = {"retry-after": "2", **(headers or {})}
    return _exchange(_asked((), asked), dumped(whole), status, headers, probe, expect)


def models(*entries: Any, status: int = 200, **top: Any) -> Exchanges:
    """A list of models."""
    listed = list(entries) or [entry()]
    ends = {"first_id": listed[0].get("id"), "last_id": listed[-1].get("id")}
    return _sent(
        method="GET",
        path="/v1/models",
        request=None,
        body=dumped(patched({"data": listed, "has_more": False, **ends}, top)),
        status=status,
        headers={"request-id": "req_1", "x-request-id": ABSENT},
        probe="models-list",
    )


def entry(**patch: Any) -> dict[str, Any]:
    """An entry of a list of models."""
    base = {"type": "model", "id": MODEL, "display_name": "Example", "created_at": "2026-01-31T00:00:00Z"}
    return patched(base, patch)


def _exchange(
    asked: dict[str, Any],
    body: bytes,
    status: int,
    headers: Patch | None,
    probe: str | None,
    expect: Expect,
    ending: Ending = "complete",
) -> Exchanges:
    return _sent(
        request=asked,
        body=body,
        status=status,
        headers={"request-id": "req_1", "x-request-id": ABSENT, **(headers or {})},
        path="/v1/messages",
        probe=probe,
        expect=expect,
        ending=ending,
    )


def _asked(blocks: Sequence[Any], asked: Patch | None) -> dict[str, Any]:
    base: dict[str, Any] = {"model": MODEL, "max_tokens": 1024, "messages": [QUESTION]}
    return patched(base | ({"tools": [tool()]} if _called(blocks) else {}), asked or {})


def _called(blocks: Sequence[Any]) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)


def _block(index: int, block: Any) -> list[Event]:
    """The events of one block."""
    if not isinstance(block, dict):
        return [{"type": "content_block_start", "index": index, "content_block": block}]
    empty: dict[str, Any] = dict(block)
    deltas: list[dict[str, Any]] = []
    match block.get("type"):
        case "text":
            empty["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in _halves(block["text"])]
        case "thinking":
            empty |= {"thinking": "", "signature": ""}
            pieces = _halves(block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use":
            empty["input"] = {}
            written = json.dumps(block["input"], ensure_ascii=False)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _halves(written)]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _halves(whole: str) -> list[str]:
    middle = len(whole) // 2
    return [piece for piece in (whole[:middle], whole[middle:]) if piece]

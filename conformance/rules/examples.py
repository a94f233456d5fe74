"""Whole exchanges from a few words: the material of every rule's violating and conforming example.

Each builder has a complete, clean default; what an example is about, it overrides. A mapping patches the
member it is named for, and ``ABSENT`` takes a member away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.rules.reading import ABSENT
from conformance.types import Ending, Exchange, Expect, HttpRequest, HttpResponse, WireName

Exchanges = tuple[Exchange, ...]
Patch = Mapping[str, Any]

BASE = "https://api.example.com/v1"
KEY = "example-key-0123456789"
MODEL = "example-model"
CREATED = 1_764_000_000
USAGE: dict[str, Any] = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
WEATHER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def patched(base: Patch, changes: Patch) -> dict[str, Any]:
    """``base`` with members replaced, and those taken away that are ``ABSENT``."""
    return {k: v for k, v in {**base, **changes}.items() if v is not ABSENT}


def tool(name: str = "get_weather", **function: Any) -> dict[str, Any]:
    """A tool definition."""
    return {"type": "function", "function": {"name": name, "parameters": WEATHER_SCHEMA, **function}}


def call(
    id: Any = "call_1", name: Any = "get_weather", arguments: Any = '{"city":"Oslo"}', **more: Any
) -> Any:
    """A tool call of a whole answer."""
    function = patched({}, {"name": name, "arguments": arguments})
    return patched({"id": id, "type": "function", "function": function}, more)


def answer(
    *,
    asked: Patch | None = None,
    message: Patch | None = None,
    choice: Patch | None = None,
    calls: list[Any] | None = None,
    raw: bytes | None = None,
    status: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
    **top: Any,
) -> Exchanges:
    """A chat request and its whole answer; ``top`` patches the answer's envelope."""
    said: dict[str, Any] = {"role": "assistant", "content": "Hello.", "refusal": None}
    request: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Say hello."}]}
    if calls is not None:
        said |= {"content": None, "tool_calls": calls}
        request |= {"tools": [tool()]}
    one = patched(
        {
            "index": 0,
            "message": patched(said, message or {}),
            "logprobs": None,
            "finish_reason": "stop" if calls is None else "tool_calls",
        },
        choice or {},
    )
    body = patched(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": CREATED,
            "model": MODEL,
            "choices": [one],
            "usage": USAGE,
        },
        top,
    )
    return exchange(
        request=patched(request, asked or {}),
        body=dumped(body) if raw is None else raw,
        status=status,
        headers=headers,
        probe=probe,
        expect=expect,
        ending=ending,
    )


def chunk(**top: Any) -> dict[str, Any]:
    """A chunk without choices, patched."""
    base = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": MODEL,
        "choices": [],
    }
    return patched(base, top)


def piece(finish: Any = None, *, choice: Patch | None = None, **delta: Any) -> dict[str, Any]:
    """A chunk with one choice, whose delta has these members."""
    return chunk(choices=[patched({"index": 0, "delta": delta, "finish_reason": finish}, choice or {})])


def start() -> dict[str, Any]:
    """The chunk that a choice begins with."""
    return piece(role="assistant", content="")


def tool_piece(index: Any = 0, arguments: Any = ABSENT, *, name: Any = ABSENT, **more: Any) -> dict[str, Any]:
    """A chunk with one tool-call delta; a delta with a name is the first of its call."""
    function = patched({}, {"name": name, "arguments": arguments})
    first = {"type": "function"} if name is not ABSENT else {}
    return piece(tool_calls=[patched({"index": index, **first, "function": function}, more)])


def opened(index: Any = 0, **more: Any) -> dict[str, Any]:
    """The first delta of a call."""
    return tool_piece(index, **{"id": f"call_{index}", "name": "get_weather", "arguments": "", **more})


def tool_stream(*pieces: Any, finish: Any = "tool_calls", asked: Patch | None = None) -> Exchanges:
    """A stream of tool-call deltas with everything around them."""
    return stream(start(), *pieces, piece(finish), asked={"tools": [tool()], **(asked or {})})


def stream(
    *chunks: Any,
    asked: Patch | None = None,
    raw: bytes | None = None,
    done: bytes = b"data: [DONE]\n\n",
    status: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
) -> Exchanges:
    """A chat request and its streamed answer. A chunk may be a JSON value or an event's bytes."""
    request = {"model": MODEL, "messages": [{"role": "user", "content": "Say hello."}], "stream": True}
    if not chunks:
        chunks = (start(), piece(content="Hel"), piece(content="lo."), piece("stop"))
    events = [c if isinstance(c, bytes) else b"data: " + dumped(c) + b"\n\n" for c in chunks]
    return exchange(
        request=patched(request, asked or {}),
        body=b"".join(events) + done if raw is None else raw,
        status=status,
        headers={"content-type": "text/event-stream; charset=utf-8", **(headers or {})},
        probe=probe,
        expect=expect,
        ending=ending,
    )


def error(
    status: int = 400,
    *,
    error: Any = None,
    body: Any = None,
    raw: bytes | None = None,
    asked: Any = None,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "refusal",
) -> Exchanges:
    """A chat request that is refused; ``error`` patches the error object, ``body`` replaces all."""
    base = {"message": "Bad.", "type": "invalid_request_error", "param": None, "code": None}
    if status == 429:
        base |= {"type": "requests", "code": "rate_limit_exceeded"}
        headers = {"retry-after": "2", **(headers or {})}
    whole = {"error": patched(base, error or {})} if body is None else body
    return exchange(
        request=patched({"model": MODEL, "messages": []}, asked or {}),
        body=dumped(whole) if raw is None else raw,
        status=status,
        headers=headers,
        probe=probe,
        expect=expect,
    )


def models(*entries: Any, raw: bytes | None = None, **top: Any) -> Exchanges:
    """A list of models."""
    listed = list(entries) or [entry()]
    body = patched({"object": "list", "data": listed}, top)
    return exchange(
        method="GET",
        path="/models",
        request=None,
        body=dumped(body) if raw is None else raw,
        probe="models-list",
    )


def entry(**patch: Any) -> dict[str, Any]:
    """An entry of a list of models."""
    return patched({"id": MODEL, "object": "model", "created": CREATED, "owned_by": "example"}, patch)


def conversation(*exchanges: Exchanges) -> Exchanges:
    """Several exchanges as one run."""
    return tuple(one for several in exchanges for one in several)


def exchange(
    *,
    request: Any,
    body: bytes,
    status: int = 200,
    headers: Patch | None = None,
    method: str = "POST",
    path: str = "/chat/completions",
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
    wire: WireName = "openai-chat",
    base: str = BASE,
    credentials: Patch | None = None,
) -> Exchanges:
    """One exchange, with the headers of a clean one."""
    own = {"authorization": f"Bearer {KEY}"} if credentials is None else credentials
    sent = {"content-type": "application/json", **own}
    got = patched({"content-type": "application/json", "x-request-id": "req_1"}, headers or {})
    return (
        Exchange(
            request=HttpRequest(
                method, base + path, tuple(sent.items()), b"" if request is None else dumped(request)
            ),
            response=HttpResponse(status, tuple(got.items()), body, parts=((12.0, len(body)),)),
            ending=ending,
            wire=wire,
            probe=probe,
            expect=expect,
        ),
    )


def dumped(value: Any) -> bytes:
    """A JSON value as bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

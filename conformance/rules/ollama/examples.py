"""Whole exchanges of the ``ollama`` wire from a few words: the material of its rules' examples.

The defaults are clean. A mapping patches the member it is named for, and ``ABSENT`` takes a member away.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.rules.examples import MODEL, WEATHER_SCHEMA, Exchanges, Patch, dumped, exchange, patched
from conformance.rules.reading import ABSENT
from conformance.types import Ending, Expect, WireName

WIRES: tuple[WireName, ...] = ("ollama",)
BASE = "http://localhost:11434"
CREATED = "2026-01-31T12:00:00.123456789Z"
_sent = partial(exchange, wire="ollama", base=BASE, credentials={})
COUNTS: dict[str, Any] = {
    "total_duration": 90_000_000,
    "load_duration": 20_000_000,
    "prompt_eval_count": 9,
    "prompt_eval_duration": 10_000_000,
    "eval_count": 3,
    "eval_duration": 30_000_000,
}


def tool(name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """A tool definition."""
    return {"type": "function", "function": {"name": name, "parameters": WEATHER_SCHEMA, **more}}


def call(number: int = 1, *, function: Patch | None = None, **more: Any) -> dict[str, Any]:
    """A tool call; ``function`` patches what it calls."""
    base = {"index": number - 1, "name": "get_weather", "arguments": {"city": "Oslo"}}
    return patched({"id": f"call_{number}", "function": patched(base, function or {})}, more)


def user(text: str = "Say hello.", **more: Any) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": text, **more}


def result(text: str = "18 degrees", name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """The message that answers a call."""
    return {"role": "tool", "tool_name": name, "content": text, **more}


def history(*messages: Any) -> dict[str, Any]:
    """What is asked: these messages, with the weather tool."""
    return {"messages": list(messages), "tools": [tool()]}


def said(*calls: Any, **message: Any) -> dict[str, Any]:
    """A message of these calls, or of a short text."""
    base: dict[str, Any] = {"role": "assistant", "content": "" if calls else "Hello."}
    return patched(base | ({"tool_calls": list(calls)} if calls else {}), message)


def chunk(message: Any, *, done: Any = False, **more: Any) -> dict[str, Any]:
    """An object of an answer; the last one, which is ``done``, has the counts."""
    base = {"model": MODEL, "created_at": CREATED, "message": message, "done": done}
    return patched(base | ({"done_reason": "stop", **COUNTS} if done is True else {}), more)


def answer(
    *calls: Any,
    asked: Patch | None = None,
    message: Patch | None = None,
    body: Any = None,
    raw: bytes | None = None,
    status: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
    **top: Any,
) -> Exchanges:
    """A request and its whole answer; ``message`` patches the message, ``top`` the rest, ``body`` all."""
    whole = patched(chunk(said(*calls, **(message or {})), done=True), top) if body is None else body
    return _exchange(
        _asked(calls, False, asked),
        dumped(whole) if raw is None else raw,
        status,
        headers,
        probe,
        expect,
        ending,
    )


def told(*pieces: str, **end: Any) -> list[dict[str, Any]]:
    """The lines of a text, in two pieces unless given, and of its end, which ``end`` patches."""
    texts = [chunk(said(content=piece)) for piece in pieces or ("Hel", "lo.")]
    return [*texts, patched(chunk(said(content=""), done=True), end)]


def stream(
    *chunks: Any,
    asked: Patch | None = None,
    raw: bytes | None = None,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
) -> Exchanges:
    """A request and its streamed answer. A chunk may be the bytes of lines."""
    sent = chunks or tuple(told())
    calls = [
        one
        for part in sent
        if isinstance(part, dict) and isinstance(part.get("message"), dict)
        for one in part["message"].get("tool_calls") or ()
    ]
    body = b"".join(one if isinstance(one, bytes) else dumped(one) + b"\n" for one in sent)
    headers = {"content-type": "application/x-ndjson", **(headers or {})}
    asking = _asked(calls, True, asked)
    return _exchange(asking, body if raw is None else raw, 200, headers, probe, expect, ending)


def error(
    status: int = 400,
    *,
    error: Any = "bad request",
    body: Any = None,
    asked: Patch | None = None,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "refusal",
) -> Exchanges:
    """A request that is refused; ``body`` replaces all."""
    whole = {"error": error} if body is None else body
    return _exchange(_asked((), False, asked), dumped(whole), status, headers, probe, expect)


def listing(*entries: Any, status: int = 200, **top: Any) -> Exchanges:
    """A list of models."""
    body = patched({"models": list(entries) or [entry()]}, top)
    return _elsewhere("GET", "/api/tags", None, body, status, "models-list")


def entry(**patch: Any) -> dict[str, Any]:
    """An entry of a list of models."""
    base = {"name": MODEL, "model": MODEL, "modified_at": CREATED, "size": 4_000_000_000, "digest": "0" * 64}
    return patched({**base, "details": {"family": "example"}}, patch)


def shown(probe: str = "models-retrieve", *, status: int = 200, body: Any = None, **patch: Any) -> Exchanges:
    """What is said of a model."""
    card = {"details": {"family": "example"}, "model_info": {}, "capabilities": ["completion"]}
    document = patched(card, patch) if body is None else body
    return _elsewhere("POST", "/api/show", {"model": MODEL}, document, status, probe)


def _elsewhere(method: str, path: str, asked: Any, body: Any, status: int, probe: str) -> Exchanges:
    return _sent(
        method=method,
        path=path,
        request=asked,
        body=dumped(body),
        status=status,
        headers={"x-request-id": ABSENT},
        probe=probe,
        expect="refusal" if status >= 400 else "answer",
    )


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
        headers={"x-request-id": ABSENT, **(headers or {})},
        path="/api/chat",
        probe=probe,
        expect=expect,
        ending=ending,
    )


def _asked(calls: Any, streams: bool, asked: Patch | None) -> dict[str, Any]:
    base: dict[str, Any] = {"model": MODEL, "messages": [user()], "stream": streams}
    return patched(base | ({"tools": [tool()]} if calls else {}), asked or {})

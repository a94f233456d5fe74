"""Whole exchanges of the ``gemini`` wire from a few words: the material of its rules' examples.

The defaults are clean. A mapping patches the member it is named for, and ``ABSENT`` takes a member away.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.rules.examples import KEY, MODEL, WEATHER_SCHEMA, Exchanges, Patch, dumped, exchange, patched
from conformance.rules.reading import ABSENT
from conformance.types import Ending, Expect, WireName

WIRES: tuple[WireName, ...] = ("gemini",)
BASE = "https://api.example.com"
CREDENTIALS = {"x-goog-api-key": KEY}
USAGE: dict[str, Any] = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
SIGNATURE = "CiEBjz1rX0il"
STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
_exchange = partial(exchange, wire="gemini", base=BASE, credentials=CREDENTIALS)
KEY_INVALID = {
    "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
}


def function(name: str = "get_weather", **more: Any) -> dict[str, Any]:
    """A function declaration."""
    return {"name": name, "parametersJsonSchema": WEATHER_SCHEMA, **more}


def offering(*functions: Any, mode: str | None = None, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """What is asked: these functions (the weather unless given), perhaps in a mode."""
    asked: dict[str, Any] = {"tools": [{"functionDeclarations": list(functions) or [function()]}]}
    if mode:
        config = {"mode": mode, **({"allowedFunctionNames": list(only)} if only else {})}
        asked["toolConfig"] = {"functionCallingConfig": config}
    return asked


def config(**members: Any) -> dict[str, Any]:
    """What is asked: this ``generationConfig``."""
    return {"generationConfig": members}


def text(words: Any = "Hello.", **more: Any) -> dict[str, Any]:
    """A text part."""
    return patched({"text": words}, more)


def thought(words: Any = "They greet me.", **more: Any) -> dict[str, Any]:
    """A part of what the model thought."""
    return patched({"text": words, "thought": True}, more)


def call(number: int = 1, *, part: Patch | None = None, **more: Any) -> dict[str, Any]:
    """A part that calls a function; ``part`` is what stands beside the call."""
    base = {"id": f"fc_{number}", "name": "get_weather", "args": {"city": "Oslo"}}
    return patched({"functionCall": patched(base, more)}, part or {})


def result(number: int = 1, **more: Any) -> dict[str, Any]:
    """A part that answers a call."""
    base = {"id": f"fc_{number}", "name": "get_weather", "response": {"output": "18 degrees"}}
    return {"functionResponse": patched(base, more)}


def user(*parts: Any) -> dict[str, Any]:
    """A content of the user's."""
    return {"role": "user", "parts": list(parts) or [text("Say hello.")]}


def model(*parts: Any) -> dict[str, Any]:
    """A content of the model's."""
    return {"role": "model", "parts": list(parts)}


def history(*contents: Any) -> dict[str, Any]:
    """What is asked: these contents, with the weather function."""
    return {"contents": list(contents), **offering()}


def candidate(*parts: Any, **more: Any) -> dict[str, Any]:
    """A candidate that ended of itself; one text unless parts are given."""
    content = {"role": "model", "parts": list(parts) or [text()]}
    return patched({"content": content, "finishReason": "STOP", "index": 0}, more)


def response(*candidates: Any, **top: Any) -> dict[str, Any]:
    """A response."""
    base = {
        "candidates": list(candidates) or [candidate()],
        "usageMetadata": USAGE,
        "modelVersion": MODEL,
        "responseId": "r_1",
    }
    return patched(base, top)


def said(*parts: Any, finish: Any = ABSENT, **top: Any) -> dict[str, Any]:
    """A chunk with these parts of the one candidate."""
    return response(candidate(*parts, finishReason=finish), **top)


def answer(
    *parts: Any,
    asked: Patch | None = None,
    more: Patch | None = None,
    body: Any = None,
    raw: bytes | None = None,
    status: int = 200,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    query: str = "",
    **top: Any,
) -> Exchanges:
    """A request and its whole answer with these parts.

    ``more`` patches the candidate, ``top`` the response; ``body`` replaces it.
    """
    whole = response(candidate(*parts, **(more or {})), **top) if body is None else body
    return _exchange(
        request=_asked(parts, asked),
        body=dumped(whole) if raw is None else raw,
        status=status,
        headers=_headers(headers),
        path=f"/v1beta/models/{MODEL}:generateContent{query}",
        probe=probe,
        expect=expect,
    )


def told(*pieces: str, **top: Any) -> list[dict[str, Any]]:
    """The chunks of a text, in two unless given."""
    pieces = pieces or ("Hel", "lo.")
    last = len(pieces) - 1
    return [
        said(text(piece), **({"finish": "STOP"} if place == last else {}), **top)
        for place, piece in enumerate(pieces)
    ]


def stream(
    *chunks: Any,
    asked: Patch | None = None,
    raw: bytes | None = None,
    array: bool = False,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "answer",
    ending: Ending = "complete",
) -> Exchanges:
    """A request and its streamed answer, as events or as an array. A chunk may be an event's bytes."""
    sent = chunks or tuple(told())
    parts = [
        part
        for chunk in sent
        if isinstance(chunk, dict)
        for one in chunk.get("candidates") or ()
        for part in one.get("content", {}).get("parts", ())
    ]
    events = [one if isinstance(one, bytes) else b"data: " + dumped(one) + b"\r\n\r\n" for one in sent]
    body = b"[" + b"\n,\r\n".join(map(dumped, sent)) + b"\n]" if array else b"".join(events)
    kind = "application/json" if array else "text/event-stream"
    return _exchange(
        request=_asked(parts, asked),
        body=body if raw is None else raw,
        headers=_headers({"content-type": kind, **(headers or {})}),
        path=f"/v1beta/models/{MODEL}:streamGenerateContent" + ("" if array else "?alt=sse"),
        probe=probe,
        expect=expect,
        ending=ending,
    )


def error(
    status: int = 400,
    *,
    error: Patch | None = None,
    body: Any = None,
    asked: Patch | None = None,
    headers: Patch | None = None,
    probe: str | None = None,
    expect: Expect = "refusal",
) -> Exchanges:
    """A request that is refused; ``error`` patches the error object, ``body`` replaces all."""
    refused = {"code": status, "message": "Bad.", "status": STATUSES.get(status, "UNKNOWN")}
    whole = {"error": patched(refused, error or {})} if body is None else body
    return answer(body=whole, status=status, asked=asked, headers=headers, probe=probe, expect=expect)


def listing(
    *entries: Any, one: str = "", status: int = 200, probe: str = "models-list", **top: Any
) -> Exchanges:
    """A list of models, or what is said of ``one``."""
    body = patched({"models": list(entries) or [entry()]}, top)
    return _exchange(
        method="GET",
        path="/v1beta/models" + (f"/{one}" if one else ""),
        request=None,
        body=dumped(entries[0] if one else body),
        status=status,
        headers=_headers(None),
        probe=probe,
        expect="refusal" if status >= 400 else "answer",
    )


def entry(**patch: Any) -> dict[str, Any]:
    """An entry of a list of models."""
    methods = ["generateContent", "streamGenerateContent"]
    base = {"name": f"models/{MODEL}", "version": "001", "supportedGenerationMethods": methods}
    return patched(base, patch)


def _asked(parts: Any, asked: Patch | None) -> dict[str, Any]:
    calls = any(isinstance(part, dict) and "functionCall" in part for part in parts)
    thinks = any(isinstance(part, dict) and part.get("thought") for part in parts)
    base: dict[str, Any] = {"contents": [user()], **(offering() if calls else {})}
    if thinks:
        base["generationConfig"] = {"thinkingConfig": {"includeThoughts": True}}
    return patched(base, asked or {})


def _headers(headers: Patch | None) -> dict[str, Any]:
    return {"content-type": "application/json; charset=UTF-8", "x-request-id": ABSENT, **(headers or {})}

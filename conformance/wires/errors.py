"""Error bodies, whatever shape a provider gives them, in one form.

Shapes: ``{"error": {...}}`` (OpenAI and most others; ``code`` is an integer at OpenRouter, llama.cpp and
Perplexity; Gemini says ``status`` for ``type``), ``{"error": "text"}`` (Ollama, Venice; xAI beside
``code``; TGI beside ``error_type``), ``{"object": "error", "message"}`` (vLLM, Mistral), ``{"detail"}``
(FastAPI and what is built on it), ``{"message"}`` (Bedrock, Cohere, Doubleword), ``{"errors": [...]}``
(Cloudflare), an array around any of them (Gemini), a response of status ``failed`` (OpenAI Responses, in a
stream inside ``response.failed``), and plain text or HTML from whatever stands in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.transport.sse import parse as parse_events
from conformance.types import HttpResponse
from conformance.wires.body import compact, is_stream, parse

MAX_MESSAGE = 2000
"""Longest message kept, in characters."""


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An endpoint's error in OpenAI's terms. ``message`` is capped; ``""`` when the body says nothing."""

    message: str
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


def error_of(response: HttpResponse) -> ErrorInfo | None:
    """What went wrong, in the endpoint's words.

    From status 300 on always something; below only what says plainly that it is an error: a body or
    an event with ``error`` in it, ``"object": "error"`` or ``"type": "error"``.
    """
    refused = response.status >= 300
    if is_stream(response):
        for event in parse_events(response.body).events:
            try:
                found = error_in(parse(event.data))
            except ValueError:
                continue
            if found is not None:
                return found
        return ErrorInfo(_text(response)) if refused else None
    try:
        value = parse(response.body.decode("utf-8-sig", "replace"))
    except ValueError:
        return ErrorInfo(_text(response)) if refused else None
    found = error_in(value)
    if found is None and refused:
        found = _loose(value) or ErrorInfo(_text(response))
    return found


def error_in(value: Any) -> ErrorInfo | None:
    """The error that a JSON value plainly declares itself to be, or ``None``."""
    if isinstance(value, list):
        return error_in(value[0]) if len(value) == 1 and isinstance(value[0], dict) else None
    if not isinstance(value, dict):
        return None
    inner = value.get("error")
    if isinstance(inner, dict) and inner:
        return _info(inner)
    if isinstance(inner, str) and inner:
        kind = value.get("type") or value.get("error_type")
        return _info({**value, "message": inner, "type": kind})
    if value.get("object") == "error" or value.get("type") == "error":
        return _loose(value)
    if value.get("type") == "response.failed" and isinstance(value.get("response"), dict):
        return error_in(value["response"]) or ErrorInfo("")
    if value.get("object") == "response" and value.get("status") == "failed":
        return ErrorInfo("")
    return None


def _loose(value: Any) -> ErrorInfo | None:
    """Shapes that mean an error only because the status says so."""
    if isinstance(value, list):
        return _loose(value[0]) if value else None
    if not isinstance(value, dict):
        return None
    errors, detail = value.get("errors"), value.get("detail")
    if isinstance(errors, list) and errors and isinstance(errors[0], dict):
        return _info(errors[0])
    if isinstance(detail, str) and detail:
        return _info({**value, "message": detail})
    if isinstance(detail, dict) and detail:
        return error_in(detail) or _info(detail)
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        first = detail[0]  # pydantic's own: loc (a path), msg, type
        where = first.get("loc")
        param = ".".join(map(str, where)) if isinstance(where, list) else None
        return _info({"message": first.get("msg"), "type": first.get("type"), "param": param})
    return _info(value)


def _info(error: dict[str, Any]) -> ErrorInfo:
    message, kind, code, param = (error.get(k) for k in ("message", "type", "code", "param"))
    param = _violated(error.get("details")) if param is None else param
    if not isinstance(kind, str):
        kind = error.get("status")
    return ErrorInfo(
        message=(message if isinstance(message, str) else compact(message or error))[:MAX_MESSAGE],
        type=kind if isinstance(kind, str) else None,
        code=code if isinstance(code, str | int) and not isinstance(code, bool) else None,
        param=param if isinstance(param, str) else None,
    )


def _violated(details: Any) -> Any:
    """The field of the first violation that Google's ``details`` tell of (google.rpc.BadRequest)."""
    for detail in details if isinstance(details, list) else ():
        violations = detail.get("fieldViolations") if isinstance(detail, dict) else None
        if isinstance(violations, list) and violations and isinstance(violations[0], dict):
            return violations[0].get("field")
    return None


def _text(response: HttpResponse) -> str:
    head = response.body[: 4 * MAX_MESSAGE].decode("utf-8-sig", "replace")
    return head.strip()[:MAX_MESSAGE]

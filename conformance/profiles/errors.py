"""Errors in OpenAI's form, and what they mean for a client, whatever form they came in."""

from __future__ import annotations

import re
from typing import Any

from conformance.types import HttpResponse
from conformance.wires.body import compact
from conformance.wires.errors import ErrorInfo, error_in, error_of

_TOO_LONG = re.compile(
    r"exceeds the maximum number of tokens|maximum context length"
    r"|context[_ ](?:length|window|size)|prompt is too long|input (?:is )?too long"
    r"|range of input length|(?:input|prompt) (?:tokens? )?(?:length )?exceeds?|too many tokens"
    r"|exceeds? the (?:available )?context|\bcontext is \d+ tokens",
    re.IGNORECASE,
)
"""How OpenAI, Alibaba, Vercel, Anthropic, Gemini and llama.cpp say that a prompt is too long."""

_BY_WORD: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"rate[_ -]?limit|too many requests|quota|throttl|resource_exhausted", re.IGNORECASE), 429),
    (re.compile(r"overload|capacity|unavailable|busy", re.IGNORECASE), 503),
    (re.compile(r"timed? ?out|timeout|deadline", re.IGNORECASE), 504),
    (re.compile(r"unauthori[sz]ed|authentication|api[_ ]key", re.IGNORECASE), 401),
    (re.compile(r"permission|forbidden", re.IGNORECASE), 403),
    (re.compile(r"not[_ ]found", re.IGNORECASE), 404),
    (re.compile(r"invalid|bad[_ ]request|unsupported|context_length", re.IGNORECASE), 400),
)
"""The status that an error means by its code or type, where it names none."""
SERVER_FAILED = 502
_SAYS_LITTLE = (None, "400", "invalid_parameter_error", "INVALID_ARGUMENT", "invalid_request_error")
"""Codes that a prompt of any fault gets."""
_PARAM_IN_WORDS = re.compile(
    r"\b(?:parameter|param|field|property|argument|value for|type for)s?:? "
    r"['\"`]([A-Za-z_][\w.\[\]]{0,99})['\"`]",
    re.IGNORECASE,
)
"""How messages name the member that is at fault."""
_MEMBERS = re.compile(r"\b(messages|tools|temperature|max_tokens|stream_options|tool_choice)\b")
_CODE_IN_WORDS = re.compile(r"\((\d{4})\)\s*$")
"""MiniMax ends its messages with its own code."""


def promoted(info: ErrorInfo, document: Any = None) -> int:
    """The HTTP status that an error in a 200 means: the one it names, else the one that its words mean."""
    inner = _inner(document)
    for said in (info.code, inner.get("http_code"), inner.get("status"), inner.get("status_code")):
        number = _status(said)
        if number is not None:
            return number
    words = f"{info.code or ''} {info.type or ''}"
    for pattern, status in _BY_WORD:
        if pattern.search(words):
            return status
    return next((status for pattern, status in _BY_WORD[:3] if pattern.search(info.message)), SERVER_FAILED)


def _status(said: Any) -> int | None:
    if isinstance(said, str) and len(said) == 3 and said.isdecimal():
        said = int(said)
    return said if isinstance(said, int) and not isinstance(said, bool) and 400 <= said <= 599 else None


def _inner(document: Any) -> dict[str, Any]:
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    inner = document.get("error") if isinstance(document, dict) else None
    return inner if isinstance(inner, dict) else {}


def in_openais_form(status: int, document: Any) -> tuple[int, Any]:
    """An error's status and its document: an object whose ``error`` has message, type, param and code.

    A 200 that holds an error gets the status that the error means. What is of that form stays itself; so does
    what is no error.
    """
    info = info_of(status, document)
    if info is None:
        return status, document
    if status < 300:
        status = promoted(info, document)
    return status, document if _is_openais(document) else {"error": _error(info)}


def info_of(status: int, document: Any) -> ErrorInfo | None:
    """What a document says went wrong; ``None`` where it says nothing of the kind."""
    if status < 300:
        return error_in(document)
    return error_of(HttpResponse(status, (), compact(document).encode("utf-8", "replace")))


def _is_openais(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("error"), dict):
        return False
    error = document["error"]
    return (
        "choices" not in document
        and isinstance(error.get("message"), str)
        and isinstance(error.get("type"), str)
        and all(key in error and isinstance(error[key], str | None) for key in ("param", "code"))
        and not (_TOO_LONG.search(error["message"]) and error["code"] in _SAYS_LITTLE)
    )


def _named(message: str) -> str | None:
    """The member of the request that a message says is at fault."""
    told = _PARAM_IN_WORDS.search(message)
    if told is not None:
        return told[1]
    members = set(_MEMBERS.findall(message))
    return members.pop() if len(members) == 1 else None


def _error(info: ErrorInfo) -> dict[str, Any]:
    code = None if info.code is None else str(info.code)
    told = _CODE_IN_WORDS.search(info.message)
    if code is None and told:
        code = told[1]
    if _TOO_LONG.search(info.message) and code in _SAYS_LITTLE:
        code = "context_length_exceeded"
    return {
        "message": info.message,
        "type": info.type or "invalid_request_error",
        "param": info.param or _named(info.message),
        "code": code,
    }

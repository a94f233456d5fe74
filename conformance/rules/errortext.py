"""What an error body says, whatever its shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

TELLING = frozenset(
    {"code", "detail", "details", "error", "errors", "loc", "message", "msg", "param", "type"}
)
"""Members in which servers say why they refuse; others (pydantic's ``input``, ``ctx``) echo the request."""
ECHO = re.compile(r"""['"](?:input|ctx)['"]\s*:.*""", re.DOTALL)
SHORT = 300
MAX_BODY = 1_000_000


def error_text(body: bytes) -> str:
    """What an error body says, in one line: its messages where it is JSON, else its beginning."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())[:500]
    return " ".join(_strings(data, 0))[:500]


def refusal_text(body: bytes, asked: bytes) -> str:
    """What an error body itself says, in one line of at most 2,000 characters, without what it echoes.

    Of JSON only the members count that are ``TELLING`` (a ``loc`` reads as ``body.tools``); a text of more
    than 300 characters that repeats a message of the request ``asked`` says nothing.
    """
    text = body[:MAX_BODY].decode("utf-8", "replace")
    try:
        said = [*_told(json.loads(text), 0)]
    except (ValueError, RecursionError):
        said = [text]
    own = _own_texts(asked)
    said = [ECHO.sub("", one) for one in said]
    kept = (one for one in said if len(one) <= SHORT or not any(text in one for text in own))
    return " ".join(" ".join(kept).split())[:2_000]


def _told(data: object, depth: int) -> Iterable[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict) and depth < 6:
        for name, value in data.items():
            if name == "loc" and isinstance(value, list):
                yield ".".join(str(step) for step in value if isinstance(step, str | int))
            elif name in TELLING:
                yield from _told(value, depth + 1)
    elif isinstance(data, list) and depth < 6:
        for value in data[:20]:
            yield from _told(value, depth + 1)


def _own_texts(asked: bytes) -> list[str]:
    try:
        request = json.loads(asked)
    except (ValueError, RecursionError):
        return []
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list):
        return []
    contents = (one.get("content") for one in messages if isinstance(one, dict))
    return [one for one in contents if isinstance(one, str) and one.strip()]


def _strings(data: object, depth: int) -> Iterable[str]:
    if isinstance(data, str):
        yield " ".join(data.split())
    elif isinstance(data, dict) and depth < 6:
        for value in data.values():
            yield from _strings(value, depth + 1)
    elif isinstance(data, list) and depth < 6:
        for value in data[:20]:
            yield from _strings(value, depth + 1)

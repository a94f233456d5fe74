"""Response bodies as they come: what a body is, its text and events, and JSON read without surprises."""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from conformance.transport.sse import parse as parse_events
from conformance.types import HttpResponse, Turn

MAX_DEPTH = 200
"""Deepest nesting that ``parse`` accepts: far beyond any answer, far below Python's recursion limit."""

_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
_SSE_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")


def is_stream(response: HttpResponse) -> bool:
    """True for server-sent events, by the bytes first and the content type second.

    An error object under ``text/event-stream`` is JSON; events under ``application/json`` are a stream.
    """
    if _JSON_START.match(response.body):
        return False
    if _SSE_START.match(response.body):
        return True
    return (response.header("content-type") or "").lower().strip().startswith("text/event-stream")


class _Assembler(Protocol):
    def feed(self, event_data: str) -> None: ...

    def turns(self) -> tuple[Turn, ...]: ...


def assembled(assembler: _Assembler, body: bytes) -> tuple[Turn, ...]:
    """The turns of a body that is server-sent events.

    An event that the end of the body cut is not read: no client gets it.
    """
    for event in parse_events(body).events:
        assembler.feed(event.data)
    return assembler.turns()


def text_in(body: bytes) -> tuple[str, str]:
    """A body's text, and where it is not UTF-8 (``byte 7``, read as U+FFFD), ``""`` where all of it is."""
    try:
        return body.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        return body.decode("utf-8-sig", "replace"), f"byte {error.start}"


def parse(text: str) -> Any:
    """JSON, as leniently as Python reads it: NaN and repeated keys pass, any size of number does.

    Raises ``ValueError``, and nothing else, for what is not JSON or is nested deeper than ``MAX_DEPTH``.
    """
    try:
        value = json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise ValueError("nested too deeply")
    return value


def compact(value: Any) -> str:
    """JSON without spaces, characters unescaped, keys in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # Python refuses integers of thousands of digits (sys.set_int_max_str_digits)
        return float(digits)


def _deeper_than(value: Any, limit: int) -> bool:
    level: list[Any] = [value]
    for _ in range(limit):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += [v for v in item.values() if isinstance(v, dict | list)]
            elif isinstance(item, list):
                below += [v for v in item if isinstance(v, dict | list)]
        if not below:
            return False
        level = below
    return True

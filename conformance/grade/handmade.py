"""Recordings that somebody changed by hand: what contradicts itself in them is no evidence."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from conformance.grade.recorded import Recorded

Headers = tuple[tuple[str, str], ...]

_CREATED = re.compile(rb'"created(?:_at)?"\s{0,9}:\s{0,9}(\d{9,10})\b')
_DAY = timedelta(days=1)
_SLACK = 64
"""Bytes by which recorders change a body when they hide what is private in it."""


def composed(recorded: Recorded) -> str | None:
    """Why head and body of an answer are not of one answer; ``None`` where nothing says so.

    A body that was created a day before or after its Date, unless a cache says that it had it; a
    Content-Length that is far more than the body. It may be far less: of the body before it was unpacked.
    """
    exchange = recorded.exchange
    response = exchange.response
    if response is None or exchange.ending != "complete" or not {"headers", "values"} <= recorded.kept:
        return None
    if exchange.request.method.upper() == "POST" and not _cached(response.headers):
        sent = _date(response.headers)
        created = [int(found[1]) for found in _CREATED.finditer(response.body)]
        if sent is not None and created:
            nearest = min((datetime.fromtimestamp(at, UTC) - sent for at in created), key=abs)
            if abs(nearest) > _DAY:
                return f"put together by hand: the body is {abs(nearest).days} days from its Date"
    length = _length(response.headers)
    if "spelling" in recorded.kept and length is not None and length > len(response.body) + _SLACK:
        return "put together by hand: its Content-Length is that of another body"
    return None


def request_changed(recorded: Recorded) -> bool:
    """Whether the body of a request is not the one that was sent: its Content-Length is another's.

    JSON that the recorder wrote anew, with or without white space, is the same body.
    """
    request = recorded.exchange.request
    length = _length(request.headers)
    if not request.body or length in (None, len(request.body)):
        return False
    try:
        value = json.loads(request.body)
        return all(
            length != len(json.dumps(value, ensure_ascii=escaped, separators=separators).encode())
            for escaped in (False, True)
            for separators in ((",", ":"), (", ", ": "))
        )
    except (ValueError, RecursionError):
        return True


def _header(headers: Headers, name: str) -> str | None:
    return next((value for key, value in headers if key.lower() == name), None)


def _cached(headers: Headers) -> bool:
    return any(
        key.lower() == "age" or ("cache" in key.lower() and "hit" in value.lower()) for key, value in headers
    )


def _date(headers: Headers) -> datetime | None:
    try:
        sent = parsedate_to_datetime(_header(headers, "date") or "")
        return sent if sent.tzinfo else sent.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _length(headers: Headers) -> int | None:
    text = _header(headers, "content-length") or ""
    packed = _header(headers, "content-encoding") is not None
    return int(text) if not packed and len(text) < 12 and text.isascii() and text.isdigit() else None

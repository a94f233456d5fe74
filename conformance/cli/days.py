"""On what day an answer was given, by what it says itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from conformance.types import HttpResponse

FIRST_YEAR = 2022
"""A time before is none: recorders that scrub write 0."""

_CREATED = ("created", "created_at", "createTime")
"""Members that tell when an answer was made, on whatever wire; of a Responses stream in ``response``."""

_HEAD = 64 * 1024  # bytes of a body in which the time is looked for


def sent_on(response: HttpResponse | None) -> str | None:
    """The day on which an answer was sent (``2025-11-24``), by its ``Date``."""
    try:
        return _day(parsedate_to_datetime((response and response.header("date")) or ""))
    except (ValueError, OverflowError):
        return None


def made_on(body: bytes) -> str | None:
    """The day on which an answer was made, by a time in its body."""
    for line in body[:_HEAD].splitlines() if b"data:" in body[:_HEAD] else (body,):
        try:
            value = json.loads(line.removeprefix(b"data:"))
        except (ValueError, RecursionError):
            continue
        value = value[0] if isinstance(value, list) and value else value
        value = value.get("response", value) if isinstance(value, dict) else {}
        times = [value.get(name) for name in _CREATED] if isinstance(value, dict) else []
        if (day := next(filter(None, map(_told, times)), None)) is not None:
            return day
    return None


def _told(time: Any) -> str | None:
    try:
        if isinstance(time, str):
            return _day(datetime.fromisoformat(time))
        return _day(datetime.fromtimestamp(time, UTC)) if type(time) in (int, float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _day(time: datetime) -> str | None:
    return time.date().isoformat() if time.year >= FIRST_YEAR else None

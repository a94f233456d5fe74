"""What an error body says, whatever its shape."""

from __future__ import annotations

import json
from collections.abc import Iterable


def error_text(body: bytes) -> str:
    """What an error body says, in one line: its messages where it is JSON, else its beginning."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())[:500]
    return " ".join(_strings(data, 0))[:500]


def _strings(data: object, depth: int) -> Iterable[str]:
    if isinstance(data, str):
        yield " ".join(data.split())
    elif isinstance(data, dict) and depth < 6:
        for value in data.values():
            yield from _strings(value, depth + 1)
    elif isinstance(data, list) and depth < 6:
        for value in data[:20]:
            yield from _strings(value, depth + 1)

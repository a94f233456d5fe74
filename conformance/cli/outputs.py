"""Output that any terminal and any parser takes, whatever an endpoint or a file said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.types import JSON


def as_json(value: JSON) -> str:
    """JSON with its characters unescaped, unless one of them is half a surrogate pair."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=1)
    return text


def one_line(text: str) -> str:
    """The text with what would break or hide the line escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)

"""Arguments as values, where they are not sent as text."""

from __future__ import annotations

import json
import math
from typing import Any


def as_object(arguments: str) -> dict[str, Any] | None:
    """The object that ``arguments`` spells, an empty one for none; ``None`` for anything else.

    What JSON in UTF-8 can't carry (NaN, numbers beyond a double, lone surrogates) makes it anything else.
    """
    if not arguments.strip():
        return {}
    try:
        value = json.loads(arguments, parse_constant=_none, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def as_value(arguments: str) -> Any:
    """The JSON value that ``arguments`` spells, an empty object for none; what is no JSON stays text."""
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _none(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number

"""Arguments, a JSON string, as the ``input`` object of a ``tool_use`` block.

Strict: no NaN, no repeated keys, no number that a double can't hold, no nesting that an answer around it
would make too deep. What is no such object is wrapped, ``{"__raw": "..."}``: nothing is repaired.
"""

from __future__ import annotations

import json
from decimal import Decimal
from math import isfinite
from typing import Any

from conformance.types import Loss
from conformance.wires.body import compact, parse

_ENVELOPE = 10
"""Levels of nesting kept free for the body around an input; ``body.MAX_DEPTH`` counts them too."""


def to_input(arguments: str, at: str, losses: list[Loss]) -> dict[str, Any]:
    """The object that the arguments say; ``""`` and ``null`` say ``{}``."""
    reader = _Reader()
    try:
        parse("[" * _ENVELOPE + arguments + "]" * _ENVELOPE if arguments else "null")
        value = reader.read(arguments) if arguments else None
    except ValueError as error:
        losses.append(Loss(at, f"arguments that are no JSON object, wrapped as __raw: {error}"))
        return {"__raw": arguments}
    if value is not None and not isinstance(value, dict):
        losses.append(Loss(at, "arguments that are no JSON object, wrapped as __raw"))
        return {"__raw": arguments}
    if reader.rounded:
        losses.append(Loss(at, f"digits of {reader.rounded[:40]} that a double does not hold"))
    elif compact(value or {}) != arguments:
        losses.append(Loss(at, "how the arguments were written: they became an object", "form"))
    return value or {}


class _Reader:
    """Reads JSON strictly; remembers a number whose value a double does not hold."""

    def __init__(self) -> None:
        self.rounded = ""

    def read(self, text: str) -> Any:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=self._float,
        )

    def _float(self, digits: str) -> float:
        value = float(digits)
        if not isfinite(value):
            raise ValueError(f"{digits[:40]} is beyond a double")
        if not self.rounded and _is_rounded(digits, value):
            self.rounded = digits
        return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _is_rounded(digits: str, value: float) -> bool:
    try:
        return Decimal(digits) != Decimal(repr(value))
    except ArithmeticError:  # an exponent beyond what Decimal holds
        return True

"""Arguments of tool calls, between the JSON text of OpenAI Chat and the JSON object of most other wires."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, DecimalException
from typing import Any

from conformance.types import Loss
from conformance.wires.body import compact, parse

RAW = "__raw"
"""The only key of the object that stands for arguments that are none."""

_ENVELOPE = 12
"""Levels of nesting left for the body around arguments, since ``body.MAX_DEPTH`` counts those too."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def object_of(arguments: str, at: str, losses: list[Loss]) -> dict[str, Any]:
    """The object that a call's ``arguments`` say; ``at`` is the call's place, for ``losses``.

    ``""`` and ``null`` are no arguments: ``{}``. What is no object in strict JSON (a repeated key, ``NaN``,
    ``1e400``, cut text, nesting beyond ``body.MAX_DEPTH``) is sent whole as the string ``{"__raw": ...}``,
    a loss of meaning; so is a number that no double holds exactly. Anything else differs in spelling at
    most.
    """
    where = f"{at}/arguments"
    if arguments.strip() in ("", "null"):
        losses.append(Loss(where, f"{arguments!r} sent as {{}}", "form"))
        return {}
    inexact: list[str] = []
    value = strict(arguments, inexact)
    if not isinstance(value, dict):
        losses.append(Loss(where, f"no JSON object: sent as a string in {{{RAW!r}: ...}}"))
        return {RAW: arguments}
    if inexact:
        losses.append(Loss(where, f"a number that no double holds: {inexact[0][:40]}"))
    elif text_of(value) != arguments:
        losses.append(Loss(where, "the spelling of the JSON text", "form"))
    return value


def text_of(value: Any) -> str:
    """A value as the JSON text that a call carries: compact, unescaped but for lone surrogates."""
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", compact(value))


def strict(text: str, inexact: list[str] | None = None) -> Any:
    """The value of a JSON text as RFC 8259 has it, keys unique, numbers finite; ``None`` for other text.

    Numbers that change when read as a double are added to ``inexact``. Never raises.
    """

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            raise ValueError(digits)
        if inexact is not None and not is_exact(digits, value):
            inexact.append(digits)
        return value

    try:
        parse("[" * _ENVELOPE + text + "]" * _ENVELOPE)  # bounds the nesting
        return json.loads(text, parse_float=number, parse_constant=_refuse, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None


def is_exact(digits: str, value: float) -> bool:
    """Whether the double that was read from a number's digits says the same number."""
    try:
        return Decimal(repr(value)) == Decimal(digits)
    except DecimalException:  # an exponent beyond any decimal
        return False


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a repeated key")
    return found

"""Names on the Gemini wire: members in either spelling, and functions that its grammar does not take.

Source: google-genai 3.6.1, ``types.FunctionDeclaration.name``: a letter or underscore first, then letters,
digits, underscores, dots, colons and dashes, 128 at most. Members are lowerCamelCase in JSON; Google's JSON
mapping of protocol buffers reads the snake_case of their definition too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_NAME = 128
"""Longest function name that Gemini takes, in characters."""

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*")
_MARK = "_:"
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
_ESCAPED = re.compile(r"_:(?:[A-Za-z0-9_.-]|:[0-9a-f]{1,6}:)*")
_ESCAPE = re.compile(r":([0-9a-f]{1,6}):")
_SNAKE = re.compile(r"(?<=[A-Za-z0-9])_+([a-z0-9])")


def to_gemini(name: str) -> str:
    """A name that Gemini takes, if that is possible at all: legal ones as they are, others escaped.

    An escaped name says what it was, so that calls can be read without the request that declared it:
    ``_:`` and the name, each illegal character as its code point between colons (``_:get:20:weather``).
    Longer than ``MAX_NAME``, or empty, it is left for the endpoint to refuse.
    """
    if not name or (_LEGAL.fullmatch(name) and not _ESCAPED.fullmatch(name)):
        return name
    return _MARK + _ILLEGAL.sub(lambda found: f":{ord(found[0]):x}:", name)


def from_gemini(name: str) -> str:
    """The inverse of ``to_gemini``; any other name is itself."""
    if not name.startswith(_MARK) or not _ESCAPED.fullmatch(name):
        return name
    try:
        return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name[len(_MARK) :])
    except ValueError:  # beyond Unicode: no name of ours
        return name


def camel(key: str) -> str:
    """The lowerCamelCase of a member's snake_case."""
    return _SNAKE.sub(lambda found: found[1].upper(), key) if "_" in key else key


def members(
    value: Mapping[str, Any], at: str = "", note: Callable[..., None] | None = None
) -> dict[str, Any]:
    """The object at ``at`` with its keys in lowerCamelCase; each that was not is a fact for ``note``.

    Of two spellings of one key the right one counts.
    """
    if not any("_" in key for key in value):
        return dict(value)
    out: dict[str, Any] = {}
    for key, member in value.items():
        right = camel(key)
        if right != key and note is not None:
            note("snake-case", f"{at}/{key}")
        if right == key or right not in value:
            out[right] = member
    return out

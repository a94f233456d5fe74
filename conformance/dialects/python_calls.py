"""Calls written as Python: ``name(key=literal, ...)``. Read, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from conformance.dialects.jsontext import Incomplete, Value, scan, skip_space

_NAME = re.compile(r"[A-Za-z_][\w.-]{0,255}")
_KEY = re.compile(r"[A-Za-z_]\w{0,255}")
_JSON_WORDS = re.compile(r"\b(?:true|false|null)\b")


@dataclass(frozen=True, slots=True)
class PythonCall:
    """A call that ends at ``end``; ``repaired``: it isn't quite Python."""

    name: str
    args: dict[str, Any]
    end: int
    repaired: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The text ends inside the call."""


@dataclass(frozen=True, slots=True)
class NoCall:
    """Not a call with literals for keywords: wrong at ``at``. ``name`` as far as there is one."""

    at: int
    name: str = ""


PythonRead: TypeAlias = PythonCall | Unfinished | NoCall


def python_call(text: str, at: int) -> PythonRead:
    """Read the call that begins exactly at ``at``."""
    head = _NAME.match(text, at)
    if head is None:
        return Unfinished() if at == len(text) else NoCall(at)
    name = head.group()
    position = head.end()
    if position == len(text):
        return Unfinished()
    if text[position] != "(":
        return NoCall(position, name)
    args: dict[str, Any] = {}
    repaired = False
    position = skip_space(text, position + 1)
    while not text.startswith(")", position):
        key = _KEY.match(text, position)
        equals = skip_space(text, key.end()) if key else position
        if equals == len(text):
            return Unfinished()
        if key is None or text[equals] != "=":
            return NoCall(equals, name)
        start = skip_space(text, equals + 1)
        got = scan(text, start, python=True)
        if isinstance(got, Incomplete):
            return Unfinished()
        if not isinstance(got, Value):
            return NoCall(got.at, name)
        repaired |= key.group() in args or not got.exact or _is_json(text[start : got.end], got.value)
        args[key.group()] = got.value
        position = skip_space(text, got.end)
        if text.startswith(",", position):
            position = skip_space(text, position + 1)
        elif position < len(text) and text[position] != ")":
            return NoCall(position, name)
        if position == len(text):
            return Unfinished()
    if position == len(text):
        return Unfinished()
    return PythonCall(name, args, position + 1, repaired)


def _is_json(raw: str, value: Any) -> bool:
    """Whether JSON's ``true``, ``false`` or ``null`` stand for values: Python spells them otherwise."""
    if isinstance(value, bool) or value is None:
        return raw[0] in "tfn"
    return isinstance(value, dict | list) and bool(_JSON_WORDS.search(_STRINGS.sub("", raw)))


_STRINGS = re.compile(r'"(?:[^"\\]++|\\.)*+"|\'(?:[^\'\\]++|\\.)*+\'', re.DOTALL)


def python_text(name: str, args: Mapping[str, Any]) -> str:
    """The call as Python."""
    return f"{name}({', '.join(f'{key}={literal(value)}' for key, value in args.items())})"


def literal(value: Any) -> str:
    """A JSON value as Python writes it, strings in double quotes."""
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(char, char) for char in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    **{chr(n): f"\\x{n:02x}" for n in range(32) if chr(n) not in "\n\r\t"},
}

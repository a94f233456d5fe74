"""JSON found in text: where a value ends, what it is, and whether it could still go on.

A scanner, not ``json.loads``: text after the value is somebody else's, and a parser that is fed piece by
piece must tell *broken* from *not yet complete*. It never recurses and reads every character once.

Two grammars. ``strict`` is RFC 8259 without what no client can use: no ``NaN``, no number beyond a float
or 4,300 digits, no lone surrogate (it can't be sent as UTF-8), no nesting beyond ``MAX_DEPTH``. ``python``
is what models write instead: single quotes, ``True``/``None``, trailing commas, raw control characters,
unknown escapes kept as they are. What is valid strict JSON reads the same in both.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

MAX_DEPTH = 200
"""Deepest nesting that is read: far beyond any call, far below Python's recursion limit."""

_SPANS_DOWN_TO = 3
"""Members are located in objects this deep: a list of calls, each with a ``function`` object."""

_SPACE = re.compile(r"[ \t\n\r]*+")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]*+'), "'": re.compile(r"[^'\\\x00-\x1f]*+")}
_NUMBER_CHARS = re.compile(r"[-+.0-9eE]++")
_STRICT_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
_PYTHON_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)?(\.\d*)?([eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z]++")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None}
_SIMPLE = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEX = re.compile(r"[0-9a-fA-F]*+")

Spans: TypeAlias = "dict[int, dict[str, tuple[int, int]]]"


@dataclass(frozen=True, slots=True)
class Value:
    """A whole value, ending at ``end``.

    ``exact``: no key occurs twice (the last one counted). ``spans`` locates the members of the outer
    objects, by ``id`` of the object.
    """

    end: int
    value: Any
    exact: bool = True
    spans: Spans = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The text ended inside the value. ``keys``: those of the outermost object, as far as seen."""

    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """No value: the character at ``at`` can't stand there."""

    at: int
    keys: tuple[str, ...] = ()


Scan: TypeAlias = Value | Incomplete | Broken


class _End(Exception):
    """The text ended inside a token."""


class _Bad(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


def skip_space(text: str, at: int) -> int:
    """The position of the next character that is no JSON white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def compact(value: Any) -> str:
    """JSON without spaces, characters unescaped, keys in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def same(one: Any, other: Any) -> bool:
    """True when both are the same JSON: ``1``, ``1.0``, ``true`` differ; the order of keys does not count."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def scan(text: str, at: int, *, python: bool = False) -> Scan:
    """Read the value that begins exactly at ``at``."""
    scanner = _Scanner(text, python)
    try:
        value, end = scanner.read(at)
    except _End:
        return Incomplete(tuple(scanner.keys))
    except _Bad as bad:
        return Broken(bad.at, tuple(scanner.keys))
    return Value(end, value, scanner.exact, scanner.spans)


def load_object(text: str) -> dict[str, Any] | None:
    """The object that the whole text is, strictly and without repeated keys; ``None`` if it is none."""
    got = scan(text, skip_space(text, 0))
    if not isinstance(got, Value) or not got.exact or skip_space(text, got.end) != len(text):
        return None
    return got.value if isinstance(got.value, dict) else None


class _Scanner:
    """One reading. ``_open`` holds the containers around the current position, outermost first."""

    def __init__(self, text: str, python: bool) -> None:
        self.text = text
        self.python = python
        self.exact = True
        self.keys: list[str] = []
        self.spans: Spans = {}
        self._open: list[tuple[Any, str, int]] = []  # container, key it has in its parent, where it began
        self._words = {**_WORDS, **_PYTHON_WORDS} if python else _WORDS

    def read(self, at: int) -> tuple[Any, int]:
        position = at
        key = ""
        while True:
            started = position
            char = self._char(position)
            if char in "{[":
                if len(self._open) == MAX_DEPTH:
                    raise _Bad(position)
                value: Any = {} if char == "{" else []
                self._open.append((value, key, started))
                position = self._next(position + 1)
                if self._char(position) != ("}" if char == "{" else "]"):
                    if char == "{":
                        key, position = self._key(position)
                    continue
                position += 1
                value, key, started = self._open.pop()
            else:
                value, position = self._scalar(char, position)
            # a value is complete: put it where it belongs, and go up as far as containers close
            while True:
                if not self._open:
                    return value, position
                position, key, more = self._store(value, key, started, position)
                if more:
                    break
                value, key, started = self._open.pop()

    def _store(self, value: Any, key: str, started: int, position: int) -> tuple[int, str, bool]:
        """Put ``value`` in the innermost container; say whether another one follows there."""
        container = self._open[-1][0]
        if isinstance(container, dict):
            if key in container:
                self.exact = False
            container[key] = value
            if len(self._open) <= _SPANS_DOWN_TO:
                self.spans.setdefault(id(container), {})[key] = (started, position)
        else:
            container.append(value)
        closing = "}" if isinstance(container, dict) else "]"
        position = self._next(position)
        char = self._char(position)
        if char == ",":
            position = self._next(position + 1)
            if not (self.python and self._char(position) == closing):
                if closing == "}":
                    key, position = self._key(position)
                return position, key, True
            char = closing
        if char != closing:
            raise _Bad(position)
        return position + 1, key, False

    def _key(self, at: int) -> tuple[str, int]:
        char = self._char(at)
        if char != '"' and not (self.python and char == "'"):
            raise _Bad(at)
        key, position = self._string(char, at)
        if len(self._open) == 1:
            self.keys.append(key)
        position = self._next(position)
        if self._char(position) != ":":
            raise _Bad(position)
        return key, self._next(position + 1)

    def _scalar(self, char: str, at: int) -> tuple[Any, int]:
        if char == '"' or (self.python and char == "'"):
            return self._string(char, at)
        if word := _WORD.match(self.text, at):
            return self._word(word.group(), at)
        if number := _NUMBER_CHARS.match(self.text, at):
            return self._number(number.group(), at)
        raise _Bad(at)

    def _word(self, word: str, at: int) -> tuple[Any, int]:
        ends = at + len(word) == len(self.text) and (self._open or word not in self._words)
        if ends and any(known.startswith(word) for known in self._words):
            raise _End
        if word not in self._words:
            raise _Bad(at)
        return self._words[word], at + len(word)

    def _number(self, digits: str, at: int) -> tuple[Any, int]:
        end = at + len(digits)
        if end == len(self.text) and self._open:
            raise _End
        match = (_PYTHON_NUMBER if self.python else _STRICT_NUMBER).fullmatch(digits)
        if not match or not any(c.isdigit() for c in digits):
            raise _Bad(at)
        try:
            number = float(digits) if match.group(1) or match.group(2) else int(digits)
        except ValueError:  # more digits than Python converts
            raise _Bad(at) from None
        if isinstance(number, float) and not math.isfinite(number):
            raise _Bad(at)
        return number, end

    def _string(self, quote: str, at: int) -> tuple[str, int]:
        pieces: list[str] = []
        position = at + 1
        while True:
            run = _PLAIN[quote].match(self.text, position)
            assert run is not None
            if run.end() > position:
                pieces.append(run.group())
            position = run.end()
            char = self._char(position)
            if char == quote:
                break
            if char == "\\":
                piece, position = self._escape(position)
                pieces.append(piece)
            elif self.python:
                pieces.append(char)
                position += 1
            else:
                raise _Bad(position)
        text = "".join(pieces)
        if _SURROGATE.search(text):
            raise _Bad(at)
        return text, position + 1

    def _escape(self, at: int) -> tuple[str, int]:
        kind = self._char(at + 1)
        if kind in _SIMPLE:
            return _SIMPLE[kind], at + 2
        if kind == "u":
            code, position = self._hex(at + 2, 4)
            if 0xD800 <= code < 0xDC00:
                for number, expected in enumerate("\\u"):
                    if self._char(position + number) != expected:
                        raise _Bad(at)
                low, position = self._hex(position + 2, 4)
                if not 0xDC00 <= low < 0xE000:
                    raise _Bad(at)
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            return chr(code), position
        if not self.python:
            raise _Bad(at)
        if kind == "x":
            code, position = self._hex(at + 2, 2)
            return chr(code), position
        return ("'" if kind == "'" else "\\" + kind), at + 2

    def _hex(self, at: int, size: int) -> tuple[int, int]:
        match = _HEX.match(self.text, at, at + size)
        digits = match.group() if match else ""
        if len(digits) < size:
            if at + len(digits) >= len(self.text):
                raise _End
            raise _Bad(at)
        return int(digits, 16), at + size

    def _char(self, at: int) -> str:
        if at >= len(self.text):
            raise _End
        return self.text[at]

    def _next(self, at: int) -> int:
        return skip_space(self.text, at)

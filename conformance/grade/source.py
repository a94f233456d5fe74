"""A file of recordings as importers see it: unpacked, bounded, read once or line by line."""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

HEAD = 64 * 1024
"""How many unpacked bytes of a file an importer sees when it is asked whether the file is its own."""

MAX_WHOLE = 64 * 1024 * 1024
"""A format that can't be read piece by piece is read up to here, in unpacked bytes; so is one line."""

MAX_RATIO = 200
"""Beyond ``MAX_WHOLE`` a packed file may unpack to this many times its size: logs reach 50."""

MAX_CONTAINERS = 4_000_000
"""Arrays and objects of one JSON document: 64 MiB of empty ones would take 1.5 GB of memory."""

_CHUNK = 256 * 1024
_GZIP = b"\x1f\x8b"
_ANY_GZIP = 31  # zlib's window bits: a gzip header is expected
_TOO_MANY = f"JSON with more than {MAX_CONTAINERS:,} arrays and objects"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_LINES_TRIED = 20
_BOM = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """A file, or an exchange of it, can't be read; the message is the reason, without the file's name."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file.

    ``data`` are its first ``HEAD`` bytes, unpacked and without a byte order mark; ``whole`` is True when
    there are no more. ``json`` is the first JSON value that ``data`` begins with, as far as it goes
    (members that are cut are left out), and ``None`` where it begins with none. ``lines`` is True where
    each line holds a value of its own; then ``json`` is the first whole object of the first lines.
    """

    data: bytes
    whole: bool
    json: Any
    lines: bool

    @property
    def items(self) -> Iterator[Any]:
        """The first values, as many as the beginning holds whole: of lines, of a list, or the only one."""
        if self.lines:
            lines = self.data.split(b"\n", _LINES_TRIED)[:_LINES_TRIED]
            return (_value(line) for line in lines if line and not line.isspace())
        return iter(self.json if isinstance(self.json, list) else [self.json])

    @property
    def item(self) -> Mapping[str, Any]:
        """The JSON object that stands first: the file's own, or the first of a list; else an empty one."""
        first = self.json[0] if isinstance(self.json, list) and self.json else self.json
        return first if isinstance(first, dict) else {}


@dataclass(frozen=True, slots=True)
class Source:
    """A file: ``file`` is its path as given, ``head`` its beginning."""

    file: str
    path: Path
    head: Head

    def chunks(self) -> Iterator[bytes]:
        """The unpacked bytes, in pieces. Raises ``OSError``, and `Unreadable` for broken or hostile gzip."""
        return _chunks(self.path)

    def whole(self) -> bytes:
        """All unpacked bytes. Raises ``OSError``, and `Unreadable` above ``MAX_WHOLE``."""
        if self.head.whole:
            return self.head.data
        out = bytearray()
        for chunk in self.chunks():
            out += chunk
            if len(out) > MAX_WHOLE:
                raise Unreadable(f"larger than {MAX_WHOLE >> 20} MiB, and this format is only readable whole")
        return bytes(out.removeprefix(_BOM))

    def json(self) -> Any:
        """The whole file as one JSON value. Raises as ``whole``, and `Unreadable` when it is none."""
        return load_json(self.whole())

    def values(self) -> Iterator[Any]:
        """The JSON values of the file, in order; for one that can't be read, an `Unreadable` that says why.

        They stand one a line, or one after the other, or are the items of one list. Lines are read as they
        come. Raises as ``whole``.
        """
        if self.head.lines:
            yield from map(_value, self._lines())
        elif self.head.whole or b"\n" in self.head.data:
            yield from _values(self.whole())
        else:  # the first line is longer than the head: only its end tells
            lines = self._lines()
            line = next(lines, b"")
            first, second = _value(line), next(lines, None)
            if second is None:
                yield from first if isinstance(first, list) else [first]
            elif isinstance(first, Unreadable) and len(line) <= MAX_WHOLE:
                yield from _values(self.whole())
            else:
                yield first
                yield from map(_value, chain([second], lines))

    def _lines(self) -> Iterator[bytes]:
        """The lines with something in them; of one above ``MAX_WHOLE`` that and a byte more, as a sign."""
        rest = bytearray()
        for chunk in self.chunks():
            first, *others = chunk.split(b"\n")
            _extend(rest, first)
            if others:
                yield from filter(bytes.strip, (bytes(rest), *others[:-1]))
                rest.clear()
                _extend(rest, others[-1])
        if rest.strip():
            yield bytes(rest)


def open_source(file: str, path: Path) -> Source:
    """The file with its beginning read. Raises ``OSError``, and `Unreadable` for gzip that isn't."""
    data = bytearray()
    for chunk in _chunks(path):
        data += chunk
        if len(data) > HEAD:
            break
    return Source(file, path, head_of(bytes(data)))


def head_of(data: bytes) -> Head:
    """What an importer is shown of a file with these bytes (or more than ``HEAD`` of them)."""
    whole = len(data) <= HEAD
    data = data[:HEAD].removeprefix(_BOM)
    return Head(data, whole, *_first_value(data, whole))


def load_json(data: bytes) -> Any:
    """The JSON value that ``data`` is. Raises `Unreadable`."""
    if data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise Unreadable(_TOO_MANY)
    try:
        return json.loads(data)
    except (RecursionError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        raise Unreadable(_why(error)) from None


def dump_json(value: Any) -> bytes:
    """The value as compact JSON in UTF-8. Raises `Unreadable` where it is nested too deeply."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise Unreadable("JSON nested too deeply") from None
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate: only its escape can stand in a file
        return json.dumps(value, separators=(",", ":")).encode()


# ------------------------------------------------------------------------------------------------- gzip


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        data = file.read(_CHUNK)
        if data.startswith(_GZIP):
            yield from _unpacked(file, data)
            return
        while data:
            yield data
            data = file.read(_CHUNK)


def _unpacked(file: BinaryIO, data: bytes) -> Iterator[bytes]:
    stage, taken, given = zlib.decompressobj(_ANY_GZIP), len(data), 0
    while data or not stage.eof:
        if stage.eof:
            if not data.startswith(_GZIP):
                return  # padding behind the last member
            stage = zlib.decompressobj(_ANY_GZIP)
        try:
            out = stage.decompress(data, _CHUNK)
        except zlib.error as error:
            raise Unreadable(f"broken gzip: {error}") from None
        given += len(out)
        if given > max(MAX_WHOLE, MAX_RATIO * taken):
            raise Unreadable(f"gzip that unpacks to more than {MAX_RATIO} times its size")
        if out:
            yield out
        data = stage.unconsumed_tail or stage.unused_data
        if not data:
            data = file.read(_CHUNK)
            taken += len(data)
            if not (data or out or stage.eof):
                raise Unreadable("gzip that ends too early")


def _extend(line: bytearray, piece: bytes) -> None:
    line += piece[: MAX_WHOLE + 1 - len(line)]


# ------------------------------------------------------------------------------------------------- head

_MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


def _first_value(data: bytes, whole: bool) -> tuple[Any, bool]:
    text = data.decode("utf-8", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return None, False
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        return None, False
    except ValueError:
        found = _in_lines(text) if text.startswith("{") else None
        return (_beginning(text), False) if found is None else (found, True)
    rest = text[end:].lstrip(" \t\r")
    fills_line = "\n" not in text[:end] and rest.startswith("\n")
    return value, fills_line and not (whole and rest.isspace())


def _in_lines(text: str) -> Any:
    """The first object that fills a line, where the first line is broken (a log that was rotated)."""
    for line in text.split("\n", _LINES_TRIED)[1:_LINES_TRIED]:
        if line.startswith("{"):
            value = _value(line.encode("utf-8", "replace"))
            if isinstance(value, dict):
                return value
    return None


def _value(line: bytes) -> Any:
    if len(line) > MAX_WHOLE:
        return Unreadable(f"a line longer than {MAX_WHOLE >> 20} MiB")
    try:
        return load_json(line)
    except Unreadable as error:
        return error


def _values(data: bytes) -> Iterator[Any]:
    """JSON values that follow one another; of a single list, its items."""
    if data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise Unreadable(_TOO_MANY)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start:,}") from None
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    first = True
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (RecursionError, ValueError) as error:
            yield Unreadable(_why(error))
            return
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        yield from value if first and at == len(text) and isinstance(value, list) else [value]
        first = False


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "JSON nested too deeply"
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return f"not JSON: {error}"
    return f"JSON with a number of more than {sys.get_int_max_str_digits():,} digits"


def _beginning(text: str) -> Any:
    """The JSON value whose beginning ``text`` is, closed behind its last whole member."""
    still_open: list[str] = []
    cut = 0
    for mark in _MARK.finditer(text):
        kind = mark.group()
        if kind in _CLOSING:
            still_open.append(_CLOSING[kind])
        elif kind in ("]", "}"):
            if not still_open or still_open.pop() != kind:
                return None
        elif kind != ",":
            continue
        cut = mark.start() if kind == "," else mark.end()
    try:
        return json.loads(text[:cut] + "".join(reversed(still_open)))
    except (ValueError, RecursionError):
        return None

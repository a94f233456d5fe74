"""A stream of server-sent events as a file of its own: the body alone, or its ``data:`` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.grade.source import Head, Source

name = "sse"

_FIRST = re.compile(rb"\s*(?:data|event|id|retry)?:")
_DATA = re.compile(rb"^data: ?(?:[{\[]\s*[\"}\]\[{]|\[DONE\])", re.MULTILINE)
_BLANK = re.compile(rb"\n\r?\n|\r\r")
_LINE = re.compile(rb"^(?:data|event|id):[^\n]*$", re.MULTILINE)
_BLANK_ENDS = (b"\n\n", b"\n\r\n", b"\r\r")
_WHOLE_END = (b"}", b"]")


def looks_like(head: Head) -> bool:
    """Begins with a field of an event stream or a comment, and has a data line with JSON in it."""
    return _FIRST.match(head.data) is not None and _DATA.search(head.data) is not None


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """One exchange: an answer of which only the body was kept."""
    data = source.whole()
    if _is_lines(data):
        origin = Origin(source, name, "event-data")
        body = b"\n\n".join(match.group().rstrip() for match in _LINE.finditer(data)) + b"\n\n"
    else:
        origin = Origin(source, name, "wire", KEPT["wire"] - {"headers"})
        body = _mended(data)
    yield origin.recorded(0, None, None, (), Decoded(body))


def _is_lines(data: bytes) -> bool:
    """Whether blank lines were left out, so that each data line is an event of its own."""
    return _BLANK.search(data.strip()) is None and len(_DATA.findall(data)) > 1


def _mended(data: bytes) -> bytes:
    """With the blank line at the end that editors take away, where the last event is a whole one."""
    bare = data.rstrip(b" \t\r\n")
    if data.endswith(_BLANK_ENDS) or not bare.endswith(_WHOLE_END):
        return data
    return bare + 2 * (b"\r\n" if b"\r\n" in data[:4096] else b"\n")

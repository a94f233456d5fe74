"""A stream's bytes as events, and events as bytes in the plainest form there is."""

from __future__ import annotations

import re

from conformance.profiles.repairs import Frame
from conformance.transport.sse import Decoder, parse

_BARE = re.compile(rb"data:[ \t]*(?:\r\n|\r|\n)\Z")
_ON_NEXT_LINE = re.compile(rb"[ \t]*(?=\{|\[DONE\])")
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r(?=.)|\n)", re.DOTALL)


class Joined:
    """Puts a payload that stands on the line after its ``data:`` onto that line; all else passes unchanged.

    No server means two fields by that: a line that begins with a brace is no field at all.
    """

    __slots__ = ("_bare", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._bare = b""

    def feed(self, data: bytes) -> bytes:
        """The next bytes; what is certain by now comes back."""
        self._rest += data
        out: list[bytes] = []
        at = 0
        for line in _LINES.finditer(self._rest):
            out.append(self._line(line.group()))
            at = line.end()
        self._rest = self._rest[at:]
        return b"".join(out)

    def finish(self) -> bytes:
        """What is left at the end."""
        last = self._line(self._rest) if self._rest else b""
        return last + self._bare

    def _line(self, line: bytes) -> bytes:
        bare, self._bare = self._bare, b""
        if bare and _ON_NEXT_LINE.match(line):
            return b"data: " + line.lstrip(b" \t")
        if _BARE.fullmatch(line):
            self._bare = line
            return bare
        return bare + line


class Reader:
    """Reads the events of a body as it comes; any split of it gives the same."""

    __slots__ = ("_decoder", "_given", "_joined")

    def __init__(self) -> None:
        self._joined = Joined()
        self._decoder = Decoder()
        self._given = 0

    def feed(self, data: bytes) -> tuple[Frame, ...]:
        """The events that ``data`` completed."""
        found = self._decoder.feed(self._joined.feed(data))
        self._given += len(found)
        return tuple(Frame(event.data, event.name) for event in found)

    def finish(self, *, whole: bool) -> tuple[Frame, ...]:
        """The events that are left; ``whole``: the body ended by itself, and may stop inside of one."""
        self._decoder.feed(self._joined.finish())
        stream = self._decoder.finish()
        left = list(stream.events[self._given :])
        if whole and stream.pending is not None:
            left.append(stream.pending)
        return tuple(Frame(event.data, event.name) for event in left)


def is_plain(body: bytes) -> bool:
    """Whether a body's framing is as plain as can be: no comments, nothing odd, every event whole."""
    stream = parse(body)
    return not stream.anomalies and not stream.comments and stream.terminated


def written(frame: Frame) -> bytes:
    """An event as bytes."""
    name = f"event: {frame.name}\n" if frame.name else ""
    data = "".join(f"data: {line}\n" for line in frame.data.split("\n"))
    return f"{name}{data}\n".encode("utf-8", "replace")

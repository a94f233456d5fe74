"""Server-sent events as facts: what a body says, where, and what is odd about it.

Follows the WHATWG parsing rules (HTML Standard, sections 9.2.5 "Parsing an event stream" and 9.2.6
"Interpreting an event stream"): lines end in LF, CR or CRLF and nothing else; one leading BOM is
dropped; one space after the colon is dropped; a block without a ``data`` field is not dispatched.
Nothing here raises on any input, and any split of the input gives the same result.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

AnomalyName = Literal[
    "bom",
    "empty-data-event",
    "id-field",
    "invalid-retry",
    "invalid-utf8",
    "mixed-line-ends",
    "no-space-after-colon",
    "nul-in-id",
    "retry-field",
    "unknown-field",
    "unterminated-event",
]

MAX_PER_ANOMALY = 100
"""How many anomalies of one name a ``Stream`` keeps (the first ones): a hostile body stays small."""

_BOM = codecs.BOM_UTF8
_LINE_END = re.compile(rb"\r\n?|\n")
_PLAIN_EVENTS = re.compile(rb"(?:data: [^\r\n]+\n\n)+")
"""Whole events as nearly everybody writes them: one data line, a space, LF."""
_DIGITS = re.compile(r"[0-9]+")


class Event(NamedTuple):
    """One dispatched event (a tuple: a stream has thousands of them).

    ``number`` counts from 0. ``data`` is its ``data`` lines joined by LF; ``data_lines`` is how many there
    were. ``name``, ``id`` and ``retry`` are the values of those fields in *this* block as sent (``None``:
    not sent; an ``id`` is not carried over from earlier events). ``start`` is the byte offset of the
    block's first field line, ``end`` the one just after the blank line that closed it.
    """

    number: int
    data: str
    name: str | None
    id: str | None
    retry: str | None
    data_lines: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something odd at byte ``offset`` of the body. Odd is not wrong: rules decide that.

    ``bom``: the body begins with a byte order mark (legal; common client decoders choke on it).
    ``invalid-utf8``: a line is not UTF-8; it was decoded with U+FFFD.
    ``unknown-field``: a line that is neither a comment nor one of ``data``, ``event``, ``id``, ``retry``.
    ``mixed-line-ends``: a line end differs from the body's first one (noted once).
    ``no-space-after-colon``: ``data:x`` instead of ``data: x`` (legal).
    ``empty-data-event``: a block with an event, id or retry field and no data; it is not dispatched.
    ``id-field``, ``retry-field``: such a field was sent (legal).
    ``nul-in-id``, ``invalid-retry``: such a field has a value that the standard ignores.
    ``unterminated-event``: the body ends inside a block; its data, if any, is ``Stream.pending``.
    """

    name: AnomalyName
    offset: int
    detail: str


@dataclass(frozen=True, slots=True)
class Stream:
    """A whole body.

    ``comments`` counts comment lines. ``terminated`` is False when the body stops inside a block or a
    line. ``pending`` is the event the end of the body cut: data seen, no blank line; a client never
    gets it, so it is not in ``events``.
    """

    events: tuple[Event, ...]
    anomalies: tuple[Anomaly, ...]
    comments: int
    terminated: bool
    pending: Event | None


class Decoder:
    """Decodes a body as it arrives, in linear time.

    A CR that ends the input so far waits for the next byte (it may be half a CRLF), so the concatenated
    results of ``feed`` can lack a last event that ``finish`` has.
    """

    __slots__ = (
        "_anomalies", "_buffer", "_comments", "_counts", "_data", "_events", "_first_end", "_id", "_mixed",
        "_name", "_offset", "_open_at", "_retry", "_scanned", "_started",
    )  # fmt: skip

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._offset = 0  # of the buffer's first byte in the body
        self._scanned = 0  # bytes of the buffer known to hold no line end
        self._started = False
        self._first_end: bytes | None = None
        self._mixed = False
        self._events: list[Event] = []
        self._anomalies: list[Anomaly] = []
        self._counts: dict[str, int] = {}
        self._comments = 0
        self._data: list[str] = []
        self._name: str | None = None
        self._id: str | None = None
        self._retry: str | None = None
        self._open_at: int | None = None

    def feed(self, data: bytes) -> tuple[Event, ...]:
        """The events that ``data`` completed."""
        self._buffer += data
        known = len(self._events)
        self._consume(final=False)
        return tuple(self._events[known:])

    def finish(self) -> Stream:
        """Everything, now that the body has ended. Call it once, last."""
        self._consume(final=True)
        rest = bytes(self._buffer)
        line_at, end = self._offset, self._offset + len(rest)
        if rest:
            self._cut_line(rest)
        pending = None
        if self._open_at is not None:
            self._note("unterminated-event", self._open_at, "the body ends before the blank line")
            pending = self._event(end) if self._data else None
        return Stream(
            events=tuple(self._events),
            anomalies=tuple(sorted(self._anomalies, key=lambda anomaly: anomaly.offset)),
            comments=self._comments,
            terminated=self._open_at is None and line_at == end,
            pending=pending,
        )

    def _consume(self, *, final: bool) -> None:
        buffer = self._buffer
        if not self._started:
            if len(buffer) < len(_BOM) and _BOM.startswith(buffer) and not final:
                return
            self._started = True
            if buffer.startswith(_BOM):
                self._note("bom", 0, "the body begins with EF BB BF")
                del buffer[: len(_BOM)]
                self._offset = len(_BOM)
        line, scan = 0, self._scanned  # where the current line begins; from where to look for its end
        while True:
            if scan == line and self._open_at is None:
                line = scan = self._plain_events(line)
            match = _LINE_END.search(buffer, scan)
            if match is None:
                self._scanned = len(buffer) - line
                break
            kind, begin, end = match.group(), match.start(), match.end()
            if kind == b"\r" and end == len(buffer) and not final:
                self._scanned = begin - line
                break
            self._line_end(kind, self._offset + begin)
            self._line(bytes(buffer[line:begin]), self._offset + line, self._offset + end)
            line = scan = end
        del match  # it holds on to the buffer, which could not shrink
        del buffer[:line]
        self._offset += line

    def _plain_events(self, at: int) -> int:
        """Take the plain events that stand at ``at``, as `_line` would; returns where they end."""
        match = _PLAIN_EVENTS.match(self._buffer, at) if self._first_end in (None, b"\n") else None
        if match is None:
            return at
        try:
            text = match.group().decode()
        except UnicodeDecodeError:
            return at
        self._first_end = b"\n"
        start, number, events = self._offset + at, len(self._events), self._events
        narrow = text.isascii()
        # The text ends with a blank line, so the last piece is empty.
        for data in text[:-2].split("\n\n"):
            end = start + (len(data) if narrow else len(data.encode())) + 2
            events.append(Event(number, data[6:], None, None, None, 1, start, end))
            start, number = end, number + 1
        return match.end()

    def _line_end(self, kind: bytes, offset: int) -> None:
        if self._first_end is None:
            self._first_end = kind
        elif kind != self._first_end and not self._mixed:
            self._mixed = True
            self._note("mixed-line-ends", offset, f"{_spell(self._first_end)} first, then {_spell(kind)}")

    def _line(self, line: bytes, start: int, end: int) -> None:
        if not line:
            self._dispatch(end)
            return
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            self._note("invalid-utf8", start + error.start, f"{line[error.start : error.end].hex()}")
            text = line.decode(errors="replace")
        if text.startswith(":"):
            self._comments += 1
            return
        field, colon, value = text.partition(":")
        if value.startswith(" "):
            value = value[1:]
        elif colon and value and field in ("data", "event", "id", "retry"):
            self._note("no-space-after-colon", start, field)
        self._field(field, value, start)

    def _cut_line(self, line: bytes) -> None:
        """A last line without a line end: its value counts for ``pending``, its form is nobody's fault."""
        whole = codecs.getincrementaldecoder("utf-8")("replace")
        field, colon, value = whole.decode(line).partition(":")  # a character cut in the middle is left out
        if colon and field in ("data", "event", "id", "retry"):
            self._field(field, value.removeprefix(" "), self._offset)

    def _field(self, field: str, value: str, start: int) -> None:
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field == "id":
            self._id = value
            self._note("id-field", start, value[:60])
            if "\0" in value:
                self._note("nul-in-id", start, "the standard ignores this id")
        elif field == "retry":
            self._retry = value
            self._note("retry-field", start, value[:60])
            if not _DIGITS.fullmatch(value):
                self._note("invalid-retry", start, value[:60])
        else:
            self._note("unknown-field", start, field[:60])
            return
        if self._open_at is None:
            self._open_at = start

    def _dispatch(self, end: int) -> None:
        if self._open_at is None:
            return
        if self._data:
            self._events.append(self._event(end))
        else:
            self._note("empty-data-event", self._open_at, self._name or "")
        self._reset_block()

    def _event(self, end: int) -> Event:
        return Event(
            number=len(self._events),
            data="\n".join(self._data),
            name=self._name,
            id=self._id,
            retry=self._retry,
            data_lines=len(self._data),
            start=self._open_at or 0,
            end=end,
        )

    def _reset_block(self) -> None:
        self._data = []
        self._name = self._id = self._retry = self._open_at = None

    def _note(self, name: AnomalyName, offset: int, detail: str) -> None:
        count = self._counts.get(name, 0)
        if count < MAX_PER_ANOMALY:
            self._counts[name] = count + 1
            self._anomalies.append(Anomaly(name, offset, detail))


def parse(body: bytes) -> Stream:
    """The stream that a whole body is."""
    decoder = Decoder()
    decoder.feed(body)
    return decoder.finish()


def ms_of(event: Event, parts: Sequence[tuple[float, int]]) -> float | None:
    """The millisecond at which the event's last byte arrived; ``None`` where no times are known.

    ``parts`` are ``HttpResponse.parts``: (milliseconds since the request began, size in bytes).
    """
    received = 0
    for ms, size in parts:
        received += size
        if received >= event.end:
            return ms
    return None


def _spell(line_end: bytes) -> str:
    return line_end.decode().replace("\r", "CR").replace("\n", "LF")

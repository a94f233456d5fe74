"""What was performed, as an exchange: the bytes that went out, read as an HTTP client reads them.

Behaviours lie at every layer, so what a client makes of an answer can only be told from its bytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from conformance.simulator.answer import Action, Actions, Hang, Headers, Reset
from conformance.simulator.http import header
from conformance.types import Ending, Exchange, Failure, HttpRequest, HttpResponse, WireName

MOST = 8 * 1024 * 1024
"""Bytes of an answer that are kept; a longer one ends as ``too-large``."""

_HEAD = 256 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_BODILESS = (204, 304)

Stop = Literal["done", "hang", "reset", "left"]


class Performance:
    """Listens while an answer is performed: ``watched`` the actions, ``sent`` the bytes."""

    def __init__(self, request: HttpRequest, wire: WireName) -> None:
        self._request = request
        self._wire = wire
        self._started = time.time()
        self._began = time.perf_counter()
        self._sent: list[tuple[float, bytes]] = []
        self._size = 0
        self._last: Action | None = None

    def watched(self, actions: Actions) -> Iterator[Action]:
        """The same actions."""
        for action in actions:
            self._last = action
            yield action

    def sent(self, data: bytes) -> None:
        """So much went out, now."""
        if data and self._size <= MOST:
            self._sent.append((self._elapsed_ms(), data))
            self._size += len(data)

    def exchange(self, *, left: bool) -> Exchange:
        """The exchange, now that it is over; ``left``: because the client went away."""
        stop: Stop = "left" if left else "done"
        if isinstance(self._last, Hang):
            stop = "hang"
        elif isinstance(self._last, Reset):
            stop = "reset"
        response, ending, failure = received(self._sent, stop, bodiless=self._request.method == "HEAD")
        if self._size > MOST and response is not None:
            ending = "too-large"
        return Exchange(
            self._request,
            response,
            ending,
            self._wire,
            failure,
            self._started,
            self._elapsed_ms(),
            None,
            "either",
        )

    def _elapsed_ms(self) -> float:
        return round((time.perf_counter() - self._began) * 1000, 3)


def received(
    sent: list[tuple[float, bytes]], stop: Stop, *, bodiless: bool = False
) -> tuple[HttpResponse | None, Ending, Failure | None]:
    """What a client makes of the bytes, each with the milliseconds after which it came.

    ``stop`` is why no more came; ``bodiless`` answers have a head only.
    """
    head, rest = _head(sent)
    if head is None:
        return None, "cut", _nothing(sent, stop)
    status, headers = head
    body = _Body(headers, empty=bodiless or status < 200 or status in _BODILESS)
    parts: list[tuple[float, int]] = []
    for ms, data in rest:
        size = body.feed(data)
        if size:
            parts.append((ms, size))
    response = HttpResponse(status, headers, bytes(body.data), tuple(parts))
    if body.complete or (body.until_close and stop == "done"):
        return response, "complete", None
    endings: dict[Stop, Ending] = {"hang": "stalled", "left": "closed-by-us"}
    return response, "cut" if body.broken else endings.get(stop, "cut"), None


def _head(
    sent: list[tuple[float, bytes]],
) -> tuple[tuple[int, Headers] | None, list[tuple[float, bytes]]]:
    """Status and headers, ``None`` where what was sent has none; and what comes after them."""
    seen = bytearray()
    for i, (ms, data) in enumerate(sent):
        seen += data
        end = seen.find(b"\r\n\r\n", max(0, len(seen) - len(data) - 3))
        if end < 0:
            if len(seen) > _HEAD:
                break
            continue
        lines = bytes(seen[:end]).split(b"\r\n")
        status = _STATUS.fullmatch(lines[0])
        if status is None:
            break
        pairs = (line.decode("latin-1").partition(":") for line in lines[1:])
        headers = tuple((name, value.strip(" \t")) for name, _, value in pairs)
        return (int(status[1]), headers), [(ms, bytes(seen[end + 4 :])), *sent[i + 1 :]]
    return None, []


def _nothing(sent: list[tuple[float, bytes]], stop: Stop) -> Failure:
    if sent:
        return Failure("protocol", "the simulator did not answer in HTTP")
    if stop in ("hang", "left"):
        return Failure("timeout", "no byte of an answer came until the client gave up")
    return Failure("protocol", "the simulator closed the connection without an answer")


@dataclass(slots=True)
class _Chunk:
    """Where the reading of a chunked body is: so many bytes of a chunk are ``left``."""

    left: int = 0
    line: bytes = b""
    within: Literal["size", "data", "end", "trailer"] = "size"


class _Body:
    """A body as its framing says (RFC 9112, 6.3)."""

    def __init__(self, headers: Headers, *, empty: bool) -> None:
        self.data = bytearray()
        self.broken = False
        length = header(headers, "content-length")
        chunked = (header(headers, "transfer-encoding") or "").strip().lower() == "chunked"
        self._chunk = _Chunk() if chunked and not empty else None
        self._left = None if chunked or length is None else _whole(length)
        if empty:
            self._left = 0
        self._ended = False
        self.until_close = self._left is None and self._chunk is None

    @property
    def complete(self) -> bool:
        """Whether all is there that was promised, where something was."""
        return self._ended or self._left == 0

    def feed(self, data: bytes) -> int:
        """Take more bytes; returns how many of the body were among them."""
        before = len(self.data)
        if self._chunk is not None:
            self._feed_chunks(self._chunk, data)
        elif self._left is None:
            self.data += data
        else:
            self.data += data[: self._left]
            self._left -= len(self.data) - before
        return len(self.data) - before

    def _feed_chunks(self, chunk: _Chunk, data: bytes) -> None:
        at = 0
        while at < len(data) and not self._ended and not self.broken:
            if chunk.within == "data":
                taken = data[at : at + chunk.left]
                self.data += taken
                chunk.left -= len(taken)
                at += len(taken)
                if not chunk.left:
                    chunk.within = "end"
                continue
            newline = data.find(b"\n", at)
            end = len(data) if newline < 0 else newline + 1
            chunk.line += data[at:end]
            at = end
            if newline >= 0:
                self._line(chunk, chunk.line.strip())
                chunk.line = b""
            self.broken |= len(chunk.line) > _HEAD

    def _line(self, chunk: _Chunk, line: bytes) -> None:
        """A line of the framing: a chunk's size, its end, or a trailer."""
        match chunk.within:
            case "size":
                size = _SIZE.fullmatch(line.partition(b";")[0].strip())
                self.broken = size is None
                chunk.left = int(size[0], 16) if size else 0
                chunk.within = "data" if chunk.left else "trailer"
            case "end":
                self.broken = line != b""
                chunk.within = "size"
            case _:
                self._ended = line == b""


def _whole(length: str) -> int | None:
    return int(length) if length.isascii() and length.isdigit() and len(length) < 16 else None

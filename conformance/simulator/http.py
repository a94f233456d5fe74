"""HTTP/1.1 by hand: read a request within bounds, perform an answer's actions (RFC 9112).

No framework, because a framework can't be made to lie.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from conformance.simulator.answer import (
    Actions,
    Bytes,
    Close,
    Event,
    Hang,
    Head,
    Headers,
    Line,
    Pause,
    Refused,
    Reset,
    Respond,
    encode,
    encode_event,
    encode_line,
    refusal,
)
from conformance.types import HttpRequest

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one request: sizes in bytes, times in seconds."""

    line: int = 16 * 1024
    headers: int = 64 * 1024
    body: int = 4 * 1024 * 1024
    idle_s: float = 75.0
    read_s: float = 30.0
    linger_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came, and what its connection allows."""

    request: HttpRequest
    keep_alive: bool
    http10: bool


def header(headers: Headers, name: str) -> str | None:
    """The first header of that (lower-case) name, or ``None``."""
    return next((value for key, value in headers if key.lower() == name), None)


# ------------------------------------------------------------------------------------------ reading


async def read_request(reader: StreamReader, writer: StreamWriter, limits: Limits) -> Received | None:
    """The next request, or ``None`` when the client is done or stays silent.

    Raises:
        Refused: what came is not an acceptable request; the connection can't be used any further.
        ConnectionError: the client left in the middle of a request.
    """
    try:
        async with asyncio.timeout(limits.idle_s):
            line = await _line(reader, limits)
            if line == b"":  # RFC 9112, 2.2: a stray empty line before the request line is to be ignored
                line = await _line(reader, limits)
    except (TimeoutError, ConnectionError):
        return None
    try:
        async with asyncio.timeout(limits.read_s):
            return await _rest(line, reader, writer, limits)
    except TimeoutError:
        raise refusal("The request took too long to arrive.", status=408) from None


async def _line(reader: StreamReader, limits: Limits) -> bytes:
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as cut:
        raise ConnectionError("the client left") from cut
    except asyncio.LimitOverrunError:
        raise refusal("A line of the request is too long.", status=431) from None
    if len(line) > limits.line:
        raise refusal("A line of the request is too long.", status=431)
    if not line.endswith(b"\r\n"):
        raise refusal("The request is not HTTP: a line does not end with CRLF.")
    return line[:-2]


async def _rest(line: bytes, reader: StreamReader, writer: StreamWriter, limits: Limits) -> Received:
    method, target, version = _request_line(line)
    headers = await _headers(reader, limits)
    http10 = version == "HTTP/1.0"
    hosts = sum(name.lower() == "host" for name, _ in headers)
    if hosts > 1 or (not http10 and not hosts):  # RFC 9112, 3.2
        raise refusal("An HTTP/1.1 request needs a Host header, and has only one.")
    options = ",".join(value for name, value in headers if name.lower() == "connection")
    connection = {option.strip().lower() for option in options.split(",")}
    keep_alive = "keep-alive" in connection if http10 else "close" not in connection
    length = _content_length(headers)
    codings = [v.strip().lower() for k, v in headers if k.lower() == "transfer-encoding"]
    if codings and codings != ["chunked"]:
        raise refusal("The only transfer coding understood is chunked.", status=501)
    if codings and length is not None:
        raise refusal("A request has either Content-Length or Transfer-Encoding, not both.")
    if length is not None and length > limits.body:
        raise _too_large(limits)
    expect = header(headers, "expect")
    if expect is not None and expect.lower() != "100-continue":
        raise refusal("The only expectation understood is 100-continue.", status=417)
    if expect is not None and not http10 and (codings or length):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    if codings:
        body = await _chunked(reader, limits)
    else:
        body = await _exactly(reader, length or 0)
    return Received(HttpRequest(method, target, headers, body), keep_alive, http10)


def _request_line(line: bytes) -> tuple[str, str, str]:
    parts = line.decode("latin-1").split(" ")
    if len(parts) != 3 or not parts[0] or not set(parts[0]) <= _TOKEN:
        raise refusal("The request line is not METHOD TARGET VERSION.")
    method, target, version = parts
    if version not in ("HTTP/1.0", "HTTP/1.1"):
        status = 505 if version.startswith("HTTP/") else 400
        raise refusal("The HTTP version is not supported.", status=status)
    if not target.isascii() or not target.isprintable() or not target.startswith(("/", "http://", "*")):
        raise refusal("The request target is not a path.")
    return method, target, version


async def _headers(reader: StreamReader, limits: Limits) -> Headers:
    headers: list[tuple[str, str]] = []
    size = 0
    while line := await _line(reader, limits):
        size += len(line)
        if size > limits.headers:
            raise refusal("The request headers are too large.", status=431)
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name or not set(name) <= _TOKEN or any(ord(c) < 32 and c != "\t" for c in value):
            raise refusal("A header line is malformed.")
        headers.append((name, value.strip(" \t")))
    return tuple(headers)


def _content_length(headers: Headers) -> int | None:
    values = {v.strip() for k, v in headers if k.lower() == "content-length"}
    if not values:
        return None
    value = values.pop()
    if values or not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise refusal("The Content-Length is not one whole number.")
    return int(value)


async def _chunked(reader: StreamReader, limits: Limits) -> bytes:
    body = bytearray()
    while True:
        digits = (await _line(reader, limits)).split(b";")[0].strip()
        if not digits or len(digits) > 8 or not set(digits) <= set(b"0123456789abcdefABCDEF"):
            raise refusal("A chunk of the request body has no size.")
        size = int(digits, 16)
        if len(body) + size > limits.body:
            raise _too_large(limits)
        if size == 0:
            await _headers(reader, limits)  # trailers are read and dropped
            return bytes(body)
        body += await _exactly(reader, size)
        if await _line(reader, limits):
            raise refusal("A chunk of the request body is longer than its size says.")


async def _exactly(reader: StreamReader, size: int) -> bytes:
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError as cut:
        raise ConnectionError("the client left") from cut


def _too_large(limits: Limits) -> Refused:
    message = f"The request body is larger than {limits.body} bytes."
    return refusal(message, status=413, code="request_too_large")


async def linger(reader: StreamReader, writer: StreamWriter, limits: Limits) -> None:
    """Let a client that is still sending read our answer: closing at once would reset it (RFC 9112, 9.6)."""
    try:
        if writer.can_write_eof():
            writer.write_eof()
        async with asyncio.timeout(limits.linger_s):
            while await reader.read(64 * 1024):
                pass
    except (OSError, TimeoutError):
        return


# --------------------------------------------------------------------------------------- performing


async def perform(
    actions: Actions,
    reader: StreamReader,
    writer: StreamWriter,
    received: Received | None,
    sent: Callable[[bytes], None] | None = None,
) -> bool:
    """Carry the actions out; true when the connection may carry another request.

    ``sent`` is called with all that goes out, piece by piece.

    Raises:
        ConnectionError: the client left.
    """
    http10 = received is not None and received.http10
    head_only = received is not None and received.request.method == "HEAD"
    reusable = received is not None and received.keep_alive
    chunked = answered = False

    def write(data: bytes) -> None:
        writer.write(data)
        if sent is not None:
            sent(data)

    for action in actions:
        match action:
            case Respond(status, headers, body):
                data = body if isinstance(body, bytes) else encode(body)
                lines = (*headers, ("content-length", str(len(data))))
                write(_head(status, lines, reusable) + (b"" if head_only else data))
                answered = True
            case Head(status, headers, framing):
                chunked = framing == "chunked" and not http10
                reusable = reusable and chunked
                lines = (*headers, ("transfer-encoding", "chunked")) if chunked else headers
                write(_head(status, lines, reusable))
                answered = True
            case Event():
                write(_framed(encode_event(action), chunked))
            case Line(data):
                write(_framed(encode_line(data), chunked))
            case Bytes(data):
                write(_framed(data, chunked))
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Reset():
                _reset(writer)
                return False
            case Close():
                return False
            case Hang():
                while await reader.read(64 * 1024):
                    pass
                return False
        await writer.drain()
    if chunked:
        write(b"0\r\n\r\n")
        await writer.drain()
    return reusable and answered


def _head(status: int, headers: Headers, keep_alive: bool) -> bytes:
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    if not keep_alive:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _framed(data: bytes, chunked: bool) -> bytes:
    if not chunked:
        return data
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def _reset(writer: StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()

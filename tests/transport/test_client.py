"""What the live transport makes of answers. Every server here is real, on loopback."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib
from itertools import count

import pytest

from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange
from tests.transport.servers import (
    CHUNKED,
    EVENT,
    HEAD,
    IMPATIENT,
    LIMITS,
    Handler,
    Serve,
    body_of,
    chunk,
    exchange_with,
    exchanged,
    post,
    says,
    says_and_waits,
    sized,
)

# ------------------------------------------------------------------------------------------- endings


ENDINGS = [
    pytest.param(says(sized(b"{}")), "complete", b"{}", id="content-length"),
    pytest.param(says(sized(b"")), "complete", b"", id="empty body"),
    pytest.param(says(CHUNKED + chunk(EVENT) + b"0\r\n\r\n"), "complete", EVENT, id="chunked"),
    pytest.param(says(HEAD + b"\r\n" + EVENT), "complete", EVENT, id="until the connection closes"),
    pytest.param(says(sized(b"<html>no</html>")), "complete", b"<html>no</html>", id="HTML"),
    pytest.param(says(CHUNKED + chunk(EVENT)), "cut", EVENT, id="closed before the last chunk"),
    pytest.param(says(CHUNKED + chunk(EVENT) + b"zz\r\n"), "cut", EVENT, id="chunk size is no number"),
    pytest.param(
        says(HEAD + b"Content-Length: 99\r\n\r\n" + EVENT), "cut", EVENT, id="shorter than its length"
    ),
    pytest.param(says_and_waits(CHUNKED + chunk(EVENT)), "stalled", EVENT, id="silent"),
]


@pytest.mark.parametrize(("handler", "ending", "body"), ENDINGS)
def test_how_it_ended_and_what_came_until_then(
    serve: Serve, handler: Handler, ending: str, body: bytes
) -> None:
    exchange = exchanged(serve, handler, limits=IMPATIENT if ending == "stalled" else LIMITS)
    assert (exchange.ending, exchange.failure) == (ending, None)
    assert body_of(exchange) == body


def test_a_reset_in_the_body_is_a_cut(serve: Serve) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(EVENT))
        await writer.drain()
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    exchange = exchanged(serve, handler)
    assert (exchange.ending, exchange.failure) == ("cut", None)


async def endless(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    for _ in count():
        writer.write(chunk(EVENT * 100))
        await writer.drain()


def test_a_stream_that_never_ends_and_is_fast_gets_too_large(serve: Serve) -> None:
    exchange = exchanged(serve, endless)
    assert exchange.ending == "too-large"
    assert len(body_of(exchange)) == LIMITS.max_bytes


def test_a_stream_that_never_ends_and_is_slow_counts_as_stalled_in_the_end(serve: Serve) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while not writer.transport.is_closing():
            writer.write(chunk(EVENT))
            await writer.drain()
            await asyncio.sleep(0.01)

    exchange = exchanged(serve, handler, limits=Limits(idle_s=5, total_s=0.3))
    assert exchange.ending == "stalled"
    assert body_of(exchange).startswith(EVENT)
    assert 300 <= exchange.elapsed_ms < 5_000


def test_a_body_of_exactly_the_limit_is_not_too_large(serve: Serve) -> None:
    body = b"x" * LIMITS.max_bytes
    assert exchanged(serve, says(sized(body))).ending == "complete"
    assert exchanged(serve, says(sized(body + b"x"))).ending == "too-large"


def test_we_hang_up_after_so_many_events(serve: Serve) -> None:
    exchange = exchanged(serve, says_and_waits(CHUNKED + chunk(EVENT), chunk(EVENT)), close_after_events=2)
    assert exchange.ending == "closed-by-us"
    assert body_of(exchange) == EVENT * 2


def test_the_lines_of_json_lines_count_as_events(serve: Serve) -> None:
    head = CHUNKED.replace(b"text/event-stream", b"application/x-ndjson")
    assert b"x-ndjson" in head
    line = b'{"done":false}\n'
    exchange = exchanged(serve, says_and_waits(head + chunk(line), chunk(line)), close_after_events=2)
    assert (exchange.ending, body_of(exchange)) == ("closed-by-us", 2 * line)


def test_fewer_events_than_we_wanted_end_as_they_end(serve: Serve) -> None:
    exchange = exchanged(serve, says(CHUNKED + chunk(EVENT) + b"0\r\n\r\n"), close_after_events=2)
    assert exchange.ending == "complete"


def test_the_server_notices_that_we_hung_up(serve: Serve) -> None:
    async def run() -> None:
        gone = asyncio.Event()

        async def handler(
            _request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            writer.write(CHUNKED + chunk(EVENT))
            await writer.drain()
            await reader.read()
            gone.set()

        async with serve(handler) as address:
            await exchange_with(LiveTransport(LIMITS), post(f"http://{address}/"), 1)
            await asyncio.wait_for(gone.wait(), 5)

    asyncio.run(run())


# ---------------------------------------------------------------------------------------- what is kept


def test_the_request_is_kept_as_it_was_sent(serve: Serve) -> None:
    seen: list[bytes] = []

    async def handler(request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        writer.write(sized(b"{}"))

    exchange = exchanged(serve, handler, headers=(("X-Odd", "1"), ("x-odd", "2"), ("Accept", "a/b")))
    head = seen[0].split(b"\r\n\r\n")[0].decode().split("\r\n")
    assert head[0] == "POST /v1/chat/completions HTTP/1.1"
    assert [f"{name}: {value}" for name, value in exchange.request.headers] == head[1:]
    assert {"X-Odd: 1", "x-odd: 2", "Accept: a/b", "accept-encoding: identity"} <= set(head)
    assert exchange.request.body == b"{}"


def test_the_requests_own_accept_encoding_wins(serve: Serve) -> None:
    exchange = exchanged(serve, says(sized(b"{}")), headers=(("Accept-Encoding", "gzip"),))
    assert [v for k, v in exchange.request.headers if k.lower() == "accept-encoding"] == ["gzip"]


def test_response_headers_keep_spelling_order_and_repetition(serve: Serve) -> None:
    exchange = exchanged(serve, says(sized(b"{}", b"X-B: 1", b"x-a: \xe9", b"x-B: 2")))
    assert exchange.response is not None
    assert exchange.response.headers == (("X-B", "1"), ("x-a", "é"), ("x-B", "2"), ("Content-Length", "2"))


@pytest.mark.parametrize("status", [204, 301, 404, 429, 500, 599, 999])
def test_a_status_is_a_response_whatever_it_is(serve: Serve, status: int) -> None:
    answer = b"HTTP/1.1 %d Because\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n" % status
    exchange = exchanged(serve, says(answer))
    assert exchange.response is not None
    assert (exchange.response.status, exchange.ending) == (status, "complete")


def test_nothing_is_retried(serve: Serve) -> None:
    asked: list[bytes] = []

    async def handler(request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(request)
        writer.write(b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n")

    exchanged(serve, handler)
    assert len(asked) == 1


def test_chunks_of_one_read_are_one_part(serve: Serve) -> None:
    answer = CHUNKED + chunk(EVENT) + chunk(EVENT) + chunk(EVENT) + b"0\r\n\r\n"
    exchange = exchanged(serve, says(answer))
    assert exchange.response is not None
    assert [size for _, size in exchange.response.parts] == [30]


def test_parts_tell_when_each_read_came(serve: Serve) -> None:
    async def run() -> Exchange:
        first_came = asyncio.Event()

        async def handler(
            _request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            writer.write(CHUNKED + chunk(EVENT))
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(chunk(EVENT * 2) + b"0\r\n\r\n")
            first_came.set()

        async with serve(handler) as address:
            return await exchange_with(LiveTransport(LIMITS), post(f"http://{address}/"))

    exchange = asyncio.run(run())
    assert exchange.response is not None
    (first, size), (second, more) = exchange.response.parts
    assert (size, more) == (10, 20)
    assert 0 < first < second <= exchange.elapsed_ms
    assert second - first >= 40


def test_http_1_0_is_told_apart(serve: Serve) -> None:
    exchange = exchanged(serve, says(b"HTTP/1.0 200 OK\r\n\r\nhi"))
    assert exchange.response is not None
    assert (exchange.response.http_version, exchange.response.body) == ("HTTP/1.0", b"hi")


# ------------------------------------------------------------------------------------ content codings

TEXT = b'{"answer": 42}' * 100
RAW_DEFLATE = zlib.compressobj(wbits=-15)
RAW = RAW_DEFLATE.compress(TEXT) + RAW_DEFLATE.flush()


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"gzip", gzip.compress(TEXT, mtime=0)),
        (b"GZIP", gzip.compress(TEXT, mtime=0)),
        (b"gzip", gzip.compress(TEXT[:7], mtime=0) + gzip.compress(TEXT[7:], mtime=0)),
        (b"deflate", zlib.compress(TEXT)),
        (b"deflate", RAW),
        (b"deflate, gzip", gzip.compress(zlib.compress(TEXT), mtime=0)),
        (b"identity", TEXT),
        (b"br", TEXT),
    ],
)
@pytest.mark.parametrize("step", [1, 10_000])
def test_codings_are_undone_where_they_are_known(serve: Serve, coding: bytes, body: bytes, step: int) -> None:
    pieces = [chunk(body[at : at + step]) for at in range(0, len(body), step)]
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nTransfer-Encoding: chunked\r\n\r\n" % coding
    exchange = exchanged(serve, says(answer, *pieces, b"0\r\n\r\n"))
    assert (exchange.ending, body_of(exchange)) == ("complete", TEXT)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        pytest.param(b"gzip", TEXT, id="not gzip at all"),
        pytest.param(b"gzip", gzip.compress(TEXT, mtime=0)[:-9], id="gzip without its end"),
        pytest.param(b"deflate", b"\xff" * 50, id="not deflate at all"),
        pytest.param(b"deflate", zlib.compress(TEXT)[:-5], id="deflate without its end"),
    ],
)
def test_a_coding_that_does_not_decode_is_a_cut(serve: Serve, coding: bytes, body: bytes) -> None:
    exchange = exchanged(serve, says(sized(body, b"Content-Encoding: " + coding)))
    assert (exchange.ending, exchange.failure) == ("cut", None)
    assert body_of(exchange)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_goes_off_within_bounds(serve: Serve, layers: int) -> None:
    bomb, coding = b"\0" * 50_000_000, b"gzip"
    for _ in range(layers):
        bomb = gzip.compress(bomb, 1)
    header = b"Content-Encoding: " + b", ".join([coding] * layers)
    exchange = exchanged(serve, says(sized(bomb, header)))
    assert exchange.ending == "too-large"
    assert len(body_of(exchange)) <= LIMITS.max_bytes

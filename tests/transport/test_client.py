"""What the live transport makes of whatever a server does. Every server here is real, on loopback."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import struct
import zlib
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest
import trustme

from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange, HttpRequest

LIMITS = Limits(connect_s=5, idle_s=5, total_s=10, max_bytes=100_000)
IMPATIENT = Limits(connect_s=5, idle_s=0.1, total_s=10, max_bytes=100_000)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
EVENT = b"data: {}\n\n"

Serve = Any
Handler = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def sized(body: bytes, *headers: bytes) -> bytes:
    extra = b"".join(header + b"\r\n" for header in headers)
    return b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n%b" % (extra, len(body), body)


def says(*pieces: bytes) -> Handler:
    """A handler that writes the pieces, each as a write of its own, and closes."""

    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return handler


def says_and_waits(*pieces: bytes) -> Handler:
    """A handler that writes the pieces and then does nothing until the client has gone."""

    async def handler(request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await says(*pieces)(request, reader, writer)
        await writer.drain()
        await reader.read()

    return handler


def post(url: str, body: bytes = b"{}", *headers: tuple[str, str]) -> HttpRequest:
    return HttpRequest("POST", url, headers, body)


async def exchange_with(
    transport: LiveTransport, request: HttpRequest, close_after_events: int | None = None
) -> Exchange:
    try:
        return await transport.send(request, wire="openai-chat", close_after_events=close_after_events)
    finally:
        await transport.aclose()


def exchanged(
    serve: Serve,
    handler: Handler,
    *,
    limits: Limits = LIMITS,
    close_after_events: int | None = None,
    path: str = "/v1/chat/completions",
    headers: tuple[tuple[str, str], ...] = (),
) -> Exchange:
    async def run() -> Exchange:
        async with serve(handler) as address:
            request = post(f"http://{address}{path}", b"{}", *headers)
            return await exchange_with(LiveTransport(limits), request, close_after_events)

    return asyncio.run(run())


def body_of(exchange: Exchange) -> bytes:
    assert exchange.response is not None
    assert sum(size for _, size in exchange.response.parts) == len(exchange.response.body)
    return exchange.response.body


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


# ------------------------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("handler", "kind", "words"),
    [
        pytest.param(
            says(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "protocol", "did not answer in HTTP", id="garbage"
        ),
        pytest.param(says(bytes(range(256)) * 10), "protocol", "did not answer in HTTP", id="binary"),
        pytest.param(says(), "protocol", "closed the connection without an answer", id="nothing"),
        pytest.param(says(b"HTTP/1.1 200 OK\r\nX: 1"), "protocol", "without an answer", id="half a head"),
        pytest.param(
            says(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000), "protocol", "HTTP", id="endless head"
        ),
        pytest.param(says_and_waits(), "timeout", "no response headers within 0.1 s", id="silence"),
    ],
)
def test_what_is_no_response_is_a_failure(serve: Serve, handler: Handler, kind: str, words: str) -> None:
    exchange = exchanged(serve, handler, limits=IMPATIENT if kind == "timeout" else LIMITS)
    assert exchange.response is None
    assert exchange.failure is not None
    assert exchange.failure.kind == kind
    assert words in exchange.failure.message
    assert "127.0.0.1:" in exchange.failure.message


def test_a_head_that_drips_runs_into_the_total_limit(serve: Serve) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.transport.is_closing():
            writer.write(b"X: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    exchange = exchanged(serve, handler, limits=Limits(idle_s=5, total_s=0.2))
    assert exchange.failure is not None
    assert exchange.failure.kind == "timeout"
    assert "0.2 s" in exchange.failure.message


async def dripping(writer: asyncio.StreamWriter, drop: bytes) -> None:
    while not writer.transport.is_closing():
        writer.write(drop)
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"y", id="a header a byte at a time"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="100 Continue for ever"),
        pytest.param(b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", id="103 for ever"),
    ],
)
def test_a_head_that_never_ends_runs_into_the_total_limit_and_says_so(
    serve: Serve, first: bytes, drop: bytes
) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await dripping(writer, drop)

    exchange = exchanged(serve, handler, limits=Limits(idle_s=5, total_s=0.2))
    assert exchange.failure is not None
    assert exchange.failure.kind == "timeout"
    assert exchange.failure.message.endswith("sent no complete response headers within 0.2 s in all")
    assert exchange.elapsed_ms < 5_000


@pytest.mark.parametrize("comment", [b": keep-alive\n\n", b":", b"\n"])
def test_comments_for_ever_run_into_the_total_limit(serve: Serve, comment: bytes) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        await dripping(writer, chunk(comment))

    exchange = exchanged(serve, handler, limits=Limits(idle_s=5, total_s=0.2))
    assert (exchange.ending, exchange.failure) == ("stalled", None)
    assert 200 <= exchange.elapsed_ms < 5_000


def test_trailers_for_ever_run_into_the_total_limit(serve: Serve) -> None:
    async def handler(_request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(EVENT) + b"0\r\n")
        await dripping(writer, b"X: y\r\n")

    exchange = exchanged(serve, handler, limits=Limits(idle_s=5, total_s=0.2))
    assert (exchange.ending, exchange.failure) == ("stalled", None)


def failure_of(request: HttpRequest, **options: Any) -> tuple[str, str]:
    exchange = asyncio.run(exchange_with(LiveTransport(LIMITS, **options), request))
    assert exchange.response is None
    assert exchange.failure is not None
    return exchange.failure.kind, exchange.failure.message


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_refused_connection_names_host_and_port() -> None:
    port = closed_port()
    kind, message = failure_of(post(f"http://127.0.0.1:{port}/v1?key=hunter2hunter2"))
    assert (kind, message) == ("connect", f"cannot connect to 127.0.0.1:{port}: connection refused")


def test_a_name_that_does_not_resolve_is_named() -> None:
    kind, message = failure_of(post("http://endpoint.invalid/v1"))
    assert (kind, message) == ("connect", "cannot connect to endpoint.invalid:80: the name does not resolve")


def test_a_proxy_that_is_not_there_is_named_without_its_password() -> None:
    proxy = closed_port()
    kind, message = failure_of(post("http://endpoint.invalid/"), proxy=f"http://u:hunter2@127.0.0.1:{proxy}")
    assert kind == "connect"
    assert f"endpoint.invalid:80 through the proxy 127.0.0.1:{proxy}" in message
    assert "hunter2" not in message


@pytest.mark.parametrize("proxy", ["socks9://u:hunter2@x:1", "http://[x:1", "nonsense"])
def test_an_unusable_proxy_is_refused_at_once(proxy: str) -> None:
    with pytest.raises(ValueError, match="not a proxy URL") as error:
        LiveTransport(LIMITS, proxy=proxy)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(
            post("http://127.0.0.1:1/", b"", ("x-api-key", "secret-1234\n")), id="line end in a key"
        ),
        pytest.param(post("http://127.0.0.1:1/", b"", ("x", "secret-1234\ud800")), id="lone surrogate"),
        pytest.param(post("ftp://127.0.0.1:1/?key=secret-1234"), id="other scheme"),
        pytest.param(post("no URL at all secret-1234"), id="no URL"),
        pytest.param(post("http://" + "a" * 300 + ".invalid/?key=secret-1234"), id="endless name"),
        pytest.param(post("http://[secret-1234/"), id="broken host"),
        pytest.param(post("http://127.0.0.1:99999999/?key=secret-1234"), id="port out of range"),
    ],
)
def test_a_request_that_cannot_be_sent_is_a_failure_that_quotes_no_secret(request_: HttpRequest) -> None:
    _, message = failure_of(request_)
    assert message
    assert "secret-1234" not in message


def test_a_server_that_echoes_the_key_does_not_get_it_into_the_message(serve: Serve) -> None:
    async def handler(request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(next(line for line in request.split(b"\r\n") if b"authorization" in line) + b"\r\n\r\n")

    exchange = exchanged(serve, handler, headers=(("authorization", "Bearer hunter2hunter2"),))
    assert exchange.failure is not None
    assert exchange.failure.kind == "protocol"
    assert "hunter2" not in exchange.failure.message


# ------------------------------------------------------------------------------------------------ TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_tls(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    return context


def tls_exchange(serve: Serve, tls: ssl.SSLContext, ca_file: str | None) -> Exchange:
    async def run() -> Exchange:
        async with serve(says(sized(b"{}")), tls) as address:
            return await exchange_with(LiveTransport(LIMITS, ca_file=ca_file), post(f"https://{address}/"))

    return asyncio.run(run())


def test_a_private_authority_works_with_its_ca_file(
    serve: Serve, authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ca_file = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    exchange = tls_exchange(serve, server_tls(authority, "127.0.0.1"), str(ca_file))
    assert (exchange.ending, exchange.failure) == ("complete", None)


def test_an_unknown_authority_is_a_tls_failure(serve: Serve, authority: trustme.CA) -> None:
    exchange = tls_exchange(serve, server_tls(authority, "127.0.0.1"), None)
    assert exchange.failure is not None
    assert exchange.failure.kind == "tls"
    assert "certificate not accepted" in exchange.failure.message
    assert "CA file" in exchange.failure.message


def test_a_certificate_for_another_host_is_a_tls_failure(
    serve: Serve, authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ca_file = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    exchange = tls_exchange(serve, server_tls(authority, "other.example"), str(ca_file))
    assert exchange.failure is not None
    assert exchange.failure.kind == "tls"
    assert "127.0.0.1" in exchange.failure.message


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_a_server_that_speaks_no_tls_is_a_tls_failure(greeting: bytes) -> None:
    async def run() -> Exchange:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(greeting)
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            return await exchange_with(LiveTransport(LIMITS), post(f"https://127.0.0.1:{port}/"))
        finally:
            server.close()

    exchange = asyncio.run(run())
    assert exchange.failure is not None
    assert exchange.failure.kind == "tls"


def test_a_missing_ca_file_is_an_os_error() -> None:
    with pytest.raises(OSError):
        LiveTransport(LIMITS, ca_file="no-such-file.pem")


def test_the_tls_context_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    LiveTransport(LIMITS)

    def forbidden(*_args: object, **_options: object) -> None:
        raise AssertionError("a second context")

    monkeypatch.setattr(ssl, "SSLContext", forbidden)
    monkeypatch.setattr(ssl, "create_default_context", forbidden)
    LiveTransport(LIMITS)


# -------------------------------------------------------------------------------------- concurrency


def test_exchanges_run_side_by_side(serve: Serve) -> None:
    async def run() -> list[Exchange]:
        everyone_here = asyncio.Barrier(5)

        async def handler(
            _request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            await everyone_here.wait()  # passes only when all five are connected at once
            writer.write(sized(b"{}"))

        async with serve(handler) as address:
            transport = LiveTransport(LIMITS)
            sends = [transport.send(post(f"http://{address}/"), wire="openai-chat") for _ in range(5)]
            exchanges = await asyncio.gather(*sends)
            await transport.aclose()
            return exchanges

    assert [exchange.ending for exchange in asyncio.run(run())] == ["complete"] * 5


def test_cancelling_passes_through(serve: Serve) -> None:
    async def run() -> None:
        connected = asyncio.Event()

        async def handler(
            _request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            connected.set()
            await reader.read()

        async with serve(handler) as address:
            transport = LiveTransport(LIMITS)
            task = asyncio.ensure_future(transport.send(post(f"http://{address}/"), wire="openai-chat"))
            await connected.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await transport.aclose()

    asyncio.run(run())


def test_the_environments_proxy_is_ignored(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{closed_port()}")
    assert exchanged(serve, says(sized(b"{}"))).ending == "complete"

"""What the live transport makes of failures, TLS and many at once. Every server here is real."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any

import pytest
import trustme

from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange, HttpRequest
from tests.transport.servers import (
    CHUNKED,
    EVENT,
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


def test_a_configured_proxy_is_asked_for_the_whole_url(serve: Serve) -> None:
    async def forward(request: bytes, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sized(request.split(b"\r\n")[0]))

    async def run() -> Exchange:
        async with serve(forward) as address:
            transport = LiveTransport(LIMITS, proxy=f"http://{address}")
            return await exchange_with(transport, post("http://endpoint.invalid/v1/models"))

    assert body_of(asyncio.run(run())) == b"POST http://endpoint.invalid/v1/models HTTP/1.1"

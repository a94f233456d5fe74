"""The live transport: one request over the network, and everything that came back, as bytes.

It hides nothing: no retries, no redirects, no reuse of connections (a server's leftovers must not colour
the next exchange), no environment. It raises nothing either: whatever the network does ends up in the
exchange, as an ending or as a failure.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from conformance import __version__
from conformance.transport.coding import ContentDecoder
from conformance.transport.credentials import credentials
from conformance.transport.redact import Redactor
from conformance.transport.sse import Decoder
from conformance.types import Ending, Exchange, Failure, FailureKind, HttpRequest, HttpResponse, WireName

_BROKEN = (httpx.TransportError, httpx.InvalidURL, OSError, ValueError, ExceptionGroup)
"""What httpx and the layers below raise for a request that can't be sent or an answer that can't be read."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one exchange: seconds, and bytes of the decoded body.

    ``connect_s``: name, connection and TLS, each. ``idle_s``: silence between two reads. ``total_s``: the
    whole exchange. ``max_bytes``: a body that is longer ends as ``too-large``. The head of a response is
    bounded by httpcore, at 100 KiB: a longer one is a failure of kind ``protocol``.
    """

    connect_s: float = 10.0
    idle_s: float = 60.0
    total_s: float = 120.0
    max_bytes: int = 8 * 1024 * 1024


class Transport(Protocol):
    """Where exchanges come from: the network, a tape, a simulator."""

    async def send(
        self, request: HttpRequest, *, wire: WireName, close_after_events: int | None = None
    ) -> Exchange:
        """Send the request; with ``close_after_events``, hang up once that many events have arrived.

        Never raises for what the other side does; only ``asyncio.CancelledError`` passes.
        """
        ...

    async def aclose(self) -> None:
        """Let go of everything held open."""
        ...


JSON_LINES = ("application/x-ndjson", "application/jsonl", "application/json-lines")
"""Bodies whose events are their lines."""


class LiveTransport:
    """Sends requests over the network, any number at once, each on a connection of its own.

    ``proxy`` is an ``http://`` or ``https://`` URL. ``ca_file`` (PEM) replaces the default certificate
    authorities. Proxies and certificates in environment variables are ignored: a verdict must not depend
    on the shell it was reached from.

    How a response can end: ``complete``; ``cut`` (connection, chunked framing or content coding broke);
    ``stalled`` (silent for ``idle_s``, or not finished after ``total_s`` however much it sends);
    ``too-large`` (body over ``max_bytes``); ``closed-by-us`` (only by ``close_after_events``, so it is
    never the other side's doing). What came until then is kept.

    Raises ``ValueError`` for an unusable proxy URL, ``OSError`` (``ssl.SSLError`` is one) for an unusable
    CA file.
    """

    def __init__(self, limits: Limits, proxy: str | None = None, ca_file: str | None = None) -> None:
        self._limits = limits
        self._proxy = _authority(proxy) if proxy else None
        try:
            if self._proxy and self._proxy.startswith("("):
                raise ValueError
            self._http = httpx.AsyncHTTPTransport(
                verify=_tls(ca_file),
                trust_env=False,
                proxy=httpx.Proxy(proxy) if proxy else None,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            )
        except (ImportError, ValueError, httpx.InvalidURL):
            raise ValueError(f"not a proxy URL that can be used: {self._proxy}") from None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(
        self, request: HttpRequest, *, wire: WireName, close_after_events: int | None = None
    ) -> Exchange:
        """Send the request and keep what comes; see ``Transport.send``."""
        started, began = time.time(), time.perf_counter()
        stage = _Stage()
        body = _Body(began, self._limits.max_bytes, close_after_events)
        deadline = asyncio.get_running_loop().time() + self._limits.total_s

        def exchange(response: HttpResponse | None, ending: Ending, failure: Failure | None) -> Exchange:
            elapsed = _ms_since(began)
            return Exchange(request, response, ending, wire, failure, started, elapsed_ms=elapsed)

        try:
            outgoing = _outgoing(request, self._limits, stage)
            request = replace(request, headers=_pairs(outgoing.headers))
            async with asyncio.timeout_at(deadline):
                incoming = await self._http.handle_async_request(outgoing)
        except (TimeoutError, *_BROKEN) as error:
            return exchange(None, "cut", self._failure(error, stage, request))

        try:
            async with asyncio.timeout_at(deadline):
                ending = await body.read(incoming)
        except TimeoutError:
            ending = "stalled"
        finally:
            await _close(incoming)
        response = HttpResponse(
            status=incoming.status_code,
            headers=_pairs(incoming.headers),
            body=bytes(body.data),
            parts=tuple(body.parts),
            http_version=incoming.http_version,
        )
        return exchange(response, ending, None)

    def _failure(self, error: BaseException, stage: _Stage, request: HttpRequest) -> Failure:
        to = _authority(request.url)
        via = f"{to} through the proxy {self._proxy}" if self._proxy else to
        kind, message = _explain(error, stage, to, via, self._limits)
        # The other side may have put anything into the error's text, the request's own key included.
        clean = Redactor(credentials(request)).text(message)
        return Failure(kind, " ".join(clean.split())[:300])


class _Stage:
    """How far a request got, told by httpx's trace: it says whose fault an error is."""

    __slots__ = ("connecting", "in_tls", "sent")

    def __init__(self) -> None:
        self.connecting = False
        self.in_tls = False
        self.sent = False

    async def trace(self, name: str, _info: Mapping[str, Any]) -> None:
        if "connect_tcp" in name:
            self.connecting = not name.endswith(".complete")
        elif "start_tls" in name:
            self.in_tls = not name.endswith(".complete")
        elif name.startswith("http11.send_request"):
            self.sent = True


class _Body:
    """A body as it arrives."""

    __slots__ = ("_began", "_limit", "_reads", "_stop_after", "data", "parts")

    def __init__(self, began: float, limit: int, stop_after: int | None) -> None:
        self._began = began
        self._limit = limit
        self._stop_after = stop_after
        self._reads = 0
        self.data = bytearray()
        self.parts: list[tuple[float, int]] = []

    async def read(self, incoming: httpx.Response) -> Ending:
        decoder = ContentDecoder(incoming.headers.get("content-encoding"), self._limit)
        lines = incoming.headers.get("content-type", "").lower().startswith(JSON_LINES)
        events, seen = Decoder(), 0
        stream = incoming.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        chunks = aiter(stream)
        loop = asyncio.get_running_loop()
        while True:
            # One network read can bring several chunks; the loop turns exactly when there is a new read.
            turn = loop.call_soon(self._turned)
            before = self._reads
            try:
                data = decoder.feed(await anext(chunks))
            except StopAsyncIteration:
                decoder.finish()
                return "cut" if decoder.broken else "complete"
            except httpx.TimeoutException:
                return "stalled"
            except _BROKEN:
                return "cut"
            finally:
                turn.cancel()
            self._keep(data, new_read=self._reads != before)
            if decoder.too_large:
                return "too-large"
            if decoder.broken:
                return "cut"
            if self._stop_after is not None:
                seen += data.count(b"\n") if lines else len(events.feed(data))
                if seen >= self._stop_after:
                    return "closed-by-us"

    def _turned(self) -> None:
        self._reads += 1

    def _keep(self, data: bytes, *, new_read: bool) -> None:
        if not data:
            return
        self.data += data
        if new_read or not self.parts:
            self.parts.append((_ms_since(self._began), len(data)))
        else:
            ms, size = self.parts[-1]
            self.parts[-1] = (ms, size + len(data))


@functools.cache
def _tls(ca_file: str | None) -> ssl.SSLContext:
    """One context per CA file and process: building one takes about 40 ms."""
    if ca_file is None:
        return httpx.create_ssl_context(trust_env=False)
    return ssl.create_default_context(cafile=ca_file)


def _outgoing(request: HttpRequest, limits: Limits, stage: _Stage) -> httpx.Request:
    headers = [(_latin(name), _latin(value)) for name, value in request.headers]
    present = {name.lower() for name, _ in headers}
    for name, value in (
        (b"accept", b"*/*"),
        (b"accept-encoding", b"identity"),
        (b"user-agent", f"llm-wire-conformance/{__version__}".encode()),
    ):
        if name not in present:
            headers.append((name, value))
    timeout = httpx.Timeout(limits.idle_s, connect=limits.connect_s, pool=None)
    extensions = {"timeout": timeout.as_dict(), "trace": stage.trace}
    return httpx.Request(
        request.method, request.url, headers=headers, content=request.body, extensions=extensions
    )


async def _close(incoming: httpx.Response) -> None:
    stream = incoming.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    try:
        await stream.aclose()
    except _BROKEN:
        return  # a connection that broke can't say goodbye


def _explain(
    error: BaseException, stage: _Stage, to: str, via: str, limits: Limits
) -> tuple[FailureKind, str]:
    """The failure's kind, and a line that says what to look at."""
    causes = list(_causes(error))
    if isinstance(error, httpx.ConnectTimeout):
        if stage.in_tls:
            return "tls", f"TLS with {via} was not set up within {limits.connect_s:g} s"
        return "connect", f"no connection to {via} within {limits.connect_s:g} s"
    if isinstance(error, httpx.TimeoutException):
        return "timeout", f"{to} sent no response headers within {limits.idle_s:g} s"
    if isinstance(error, TimeoutError) and not isinstance(error, httpx.TransportError):
        return "timeout", f"{to} sent no complete response headers within {limits.total_s:g} s in all"
    if stage.in_tls or any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "tls", f"TLS with {via} failed: {_tls_reason(causes)}"
    if isinstance(error, httpx.ProxyError):
        return "connect", f"cannot connect to {via}: {error}"
    if stage.connecting or isinstance(error, httpx.ConnectError):
        return "connect", f"cannot connect to {via}: {_connect_reason(causes)}"
    if isinstance(error, httpx.RemoteProtocolError) and "without sending" in str(error):
        return "protocol", f"{to} closed the connection without an answer"
    if isinstance(error, httpx.RemoteProtocolError):
        return "protocol", f"{to} did not answer in HTTP: {error}"
    if stage.sent:
        return "protocol", f"the connection to {to} broke before an answer came"
    # Such an error's text quotes the request, key and all.
    return "protocol", f"the request to {to} cannot be sent: {type(error).__name__} (look for odd characters)"


def _tls_reason(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"certificate not accepted ({cause.verify_message}); a private authority needs a CA file"
        if isinstance(cause, ssl.SSLError):
            return str(cause.reason or cause).replace("_", " ").lower()
    return "the connection broke during the handshake"


def _connect_reason(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, socket.gaierror | UnicodeError):
            return "the name does not resolve"
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
    reasons = [cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror]
    return reasons[-1] if reasons else str(causes[0]) or type(causes[0]).__name__


def _causes(error: BaseException) -> list[BaseException]:
    """The error and everything behind it, outermost first."""
    found: list[BaseException] = []
    todo: list[BaseException | None] = [error]
    while todo:
        cause = todo.pop(0)
        if cause is None or any(cause is other for other in found):
            continue
        found.append(cause)
        todo += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            todo += cause.exceptions
    return found


def _authority(url: str) -> str:
    """``host:port`` of a URL: fit for a message, as path and query (where keys sit) are not."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "(unreadable URL)"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{host}:{port}" if host and port else host or "(URL without a host)"


def _pairs(headers: httpx.Headers) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw)


def _latin(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def _ms_since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)

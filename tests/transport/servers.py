"""Handlers and helpers for servers that do whatever a test wants, on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

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

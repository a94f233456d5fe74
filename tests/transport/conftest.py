"""A raw server on loopback: the handler writes the bytes, so it can lie at every layer."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import pytest

Handler = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Serve = Callable[..., AbstractAsyncContextManager[str]]


@asynccontextmanager
async def _serve(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serves ``handler(request, reader, writer)``, ``request`` being head and body; gives ``host:port``.

    The connection is closed when the handler returns.
    """

    running: set[asyncio.Task[None] | None] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                (
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                ),
                0,
            )
            await handler(head + await reader.readexactly(size), reader, writer)
            await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"{host}:{port}"
    finally:
        server.close()
        await asyncio.gather(*(task for task in running if task))


@pytest.fixture
def serve() -> Serve:
    return _serve

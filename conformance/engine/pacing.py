"""An endpoint's limits: how many requests at once, how many in all."""

from __future__ import annotations

import asyncio

from conformance.transport.client import Transport
from conformance.types import Exchange, Failure, HttpRequest, WireName


class Paced:
    """A transport that keeps to the endpoint's concurrency and request cap."""

    def __init__(self, inner: Transport, concurrency: int, cap: int | None) -> None:
        self._inner = inner
        self._slots = asyncio.Semaphore(concurrency)
        self._left = cap

    async def send(
        self, request: HttpRequest, *, wire: WireName, close_after_events: int | None = None
    ) -> Exchange:
        """Like `Transport.send`; a spent cap is a failure of kind ``request-cap``, nothing is sent."""
        async with self._slots:
            if self._left is not None:
                if self._left <= 0:
                    failure = Failure("request-cap", "the request cap is spent (max_requests)")
                    return Exchange(request, None, "complete", wire, failure)
                self._left -= 1
            return await self._inner.send(request, wire=wire, close_after_events=close_after_events)

    async def aclose(self) -> None:
        """Close the transport beneath."""
        await self._inner.aclose()

"""``serve --log``: what the simulator did, as the JSON lines that ``grade`` reads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from conformance.engine import exchange_log
from conformance.grade.recorded import SIMULATED
from conformance.transport.coding import ContentDecoder
from conformance.transport.redact import Redactor
from conformance.types import Exchange

_WAITING = 64
_MOST = 16 * 1024 * 1024


class ServeLog:
    """Writes exchanges in a thread of its own, labelled ``simulated:PERSONA``.

    ``secrets`` are cut out wherever they occur, and so is what a request carries as a credential. At most 64
    exchanges wait to be written; who brings more waits. ``complain`` is told what could not be written.

    Raises `ConfigError` where the file can't be written.
    """

    def __init__(self, path: Path, secrets: tuple[str, ...], complain: Callable[[str], None]) -> None:
        exchange_log.begin(path, "--log")
        self._path = path
        self._redactor = Redactor(secrets)
        self._complain = complain
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchange-log")
        self._room = threading.BoundedSemaphore(_WAITING)

    def add(self, persona: str, exchange: Exchange) -> None:
        """Write the exchange, sooner or later."""
        self._room.acquire()
        self._writer.submit(self._write, SIMULATED + persona, exchange)

    def close(self) -> None:
        """Write what waits."""
        self._writer.shutdown()

    def _write(self, endpoint: str, exchange: Exchange) -> None:
        try:
            for problem in exchange_log.append(
                self._path, (_decoded(exchange),), (endpoint, ""), self._redactor
            ):
                self._complain(problem)
        except Exception as error:  # nobody asks for the result, so nobody would see it
            self._complain(f"{endpoint}: exchange not written to {self._path}: {error!r}")
        finally:
            self._room.release()


def _decoded(exchange: Exchange) -> Exchange:
    """The exchange with its answer's content coding undone, as a client keeps it."""
    response = exchange.response
    if response is None or not response.header("content-encoding"):
        return exchange
    decoder = ContentDecoder(response.header("content-encoding"), _MOST)
    body, parts = bytearray(), []
    at = 0
    for ms, size in response.parts:
        piece = decoder.feed(response.body[at : at + size])
        at += size
        body += piece
        if piece:
            parts.append((ms, len(piece)))
    return replace(exchange, response=replace(response, body=bytes(body), parts=tuple(parts)))

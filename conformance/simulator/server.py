"""The server: the connections' lives, and what lies around the answers: runs, journal, control API."""

from __future__ import annotations

import asyncio
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any

from conformance.simulator import chance
from conformance.simulator.addresses import Address, address
from conformance.simulator.answer import Actions, Refused
from conformance.simulator.answering import Answering, signed
from conformance.simulator.behaviour import Persona
from conformance.simulator.control import Control
from conformance.simulator.fronts import fronts
from conformance.simulator.http import Limits, Received, linger, perform, read_request
from conformance.simulator.journal import JournalEntry
from conformance.simulator.performed import Performance
from conformance.simulator.runs import DEFAULT, Run, Runs, named
from conformance.simulator.script import Script
from conformance.types import Exchange, Turn, WireName

_HOST = "127.0.0.1"


class Simulator:
    """Endpoints on one loopback port, one under ``/p/<persona>`` for each persona, each speaking every wire.

    ``scripts`` maps a marker's name to the turn that a prompt with ``[[name]]`` is answered with, ``script``
    is a file's turns, which come before those. ``latency_s`` seconds pass before each answer, ``gap_s``
    between the events of a stream. With a ``seed`` the same requests bring the same bytes, dates included.

    What is remembered is kept apart for each run, which a request names in the header ``X-Conformance-Run``
    or before its path (``/r/<run>/p/<persona>``). A control API lies under ``/__conformance``.

    ``on_entry`` is called with every entry of a journal when its answer begins, ``on_exchange`` with the
    persona's name and every exchange when it is over; both in the server's thread.
    """

    def __init__(
        self,
        personas: Sequence[Persona],
        scripts: Mapping[str, Turn],
        latency_s: float = 0.0,
        gap_s: float = 0.001,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        *,
        script: Script = Script(),  # noqa: B008 (frozen)
        seed: int | None = None,
        on_entry: Callable[[JournalEntry], None] | None = None,
        on_exchange: Callable[[str, Exchange], None] | None = None,
    ) -> None:
        self._personas = {persona.name: persona for persona in personas}
        self._answers = Answering(self._personas, scripts, script, latency_s, gap_s)
        self._bases = {front.wire: front.base for front in fronts()}
        self._runs = Runs()
        self._control = Control(self._personas, self._runs, self.base_url)
        self._limits = limits
        self._seed = seed
        self._on_entry = on_entry
        self._on_exchange = on_exchange
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[Any]] = set()
        self._port = 0

    @property
    def journal(self) -> list[JournalEntry]:
        """The newest requests of the default run, the oldest first."""
        return list(self.run().journal.entries())

    @property
    def personas(self) -> Mapping[str, Persona]:
        """The personas by name."""
        return self._personas

    @property
    def origin(self) -> str:
        """The URL of its root, without a slash at the end."""
        return f"http://{_HOST}:{self._port}"

    def run(self, name: str = DEFAULT) -> Run:
        """What is remembered of a run; one that was not there is begun."""
        return self._runs.get(name)

    def reset(self, run: str = DEFAULT) -> None:
        """Forget all of a run."""
        self._runs.reset(run)

    async def start(self, port: int = 0) -> None:
        """Listen on the loopback interface; port 0 lets the system choose.

        Raises:
            OSError: the port is taken.
        """
        self._server = await asyncio.start_server(self._connection, _HOST, port, limit=self._limits.line * 2)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        if self._server is None:
            return
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Simulator:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def base_url(self, persona: str, wire: WireName = "openai-chat", run: str | None = None) -> str:
        """The base URL of a persona, as a client of that wire configures it; with a ``run``, in that one.

        Raises:
            KeyError: there is no such persona, or no such wire.
        """
        within = "" if run is None else f"/r/{run}"
        return f"{self.origin}{within}/p/{self._personas[persona].name}{self._bases[wire]}"

    # ------------------------------------------------------------------------------------ connections

    async def _connection(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.CancelledError):
            # The client left, or stop() ends us: either way there is no one to tell.
            writer.transport.abort()
        except Exception as error:  # an answer that broke while it was written
            self._note(self.run(), JournalEntry("", "", "", None, f"failed: {error!r}"), 0)
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            try:
                received = await read_request(reader, writer, self._limits)
            except Refused as refused:
                run = self.run()
                self._note(run, JournalEntry("", "", "", None, f"refused: {refused.why}"), 0)
                actions = signed(refused.actions(), run.fronts[-1], chance.now_ns())
                await perform(actions, reader, writer, None)
                await linger(reader, writer, self._limits)
                return
            if received is None or not await self._serve(received, reader, writer):
                return

    async def _serve(self, received: Received, reader: StreamReader, writer: StreamWriter) -> bool:
        """Answer a request; true when the connection may carry another."""
        request = received.request
        to = address(request)
        if to.is_control:
            return await perform(self._control.answer(request, to), reader, writer, received)
        actions, wire = self._answer(received, to)
        if self._on_exchange is None or to.persona not in self._personas:
            return await perform(actions, reader, writer, received)
        absolute = self.origin + request.url if request.url.startswith("/") else request.url
        performance = Performance(replace(request, url=absolute), wire)
        left = True
        try:
            watched = performance.watched(actions)
            reusable = await perform(watched, reader, writer, received, performance.sent)
            left = False
            return reusable
        finally:
            self._on_exchange(to.persona, performance.exchange(left=left))

    def _answer(self, received: Received, to: Address) -> tuple[Actions, WireName]:
        request = received.request
        objection = None
        try:
            run = self.run(named(request.headers, to.run))
        except Refused as refused:
            run, objection = self.run(), refused
        came = run.came(request, to.path)
        chance.draw_from(None if self._seed is None else came.seed(self._seed))
        answered = self._answers.answer(request, to, run, objection, again=came.before > 0)
        size = len(request.url) + len(request.body) + sum(len(k) + len(v) for k, v in request.headers)
        self._note(run, answered.entry, size)
        return answered.actions, answered.front.wire

    def _note(self, run: Run, entry: JournalEntry, size: int) -> None:
        entry = run.journal.note(entry, size)
        if self._on_entry is not None:
            self._on_entry(entry)


# ---------------------------------------------------------------------------------------- background


@contextmanager
def running(simulator: Simulator, port: int = 0) -> Iterator[Simulator]:
    """Host ``simulator`` in a thread of its own, for synchronous callers.

    Raises:
        OSError: the port is taken.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="conformance-simulator", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(simulator.start(port), loop).result()
        try:
            yield simulator
        finally:
            asyncio.run_coroutine_threadsafe(simulator.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

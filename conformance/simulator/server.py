"""The server: routes, keys, the journal, and the connections' lives."""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import formatdate
from types import TracebackType
from typing import Any
from urllib.parse import unquote

from conformance.simulator import turns
from conformance.simulator.answer import JSON_TYPE, Actions, Head, Pause, Refused, Respond, refusal
from conformance.simulator.behaviour import Persona
from conformance.simulator.cache import PromptCache
from conformance.simulator.fields import parse
from conformance.simulator.front import Front, Route
from conformance.simulator.fronts import fronts
from conformance.simulator.http import Limits, Received, header, linger, perform, read_request
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Turn, WireName

_HOST = "127.0.0.1"
_JOURNAL_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One request and what became of it.

    ``action`` is ``answered NAME``, ``refused: WHY``, ``took over: BEHAVIOUR`` or ``failed: ERROR``;
    ``body`` is the parsed JSON object, if it was one.
    """

    persona: str
    method: str
    path: str
    body: Mapping[str, Any] | None
    action: str


class Simulator:
    """Endpoints on one loopback port, one under ``/p/<persona>`` for each persona, each speaking every wire.

    ``scripts`` maps a marker's name to the turn that a prompt with ``[[name]]`` is answered with.
    ``latency_s`` seconds pass before each answer, ``gap_s`` between the events of a stream.
    ``journal`` keeps the last 10,000 requests.
    """

    def __init__(
        self,
        personas: Sequence[Persona],
        scripts: Mapping[str, Turn],
        latency_s: float = 0.0,
        gap_s: float = 0.001,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        self.journal: list[JournalEntry] = []
        self._cache = PromptCache()
        self._fronts = fronts()
        self._personas = {persona.name: persona for persona in personas}
        self._scripts = scripts
        self._latency_s = latency_s
        self._gap_s = gap_s
        self._limits = limits
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[Any]] = set()
        self._port = 0

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

    def base_url(self, persona: str, wire: WireName = "openai-chat") -> str:
        """The base URL of a persona, as a client of that wire configures it.

        Raises:
            KeyError: there is no such persona, or no such wire.
        """
        base = {front.wire: front.base for front in self._fronts}[wire]
        return f"http://{_HOST}:{self._port}/p/{self._personas[persona].name}{base}"

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
            self._note(JournalEntry("", "", "", None, f"failed: {error!r}"))
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            try:
                received = await read_request(reader, writer, self._limits)
            except Refused as refused:
                self._note(JournalEntry("", "", "", None, f"refused: {refused.why}"))
                actions = _signed(refused.actions(), self._fronts[-1], time.monotonic())
                await perform(actions, reader, writer, None)
                await linger(reader, writer, self._limits)
                return
            if received is None or not await perform(self._answer(received), reader, writer, received):
                return

    # ---------------------------------------------------------------------------------------- answers

    def _answer(self, received: Received) -> Actions:
        request, started = received.request, time.monotonic()
        path = unquote(_path(request.url))
        name, rest = _split(path)
        persona = self._personas.get(name)
        front = next(front for front in self._fronts if front.speaks(request, rest))
        body: dict[str, Any] | None = None
        actions: Actions
        try:
            if persona is None:
                raise _not_found(request, path)
            for behaviour in persona.behaviours:
                taken = behaviour.first(request)
                if taken is not None:
                    self._note(JournalEntry(name, request.method, path, None, f"took over: {behaviour.name}"))
                    return taken
            route = _route(front, request, rest)
            front.authorize(request, persona)
            if route.kind == "ask":
                body = parse(request.body)
                asked = route.model or body.get("model")
                model = asked if isinstance(asked, str) else ""
                for behaviour in persona.behaviours:
                    if (objection := behaviour.screen(front.wire, body, model)) is not None:
                        raise objection
                actions, done = self._ask(persona.serving(model), front, route, body)
            else:
                document = front.models(route, persona)
                actions, done = [Respond(200, JSON_TYPE, document)], "answered models"
        except Refused as refused:
            worded = refused if refused.worded else front.refused(refused)
            actions, done = worded.actions(), f"refused: {refused.why}"
        except Exception as error:  # a behaviour's bug must not take the server down
            failed = refusal("The simulator failed.", status=500, kind="server_error")
            actions, done = front.refused(failed).actions(), f"failed: {error!r}"
        actions = _signed(actions, front, started)
        self._note(JournalEntry(name, request.method, path, body, done))
        for behaviour in persona.behaviours if persona else ():
            actions = behaviour.rewire(request, actions)
        return _later(self._latency_s, actions)

    def _ask(self, persona: Persona, front: Front, route: Route, body: dict[str, Any]) -> tuple[Actions, str]:
        request = front.read(body, route, persona)
        for behaviour in persona.behaviours:
            refused = behaviour.refuse(request)
            if refused is not None:
                raise refused
        request = replace(request, cached_tokens=self._cache.read(persona.name, request))
        chosen = turns.choose(request, self._scripts)
        turn = chosen.turn
        for behaviour in persona.behaviours:
            turn = behaviour.turn(request, turn)
        actions = front.write(turns.obey(turn, request), request, self._gap_s)
        return _through(persona, request, actions), f"answered {chosen.origin}"

    def _note(self, entry: JournalEntry) -> None:
        self.journal.append(entry)
        del self.journal[:-_JOURNAL_ENTRIES]


def _through(persona: Persona, request: ChatRequest, actions: Actions) -> Actions:
    for behaviour in persona.behaviours:
        actions = behaviour.actions(request, actions)
    return actions


def _later(seconds: float, actions: Actions) -> Actions:
    yield Pause(seconds)
    yield from actions


def _signed(actions: Actions, front: Front, started: float) -> Actions:
    """The answer with the headers that every answer of the wire's provider has, where it has them not yet."""
    for action in actions:
        if isinstance(action, (Respond, Head)):
            signature = front.signature(round((time.monotonic() - started) * 1000))
            added = (("date", formatdate(usegmt=True)), *signature)
            missing = tuple(line for line in added if header(action.headers, line[0]) is None)
            action = replace(action, headers=action.headers + missing)
        yield action


# ------------------------------------------------------------------------------------------- routing


def _path(target: str) -> str:
    if target.startswith("http://"):
        target = "/" + target.removeprefix("http://").partition("/")[2]
    return target.partition("?")[0]


def _split(path: str) -> tuple[str, str]:
    """``/p/NAME/REST`` as ``(NAME, /REST)``; two empty strings for any other path."""
    parts = path.split("/", 3)
    if len(parts) != 4 or parts[0] or parts[1] != "p":
        return "", ""
    return parts[2], "/" + parts[3]


def _route(front: Front, request: HttpRequest, path: str) -> Route:
    route = front.route(path)
    if route is None:
        raise _not_found(request, path)
    if request.method != route.method:
        message = f"The method {request.method} is not allowed here; {route.method} is."
        allow = (("allow", route.method),)
        raise refusal(message, status=405, code="method_not_supported", headers=allow)
    return replace(route, request=request)


def _not_found(request: HttpRequest, path: str) -> Refused:
    return refusal(f"Unknown URL: {request.method} {path[:200]}", status=404, code="unknown_url")


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

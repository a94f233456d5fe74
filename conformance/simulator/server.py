"""The server: routes, keys, the journal, and the connections' lives."""

from __future__ import annotations

import asyncio
import hmac
import secrets
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

from conformance.simulator import chat, turns
from conformance.simulator.answer import JSON_TYPE, Actions, Head, Headers, Pause, Refused, Respond, refusal
from conformance.simulator.behaviour import Persona
from conformance.simulator.cache import PromptCache
from conformance.simulator.fields import parse
from conformance.simulator.http import Limits, Received, header, linger, perform, read_request
from conformance.simulator.request import ChatRequest, read_chat_request
from conformance.types import HttpRequest, Turn

_HOST = "127.0.0.1"
_CREATED = 1_700_000_000
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
    """Endpoints on one loopback port, one under ``/p/<persona>/v1`` for each persona.

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

    def base_url(self, persona: str) -> str:
        """The base URL of a persona, as a client configures it.

        Raises:
            KeyError: there is no such persona.
        """
        return f"http://{_HOST}:{self._port}/p/{self._personas[persona].name}/v1"

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
                await perform(_signed(refused.actions(), time.monotonic()), reader, writer, None)
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
            handler = _route(request, rest)
            _authorize(request, persona)
            if handler == "chat":
                body = parse(request.body)
                actions, done = self._chat(persona, body)
            else:
                actions, done = _models(persona, rest)
        except Refused as refused:
            actions, done = _signed(refused.actions(), started), f"refused: {refused.why}"
        except Exception as error:  # a behaviour's bug must not take the server down
            failed = refusal("The simulator failed.", status=500, kind="server_error")
            actions, done = _signed(failed.actions(), started), f"failed: {error!r}"
        self._note(JournalEntry(name, request.method, path, body, done))
        for behaviour in persona.behaviours if persona else ():
            actions = behaviour.rewire(request, actions)
        return _later(self._latency_s, actions)

    def _chat(self, persona: Persona, body: dict[str, Any]) -> tuple[Actions, str]:
        started = time.monotonic()
        request = read_chat_request(body, persona.model)
        for behaviour in persona.behaviours:
            refused = behaviour.refuse(request)
            if refused is not None:
                raise refused
        request = replace(request, cached_tokens=self._cache.read(persona.name, request))
        chosen = turns.choose(request, self._scripts)
        turn = chosen.turn
        for behaviour in persona.behaviours:
            turn = behaviour.turn(request, turn)
        actions = _signed(chat.write(turns.obey(turn, request), request, self._gap_s), started)
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


def _signed(actions: Actions, started: float) -> Actions:
    """The answer with the headers that every answer of OpenAI's API has."""
    for action in actions:
        if isinstance(action, (Respond, Head)):
            signature: Headers = (
                ("date", formatdate(usegmt=True)),
                ("x-request-id", f"req_{secrets.token_hex(16)}"),
                ("openai-processing-ms", str(round((time.monotonic() - started) * 1000))),
            )
            action = replace(action, headers=action.headers + signature)
        yield action


# ------------------------------------------------------------------------------------------- routing


def _path(target: str) -> str:
    if target.startswith("http://"):
        target = "/" + target.removeprefix("http://").partition("/")[2]
    return target.partition("?")[0]


def _split(path: str) -> tuple[str, str]:
    """``/p/NAME/v1/REST`` as ``(NAME, /REST)``; two empty strings for any other path."""
    parts = path.split("/", 4)
    if len(parts) != 5 or parts[0] or parts[1] != "p" or parts[3] != "v1":
        return "", ""
    return parts[2], "/" + parts[4]


def _route(request: HttpRequest, path: str) -> str:
    if path == "/chat/completions":
        handler, allowed = "chat", "POST"
    elif path == "/models" or (path.startswith("/models/") and len(path) > len("/models/")):
        handler, allowed = "models", "GET"
    else:
        raise _not_found(request, path)
    if request.method != allowed:
        message = f"The method {request.method} is not allowed here; {allowed} is."
        raise refusal(message, status=405, code="method_not_supported", headers=(("allow", allowed),))
    return handler


def _not_found(request: HttpRequest, path: str) -> Refused:
    return refusal(f"Unknown URL: {request.method} {path[:200]}", status=404, code="unknown_url")


def _authorize(request: HttpRequest, persona: Persona) -> None:
    given = header(request.headers, "authorization")
    challenge = (("www-authenticate", "Bearer"),)
    if not given:
        message = "No API key was given. Send it in the header 'Authorization: Bearer KEY'."
        raise refusal(message, status=401, why="401 no-api-key", headers=challenge)
    scheme, _, key = given.partition(" ")
    # The key itself is never repeated: error bodies end up in logs and cassettes.
    if scheme.lower() != "bearer" or not hmac.compare_digest(key.strip().encode(), persona.key.encode()):
        raise refusal("The API key is not correct.", status=401, code="invalid_api_key", headers=challenge)


def _models(persona: Persona, path: str) -> tuple[Actions, str]:
    entry = {"id": persona.model, "object": "model", "created": _CREATED, "owned_by": "conformance"}
    wanted = path.removeprefix("/models").removeprefix("/")
    if not wanted:
        document: dict[str, Any] = {"object": "list", "data": [entry]}
    elif wanted == persona.model:
        document = dict(entry)
    else:
        message = f"The model '{wanted[:200]}' does not exist."
        raise refusal(message, status=404, param="model", code="model_not_found")
    return _signed([Respond(200, JSON_TYPE, document)], time.monotonic()), "answered models"


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

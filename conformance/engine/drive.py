"""Drives a scenario's script over a wire and a transport: the only place where steps become HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol
from urllib.parse import quote, urlencode

from conformance.dialects import Dialect
from conformance.engine.twins import the_other_way, twins_of
from conformance.policies import hangs
from conformance.scenarios import Scenario
from conformance.scenarios.base import ModelDidNot, Stuck, asks_of, marked, marker
from conformance.scenarios.walking import imagined
from conformance.transport.client import Transport
from conformance.types import (
    JSON,
    Ask,
    Attempt,
    Auth,
    Cancel,
    Exchange,
    Expect,
    Failure,
    HttpRequest,
    Loss,
    Part,
    Raw,
    Reasoning,
    Reply,
    Request,
    Step,
    Together,
    Turn,
    Twin,
)
from conformance.wires import Wire

Outcome = Literal["done", "model-did-not", "stuck"]

WRONG_KEY = "sk-wrong-0000000000000000000000"
"""Sent where a scenario asks for a wrong key; no provider ever issued it."""

_PART = re.compile(r"/messages/(\d+)/parts/(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """Where and how requests go: an endpoint with everything resolved that the environment decides.

    ``parity``: what a scenario asks whole is asked streamed, too, and the other way round; ``stream_usage``:
    its streams can be asked to tell the usage.
    """

    base_url: str
    wire: Wire
    model: str
    key: str | None = None
    bearer: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    extra_body: Mapping[str, JSON] | None = None
    max_tokens_field: str = "max_tokens"
    scripted: bool = False
    dialect: Dialect | None = None
    parity: bool = False
    stream_usage: bool = True

    def url(self, path: str) -> str:
        """The full URL of a path relative to the base URL."""
        joint = "&" if "?" in path else "?"
        return self.base_url + path + (joint + urlencode(self.query) if self.query else "")

    def credentials(self, auth: Auth) -> tuple[tuple[str, str], ...]:
        """The wire's headers with the endpoint's own key, a wrong one, or none."""
        key = {"own": self.key, "wrong": WRONG_KEY, "none": None}[auth]
        if key and self.bearer:
            return (*self.wire.headers, ("Authorization", f"Bearer {key}"))
        return (*self.wire.headers, *(self.wire.auth_headers(key) if key is not None else ()))


@dataclass(frozen=True, slots=True)
class Question:
    """What a step asks, ready to be sent as the plain client sends it.

    ``ask`` and ``canonical`` (the request with its marker) are ``None`` for raw bytes.
    """

    http: HttpRequest
    expect: Expect
    ask: Ask | None = None
    canonical: Request | None = None
    close_after_events: int | None = None


@dataclass(frozen=True, slots=True)
class Brought:
    """What a question brought: the exchange to judge, and in an adapted run those behind it."""

    exchange: Exchange
    behind: tuple[Exchange, ...] = ()


class Client(Protocol):
    """Who sends questions: the plain client sends each once, as it stands."""

    async def send(self, question: Question, target: Target, transport: Transport) -> Brought:
        """Send a question; never raises for what the other side does."""
        ...


class PlainClient:
    """Strict mode: what is asked is sent, once, and what comes is what came."""

    async def send(self, question: Question, target: Target, transport: Transport) -> Brought:
        close = question.close_after_events
        return Brought(await transport.send(question.http, wire=target.wire.name, close_after_events=close))


_PLAIN = PlainClient()


async def run_script(
    scenario: Scenario, target: Target, transport: Transport, client: Client = _PLAIN
) -> Attempt:
    """Run the scenario's script once, from its first step to its end or to where it can't go on.

    Then, where the target wants it, ask what was answered the other way, too.
    """
    asked: list[_Asked] = []
    attempt = await _run(scenario, target, transport, client, asked)
    if not target.parity:
        return attempt
    chosen = twins_of(scenario)
    twins: list[Exchange] = []
    for one in asked:
        if one.number in chosen and attempt.exchanges[one.index].failure is None:
            twins.append(await _twin(one, scenario, target, transport))
    return replace(attempt, twins=tuple(twins))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A canonical request of an attempt: its ``number`` among these, its ``index`` among the exchanges."""

    number: int
    index: int
    ask: Ask


async def _twin(one: _Asked, scenario: Scenario, target: Target, transport: Transport) -> Exchange:
    ask = the_other_way(one.ask, usage=target.stream_usage)
    reply, _ = await _ask(ask, marker(scenario.id, one.number), target, transport, _PLAIN)
    script = scenario.ideal[one.number] if one.number < len(scenario.ideal) else None
    return replace(reply.exchange, twin=Twin(one.index, ask.request.stream, script))


async def _run(
    scenario: Scenario, target: Target, transport: Transport, client: Client, asked: list[_Asked]
) -> Attempt:
    script = scenario.script()
    exchanges: list[Exchange] = []
    behind: list[tuple[Exchange, ...]] = []

    def attempt(outcome: Outcome = "done", reason: str = "") -> Attempt:
        return Attempt(tuple(exchanges), outcome, reason, tuple(behind) if any(behind) else ())

    try:
        step = next(script)
        number = 0
        while True:
            asks = asks_of(step)
            names = [marker(scenario.id, number + place) for place in range(len(asks))]
            done = await _perform(step, names, target, transport, client)
            for place, ask in enumerate(asks):
                asked.append(_Asked(number + place, len(exchanges) + place, ask))
            number += len(asks)
            replies = tuple(reply for reply, _ in done)
            exchanges += [reply.exchange for reply in replies]
            behind += [tries for _, tries in done]
            if failed := next((f for r in replies if (f := _ends(scenario, r, exchanges))), None):
                script.close()
                return attempt("stuck", failed.message)
            step = script.send(replies if isinstance(step, Together) else replies[0])
    except StopIteration:
        return attempt()
    except ModelDidNot as missed:
        return attempt("model-did-not", str(missed))
    except Stuck:
        return attempt("stuck")


def _ends(scenario: Scenario, reply: Reply, exchanges: Sequence[Exchange]) -> Failure | None:
    """What a script can't go on from; who measures a policy goes on where one that answered hangs."""
    measured = scenario.policy and hangs(reply.exchange, exchanges)
    return None if measured else reply.exchange.failure


async def perform(
    step: Step, names: Sequence[str], target: Target, transport: Transport
) -> tuple[Reply, ...]:
    """Do one step; ``names`` are the marker names of its canonical requests, in order."""
    return tuple(reply for reply, _ in await _perform(step, names, target, transport, _PLAIN))


async def _perform(
    step: Step, names: Sequence[str], target: Target, transport: Transport, client: Client
) -> tuple[tuple[Reply, tuple[Exchange, ...]], ...]:
    """The replies of a step, each with what stands behind it."""
    if isinstance(step, Raw):
        path = _path(step.path, target)
        body = step.body.replace(b"{{model}}", json.dumps(target.model)[1:-1].encode())
        headers = (("content-type", "application/json"), *step.headers) if body else step.headers
        question = Question(_http(target, step.method, path, body, headers, step.auth), step.expect)
        return (await _send(question, step.probe, target, transport, client),)
    if isinstance(step, Together):
        asked = (
            _ask(ask, name, target, transport, client) for ask, name in zip(step.asks, names, strict=True)
        )
        return tuple(await asyncio.gather(*asked))
    if isinstance(step, Cancel):
        return (await _ask(step.ask, names[0], target, transport, client, step.after_events),)
    return (await _ask(step, names[0], target, transport, client),)


def _path(path: str, target: Target) -> str:
    """The path of a raw step: a wire's own at its start, the model as one segment (RFC 3986, 3.3)."""
    own = {"@chat": target.wire.path(target.model, False), "@models": target.wire.models_path}
    head, slash, rest = path.partition("/") if path.startswith("@") else (path, "", "")
    return (own.get(head, head) + slash + rest).replace("{{model}}", quote(target.model, safe=""))


async def _ask(
    ask: Ask, name: str, target: Target, transport: Transport, client: Client, close: int | None = None
) -> tuple[Reply, tuple[Exchange, ...]]:
    canonical = marked(ask.request, name) if target.scripted else ask.request
    question = Question(encoded(canonical, ask, target), ask.expect, ask, canonical, close)
    reply, behind = await _send(question, ask.probe, target, transport, client)
    return _read_in(target.dialect, ask.request, reply, name), behind


def encoded(
    request: Request,
    ask: Ask,
    target: Target,
    *,
    model: str | None = None,
    change: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> HttpRequest:
    """A canonical request as it is sent; ``change`` has the last word on its body."""
    model = model or ask.model or target.model
    worded = _worded(request, target.dialect)[0]
    body = target.wire.encode(worded, model=model, losses=[], max_tokens_field=target.max_tokens_field)
    body |= target.extra_body or {}
    accept = "text/event-stream" if request.stream else "application/json"
    return _http(
        target,
        "POST",
        target.wire.path(model, request.stream),
        _json_bytes(change(body) if change is not None else body),
        (("content-type", "application/json"), ("accept", accept), *ask.headers),
        ask.auth,
    )


def _worded(request: Request, dialect: Dialect | None) -> tuple[Request, tuple[Loss, ...]]:
    """The request in the dialect's words, and what those lose."""
    if dialect is None:
        return request, ()
    if not request.echo_reasoning:
        silent = [replace(m, parts=_without_reasoning(m.parts)) for m in request.messages]
        request = replace(request, messages=tuple(silent))
    return dialect.to_text(request)


def _without_reasoning(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not isinstance(part, Reasoning))


def _read_in(dialect: Dialect | None, asked: Request, reply: Reply, name: str) -> Reply:
    """The reply whose turn has the calls that its text holds, if tools were offered in a dialect."""
    if dialect is None or reply.turn is None or not asked.tools:
        return reply
    parsed = dialect.parse(reply.turn.text, asked.tools)
    turn = parsed.to_turn(reply.turn, conversation=name, position=len(asked.messages))
    return replace(reply, turn=turn)


def _json_bytes(body: Mapping[str, JSON]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # A history may hold a lone surrogate that an endpoint sent as an escape: it goes back as one.
        return json.dumps(body).encode()


def _http(
    target: Target, method: str, path: str, body: bytes, headers: tuple[tuple[str, str], ...], auth: Auth
) -> HttpRequest:
    # What a step says itself takes the place of the wire's own header (another version of its API).
    said = {name.lower() for name, _ in headers}
    own = (header for header in target.credentials(auth) if header[0].lower() not in said)
    return HttpRequest(method, target.url(path), (*headers, *target.headers, *own), body)


async def _send(
    question: Question,
    probe: str | None,
    target: Target,
    transport: Transport,
    client: Client,
) -> tuple[Reply, tuple[Exchange, ...]]:
    brought = await client.send(question, target, transport)
    exchange = replace(brought.exchange, probe=probe, expect=question.expect)
    turns: tuple[Turn, ...] = ()
    if exchange.response is not None and exchange.response.status < 300:
        turns = target.wire.decode(exchange.response)
    behind = tuple(replace(one, probe=probe, expect=question.expect) for one in brought.behind)
    return Reply(exchange, turns[0] if turns else None), behind


@dataclass(frozen=True, slots=True)
class Plan:
    """What a scenario costs at most, per attempt: requests, output tokens, bytes of prompt."""

    requests: int
    output_tokens: int
    prompt_bytes: int

    def __add__(self, other: Plan) -> Plan:
        return Plan(
            self.requests + other.requests,
            self.output_tokens + other.output_tokens,
            self.prompt_bytes + other.prompt_bytes,
        )

    def times(self, attempts: int) -> Plan:
        """The cost of that many attempts."""
        return Plan(self.requests * attempts, self.output_tokens * attempts, self.prompt_bytes * attempts)


def plan(scenario: Scenario, wire: Wire, dialect: Dialect | None = None, *, parity: bool = False) -> Plan:
    """The cost of one attempt, found by walking the script with its ideal turns; sends nothing."""
    total = Plan(0, 0, 0)
    twins = twins_of(scenario) if parity else frozenset()
    number = 0
    for step in imagined(scenario):
        for ask in asks_of(step):
            worded, _ = _worded(ask.request, dialect)
            body = _json_bytes(wire.encode(worded, model="", losses=[]))
            one = Plan(1, ask.request.max_tokens or 0, len(body))
            total += one.times(2 if number in twins else 1)
            number += 1
        if isinstance(step, Raw):
            total += Plan(1, 0, len(step.body))
    return total


def inexpressible(scenario: Scenario, wire: Wire, dialect: Dialect | None = None) -> str | None:
    """What in the scenario the wire (or the dialect) has no words for, if anything; sends nothing."""
    if wire.name not in scenario.wires:
        return f"the scenario is about {' and '.join(scenario.wires)}"
    if scenario.policy and dialect is not None:
        return f"a policy is about what {wire.name} itself says; {dialect.name} says it in the text"
    ideal = {id(part) for turn in scenario.ideal for part in turn.parts}
    for number, step in enumerate(imagined(scenario), 1):
        for ask in asks_of(step):
            worded, spoken = _worded(ask.request, dialect)
            written: list[Loss] = []
            wire.encode(worded, model="", losses=written)
            for who, request, losses in ((dialect, ask.request, spoken), (wire, worded, written)):
                for lost in losses:
                    # What the endpoint says itself comes with all that its wire wants back (a signature).
                    if who and lost.weight == "meaning" and id(_at(request, lost.path)) not in ideal:
                        return f"{who.name} has no words for step {number}: {lost.what} ({lost.path})"
    return None


def _at(request: Request, path: str) -> object:
    """The part of a message that a loss's path leads to, if it leads to one."""
    found = _PART.match(path)
    if found is None:
        return None
    message, part = map(int, found.groups())
    return request.messages[message].parts[part]

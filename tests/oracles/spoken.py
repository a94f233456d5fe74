"""What the simulator is asked and answers: every scenario, and every answer in its other form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from conformance.engine.drive import Target, inexpressible, run_script
from conformance.scenarios import SCENARIOS, scripts
from conformance.simulator import PERSONAS, Persona, Simulator, running
from conformance.simulator.answer import Refused, refusal
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.http import Limits as Roominess
from conformance.simulator.request import ChatRequest
from conformance.transport.client import Limits, LiveTransport
from conformance.types import WIRES, Exchange, HttpRequest, WireName
from conformance.wires import wire

from .oracle import Question, question

CLEAN = "reference"
CELLS = [
    (over, scenario.id)
    for over in WIRES
    for scenario in SCENARIOS.values()
    if not scenario.policy and inexpressible(scenario, wire(over)) is None
]
"""Every wire with every scenario that it can say.

Those that measure a policy are left out: they send what no SDK has words for, to see what comes back.
"""

STATUSES = (402, 403, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)
"""Those that no scenario provokes."""

_CONNECTION = frozenset({"host", "content-length", "accept-encoding", "connection", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Refuses(Behaviour):
    """Every request is refused with one status, in the wire's own words."""

    status: int = 429

    def refuse(self, request: ChatRequest) -> Refused | None:
        return refusal(f"Not now: «{self.status}»", status=self.status, kind="server_error")


def refusing(status: int) -> str:
    """The name of the persona that refuses with this status."""
    return f"refuses-{status}"


@dataclass(frozen=True, slots=True)
class Simulated:
    """A running simulator. ``send`` sends a request over a wire, ``run`` a scenario to a persona."""

    base_url: Callable[[str, WireName], str]
    send: Callable[[HttpRequest, WireName], Exchange]
    run: Callable[[str, WireName, str], tuple[Exchange, ...]]

    def questions(self, scenario: str, over: WireName, persona: str) -> Iterator[tuple[Exchange, Question]]:
        """The answered exchanges of a scenario, each followed by the same in its other form."""
        for exchange in self.run(scenario, over, persona):
            asked = question(exchange.request, over)
            if asked is None or exchange.response is None or exchange.response.status >= 300:
                continue
            yield exchange, asked
            twin = self.send(_other_form(exchange.request, over, asked.streamed), over)
            asked = question(twin.request, over)
            assert asked is not None
            assert twin.response is not None
            assert twin.response.status == exchange.response.status
            yield twin, asked

    def again(self, request: HttpRequest, over: WireName) -> Exchange:
        """What a request that an SDK sent to another server of the same paths brings here."""
        url = self.base_url(CLEAN, over).removesuffix("/v1") + request.url
        return self.send(replace(request, url=url), over)


def _other_form(request: HttpRequest, over: WireName, streamed: bool) -> HttpRequest:
    """The same request for a whole answer where it was for a stream, and the other way round."""
    body: dict[str, Any] = json.loads(request.body)
    if over == "gemini":
        model = request.url.split("/models/")[1].split(":")[0]
        base = request.url.split("/v1beta/")[0]
        return replace(request, url=base + wire(over).path(model, not streamed))
    body.pop("stream_options", None)
    body["stream"] = not streamed
    if over == "openai-chat" and not streamed:
        body["stream_options"] = {"include_usage": True}
    return replace(request, body=json.dumps(body).encode())


@contextmanager
def simulated() -> Iterator[Simulated]:
    """A simulator with the personas that come with it and one for each of `STATUSES`, while entered."""
    refusers = [Persona(refusing(status), (Refuses("refuses", status),)) for status in STATUSES]
    hosted = Simulator(
        [*PERSONAS.values(), *refusers], scripts(), gap_s=0, limits=Roominess(body=16 * 1024 * 1024)
    )
    with running(hosted) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))

        def send(request: HttpRequest, over: WireName) -> Exchange:
            kept = tuple((k, v) for k, v in request.headers if k.lower() not in _CONNECTION)
            exchange = runner.run(transport.send(replace(request, headers=kept), wire=over))
            assert exchange.failure is None
            return exchange

        @cache
        def run(scenario: str, over: WireName, persona: str) -> tuple[Exchange, ...]:
            target = Target(
                base_url=simulator.base_url(persona, over),
                wire=wire(over),
                model=PERSONAS[CLEAN].model,
                key=PERSONAS[CLEAN].key,
                scripted=True,
            )
            attempt = runner.run(run_script(SCENARIOS[scenario], target, transport))
            assert not [exchange.failure for exchange in attempt.exchanges if exchange.failure]
            return attempt.exchanges

        yield Simulated(simulator.base_url, send, run)
        runner.run(transport.aclose())

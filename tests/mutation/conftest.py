"""One simulator that is every mutant, and how scenarios are run against it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Protocol

import pytest

from conformance.engine.drive import Target, run_script
from conformance.scenarios import SCENARIOS, scripts
from conformance.simulator import Persona, Simulator, running
from conformance.simulator import http as simulator_http
from conformance.simulator.fronts import fronts
from conformance.simulator.mutants import MUTANTS, Mutant
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange, WireName
from conformance.wires import wire

SPOKEN = {front.wire for front in fronts()}
"""The wires that the simulator speaks."""
CLEAN = Persona("clean")
UNCHANGED = Mutant("unchanged", "", lambda _: None).persona()
"""Takes every answer apart and puts it together again."""
ROOMY = simulator_http.Limits(body=16 * 1024 * 1024)
"""Requests too large for the simulator are refused before any persona is asked."""


class Run(Protocol):
    """Runs a scenario against a persona over a wire."""

    def __call__(
        self, scenario: str, persona: str, over: WireName = "openai-chat"
    ) -> tuple[Exchange, ...]: ...


def exchanges_of(mutant: Mutant, run: Run) -> tuple[Exchange, ...]:
    """What the mutant's scenario brings, after the clean answers over another wire where it has one."""
    beside = run(mutant.scenario, CLEAN.name, mutant.beside) if mutant.beside else ()
    return (*beside, *run(mutant.scenario, mutant.name, mutant.wire))


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Runs a scenario against a persona, over the network; a pair that was run before is not run again."""
    personas = [CLEAN, UNCHANGED, *(mutant.persona() for mutant in MUTANTS)]
    hosted = Simulator(personas, scripts(), gap_s=0, limits=ROOMY)
    known: dict[tuple[str, str, str], tuple[Exchange, ...]] = {}
    with running(hosted) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))

        def go(scenario: str, persona: str, over: WireName = "openai-chat") -> tuple[Exchange, ...]:
            if (scenario, persona, over) not in known:
                target = Target(
                    base_url=simulator.base_url(persona, over),
                    wire=wire(over),
                    model=CLEAN.model,
                    key=CLEAN.key,
                    scripted=True,
                )
                attempt = runner.run(run_script(SCENARIOS[scenario], target, transport))
                assert not [exchange.failure for exchange in attempt.exchanges if exchange.failure]
                known[scenario, persona, over] = attempt.exchanges
            return known[scenario, persona, over]

        yield go
        runner.run(transport.aclose())

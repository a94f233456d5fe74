"""One simulator that is every mutant, and how scenarios are run against it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from conformance.engine.drive import Target, run_script
from conformance.scenarios import SCENARIOS, scripts
from conformance.simulator import Persona, Simulator, running
from conformance.simulator import http as simulator_http
from conformance.simulator.mutants import MUTANTS, Mutant
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Exchange
from conformance.wires import wire

CLEAN = Persona("clean")
UNCHANGED = Mutant("unchanged", "", lambda _: None).persona()
"""Takes every answer apart and puts it together again."""
ROOMY = simulator_http.Limits(body=16 * 1024 * 1024)
"""Requests too large for the simulator are refused before any persona is asked."""

Run = Callable[[str, str], tuple[Exchange, ...]]


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Runs a scenario against a persona, over the network; a pair that was run before is not run again."""
    personas = [CLEAN, UNCHANGED, *(mutant.persona() for mutant in MUTANTS)]
    hosted = Simulator(personas, scripts(), gap_s=0, limits=ROOMY)
    known: dict[tuple[str, str], tuple[Exchange, ...]] = {}
    with running(hosted) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))

        def go(scenario: str, persona: str) -> tuple[Exchange, ...]:
            if (scenario, persona) not in known:
                target = Target(
                    base_url=simulator.base_url(persona),
                    wire=wire("openai-chat"),
                    model=CLEAN.model,
                    key=CLEAN.key,
                    scripted=True,
                )
                attempt = runner.run(run_script(SCENARIOS[scenario], target, transport))
                assert not [exchange.failure for exchange in attempt.exchanges if exchange.failure]
                known[scenario, persona] = attempt.exchanges
            return known[scenario, persona]

        yield go
        runner.run(transport.aclose())

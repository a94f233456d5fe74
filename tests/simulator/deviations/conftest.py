"""A simulator with a persona for each behaviour that a module makes, named as there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from conformance.simulator import Persona, Simulator, running
from conformance.simulator.deviations import DEVIATIONS
from tests.simulator.support import SCRIPTS, Talk


@pytest.fixture(scope="module")
def started(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    """``MADE`` of the test's module names behaviours by what they are made of."""
    made = request.module.MADE
    personas = [Persona(name, (DEVIATIONS[of](**options),)) for name, (of, options) in made.items()]
    with running(Simulator(personas, SCRIPTS, gap_s=0)) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def to(started: Simulator, client: httpx.Client) -> Callable[[str], Talk]:
    return lambda name: Talk(started, name, client)

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from conformance.simulator import BEHAVIOURS, PERSONAS, Simulator, persona, running

from .anthropic_support import Messages
from .responses_support import Responses
from .support import SCRIPTS, Talk


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    """Every persona, and one for each behaviour alone, under the behaviour's name."""
    personas = [*PERSONAS.values(), *(persona(name, name) for name in BEHAVIOURS)]
    with running(Simulator(personas, SCRIPTS)) as started:
        yield started


@pytest.fixture(scope="session")
def client() -> Iterator[httpx.Client]:
    # No TLS context: it would cost more than all the requests.
    with httpx.Client(transport=httpx.HTTPTransport(verify=False), timeout=10) as shared:
        yield shared


@pytest.fixture(scope="session")
def talk(simulator: Simulator, client: httpx.Client) -> Callable[[str], Talk]:
    return lambda name: Talk(simulator, name, client)


@pytest.fixture(scope="session")
def reference(talk: Callable[[str], Talk]) -> Talk:
    return talk("reference")


@pytest.fixture(scope="session")
def messages(simulator: Simulator, client: httpx.Client) -> Messages:
    return Messages(simulator, client)


@pytest.fixture(scope="session")
def responses(simulator: Simulator, client: httpx.Client) -> Responses:
    return Responses(simulator, client)

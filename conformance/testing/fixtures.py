"""The fixtures of ``pytest_plugins = ["conformance.testing"]``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.testing.hosting import Options, Server, serving
from conformance.testing.simulated import Simulated


@pytest.fixture(scope="session")
def conformance_options() -> Options:
    """What is simulated; define a fixture of this name to have something else."""
    return Options()


@pytest.fixture(scope="session")
def conformance_server(conformance_options: Options) -> Iterator[Server]:
    """One simulator for the whole session (of each worker process)."""
    with serving(conformance_options) as server:
        yield server


@pytest.fixture
def conformance_simulator(conformance_server: Server) -> Iterator[Simulated]:
    """A simulator that remembers nothing of other tests; its journal is shown where the test fails."""
    simulated = conformance_server.run()
    yield simulated
    if simulated.journal():
        print(f"the simulator saw:\n{simulated.told()}")
    simulated.reset()


@pytest.fixture(scope="session")
def conformance_session_simulator(conformance_server: Server) -> Simulated:
    """A simulator that remembers all that the session asked of it."""
    return conformance_server.run("session")

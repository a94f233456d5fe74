"""A simulator of LLM endpoints for the tests of adapters.

In pytest, with ``pytest_plugins = ["conformance.testing"]`` in the top ``conftest.py``, a test that
asks for ``conformance_simulator`` gets a `Simulated` of its own; elsewhere ``with simulator() as simulated:``
gives one. See docs/adapter-testing.md.
"""

from __future__ import annotations

from conformance.testing.fixtures import (
    conformance_options,
    conformance_server,
    conformance_session_simulator,
    conformance_simulator,
)
from conformance.testing.hosting import Options, Server, serving, simulator
from conformance.testing.simulated import Simulated

__all__ = [
    "Options",
    "Server",
    "Simulated",
    "conformance_options",
    "conformance_server",
    "conformance_session_simulator",
    "conformance_simulator",
    "serving",
    "simulator",
]

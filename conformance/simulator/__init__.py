"""An endpoint that can lie at every layer, and one that never does.

It imports neither the suite's rules nor its wires: one misreading of a specification must not hide
on both sides.
"""

from __future__ import annotations

from conformance.simulator.behaviour import Behaviour, Persona
from conformance.simulator.behaviours import BEHAVIOURS
from conformance.simulator.journal import JournalEntry
from conformance.simulator.personas import PERSONAS, persona
from conformance.simulator.server import Simulator, running

__all__ = [
    "BEHAVIOURS",
    "PERSONAS",
    "Behaviour",
    "JournalEntry",
    "Persona",
    "Simulator",
    "persona",
    "running",
]

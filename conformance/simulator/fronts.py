"""The wires that the simulator speaks, in the order in which they are asked whether a request is theirs."""

from __future__ import annotations

from conformance.simulator.front import Front
from conformance.simulator.openai_front import ChatFront


def fronts() -> tuple[Front, ...]:
    """A front of every wire, fresh; the last one takes what no other does."""
    return (ChatFront(),)

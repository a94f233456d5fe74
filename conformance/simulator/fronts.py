"""The wires that the simulator speaks, in the order in which they are asked whether a request is theirs."""

from __future__ import annotations

from conformance.simulator.addresses import address
from conformance.simulator.anthropic_front import MessagesFront
from conformance.simulator.front import Front
from conformance.simulator.gemini_front import GeminiFront
from conformance.simulator.ollama_front import OllamaFront
from conformance.simulator.openai_front import ChatFront
from conformance.simulator.responses_front import ResponsesFront
from conformance.types import HttpRequest


def fronts() -> tuple[Front, ...]:
    """A front of every wire, fresh; the last one takes what no other does."""
    return (OllamaFront(), GeminiFront(), MessagesFront(), ResponsesFront(), ChatFront())


_STATELESS = fronts()
"""To be asked what they speak and how they word things, and no more."""


def front_of(request: HttpRequest) -> Front:
    """The wire that a request is of; it has none of a simulator's state."""
    rest = address(request).rest
    return next(front for front in _STATELESS if front.speaks(request, rest))

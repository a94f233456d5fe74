"""The wires that the simulator speaks, in the order in which they are asked whether a request is theirs."""

from __future__ import annotations

from conformance.simulator.anthropic_front import MessagesFront
from conformance.simulator.front import Front
from conformance.simulator.gemini_front import GeminiFront
from conformance.simulator.ollama_front import OllamaFront
from conformance.simulator.openai_front import ChatFront
from conformance.simulator.responses_front import ResponsesFront


def fronts() -> tuple[Front, ...]:
    """A front of every wire, fresh; the last one takes what no other does."""
    return (OllamaFront(), GeminiFront(), MessagesFront(), ResponsesFront(), ChatFront())

"""What a persona may do differently: hooks around the honest answer, all of them optional."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.simulator.answer import Actions, Refused
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Turn


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One deviation. The hooks run in this order; the defaults change nothing."""

    name: str

    def first(self, request: HttpRequest) -> Actions | None:  # noqa: ARG002
        """Answer instead of the server, before it looks at the request; ``None`` leaves it to the server."""
        return None

    def refuse(self, request: ChatRequest) -> Refused | None:  # noqa: ARG002
        """Refuse a request that OpenAI would accept."""
        return None

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG002
        """Change what the model says, before the request's limits apply."""
        return turn

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:  # noqa: ARG002
        """Change anything on the wire."""
        return actions

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:  # noqa: ARG002
        """Change anything on the wire of any answer: lists of models and refusals, too."""
        return actions


@dataclass(frozen=True, slots=True)
class Persona:
    """An endpoint to be; the clean one has no behaviours. ``key`` is the bearer token it wants."""

    name: str
    behaviours: tuple[Behaviour, ...] = ()
    model: str = "reference"
    key: str = "sk-reference"

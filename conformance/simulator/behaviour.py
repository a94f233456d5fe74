"""What a persona may do differently: hooks around the honest answer, all of them optional."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from conformance.simulator.answer import Actions, Refused
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Turn, WireName


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One deviation. The hooks run in this order; the defaults change nothing."""

    name: str

    def first(self, request: HttpRequest) -> Actions | None:  # noqa: ARG002
        """Answer instead of the server, before it looks at the request; ``None`` leaves it to the server."""
        return None

    def keyed(self, request: HttpRequest) -> HttpRequest:
        """The request with its key where the wire's own provider looks for it."""
        return request

    def screen(self, wire: WireName, body: Mapping[str, Any], model: str) -> Refused | None:  # noqa: ARG002
        """Refuse a request by its JSON, in the wire's own words, before it is read as the reference reads it.

        ``model`` is the one asked for, wherever the wire says it.
        """
        return None

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        """What of the request's JSON is read; the rest is as if it had not been sent.

        ``body`` itself is not changed.
        """
        return body

    def serves(self, model: str) -> bool:  # noqa: ARG002
        """Whether a model is served that the persona doesn't name."""
        return False

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
    """An endpoint to be; the clean one has no behaviours. ``key`` is the bearer token it wants, if any.

    It serves ``model`` and whatever matches the ``models``, patterns as in file names. ``quirks`` are the
    ids of those it acts out, ``origins`` for each of the behaviours those that it acts out. The
    ``transient`` ones among them are acted out on the first of equal requests of a run only.
    """

    name: str
    behaviours: tuple[Behaviour, ...] = ()
    model: str = "reference"
    key: str = "sk-reference"
    models: tuple[str, ...] = ()
    quirks: tuple[str, ...] = ()
    origins: tuple[tuple[str, ...], ...] = ()
    transient: frozenset[str] = frozenset()

    @property
    def acts(self) -> tuple[tuple[Behaviour, tuple[str, ...]], ...]:
        """Each behaviour with the ids of the quirks that it acts out."""
        origins = self.origins or ((),) * len(self.behaviours)
        return tuple(zip(self.behaviours, origins, strict=True))

    @property
    def lasting(self) -> Persona:
        """The persona as it answers what it was asked before."""
        left = [(made, by) for made, by in self.acts if not by or set(by) - self.transient]
        return replace(self, behaviours=tuple(made for made, _ in left), origins=tuple(by for _, by in left))

    def serving(self, model: str) -> Persona:
        """The persona as the one that serves ``model``, if it does at all."""
        known = any(fnmatchcase(model, pattern) for pattern in self.models)
        known = known or any(behaviour.serves(model) for behaviour in self.behaviours)
        return replace(self, model=model) if known else self

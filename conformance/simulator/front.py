"""What a front is: one wire's way of asking and answering, before the one model behind all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from conformance.simulator.answer import Actions, Headers, Refused
from conformance.simulator.behaviour import Persona
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Turn, WireName


@dataclass(frozen=True, slots=True)
class Route:
    """What a path is for. ``model`` and ``stream`` are what the path itself says of them, if it does.

    The server adds the ``request``, for wires that have options in its query or headers.
    """

    kind: Literal["ask", "models"]
    method: Literal["GET", "POST"]
    model: str | None = None
    stream: bool | None = None
    request: HttpRequest | None = None


class Front(Protocol):
    """One wire of the simulator. Every method may raise ``Refused`` with OpenAI's error document.

    A front may keep state (stored responses, signatures it gave out): there is one of it per simulator.
    """

    @property
    def wire(self) -> WireName:
        """The wire it speaks."""

    @property
    def base(self) -> str:
        """What its SDK's base URL ends in, after ``/p/NAME``: ``/v1`` or nothing."""

    def speaks(self, request: HttpRequest, path: str) -> bool:
        """Whether a request to ``path`` (after ``/p/NAME``, decoded) is one of this wire, good or bad."""

    def route(self, path: str) -> Route | None:
        """What ``path`` is for; ``None`` where nothing of this wire is there."""

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Refuse a request without the persona's key."""

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:
        """The request in ``body``, validated as the wire's own provider does."""

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The honest answer that says ``turn``, ``gap_s`` seconds between the events of a stream."""

    def models(self, route: Route, persona: Persona) -> Any:
        """The document that lists the models, or the entry of ``route.model``."""

    def refused(self, refused: Refused) -> Refused:
        """The refusal as this wire words it."""

    def signature(self, elapsed_ms: int) -> Headers:
        """The headers that every answer of the wire's own provider has."""


def models_route(path: str) -> Route | None:
    """The route of ``/v1/models`` and ``/v1/models/NAME``."""
    if path == "/v1/models":
        return Route("models", "GET")
    name = path.removeprefix("/v1/models/")
    return Route("models", "GET", name) if name and name != path else None

"""The front of Chat Completions, which also speaks for what is of no wire at all."""

from __future__ import annotations

from typing import Any

from conformance.simulator import chance, chat, keys
from conformance.simulator.answer import Actions, Headers, Refused, refusal
from conformance.simulator.behaviour import Persona
from conformance.simulator.front import Route, models_route
from conformance.simulator.request import ChatRequest, read_chat_request
from conformance.types import HttpRequest, Turn, WireName

CREATED = 1_700_000_000
"""When the models were made, in Unix seconds."""


class ChatFront:
    """``/v1/chat/completions`` and ``/v1/models`` (OpenAI API reference)."""

    wire: WireName = "openai-chat"
    base = "/v1"

    def speaks(self, request: HttpRequest, path: str) -> bool:  # noqa: ARG002
        """Always: it is asked last."""
        return True

    def route(self, path: str) -> Route | None:
        """What ``path`` is for."""
        if path == "/v1/chat/completions":
            return Route("ask", "POST")
        return models_route(path)

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Refuse a request without the persona's key."""
        keys.bearer(request, persona.key)

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:  # noqa: ARG002
        """The request in ``body``."""
        return read_chat_request(body, persona.model)

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The answer that says ``turn``."""
        return chat.write(turn, request, gap_s)

    def models(self, route: Route, persona: Persona) -> Any:
        """The list of models, or the entry of one."""
        return models_document(route, persona)

    def refused(self, refused: Refused) -> Refused:
        """The refusal, which is OpenAI's already."""
        return refused

    def signature(self, elapsed_ms: int) -> Headers:
        """The headers of every answer."""
        return signature(elapsed_ms)


def models_document(route: Route, persona: Persona) -> Any:
    """OpenAI's list of models, or the entry of one.

    Raises:
        Refused: 404 for a model that is not there.
    """
    entry = {"id": persona.model, "object": "model", "created": CREATED, "owned_by": "conformance"}
    if route.model is None:
        return {"object": "list", "data": [entry]}
    if route.model == persona.model:
        return entry
    message = f"The model '{route.model[:200]}' does not exist."
    raise refusal(message, status=404, param="model", code="model_not_found")


def signature(elapsed_ms: int) -> Headers:
    """The headers that every answer of OpenAI's API has."""
    return (("x-request-id", f"req_{chance.token_hex(16)}"), ("openai-processing-ms", str(elapsed_ms)))

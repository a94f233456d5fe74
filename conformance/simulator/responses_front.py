"""The front of OpenAI's Responses API."""

from __future__ import annotations

from typing import Any

from conformance.simulator import keys, openai_front
from conformance.simulator.answer import JSON_TYPE, Actions, Headers, Refused, Respond
from conformance.simulator.behaviour import Persona
from conformance.simulator.front import Route, models_route
from conformance.simulator.request import ChatRequest
from conformance.simulator.responses_answer import answer, items_of
from conformance.simulator.responses_request import ResponsesRequest, read_responses_request
from conformance.simulator.responses_store import ResponseStore
from conformance.simulator.responses_stream import stream
from conformance.types import HttpRequest, Turn, WireName

_CHARACTERS = 16 * 1024 * 1024
"""What is remembered of a run; there are many runs."""


class ResponsesFront:
    """``/v1/responses`` (OpenAI API reference); its models are those of Chat Completions."""

    wire: WireName = "openai-responses"
    base = "/v1"

    def __init__(self) -> None:
        self._store = ResponseStore(_CHARACTERS)

    def speaks(self, request: HttpRequest, path: str) -> bool:  # noqa: ARG002
        """Whether the path is of this wire."""
        return path == "/v1/responses" or path.startswith("/v1/responses/")

    def route(self, path: str) -> Route | None:
        """What ``path`` is for."""
        return Route("ask", "POST") if path == "/v1/responses" else models_route(path)

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Refuse a request without the persona's key."""
        keys.bearer(request, persona.key)

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:  # noqa: ARG002
        """The request in ``body``."""
        return read_responses_request(body, persona.model, self._store, persona.name)

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The answer that says ``turn``, remembered where the request does not forbid it."""
        assert isinstance(request, ResponsesRequest)
        made = answer(turn, request)
        if request.store:
            output = items_of(made.ended["output"])
            self._store.keep(request.owner, made.ended["id"], request.previous, request.given, output)
        if request.stream:
            return stream(made, request, gap_s)
        return [Respond(200, JSON_TYPE, made.ended)]

    def models(self, route: Route, persona: Persona) -> Any:
        """The list of models, or the entry of one."""
        return openai_front.models_document(route, persona)

    def refused(self, refused: Refused) -> Refused:
        """The refusal, which is OpenAI's already."""
        return refused

    def signature(self, elapsed_ms: int) -> Headers:
        """The headers of every answer."""
        return openai_front.signature(elapsed_ms)

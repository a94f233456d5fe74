"""The front of Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from conformance.simulator import anthropic_answer, keys
from conformance.simulator.answer import Actions, Headers, Refused, refusal
from conformance.simulator.anthropic_cache import MarkedCache
from conformance.simulator.anthropic_errors import request_id, reworded
from conformance.simulator.anthropic_request import (
    OUTPUT_TOKENS,
    MessagesRequest,
    Terms,
    read_messages_request,
)
from conformance.simulator.behaviour import Persona
from conformance.simulator.front import Route, models_route
from conformance.simulator.http import header
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest
from conformance.types import HttpRequest, Turn, WireName

_VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
_OF_OTHERS = ("/v1/chat/", "/v1/responses", "/v1beta/", "/api/")
_CREATED = "2023-11-14T22:13:20Z"


class MessagesFront:
    """``/v1/messages``, and ``/v1/models`` for who sends Anthropic's headers (Anthropic API reference)."""

    wire: WireName = "anthropic-messages"
    base = ""

    def __init__(self) -> None:
        self._cache = MarkedCache()

    def speaks(self, request: HttpRequest, path: str) -> bool:
        """Whether the path is of this wire, or the headers are and the path is of no other."""
        if path == "/v1/messages" or path.startswith("/v1/messages/"):
            return True
        own = (header(request.headers, name) for name in ("anthropic-version", "x-api-key"))
        return any(own) and not path.startswith(_OF_OTHERS)

    def route(self, path: str) -> Route | None:
        """What ``path`` is for."""
        if path == "/v1/messages":
            return Route("ask", "POST")
        return models_route(path)

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Refuse a request without the persona's key, in either header, or without a known version.

        Of two keys ``x-api-key`` counts; the SDKs send the other since their version for 2026-10-21.
        """
        key = header(request.headers, "x-api-key")
        if key is None and header(request.headers, "authorization") is not None:
            keys.bearer(request, persona.key)
        else:
            keys.check(key, persona.key)
        version = header(request.headers, "anthropic-version")
        if version is None:
            raise refusal("anthropic-version: header is required", why="400 no-version")
        if version not in _VERSIONS:
            message = f'anthropic-version: "{version[:50]}" is not a valid version'
            raise refusal(message, why="400 unknown-version")

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:
        """The request in ``body``."""
        return read_messages_request(body, persona.model, _terms(route.request), self._cache, persona.name)

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The answer that says ``turn``."""
        assert isinstance(request, MessagesRequest)
        return anthropic_answer.write(turn, request, gap_s)

    def models(self, route: Route, persona: Persona) -> Any:
        """The list of models, or the entry of one."""
        if route.model is None:
            name = persona.model
            return {"data": [_entry(name)], "has_more": False, "first_id": name, "last_id": name}
        if route.model != persona.model:
            raise refusal(f"model: {route.model[:200]}", status=404, code="model_not_found")
        return _entry(persona.model)

    def refused(self, refused: Refused) -> Refused:
        """The refusal as Anthropic words it."""
        return reworded(refused)

    def signature(self, elapsed_ms: int) -> Headers:  # noqa: ARG002
        """The headers of every answer."""
        return request_id()


def _terms(request: HttpRequest | None) -> Terms:
    lines = request.headers if request is not None else ()
    lists = [value for name, value in lines if name.lower() == "anthropic-beta"]
    betas = frozenset(beta.strip() for names in lists for beta in names.split(","))
    return Terms(header(lines, "anthropic-version") or _VERSIONS[-1], betas)


def _entry(name: str) -> dict[str, Any]:
    """The entry of a model (``ModelInfo`` of anthropic-sdk-python 2.14.0)."""
    yes, no = {"supported": True}, {"supported": False}
    efforts = dict.fromkeys(("low", "medium", "high", "xhigh", "max"), yes)
    thinking = {"adaptive": yes, "between_tools": no, "disabled": yes, "enabled": yes}
    editing = {"clear_thinking_20251015": yes, "clear_tool_uses_20250919": yes, "compact_20260112": no}
    return {
        "type": "model",
        "id": name,
        "display_name": name.capitalize(),
        "created_at": _CREATED,
        "deprecated_at": None,
        "retires_at": None,
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": CONTEXT_TOKENS,
        "max_tokens": OUTPUT_TOKENS,
        "capabilities": {
            "batch": no,
            "citations": no,
            "code_execution": no,
            "context_management": {**yes, **editing},
            "effort": {**yes, **efforts},
            "image_input": yes,
            "pdf_input": yes,
            "server_tools": {**no, "code_execution": no, "web_search": no},
            "structured_outputs": yes,
            "thinking": {**yes, "types": thinking},
        },
    }

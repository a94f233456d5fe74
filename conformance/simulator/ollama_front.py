"""The front of Ollama's native API.

Source: ollama/ollama, ``docs/openapi.yaml``, ``api/types.go`` and ``server/routes.go``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator import ollama_answer
from conformance.simulator.answer import Actions, Headers, Refused
from conformance.simulator.behaviour import Persona
from conformance.simulator.fields import Fields, parse
from conformance.simulator.front import Route
from conformance.simulator.ollama_request import OllamaRequest, read_model, read_ollama_request
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest
from conformance.types import HttpRequest, Turn, WireName

VERSION = "0.13.0"
MODIFIED = "2023-11-14T22:13:20Z"
_DIGEST = "0" * 64
_SIZE_BYTES = 4_000_000_000
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "reference",
    "families": ["reference"],
    "parameter_size": "4B",
    "quantization_level": "Q4_K_M",
}


@dataclass(frozen=True, slots=True)
class _Listing(Route):
    """A route that tells of models: all of them, one of them, or the server's version."""

    what: Literal["tags", "show", "version"] = "tags"


_ROUTES: dict[str, Route] = {
    "/api/chat": Route("ask", "POST"),
    "/api/tags": _Listing("models", "GET", what="tags"),
    "/api/show": _Listing("models", "POST", what="show"),
    "/api/version": _Listing("models", "GET", what="version"),
}


class OllamaFront:
    """``/api/chat``, ``/api/tags``, ``/api/show`` and ``/api/version``."""

    wire: WireName = "ollama"
    base = ""

    def speaks(self, request: HttpRequest, path: str) -> bool:  # noqa: ARG002
        """Whatever lies under ``/api``."""
        return path == "/api" or path.startswith("/api/")

    def route(self, path: str) -> Route | None:
        """What ``path`` is for."""
        return _ROUTES.get(path)

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Let everyone in: a local Ollama asks for no key (docs/api/authentication)."""

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:  # noqa: ARG002
        """The request in ``body``."""
        return read_ollama_request(body, persona.model)

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The answer that says ``turn``."""
        assert isinstance(request, OllamaRequest)
        return ollama_answer.write(turn, request, gap_s)

    def models(self, route: Route, persona: Persona) -> Any:
        """What the route lists."""
        assert isinstance(route, _Listing)
        match route.what:
            case "version":
                return {"version": VERSION}
            case "tags":
                return {"models": [_tag(persona.model)]}
            case "show":
                assert route.request is not None
                read_model(Fields(parse(route.request.body)), persona.model)
                return _card(persona.model)

    def refused(self, refused: Refused) -> Refused:
        """The refusal as Ollama words it: ``{"error": "TEXT"}`` (docs/api/errors.mdx)."""
        if refused.error is None:
            return refused
        document = {"error": refused.error["message"]}
        return Refused(refused.status, document, refused.why, refused.headers)

    def signature(self, elapsed_ms: int) -> Headers:  # noqa: ARG002
        """Nothing: Ollama adds no headers of its own."""
        return ()


def _tag(model: str) -> dict[str, Any]:
    """An entry of the list; a model without a tag has the tag ``latest``."""
    name = model if ":" in model else f"{model}:latest"
    entry = {"name": name, "model": name, "modified_at": MODIFIED, "size": _SIZE_BYTES, "digest": _DIGEST}
    return {**entry, "details": _DETAILS}


def _card(model: str) -> dict[str, Any]:
    return {
        "modelfile": f"FROM {model}\n",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "details": _DETAILS,
        "model_info": {"general.architecture": "reference", "reference.context_length": CONTEXT_TOKENS},
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": MODIFIED,
    }

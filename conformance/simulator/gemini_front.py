"""The front of the Gemini API: ``models/M:generateContent``, ``models/M:streamGenerateContent``, the models.

Source: Gemini API reference; google-genai 3.6.1 (``models.py``, ``_api_client.py``, ``errors.py``); recorded
errors.
"""

from __future__ import annotations

import hmac
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from conformance.simulator import gemini_answer
from conformance.simulator.answer import Actions, Headers, Refused, refusal
from conformance.simulator.behaviour import Persona
from conformance.simulator.front import Route
from conformance.simulator.gemini_request import GeminiRequest, read_gemini_request
from conformance.simulator.http import header
from conformance.simulator.request import CONTEXT_TOKENS, ChatRequest
from conformance.types import HttpRequest, Turn, WireName

_PATH = re.compile(r"/v1(?:beta)?/models(?:/([^/:]+)(?::(generateContent|streamGenerateContent))?)?")
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_OUTPUT_TOKENS = 65_536


class GeminiFront:
    """What lies under ``/v1beta/models`` and ``/v1/models``; the latter only for who shows a Google key."""

    wire: WireName = "gemini"
    base = ""

    def speaks(self, request: HttpRequest, path: str) -> bool:
        """By the path, which no other wire has, or by Google's own header."""
        if path.startswith("/v1beta/") or path.endswith((":generateContent", ":streamGenerateContent")):
            return True
        return header(request.headers, "x-goog-api-key") is not None

    def route(self, path: str) -> Route | None:
        """What ``path`` is for."""
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        model, method = found.groups()
        if method is None:
            return Route("models", "GET", model)
        return Route("ask", "POST", model, stream=method == "streamGenerateContent")

    def authorize(self, request: HttpRequest, persona: Persona) -> None:
        """Refuse a request without the persona's key in ``x-goog-api-key`` or the query's ``key``.

        A wrong key gets 400, as recorded; none at all gets 403.
        """
        if not persona.key:
            return
        given = header(request.headers, "x-goog-api-key") or _query(request).get("key")
        if not given:
            message = (
                "Method doesn't allow unregistered callers (callers without established identity). Please "
                "use API Key or other form of API consumer identity to call this API."
            )
            raise refusal(message, status=403, why="403 no-api-key")
        if not hmac.compare_digest(given.encode(), persona.key.encode()):
            message = "API key not valid. Please pass a valid API key."
            raise refusal(message, code="invalid_api_key")

    def read(self, body: dict[str, Any], route: Route, persona: Persona) -> ChatRequest:
        """The request in ``body``; the path says which model, and whether it is to stream."""
        _check_model(route, persona)
        assert route.request is not None
        sse = _query(route.request).get("alt") == "sse"
        return read_gemini_request(body, persona.model, stream=route.stream is True, sse=sse)

    def write(self, turn: Turn, request: ChatRequest, gap_s: float) -> Actions:
        """The answer that says ``turn``."""
        assert isinstance(request, GeminiRequest)
        return gemini_answer.write(turn, request, gap_s)

    def models(self, route: Route, persona: Persona) -> Any:
        """The list of models, or the entry of one."""
        entry = {
            "name": f"models/{persona.model}",
            "version": "001",
            "displayName": persona.model,
            "description": "The reference model.",
            "inputTokenLimit": CONTEXT_TOKENS,
            "outputTokenLimit": _OUTPUT_TOKENS,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent"],
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "maxTemperature": 2,
            "thinking": True,
        }
        if route.model is None:
            return {"models": [entry]}
        _check_model(route, persona)
        return entry

    def refused(self, refused: Refused) -> Refused:
        """The refusal as Google words it: the HTTP status in ``code``, its name in ``status``."""
        error = refused.error
        if error is None or "status" in error:
            return refused
        # A body that is too large is an invalid argument here, and a wrong method is no method at all.
        status = {413: 400, 405: 404}.get(refused.status, refused.status)
        worded = {"code": status, "message": error["message"], "status": _STATUSES.get(status, "UNKNOWN")}
        if details := _details(error):
            worded["details"] = details
        return Refused(status, {"error": worded}, refused.why, refused.headers)

    def signature(self, elapsed_ms: int) -> Headers:
        """The headers of every answer."""
        return (("server-timing", f"gfet4t7; dur={elapsed_ms}"), ("vary", "Origin, X-Origin, Referer"))


def _query(request: HttpRequest) -> dict[str, str]:
    """The parameters of the query, the first of each name."""
    try:
        parameters = parse_qs(urlsplit(request.url).query, max_num_fields=100)
    except ValueError:
        return {}
    return {name: values[0] for name, values in parameters.items()}


def _check_model(route: Route, persona: Persona) -> None:
    if route.model != persona.model:
        message = (
            f"models/{(route.model or '')[:200]} is not found for API version v1beta, or is not supported "
            "for generateContent. Call ModelService.ListModels to see the list of available models and their "
            "supported methods."
        )
        raise refusal(message, status=404, code="model_not_found")


def _details(error: dict[str, Any]) -> list[dict[str, Any]]:
    """What ``google.rpc`` adds to an error: why a key is refused, or which field is wrong."""
    kind = "type.googleapis.com/google.rpc."
    if error.get("code") == "invalid_api_key":
        metadata = {"service": "generativelanguage.googleapis.com"}
        reason = {"reason": "API_KEY_INVALID", "domain": "googleapis.com", "metadata": metadata}
        return [{"@type": f"{kind}ErrorInfo", **reason}]
    if error.get("param"):
        violation = {"field": error["param"], "description": error["message"]}
        return [{"@type": f"{kind}BadRequest", "fieldViolations": [violation]}]
    return []

"""Ollama's native wire: ``/api/chat``, answers in lines of JSON.

Source: ollama/ollama fb307609, ``docs/openapi.yaml`` and ``docs/api``; ollama-python 0.6.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires import errors, ollama_request, ollama_turns
from conformance.wires.body import parse, text_in
from conformance.wires.ollama_answer import Answer, Assembler
from conformance.wires.ollama_request import WIRE

__all__ = ["Ollama"]


class Ollama:
    """The wire ``ollama``. Stateless; nothing raises on what an endpoint sent."""

    name: WireName = WIRE
    models_path: str = "/api/tags"
    headers: tuple[tuple[str, str], ...] = ()

    def path(self, model: str, stream: bool) -> str:  # noqa: ARG002 - both are in the body
        """Where a request goes, relative to the base URL."""
        return "/api/chat"

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key (of Ollama's cloud); none for an empty key."""
        return (("Authorization", f"Bearer {key}"),) if key else ()

    def encode(
        self,
        request: Request,
        *,
        model: str,
        losses: list[Loss],
        max_tokens_field: str = "max_tokens",  # noqa: ARG002 - a matter of openai-chat
    ) -> dict[str, JSON]:
        """The body that says ``request``; see ``ollama_request``."""
        return ollama_request.encode(request, model=model, losses=losses)

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:  # noqa: ARG002
        """The inverse of ``encode``. Raises ``ValueError`` when ``messages`` are no messages."""
        return ollama_request.decode_request(body)

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The whole answer that says ``turns``; see ``ollama_turns``."""
        return ollama_turns.encode_turns(turns, model=model, losses=losses)

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turn of an answer; ``()`` when there is none in it.

        A body that is one JSON object is a whole answer, unless its type says lines. A last line that the
        end of the body cut is not read: no client gets it.
        """
        answer = Answer()
        text, damage = text_in(response.body)
        if damage:
            answer.note("not-utf-8", "/body", damage)
        if "ndjson" not in (response.header("content-type") or "").lower():
            body = _parsed(text)
            if isinstance(body, dict):
                answer.absorb(body, "/body", whole=True)
                return answer.turns()
        assembler = Assembler(answer)
        *lines, last = text.split("\n")
        for line in lines:
            assembler.feed(line)
        if _parsed(last) is not None:
            assembler.feed(last)
        return assembler.turns()

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""
        return Assembler()

    def error_of(self, response: HttpResponse) -> errors.ErrorInfo | None:
        """What went wrong, in the endpoint's words; see ``errors.error_of``. Also an error on a line."""
        found = errors.error_of(response)
        if found is None and b"error" in response.body:
            lines = response.body.decode("utf-8-sig", "replace").split("\n")
            found = next((error for line in lines if (error := errors.error_in(_parsed(line)))), None)
        return found


def _parsed(text: str) -> JSON:
    """The JSON value of a text, ``None`` when it has none."""
    try:
        value: JSON = parse(text)
    except ValueError:
        return None
    return value

"""Gemini's native wire: generateContent and streamGenerateContent.

Source: google-genai 3.6.1, ``models.py`` and ``types.py``; ai.google.dev, API reference of generateContent.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires import errors, gemini_request, gemini_turns
from conformance.wires.body import assembled, is_stream, parse, text_in
from conformance.wires.gemini_answer import Answer, Assembler
from conformance.wires.gemini_parts import WIRE

__all__ = ["Gemini"]


class Gemini:
    """The wire ``gemini``. Stateless; nothing raises on what an endpoint sent."""

    name: WireName = WIRE
    models_path: str = "/v1beta/models"
    headers: tuple[tuple[str, str], ...] = ()

    def path(self, model: str, stream: bool) -> str:
        """Where a request goes, relative to the base URL. A stream is asked for as server-sent events."""
        model = model.removeprefix("models/")
        return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key; none for an empty key."""
        return (("x-goog-api-key", key),) if key else ()

    def encode(
        self,
        request: Request,
        *,
        model: str,  # noqa: ARG002 - it is in the path
        losses: list[Loss],
        max_tokens_field: str = "max_tokens",  # noqa: ARG002 - a matter of openai-chat
    ) -> dict[str, JSON]:
        """The body that says ``request``; see ``gemini_request``."""
        return gemini_request.encode(request, losses=losses)

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:
        """The inverse of ``encode``; ``path`` says if it streams. Raises ``ValueError`` without contents."""
        return gemini_request.decode_request(body, stream=":streamGenerateContent" in path)

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The whole answer that says ``turns``; see ``gemini_turns``."""
        return gemini_turns.encode_turns(turns, model=model, losses=losses)

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turns of an answer, one per candidate; ``()`` when there is none in it.

        A JSON array is a stream that was asked for without ``alt=sse``. An event that the end of the body
        cut is not read: no client gets it.
        """
        if is_stream(response):
            return assembled(Assembler(), response.body)
        answer = Answer()
        text, damage = text_in(response.body)
        if damage:
            answer.note("not-utf-8", "/body", damage)
        try:
            body = parse(text)
        except ValueError:
            return ()
        if isinstance(body, list):
            answer.note("array-body", "/body")
            for i, chunk in enumerate(body):
                answer.absorb(chunk, f"/body/{i}", whole=False)
        elif isinstance(body, dict):
            answer.absorb(body, "/body", whole=True)
        return answer.turns()

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""
        return Assembler()

    def error_of(self, response: HttpResponse) -> errors.ErrorInfo | None:
        """What went wrong, in the endpoint's words; see ``errors.error_of``.

        Also an error among the chunks of an array body.
        """
        found = errors.error_of(response)
        if found is None and response.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
            try:
                chunks = parse(response.body.decode("utf-8-sig", "replace"))
            except ValueError:
                return None
            found = next((error for chunk in chunks if (error := errors.error_in(chunk))), None)
        return found

"""Anthropic Messages.

Source: Anthropic API reference, messages and messages/streaming; anthropic SDK 2.14.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires import anthropic_request, anthropic_turns, errors
from conformance.wires.anthropic_answer import Answer
from conformance.wires.anthropic_assembler import Assembler
from conformance.wires.body import assembled, is_stream, parse, text_in

__all__ = ["AnthropicMessages"]


class AnthropicMessages:
    """The wire ``anthropic-messages``. Stateless; nothing raises on what an endpoint sent."""

    name: WireName = "anthropic-messages"
    models_path: str = "/v1/models"
    headers: tuple[tuple[str, str], ...] = (("anthropic-version", "2023-06-01"),)

    def path(self, model: str, stream: bool) -> str:  # noqa: ARG002 - other wires put them in the path
        """Where a request goes, relative to the base URL."""
        return "/v1/messages"

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key; none for an empty key.

        The API takes ``Authorization: Bearer`` too (SDK 2.14.0 sends that); older servers know this one only.
        """
        return (("x-api-key", key),) if key else ()

    def encode(
        self,
        request: Request,
        *,
        model: str,
        losses: list[Loss],
        max_tokens_field: str = "max_tokens",  # noqa: ARG002 - Chat alone has two
    ) -> dict[str, JSON]:
        """The body that says ``request``; see ``anthropic_request``."""
        return anthropic_request.encode(request, model=model, losses=losses)

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:  # noqa: ARG002
        """The inverse of ``encode``. Raises ``ValueError`` when ``messages`` are no messages."""
        return anthropic_request.decode_request(body)

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The body of the whole answer that says the first turn; see ``anthropic_turns``."""
        return anthropic_turns.encode_turns(turns, model=model, losses=losses)

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turn of an answer; ``()`` when there is none in it.

        An event that the end of the body cut is not read: no client gets it.
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
        if not isinstance(body, dict) or not ("content" in body or body.get("type") == "message"):
            return ()
        error = errors.error_in(body)
        if error is not None:
            answer.note("error-body", "/body/error", error.message)
        answer.absorb(body, "/body")
        return answer.turns()

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""
        return Assembler()

    def error_of(self, response: HttpResponse) -> errors.ErrorInfo | None:
        """What went wrong, in the endpoint's words; see ``errors.error_of``."""
        return errors.error_of(response)

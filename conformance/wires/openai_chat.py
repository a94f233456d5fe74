"""OpenAI Chat Completions: the canonical wire.

Source: OpenAI API reference, chat/create and chat/streaming.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires import errors, openai_chat_request, openai_chat_turns
from conformance.wires.body import assembled, is_stream, parse, text_in
from conformance.wires.openai_chat_answer import Answer, Assembler
from conformance.wires.openai_chat_turns import to_chat

__all__ = ["Assembler", "OpenAIChat", "to_chat"]


class OpenAIChat:
    """The wire ``openai-chat``. Stateless; nothing raises on what an endpoint sent."""

    name: WireName = "openai-chat"
    models_path: str = "/models"
    headers: tuple[tuple[str, str], ...] = ()

    def path(self, model: str, stream: bool) -> str:  # noqa: ARG002 - other wires put them in the path
        """Where a request goes, relative to the base URL."""
        return "/chat/completions"

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key; none for an empty key."""
        return (("Authorization", f"Bearer {key}"),) if key else ()

    def encode(
        self, request: Request, *, model: str, losses: list[Loss], max_tokens_field: str = "max_tokens"
    ) -> dict[str, JSON]:
        """The body that says ``request``; see ``openai_chat_request``.

        ``max_tokens_field``: OpenAI deprecates ``max_tokens`` for ``max_completion_tokens``; most other
        endpoints know only the former.
        """
        return openai_chat_request.encode(
            request, model=model, losses=losses, max_tokens_field=max_tokens_field
        )

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:  # noqa: ARG002
        """The inverse of ``encode``. Raises ``ValueError`` when ``messages`` are no messages."""
        return openai_chat_request.decode_request(body)

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The body of the whole answer that says ``turns``; see ``openai_chat_turns``."""
        return openai_chat_turns.encode_turns(turns, model=model, losses=losses)

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turns of an answer, one per choice; ``()`` when there is none in it.

        An event that the end of the body cut is not read: no client gets it.
        """
        if is_stream(response):
            return assembled(Assembler(), response.body)
        answer = Answer()
        text, damage = text_in(response.body)
        if damage:
            answer.ledger.note(None, "not-utf-8", "/body", damage)
        try:
            body = parse(text)
        except ValueError:
            return ()
        if not isinstance(body, dict):
            return ()
        answer.absorb(body, "/body", whole=True)
        return answer.turns()

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""
        return Assembler()

    def error_of(self, response: HttpResponse) -> errors.ErrorInfo | None:
        """What went wrong, in the endpoint's words; see ``errors.error_of``."""
        return errors.error_of(response)

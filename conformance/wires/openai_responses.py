"""OpenAI Responses, in OpenAI's flavour and in Open Responses'.

Sources: OpenAI API reference, responses/create and responses-streaming; the openai SDK's types/responses;
openresponses/openresponses, schema/*.tsp. What requests, answers and streams become stands in the modules
``openai_responses_request``, ``_answer``, ``_stream`` and, for opaque slots, ``_items``.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires import errors, openai_responses_asked, openai_responses_request, openai_responses_turns
from conformance.wires.body import assembled, is_stream, parse, text_in
from conformance.wires.facts import Ledger
from conformance.wires.openai_responses_answer import read_whole
from conformance.wires.openai_responses_items import WIRE
from conformance.wires.openai_responses_stream import Assembler


class OpenAIResponses:
    """The wire ``openai-responses``. Stateless; nothing raises on what an endpoint sent."""

    name: WireName = WIRE
    models_path: str = "/models"
    headers: tuple[tuple[str, str], ...] = ()

    def path(self, model: str, stream: bool) -> str:  # noqa: ARG002 - other wires put them in the path
        """Where a request goes, relative to the base URL."""
        return "/responses"

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key; none for an empty key."""
        return (("Authorization", f"Bearer {key}"),) if key else ()

    def encode(
        self,
        request: Request,
        *,
        model: str,
        losses: list[Loss],
        max_tokens_field: str = "",  # noqa: ARG002 - Chat's choice
    ) -> dict[str, JSON]:
        """The body that says ``request``; see ``openai_responses_request``."""
        return openai_responses_request.encode(request, model=model, losses=losses)

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:  # noqa: ARG002
        """The request that a body says. Raises ``ValueError`` when its input is none."""
        return openai_responses_asked.decode_request(body)

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The body of a whole answer that says the first turn; see ``openai_responses_turns``."""
        return openai_responses_turns.encode_turns(turns, model=model, losses=losses)

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turn of an answer; ``()`` when there is none in it.

        An event that the end of the body cut is not read: no client gets it.
        """
        if is_stream(response):
            return assembled(Assembler(), response.body)
        ledger = Ledger()
        text, damage = text_in(response.body)
        if damage:
            ledger.note(0, "not-utf-8", "/body", damage)
        try:
            body = parse(text)
        except ValueError:
            return ()
        turn = read_whole(body, ledger) if isinstance(body, dict) else None
        return () if turn is None else (turn,)

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""
        return Assembler()

    def error_of(self, response: HttpResponse) -> errors.ErrorInfo | None:
        """What went wrong, in the endpoint's words; see ``errors.error_of``."""
        return errors.error_of(response)

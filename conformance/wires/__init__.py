"""Wires: a format and its HTTP binding, without any I/O.

A wire writes a canonical ``Request`` as a body and reads an ``HttpResponse`` as canonical ``Turn``s, whole
or event by event; and the other way round, for translation. ``wire(name)`` is the registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from conformance.types import JSON, HttpResponse, Loss, Request, Turn, WireName
from conformance.wires.anthropic_messages import AnthropicMessages
from conformance.wires.errors import ErrorInfo
from conformance.wires.gemini import Gemini
from conformance.wires.ollama import Ollama
from conformance.wires.openai_chat import OpenAIChat
from conformance.wires.openai_responses import OpenAIResponses

__all__ = ["Assembler", "ErrorInfo", "Wire", "wire"]


class Assembler(Protocol):
    """Builds the turns of one streamed answer; ask for them at any moment."""

    def feed(self, event_data: str) -> None:
        """Take the data of the next event (or the next line), end markers included. Never raises."""

    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, one per choice; ``()`` before the first choice."""


class Wire(Protocol):
    """What every wire can do. Nothing here raises on what an endpoint sent."""

    @property
    def name(self) -> WireName:
        """The wire's name, as in ``providers.yaml``."""

    @property
    def models_path(self) -> str:
        """Where the models are listed, relative to the base URL."""

    def path(self, model: str, stream: bool) -> str:
        """Where a request goes, relative to the base URL."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that every request of this wire has, whoever sends it."""

    def auth_headers(self, key: str) -> tuple[tuple[str, str], ...]:
        """The headers that carry the key; none for an empty key."""

    def encode(
        self, request: Request, *, model: str, losses: list[Loss], max_tokens_field: str = ...
    ) -> dict[str, JSON]:
        """The body that says ``request``; what can't be said is added to ``losses``."""

    def decode_request(self, body: dict[str, JSON], *, path: str = "") -> Request:
        """The request that a body says, sent to ``path`` where that says a part of it.

        Raises ``ValueError`` when its messages are none.
        """

    def encode_turns(self, turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
        """The body of the whole answer that says ``turns``; what can't be said is added to ``losses``."""

    def decode(self, response: HttpResponse) -> tuple[Turn, ...]:
        """The turns of an answer, one per choice; ``()`` when there is none in it."""

    def assembler(self) -> Assembler:
        """A fresh assembler for one stream."""

    def error_of(self, response: HttpResponse) -> ErrorInfo | None:
        """What went wrong, in the endpoint's words; ``None`` when it reports no error."""


_WIRES: dict[WireName, Wire] = {
    "openai-chat": OpenAIChat(),
    "openai-responses": OpenAIResponses(),
    "anthropic-messages": AnthropicMessages(),
    "gemini": Gemini(),
    "ollama": Ollama(),
}


def wire(name: WireName) -> Wire:
    """The wire of that name. Raises ``LookupError`` where there is none."""
    found = _WIRES.get(name)
    if found is None:
        raise LookupError(f"no such wire: {name!r} (wires: {', '.join(_WIRES)})")
    return found

"""What an official SDK is asked, and what it tells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.types import Exchange, HttpRequest, WireName
from conformance.wires import ErrorInfo, wire

from .said import Said


@dataclass(frozen=True, slots=True)
class Question:
    """A request of ours, in the words that a method of an SDK takes."""

    body: Mapping[str, Any]
    model: str
    streamed: bool
    version: str | None = None
    betas: tuple[str, ...] = ()


def question(request: HttpRequest, over: WireName) -> Question | None:
    """The question that a request asks; ``None`` where it goes elsewhere or its body is no JSON object."""
    headers = {name.lower(): value for name, value in request.headers}
    if request.method != "POST" or "content-encoding" in headers:
        return None
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    path = request.url.partition("?")[0]
    named = re.search(r"/models/([^:/]+):(\w+)$", path)
    model, method = named.groups() if named else (body.get("model", ""), "")
    streamed = method == "streamGenerateContent" or body.get("stream", over == "ollama") is True
    if method == "streamGenerateContent" and "alt=sse" not in request.url:
        return None  # a stream that is one JSON array; the SDK has no words for it
    if not path.endswith(wire(over).path(model, streamed).partition("?")[0]):
        return None
    betas = headers.get("anthropic-beta", "")
    return Question(
        body=body,
        model=model,
        streamed=streamed,
        version=headers.get("anthropic-version"),
        betas=tuple(beta.strip() for beta in betas.split(",") if beta.strip()),
    )


IN_STREAM = 200
"""The status of an answer whose error came in its stream."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An error as the SDK raises it: the name of its class, the status, and what the endpoint says."""

    name: str
    status: int
    info: ErrorInfo


@dataclass(frozen=True, slots=True)
class Told:
    """An exchange with the simulator, and the same with its SDK: what that sent and read.

    ``unsaid`` is what `Oracle.unsaid` tells of the question.
    """

    exchange: Exchange
    question: Question
    sent: HttpRequest
    theirs: tuple[Said, ...]
    unsaid: tuple[str, ...]


class Oracle(Protocol):
    """An official SDK, speaking to the replay server."""

    wire: WireName
    ordered: bool
    """Whether its results keep the order of texts, reasoning and calls."""
    identified: bool
    """Whether its results keep the ids of calls."""

    def ask(self, question: Question) -> tuple[Said, ...]:
        """Ask with the SDK's own method: what its result says, choice by choice. Raises the SDK's errors."""

    def ask_in_vain(self, question: Question) -> Raised:
        """Ask where the answer is an error. Raises `AssertionError` when the SDK takes it for an answer."""

    def unsaid(self, question: Question) -> tuple[str, ...]:
        """JSON Pointers (``*`` for an index) to what the SDK's types of requests don't know."""

    def alike(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body in the one spelling of all that the SDK is known to say otherwise than we do."""

"""What an official SDK is asked, and what it tells."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.types import HttpRequest, WireName
from conformance.wires import ErrorInfo

from .said import Said


@dataclass(frozen=True, slots=True)
class Question:
    """A request of ours, in the words that a method of an SDK takes."""

    body: Mapping[str, Any]
    model: str
    streamed: bool
    version: str | None = None
    betas: tuple[str, ...] = ()


def question(request: HttpRequest) -> Question | None:
    """The question that a request asks; ``None`` where its body is no JSON object."""
    headers = {name.lower(): value for name, value in request.headers}
    if request.method != "POST" or "content-encoding" in headers:
        return None
    try:
        body = json.loads(request.body)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    named = re.search(r"/models/([^:/?]+):(\w+)", request.url)
    model, method = named.groups() if named else (body.get("model", ""), "")
    betas = headers.get("anthropic-beta", "")
    return Question(
        body=body,
        model=model,
        streamed=method == "streamGenerateContent" or body.get("stream") is True,
        version=headers.get("anthropic-version"),
        betas=tuple(beta.strip() for beta in betas.split(",") if beta.strip()),
    )


@dataclass(frozen=True, slots=True)
class Raised:
    """An error as the SDK raises it: the name of its class, the status, and what the endpoint says."""

    name: str
    status: int
    info: ErrorInfo


class Oracle(Protocol):
    """An official SDK, speaking to the replay server."""

    sdk: str
    wire: WireName
    ordered: bool
    """Whether its results keep the order of texts, reasoning and calls."""

    def ask(self, question: Question) -> tuple[Said, ...]:
        """Ask with the SDK's own method, and what its result says, choice by choice."""

    def ask_in_vain(self, question: Question) -> Raised:
        """Ask where the answer is an error; raises `AssertionError` when the SDK takes it for an answer."""

    def unsaid(self, question: Question) -> tuple[str, ...]:
        """JSON Pointers (``*`` for an index) to what the SDK's types of requests don't know."""

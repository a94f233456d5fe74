"""One request and what came back, as bytes."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.types.canonical import Turn
from conformance.types.vocabulary import Ending, Expect, FailureKind, WireName


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request as sent. Header names keep their spelling; order and repetition survive."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What came back, after content decoding.

    ``parts`` are ``(milliseconds since the request began, size in bytes)`` per network read; the
    sizes sum to ``len(body)``.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    parts: tuple[tuple[float, int], ...] = ()
    http_version: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        """The first header of that name (any case), or ``None``."""
        wanted = name.lower()
        return next((v for k, v in self.headers if k.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why no response came; ``message`` is one line a person can act on."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Twin:
    """Of whom an exchange is the twin: of one of the same attempt that asked the same the other way.

    ``of``: its number there, from 0. ``streams``: the twin was asked to stream, and that one was not.
    ``script``: what the model says for both, where that is known.
    """

    of: int
    streams: bool
    script: Turn | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, as bytes, with arrival times and how it ended.

    ``response`` is ``None`` exactly when ``failure`` is set (nothing usable came back).
    ``probe`` names what the step was for (``"unknown-model"``); probe rules look for it.
    ``expect`` is what a conforming endpoint does with the request: answer, refuse, or either.
    """

    request: HttpRequest
    response: HttpResponse | None
    ending: Ending
    wire: WireName
    failure: Failure | None = None
    started: float = 0.0
    elapsed_ms: float = 0.0
    probe: str | None = None
    expect: Expect = "answer"
    twin: Twin | None = None

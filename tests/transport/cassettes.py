"""Helpers to save and replay exchanges."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from conformance.transport.client import Limits
from conformance.transport.redact import Redactor
from conformance.transport.tape import ReplayTransport, Tape, load, save
from conformance.types import Exchange, Failure, HttpRequest, HttpResponse

OPEN = Redactor([])
URL = "http://127.0.0.1:8080/v1/chat/completions"
EVENT = b'data: {"a": 1}\n\n'
LIMITS = Limits(connect_s=5, idle_s=0.2, total_s=10, max_bytes=1_000)
STOCK = """
interactions:
- request:
    body: null
    headers: {accept: ['*/*']}
    method: GET
    uri: http://h/v1/models
  response:
    body: {string: '{"object": "list"}'}
    headers: {content-type: [application/json], x-b: ['1', '2']}
    status: {code: 200, message: OK}
version: 1
"""


def recorded(body: bytes = b'{"ok": true}', *, ask: bytes = b'{"n": 1}', url: str = URL) -> Exchange:
    request = HttpRequest("POST", url, (("Content-Type", "application/json"),), ask)
    response = HttpResponse(200, (("Content-Type", "application/json"),), body, ((1.5, len(body)),))
    return Exchange(request, response, "complete", "openai-chat", started=1.0e9, elapsed_ms=2.0)


def closed(
    ask: bytes = b'{"n": 1}', message: str = "h:80 closed the connection without an answer"
) -> Exchange:
    """An exchange whose server took the request and gave no answer."""
    return replace(recorded(ask=ask), response=None, failure=Failure("protocol", message), ending="cut")


def saved(path: Path, *exchanges: Exchange, redactor: Redactor = OPEN) -> Tape:
    save(path, exchanges, metadata={}, redactor=redactor)
    return load(path)


def replayed(transport: ReplayTransport, request: HttpRequest) -> Exchange:
    return asyncio.run(transport.send(request, wire="openai-chat"))


def failure_of(exchange: Exchange) -> Failure:
    assert exchange.response is None
    assert exchange.failure is not None
    return exchange.failure

"""Recordings built from the rules' own examples: nothing read from disk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.grade.grading import Graded, Grader, grade
from conformance.grade.recorded import KEPT, Fidelity, Recorded
from conformance.types import Aspect, Exchange, HttpRequest, HttpResponse

JSON_HEADERS = (("content-type", "application/json"),)
EVENT_HEADERS = (("content-type", "text/event-stream"),)


def recorded(
    exchange: Exchange,
    *,
    fidelity: Fidelity = "wire",
    kept: frozenset[Aspect] | None = None,
    file: str = "recordings/one.yaml",
    position: int = 0,
    **more: Any,
) -> Recorded:
    """The exchange as a recorder of this fidelity would leave it."""
    known = KEPT[fidelity] if kept is None else kept
    return Recorded(exchange, file, position, "vcr-yaml", fidelity, known, **more)


def recordings(exchanges: Iterable[Exchange], **more: Any) -> list[Recorded]:
    """The exchanges of one file."""
    return [recorded(exchange, position=place, **more) for place, exchange in enumerate(exchanges)]


def graded(exchanges: Iterable[Exchange], grader: Grader | None = None, **more: Any) -> list[Graded]:
    """What comes of the exchanges of one file, in their order."""
    found = grade(recordings(exchanges, **more), grader or Grader())
    return sorted(found, key=lambda one: one.position)


def rules_of(one: Graded) -> set[str]:
    """The rules that do not hold in an exchange."""
    return {finding.rule for finding in one.findings}


def exchange(
    url: str = "",
    asked: Any = None,
    answer: Any = None,
    *,
    method: str = "POST",
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS,
    sent: tuple[tuple[str, str], ...] = (),
) -> Exchange:
    """An exchange of JSON bodies, or of bytes as they are."""
    return Exchange(
        HttpRequest(method, url, sent, packed(asked)),
        HttpResponse(status, headers, packed(answer)),
        "complete",
        "openai-chat",
    )


def packed(value: Any) -> bytes:
    """JSON as bytes; bytes stay, and nothing is nothing."""
    if value is None:
        return b""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def without_url(one: Exchange) -> Exchange:
    """The exchange without anything of its request, as fixtures of answers have none."""
    return replace(one, request=HttpRequest("", "", (), b""))


def streamed(*events: Any) -> bytes:
    """Events with these values as their data."""
    return b"".join(b"data: " + packed(event) + b"\n\n" for event in events)

"""What a page needs to show an exchange: redacted, capped, printable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.transport.redact import Redactor
from conformance.types import Exchange, Finding

MAX_BODY = 16_384
"""Bytes of a body that are kept as evidence; the cassette has all of them."""

MAX_PARTS = 200

MAX_HEADERS = 200
MAX_HEADER = 4_096
"""How many headers are kept, and how many characters of the name and the value of each."""


def evidence(
    exchanges: Sequence[Exchange],
    redactor: Redactor,
    shown_as: tuple[str, str],
    behind: Sequence[Sequence[Exchange]] = (),
) -> tuple[Mapping[str, Any], ...]:
    """One view per exchange; ``shown_as`` replaces the first string by the second in URLs.

    ``behind``: in an adapted run, per exchange what really went over the wire, every try of it.
    """
    views = [_view(exchange, redactor, shown_as) for exchange in exchanges]
    for view, tries in zip(views, behind, strict=False):
        view["behind"] = [_view(one, redactor, shown_as) for one in tries]
    return tuple(views)


def redacted(finding: Finding, redactor: Redactor) -> Finding:
    """The finding with nothing secret in its texts."""
    return replace(
        finding,
        message=redactor.text(finding.message),
        wanted=redactor.text(finding.wanted),
        got=redactor.text(finding.got),
    )


def _view(exchange: Exchange, redactor: Redactor, shown_as: tuple[str, str]) -> dict[str, Any]:
    clean = redactor.opening(_capped(exchange), MAX_BODY)
    request, response, failure = clean.request, clean.response, clean.failure
    url = request.url.replace(*shown_as, 1) if shown_as[0] else request.url
    view = {
        "request": {
            "method": request.method,
            "url": url,
            "headers": _headers(request.headers),
            "body": _text(request.body),
        },
        "response": None
        if response is None
        else {
            "status": response.status,
            "http_version": response.http_version,
            "headers": _headers(response.headers),
            "body": _text(response.body),
            "parts": [[round(ms, 1), size] for ms, size in response.parts],
        },
        "ending": exchange.ending,
        "failure": None if failure is None else {"kind": failure.kind, "message": failure.message},
        "elapsed_ms": round(exchange.elapsed_ms, 1),
        "probe": exchange.probe,
        "truncated": _is_capped(exchange),
    }
    return view if exchange.twin is None else view | {"twin_of": exchange.twin.of}


def _capped(exchange: Exchange) -> Exchange:
    """The exchange with no more headers and parts than are kept."""
    request, response = exchange.request, exchange.response
    return replace(
        exchange,
        request=replace(request, headers=request.headers[:MAX_HEADERS]),
        response=response
        and replace(response, headers=response.headers[:MAX_HEADERS], parts=response.parts[:MAX_PARTS]),
    )


def _is_capped(exchange: Exchange) -> bool:
    sides = [side for side in (exchange.request, exchange.response) if side is not None]
    return any(
        len(side.body) > MAX_BODY
        or len(side.headers) > MAX_HEADERS
        or any(len(text) > MAX_HEADER for pair in side.headers[:MAX_HEADERS] for text in pair)
        for side in sides
    ) or (exchange.response is not None and len(exchange.response.parts) > MAX_PARTS)


def _headers(headers: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [[name[:MAX_HEADER], value[:MAX_HEADER]] for name, value in headers]


def _text(body: bytes) -> str:
    return body.decode("utf-8", "backslashreplace")

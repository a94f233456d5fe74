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


def evidence(
    exchanges: Sequence[Exchange], redactor: Redactor, shown_as: tuple[str, str]
) -> tuple[Mapping[str, Any], ...]:
    """One view per exchange; ``shown_as`` replaces the first string by the second in URLs."""
    return tuple(_view(redactor.exchange(exchange), shown_as) for exchange in exchanges)


def redacted(finding: Finding, redactor: Redactor) -> Finding:
    """The finding with nothing secret in its texts."""
    return replace(
        finding,
        message=redactor.text(finding.message),
        wanted=redactor.text(finding.wanted),
        got=redactor.text(finding.got),
    )


def _view(exchange: Exchange, shown_as: tuple[str, str]) -> dict[str, Any]:
    request, response, failure = exchange.request, exchange.response, exchange.failure
    url = request.url.replace(*shown_as, 1) if shown_as[0] else request.url
    size = max(len(request.body), len(response.body) if response else 0)
    return {
        "request": {
            "method": request.method,
            "url": url,
            "headers": [list(pair) for pair in request.headers],
            "body": _text(request.body),
        },
        "response": None
        if response is None
        else {
            "status": response.status,
            "http_version": response.http_version,
            "headers": [list(pair) for pair in response.headers],
            "body": _text(response.body),
            "parts": [[round(ms, 1), size] for ms, size in response.parts[:MAX_PARTS]],
        },
        "ending": exchange.ending,
        "failure": None if failure is None else {"kind": failure.kind, "message": failure.message},
        "elapsed_ms": round(exchange.elapsed_ms, 1),
        "probe": exchange.probe,
        "truncated": size > MAX_BODY or bool(response and len(response.parts) > MAX_PARTS),
    }


def _text(body: bytes) -> str:
    return body[:MAX_BODY].decode("utf-8", "backslashreplace")

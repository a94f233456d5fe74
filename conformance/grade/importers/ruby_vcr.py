"""Ruby's VCR, in YAML or JSON, and R's vcr, which has its format with a status and headers of its own."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.grade.exchanges import headers_of, request_of
from conformance.grade.importers.interactions import Table, body_of, read_pairs, recorded, table
from conformance.grade.importers.yamls import outline
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "vcr-ruby-yaml"
"""``vcr-r-yaml`` where R wrote it."""


def looks_like(head: Head) -> bool:
    """Whether it begins with a table of HTTP interactions."""
    return "http_interactions/request" in outline(head)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The interactions, in order. Raises ``OSError`` and `source.Unreadable`."""
    return read_pairs(source, "http_interactions", _pair)


def _pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    status = got.get("status")
    by_r = isinstance(status, int) or "status_code" in table(status)
    code = (
        status if isinstance(status, int) else table(status).get("code", table(status).get("status_code", ""))
    )
    return recorded(
        source,
        position,
        ("vcr-r-yaml" if by_r else name, "wire"),
        request_of(
            asked.get("method"),
            asked.get("uri"),
            headers_of(asked.get("headers")),
            body_of(asked.get("body")),
        ),
        (code, headers_of(got.get("headers")), body_of(got.get("body"))),
    )

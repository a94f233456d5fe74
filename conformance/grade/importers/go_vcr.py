"""go-vcr's cassettes, of all versions: vcrpy's list with Go's names for what is in it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.grade.exchanges import headers_of, request_of
from conformance.grade.importers.interactions import Table, body_of, read_pairs, recorded
from conformance.grade.importers.yamls import outline
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "go-vcr-yaml"

_GO = frozenset({"interactions/request/proto", "interactions/request/form", "interactions/request/url"})


def looks_like(head: Head) -> bool:
    """Whether it begins with interactions whose requests are Go's."""
    return not _GO.isdisjoint(outline(head))


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The interactions, in order. Raises ``OSError`` and `source.Unreadable`."""
    return read_pairs(source, "interactions", read_pair)


def read_pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    """One interaction; ``asked`` and ``got`` are its request and response."""
    return recorded(
        source,
        position,
        (name, "wire"),
        request_of(
            asked.get("method"),
            asked.get("url"),
            headers_of(asked.get("headers")),
            body_of(asked.get("body")),
        ),
        (got.get("code", got.get("status", "")), headers_of(got.get("headers")), body_of(got.get("body"))),
    )

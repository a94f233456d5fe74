"""A response as text, head and body: what ``curl -i`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin
from conformance.grade.http_text import message
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source, Unreadable

name = "http-dump"

_STATUS_LINE = re.compile(rb"HTTP/[0-9](?:\.[0-9])? [1-9][0-9]{2}[ \r\n]")
_HEADS = 10


def looks_like(head: Head) -> bool:
    """The first line is a status line."""
    return _STATUS_LINE.match(head.data) is not None


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The last response counts: heads of proxies and interim ones stand before it."""
    data = source.whole()
    found = message(data)
    for _ in range(_HEADS):
        if found is None or not _STATUS_LINE.match(found.body):
            break
        found = message(found.body)
    if found is None:
        raise Unreadable("a head without an end")
    status = found.first.partition(" ")[2]
    yield Origin(source, name, "wire").recorded(0, None, status, found.headers, Decoded(found.body))

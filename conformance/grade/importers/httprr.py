"""Go's httprr: a line ``httprr trace v1``, then the two sizes of each exchange on a line, and its messages.

Source: the format's own comment in golang.org/x/oscar/internal/httprr (``rr.go``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin, request_of
from conformance.grade.http_text import message
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "httprr"

_MAGIC = b"httprr trace v1"
_SIZES = re.compile(rb"([0-9]{1,9}) ([0-9]{1,9})\r?\n")


def looks_like(head: Head) -> bool:
    """The first line tells."""
    return head.data.startswith(_MAGIC)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Whole files only: an exchange's place is known from the sizes of those before it."""
    origin = Origin(source, name, "wire")
    data = source.whole()
    at = data.find(b"\n") + 1 or len(data)
    position = 0
    while at < len(data):
        sizes = _SIZES.match(data, at)
        if sizes is None:
            yield origin.unusable("no sizes where the next exchange should begin", position)
            return
        start = sizes.end()
        middle = start + int(sizes[1])
        at = middle + int(sizes[2])
        if at > len(data):
            yield origin.unusable("the file ends before the exchange does", position)
            return
        yield _exchange(origin, position, data[start:middle], data[middle:at])
        position += 1


def _exchange(origin: Origin, position: int, asked: bytes, got: bytes) -> Recorded | Unusable:
    request, response = message(asked), message(got)
    if request is None or response is None:
        return origin.unusable("a message without a head", position)
    method, _, rest = request.first.partition(" ")
    url = rest.rpartition(" ")[0]
    if url.startswith("/"):
        url = f"http://{request.header('host')}{url}"
    sent = request_of(method, url, request.headers, Decoded(request.body))
    status = response.first.partition(" ")[2] or ""
    return origin.recorded(position, sent, status, response.headers, Decoded(response.body))

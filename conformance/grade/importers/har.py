"""HAR 1.2, of browsers and proxies, and as Polly.js writes it.

Source: http://www.softwareishard.com/blog/har-12-spec/. Polly keeps a packed body as a JSON array of the
network's pieces, each Base64 or hexadecimal, in ``content.text``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grade.bodies import Decoded, from_base64, from_pieces, from_value
from conformance.grade.exchanges import Origin, headers_of, request_of, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source, Unreadable, load_json

name = "har"


def looks_like(head: Head) -> bool:
    """One member ``log``, with a version, a creator or entries in it."""
    log = table(head.json).get("log")
    return isinstance(log, dict) and bool(log.keys() & {"version", "creator", "entries"})


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Whole files only: HAR is one JSON document."""
    origin = Origin(source, name, "wire")
    entries = table(table(source.json()).get("log")).get("entries")
    if not isinstance(entries, list):
        raise Unreadable("a HAR without log.entries")
    for position, entry in enumerate(entries):
        yield _exchange(origin, position, table(entry))


def _exchange(origin: Origin, position: int, entry: dict[str, Any]) -> Recorded | Unusable:
    asked, got = table(entry.get("request")), table(entry.get("response"))
    content = table(got.get("content"))
    if got.get("status") == 0:
        return origin.unusable("no response came (status 0)", position)
    size = content.get("size")
    if "text" not in content and isinstance(size, int) and size > 0:
        return origin.unusable("the body was not kept: save the HAR with content", position)
    request = request_of(
        asked.get("method"),
        asked.get("url"),
        headers_of(asked.get("headers")),
        _sent(table(asked.get("postData"))),
    )
    return origin.recorded(
        position, request, got.get("status", ""), headers_of(got.get("headers")), _body(content)
    )


def _sent(data: dict[str, Any]) -> Decoded:
    text = data.get("text")
    if data.get("encoding") == "base64" and isinstance(text, str):
        return from_base64(text)
    return from_value(text)


def _body(content: dict[str, Any]) -> Decoded:
    text = content.get("text")
    if content.get("encoding") != "base64" or not isinstance(text, str):
        return from_value(text)
    if not text.startswith("["):
        return from_base64(text)
    try:
        pieces = load_json(text.encode("utf-8", "replace"))
    except Unreadable as error:
        return Decoded(b"", str(error))
    return from_pieces(pieces)

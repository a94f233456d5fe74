"""Cassettes of Braintrust's JavaScript SDK: ``entries`` whose bodies have a ``kind``.

A body of the kind ``binary`` lies in a file of its own, ``<name>.cassette.blobs/<sha256>.bin`` beside the
cassette. Source: the recordings of github.com/braintrustdata/braintrust-sdk-javascript (``e2e``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.grade.bodies import Decoded, from_base64, from_value
from conformance.grade.exchanges import Origin, headers_of, json_body, request_of, table, without
from conformance.grade.recorded import Fidelity, Recorded, Unusable
from conformance.grade.source import MAX_WHOLE, Head, Source, Unreadable

name = "braintrust-cassette"

_FIDELITY: dict[str, Fidelity] = {"json": "parsed", "sse": "wire-blocks"}


def looks_like(head: Head) -> bool:
    """Entries whose request has a body with a kind."""
    entries = table(head.json).get("entries")
    first = table(entries[0]) if isinstance(entries, list) and entries else {}
    return isinstance(table(table(first.get("request")).get("body")).get("kind"), str)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Whole files only: a cassette is one JSON document."""
    entries = table(source.json()).get("entries")
    if not isinstance(entries, list):
        raise Unreadable("a cassette without entries")
    for position, entry in enumerate(entries):
        yield _exchange(source, position, table(entry))


def _exchange(source: Source, position: int, entry: dict[str, Any]) -> Recorded | Unusable:
    asked, got = table(entry.get("request")), table(entry.get("response"))
    kind = table(got.get("body")).get("kind")
    origin = Origin(source, name, _FIDELITY.get(kind if isinstance(kind, str) else "", "wire"))
    sent = _body(source, table(asked.get("body")))
    request = request_of(asked.get("method"), asked.get("url"), headers_of(asked.get("headers")), sent)
    found = origin.recorded(
        position,
        request,
        got.get("status", ""),
        headers_of(got.get("headers")),
        _body(source, table(got.get("body"))),
    )
    return found if sent.problem is None else without(found, "request")


def _body(source: Source, body: dict[str, Any]) -> Decoded:
    kind, value = body.get("kind"), body.get("value")
    if kind == "json":
        return json_body(value)
    if kind == "base64" and isinstance(value, str):
        return from_base64(value)
    if kind == "sse":
        chunks = body.get("chunks")
        blocks = [one for one in chunks if isinstance(one, str)] if isinstance(chunks, list) else []
        return from_value("".join(block.rstrip("\r\n") + "\n\n" for block in blocks))
    if kind == "binary":
        return _blob(source.path.parent, body)
    return from_value(value)


def _blob(folder: Path, body: dict[str, Any]) -> Decoded:
    given = body.get("path")
    if not isinstance(given, str) or "\0" in given:
        return Decoded(b"", "no path to its file")
    try:
        path = (folder / given).resolve()
        if not path.is_relative_to(folder.resolve()):
            return Decoded(b"", "its file lies outside the cassette's folder")
        if not path.is_file() or path.stat().st_size > MAX_WHOLE:
            return Decoded(b"", f"its file is absent or larger than {MAX_WHOLE >> 20} MiB")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        return Decoded(b"", f"its file can't be read: {error}")
    digest = body.get("sha256")
    if isinstance(digest, str) and hashlib.sha256(data).hexdigest() != digest.lower():
        return Decoded(b"", "its file is not the one that was recorded (sha256)")
    return Decoded(data)

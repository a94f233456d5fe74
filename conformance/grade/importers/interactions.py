"""What the importers of cassettes share: pairs of a request and a response, in a list or one a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.grade.bodies import Decoded, decoded, from_base64, from_value
from conformance.grade.exchanges import Headers, Origin, json_body
from conformance.grade.importers.yamls import entries
from conformance.grade.recorded import KEPT, Fidelity, Recorded, Unusable
from conformance.grade.source import Source
from conformance.types import Aspect, HttpRequest

Table = Mapping[Any, Any]
ReadPair = Callable[[Source, int, Table, Table], Recorded | Unusable]
"""Source, position, request and response to an exchange."""

_FOLDED = b"#magic___^_^___line"


def read_pairs(source: Source, key: str, read_pair: ReadPair) -> Iterator[Recorded | Unusable]:
    """The interactions in the file's list ``key``, each a table with a request and a response.

    Raises ``OSError``, and `source.Unreadable` from where on the file can't be read.
    """
    position = 0
    for entry in entries(source):
        if entry.key == key:
            pair = table(entry.value)
            yield checked(
                source, position, pair.get("request"), pair.get("response"), entry.problem, read_pair
            )
            position += 1


def checked(
    source: Source, position: int, asked: object, got: object, problem: str | None, read_pair: ReadPair
) -> Recorded | Unusable:
    """What ``read_pair`` makes of the two, if they are tables and came through YAML unharmed."""
    if problem is None and not (isinstance(asked, Mapping) and isinstance(got, Mapping)):
        problem = "an interaction without a request and a response"
    if problem is not None:
        return Unusable(source.file, problem, position)
    found = read_pair(source, position, table(asked), table(got))
    if isinstance(found, Recorded) and found.exchange.response is not None:
        bodies = found.exchange.request.body, found.exchange.response.body
        if any(_FOLDED in body for body in bodies):
            # A YAML library's folding, written out by another: where a line ended, nothing tells.
            reason = f"the recorder wrote {_FOLDED.decode()} in place of line ends: record it again"
            return Unusable(source.file, reason, position)
    return found


def recorded(
    source: Source,
    position: int,
    form: tuple[str, Fidelity],
    request: HttpRequest,
    answer: tuple[object, Headers, Decoded],
) -> Recorded | Unusable:
    """The exchange. ``form`` is the format's name and the fidelity, ``answer`` status, headers and body.

    A POST without a body, or a response without a header, was not kept by the recorder.
    """
    status, headers, body = answer
    name, fidelity = form
    without: set[Aspect] = set()
    if request.method == "POST" and not request.body:
        without.add("request")
    if not headers:
        without.add("headers")
    origin = Origin(source, name, fidelity, KEPT[fidelity] - without)
    return origin.recorded(position, request, status, headers, body)


def table(value: object) -> Table:
    """The value if it is a table, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def body_of(value: object) -> Decoded:
    """A body as cassettes hold it: itself, or in a table under the name of how it is written.

    ``string`` is plain; ``base64_string`` is Ruby VCR's, ``base64`` and ``raw_gzip`` (Base64 of what R's
    ``memCompress`` makes, which is zlib's format or gzip's) are those of R's vcr.
    """
    if not isinstance(value, Mapping):
        return from_value(value)
    for name in ("base64_string", "base64"):
        if isinstance(value.get(name), str):
            return from_base64(value[name])
    if isinstance(value.get("raw_gzip"), str | bytes):
        packed = value["raw_gzip"]
        found = Decoded(packed) if isinstance(packed, bytes) else from_base64(packed)
        return found if found.problem else decoded(found.data, "deflate")
    return from_value(value.get("string"))


def parsed(value: object) -> Decoded:
    """A body that the recorder decoded, as JSON again."""
    try:
        return json_body(value)
    except (TypeError, ValueError):
        return Decoded(b"", "a decoded body that JSON can't hold")

"""langchain-tests' cassettes: vcrpy's requests in one list, its responses in another, headers hidden."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.grade.exchanges import Headers, headers_of, request_of
from conformance.grade.importers.interactions import Table, body_of, checked, recorded, table
from conformance.grade.importers.yamls import Entry, entries, outline
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import MAX_WHOLE, Head, Source, Unreadable

name = "langchain-vcr-gz"

_HIDDEN = "**REDACTED**"
_MAX_REQUESTS = 100_000


def looks_like(head: Head) -> bool:
    """Whether it begins with a list of requests as vcrpy writes them."""
    seen = outline(head)
    return "requests/uri" in seen or (head.json is None and "requests/body" in seen)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The exchanges, in order. Raises ``OSError`` and `source.Unreadable`."""
    asked: list[Entry] = []
    position = size = 0
    for entry in entries(source):
        if entry.key == "requests":
            asked.append(entry)
            body = table(entry.value).get("body")
            size += len(body) if isinstance(body, str | bytes | list) else 0
            if size > MAX_WHOLE or len(asked) > _MAX_REQUESTS:
                raise Unreadable(f"requests of more than {MAX_WHOLE >> 20} MiB before the first response")
        elif entry.key == "responses":
            request = asked[position] if position < len(asked) else Entry(0, "requests", None)
            problem = entry.problem or request.problem
            yield checked(source, position, request.value, entry.value, problem, _pair)
            position += 1


def _pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    sent = request_of(
        asked.get("method"), asked.get("uri"), _shown(asked.get("headers")), body_of(asked.get("body"))
    )
    status, headers = table(got.get("status")).get("code", ""), _shown(got.get("headers"))
    return recorded(source, position, (name, "wire"), sent, (status, headers, body_of(got.get("body"))))


def _shown(headers: object) -> Headers:
    return tuple((key, value) for key, value in headers_of(headers) if value != _HIDDEN)

"""Rust's httpmock: a document for each exchange, ``when`` this is asked ``then`` that is answered.

Only the path of a request is known: which host it was, the recorder doesn't write. Those who publish such
files rewrite ids and times before (rig's do), so no file counts as more than scrubbed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from urllib.parse import urlencode

from conformance.grade.bodies import Decoded, from_base64, from_value
from conformance.grade.exchanges import headers_of, request_of
from conformance.grade.importers.interactions import Table, checked, recorded
from conformance.grade.importers.yamls import entries, outline
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "httpmock-yaml"


def looks_like(head: Head) -> bool:
    """Whether it begins with what is asked."""
    seen = outline(head)
    return "when/path" in seen or ("when/method" in seen and "then" in seen)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The exchanges, a document each. Raises ``OSError`` and `source.Unreadable`."""
    position = 0
    for _, members in groupby(entries(source), key=lambda entry: entry.document):
        document, problem = {}, None
        for entry in members:
            if entry.key in ("when", "then"):
                document[entry.key], problem = entry.value, problem or entry.problem
        if document:
            yield checked(source, position, document.get("when"), document.get("then"), problem, _pair)
            position += 1


def _pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    path, query = asked.get("path"), headers_of(asked.get("query_param"))
    url = f"{path}?{urlencode(query, errors='replace')}" if query and isinstance(path, str) else path
    return recorded(
        source,
        position,
        (name, "scrubbed"),
        request_of(asked.get("method"), url, headers_of(asked.get("header")), _body(asked)),
        (got.get("status", ""), headers_of(got.get("header")), _body(got)),
    )


def _body(side: Table) -> Decoded:
    body = side.get("body")
    if side.get("body_encoding") == "base64" and isinstance(body, str):
        return from_base64(body)
    return from_value(body)

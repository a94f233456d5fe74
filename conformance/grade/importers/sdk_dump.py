"""Dumps of a client library's objects: ``{"__type__", "__data__"}``, as Llama Stack's tests record them.

The library fills in what is absent and the recorder rewrites ids, so such a dump is evidence of nothing that
a rule needs. Source: ``api_recorder.py`` of github.com/llamastack/llama-stack, and its recordings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import Origin, as_events, as_lines, headers_of, json_body, request_of, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source, Unreadable

name = "sdk-dump"


def looks_like(head: Head) -> bool:
    """A response with a typed object in it, or a dump of one alone."""
    response = table(table(head.json).get("response"))
    body = response.get("body")
    first = body[0] if isinstance(body, list) and body else body
    return (
        "__type__" in table(first)
        or "__type__" in head.item
        or ("is_streaming" in response and "test_id" in head.item)
    )


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """A list of objects was a stream."""
    origin = Origin(source, name, "sdk-dump")
    for position, value in enumerate(source.values()):
        document = table(value)
        asked = document.get("request")
        got = table(document["response"]) if "response" in document else {"body": document}
        if "body" not in got or not document:
            yield origin.unusable("no response: the client raised an exception", position)
            continue
        request = table(asked)
        sent = (
            request_of(
                request.get("method"),
                request.get("url"),
                headers_of(request.get("headers")),
                json_body(request.get("body", request.get("payload"))),
            )
            if isinstance(asked, dict)
            else None
        )
        yield origin.recorded(position, sent, got.get("status"), (), _body(got["body"]))


def _body(body: Any) -> Decoded:
    try:
        if not isinstance(body, list):
            return json_body(_data(body))
        kind = table(body[0]).get("__type__") if body else ""
        lines = isinstance(kind, str) and kind.startswith("ollama.")
        return Decoded((as_lines if lines else as_events)([_data(one) for one in body]))
    except Unreadable as error:
        return Decoded(b"", str(error))


def _data(value: Any) -> Any:
    return value["__data__"] if isinstance(value, dict) and "__data__" in value else value

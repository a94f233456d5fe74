"""Fixtures of req_llm (Elixir): one exchange a file, the network's pieces as Base64 where it was a stream.

Source: ``ReqLLM.Step.Fixture`` of github.com/agentjido/req_llm, and its recordings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grade.bodies import Decoded, from_base64
from conformance.grade.exchanges import Origin, headers_of, json_body, request_of, table
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.grade.source import Head, Source

name = "req_llm"


def looks_like(head: Head) -> bool:
    """Base64 under its name for it, in the request's body or in the pieces, which stand before."""
    document = table(head.json)
    chunks = document.get("chunks")
    first = table(chunks[0]) if isinstance(chunks, list) and chunks else {}
    asked = table(table(document.get("request")).get("body"))
    return isinstance(asked.get("b64"), str) or isinstance(first.get("b64"), str)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Pieces tell how the network cut a stream, though not when."""
    document = table(source.json())
    asked, got = table(document.get("request")), table(document.get("response"))
    chunks = document.get("chunks")
    body = got.get("body")
    if isinstance(chunks, list):
        # Pieces without times must not pass for pieces that all came at once.
        origin = Origin(source, name, "wire-chunks", KEPT["wire-chunks"] - {"arrival"})
        answer = _joined([table(chunk).get("b64") for chunk in chunks])
    elif isinstance(body, dict) and body.keys() == {"b64"}:
        origin, answer = Origin(source, name, "wire"), _joined([body["b64"]])
    else:
        origin, answer = Origin(source, name, "parsed"), json_body(body)
    sent = table(asked.get("body")).get("b64")
    request = request_of(
        asked.get("method"),
        asked.get("url"),
        headers_of(asked.get("headers")),
        from_base64(sent) if isinstance(sent, str) else Decoded(b""),
    )
    yield origin.recorded(0, request, got.get("status", ""), headers_of(got.get("headers")), answer)


def _joined(pieces: list[Any]) -> Decoded:
    if not all(isinstance(piece, str) for piece in pieces):
        return Decoded(b"", "a piece without b64")
    found = [from_base64(piece) for piece in pieces]
    problem = next((one.problem for one in found if one.problem), None)
    return Decoded(b"".join(one.data for one in found), problem)

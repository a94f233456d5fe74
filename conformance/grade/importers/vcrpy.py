"""vcrpy's cassettes, in YAML or JSON, and what others make of its format.

pydantic-ai's serializer writes ``parsed_body`` in place of a JSON body; vcrpy before version 6 wrote httpx's
responses as ``content`` and ``status_code``. Our own have what vcrpy has no place for beside the response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.grade.bodies import Decoded
from conformance.grade.exchanges import headers_of, request_of
from conformance.grade.importers import go_vcr
from conformance.grade.importers.interactions import Table, body_of, checked, parsed, recorded, table
from conformance.grade.importers.yamls import entries, outline
from conformance.grade.recorded import KEPT, Fidelity, Recorded, Unusable
from conformance.grade.source import Head, Source
from conformance.transport import tape
from conformance.transport.tape_yaml import OURS

name = "vcr-yaml"
"""``vcr-json`` where vcrpy's other serializer wrote it."""


def looks_like(head: Head) -> bool:
    """Whether it begins with a table of interactions, and Go didn't write them."""
    return "interactions/request" in outline(head) and not go_vcr.looks_like(head)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The interactions, in order. Raises ``OSError`` and `source.Unreadable`."""
    position = held_bytes = 0
    held: list[Recorded] = []  # ours, until the endpoint's name comes at the end of the file
    metadata: dict[str, object] = {}
    for entry in entries(source):
        if entry.key == "metadata":
            metadata.update(table(entry.value))
        if entry.key != "interactions":
            continue
        pair = table(entry.value)
        found = checked(source, position, pair.get("request"), pair.get("response"), entry.problem, _pair)
        position += 1
        if isinstance(found, Recorded) and found.wire is not None and held_bytes <= tape.MAX_BYTES:
            held.append(found)
            held_bytes += len(found.exchange.request.body) + len(_body(found))
        else:
            yield found
    endpoint, scenario = (metadata.get(key) for key in ("endpoint", "scenario"))
    for one in held:
        yield replace(
            one,
            endpoint=endpoint if isinstance(endpoint, str) else None,
            scenario=scenario if isinstance(scenario, str) else None,
        )


def _pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    if OURS in got:
        return _ours(source, position, asked, got)
    if "url" in asked and "uri" not in asked:  # the file's beginning didn't show that Go wrote it
        return go_vcr.read_pair(source, position, asked, got)
    fidelity: Fidelity = "wire"
    if "content" in got:
        body = body_of(got["content"])
    elif got.get("parsed_body") is not None:
        fidelity, body = "parsed", parsed(got["parsed_body"])
    else:
        body = body_of(got.get("body"))
    status = got.get("status_code", got.get("status"))
    form = "vcr-json" if source.head.json is not None else name
    return recorded(
        source,
        position,
        (form, fidelity),
        request_of(asked.get("method"), asked.get("uri"), headers_of(asked.get("headers")), _sent(asked)),
        (
            table(status).get("code", "") if not isinstance(status, int) else status,
            headers_of(got.get("headers")),
            body,
        ),
    )


def _sent(asked: Table) -> Decoded:
    return (
        parsed(asked["parsed_body"]) if asked.get("parsed_body") is not None else body_of(asked.get("body"))
    )


def _body(one: Recorded) -> bytes:
    return one.exchange.response.body if one.exchange.response is not None else b""


def _ours(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    try:
        exchange = tape.interaction({"request": asked, "response": got})
    except ValueError as error:
        return Unusable(
            source.file, f"not an interaction of ours: {str(error).removeprefix('interaction 0: ')}", position
        )
    timed = exchange.response is not None and exchange.response.parts
    fidelity: Fidelity = "wire-chunks" if timed else "wire"
    return Recorded(exchange, source.file, position, name, fidelity, KEPT[fidelity], wire=exchange.wire)

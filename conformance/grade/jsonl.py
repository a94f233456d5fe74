"""Exchanges as JSON, one a line: what ``run --exchanges`` writes and ``grade`` reads.

A body is a text, ``{"base64": ...}`` for what is no UTF-8, or (written by others) the JSON value it holds.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast, get_args

from conformance.grade.bodies import Decoded, from_base64, from_value
from conformance.grade.exchanges import NO_REQUEST, Origin, headers_of, json_body, table, without
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source
from conformance.types import (
    ASPECTS,
    WIRES,
    Ending,
    Exchange,
    Expect,
    Failure,
    FailureKind,
    HttpRequest,
    HttpResponse,
    WireName,
)

name = "exchange-jsonl"

ENDINGS: tuple[Ending, ...] = get_args(Ending)
FAILURES: tuple[FailureKind, ...] = get_args(FailureKind)
EXPECTATIONS: tuple[Expect, ...] = get_args(Expect)

Line = dict[str, Any]
"""A line's JSON object; ``exchange_schema()`` describes it."""


# ------------------------------------------------------------------------------------------------- out


def to_line(what: Exchange | Recorded, *, endpoint: str | None = None, scenario: str | None = None) -> Line:
    """The exchange as a line's JSON object; whoever writes it has taken the secrets out.

    ``endpoint`` and ``scenario`` are the exchange's own, where it is a `Recorded` and they are not given.
    """
    recorded = what if isinstance(what, Recorded) else None
    exchange = recorded.exchange if recorded else cast(Exchange, what)
    line: Line = {}
    if exchange.request != NO_REQUEST:
        line["request"] = _request_out(exchange.request)
    if exchange.response is not None:
        line["response"] = _response_out(exchange.response, exchange.ending)
    if exchange.failure is not None:
        line["failure"] = {"kind": exchange.failure.kind, "message": _text(exchange.failure.message)}
    line["wire"] = exchange.wire
    own = (endpoint or (recorded and recorded.endpoint), scenario or (recorded and recorded.scenario))
    line |= {key: value for key, value in zip(("endpoint", "scenario"), own, strict=True) if value}
    if exchange.probe is not None:
        line["probe"] = exchange.probe
    if exchange.expect != "either":
        line["expect"] = exchange.expect
    if exchange.started:
        line["started"] = round(exchange.started, 3)
    if exchange.elapsed_ms:
        line["elapsed_ms"] = round(exchange.elapsed_ms, 1)
    if recorded is not None:
        # What was no evidence before is none by being written down anew.
        line["kept"] = [aspect for aspect in ASPECTS if aspect in recorded.kept]
    return line


def _request_out(request: HttpRequest) -> Line:
    return {
        "method": _text(request.method),
        "url": _text(request.url),
        "headers": _headers_out(request.headers),
        "body": _body_out(request.body),
    }


def _response_out(response: HttpResponse, ending: Ending) -> Line:
    line: Line = {
        "status": response.status,
        "headers": _headers_out(response.headers),
        "body": _body_out(response.body),
    }
    if response.parts:
        line["parts"] = [[round(ms, 3), size] for ms, size in response.parts]
    if ending != "complete":
        line["ending"] = ending
    return line


def _headers_out(headers: tuple[tuple[str, str], ...]) -> list[list[str]]:
    return [[_text(key), _text(value)] for key, value in headers]


def _body_out(body: bytes) -> str | dict[str, str]:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _text(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


# -------------------------------------------------------------------------------------------------- in


def looks_like(head: Head) -> bool:
    """A response with a status, or a failure, beside a request with a URL or a body."""
    line = head.item
    request, response = line.get("request"), line.get("response")
    if isinstance(request, dict) and not head.whole and "response" not in line:
        return "url" in request or "method" in request  # the head ends before the response begins
    answered = isinstance(response, dict) and ("status" in response or "body" in response)
    failed = isinstance(line.get("failure"), dict) and "kind" in line["failure"]
    if request is None:
        return failed or (isinstance(response, dict) and response.keys() >= {"status", "body"})
    asked = isinstance(request, dict) and bool(request.keys() & {"url", "body"})
    return asked and (answered or failed)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """A line at a time; a broken one is named and the next is read."""
    for position, value in enumerate(source.values()):
        yield _exchange(source, position, value)


def _exchange(source: Source, position: int, value: Any) -> Recorded | Unusable:
    line = table(value)
    got = line.get("response")
    if not isinstance(got, dict):
        failed = _failed(source, position, line)
        return failed or Origin(source, name, "wire").unusable(
            f"no response: {Origin.why(value)}" if not line else "no response", position
        )
    is_wire, body = _body_in(got.get("body"))
    parts = _parts_in(got.get("parts"))
    origin = Origin(source, name, ("wire-chunks" if parts else "wire") if is_wire else "parsed")
    answered = headers_of(got.get("headers"))
    # A text is decoded already; of bytes nobody knows whether their writer did that.
    packed = isinstance(got.get("body"), dict)
    found = origin.recorded(position, _request_in(line), got.get("status"), answered, body, packed=packed)
    if not answered:
        found = without(found, "headers")
    return _said(found, line, parts)


def _said(
    found: Recorded | Unusable, line: Line, parts: tuple[tuple[float, int], ...]
) -> Recorded | Unusable:
    """The exchange with what the line says of it beside its messages."""
    if isinstance(found, Unusable) or found.exchange.response is None:
        return found
    response = found.exchange.response
    if parts and sum(size for _, size in parts) == len(response.body):
        response = replace(response, parts=parts)
    else:
        found = cast(Recorded, without(found, "arrival"))
    ending = table(line.get("response")).get("ending", line.get("ending"))
    exchange = replace(found.exchange, response=response, ending=ending if ending in ENDINGS else "complete")
    return _labelled(replace(found, exchange=exchange), line)


def _labelled(found: Recorded, line: Line) -> Recorded:
    probe, expect, wire = line.get("probe"), line.get("expect"), line.get("wire")
    known = cast(WireName, wire) if wire in WIRES else None
    exchange = replace(
        found.exchange,
        wire=known or found.exchange.wire,
        probe=probe if isinstance(probe, str) else None,
        expect=cast(Expect, expect) if expect in EXPECTATIONS else "either",
        started=_number(line.get("started")),
        elapsed_ms=_number(line.get("elapsed_ms")),
    )
    endpoint, scenario = line.get("endpoint"), line.get("scenario")
    kept = line.get("kept")
    return replace(
        found,
        exchange=exchange,
        kept=frozenset(one for one in found.kept if one in kept) if isinstance(kept, list) else found.kept,
        wire=known,
        endpoint=endpoint if isinstance(endpoint, str) else None,
        scenario=scenario if isinstance(scenario, str) else None,
    )


def _failed(source: Source, position: int, line: Line) -> Recorded | None:
    """An exchange that brought no response, where the line says why."""
    failure = table(line.get("failure"))
    kind, message = failure.get("kind"), failure.get("message")
    if kind not in FAILURES:
        return None
    why = Failure(cast(FailureKind, kind), message if isinstance(message, str) else "")
    exchange = Exchange(_request_in(line) or NO_REQUEST, None, "complete", "openai-chat", why)
    return _labelled(Recorded(exchange, source.file, position, name, "wire", frozenset({"request"})), line)


def _request_in(line: Line) -> HttpRequest | None:
    asked = line.get("request")
    if not isinstance(asked, dict):
        return None
    _, body = _body_in(asked.get("body"))
    method, url = asked.get("method", "POST"), asked.get("url")
    # As it was sent: a scenario may send what is packed, and a server may not unpack it.
    return HttpRequest(
        method.upper() if isinstance(method, str) else "",
        url if isinstance(url, str) else "",
        headers_of(asked.get("headers")),
        b"" if body.problem else body.data,
    )


def _body_in(body: Any) -> tuple[bool, Decoded]:
    """Whether the body is as the wire had it, and the body."""
    if isinstance(body, dict) and body.keys() == {"base64"} and isinstance(body["base64"], str):
        return True, from_base64(body["base64"])
    if body is None or isinstance(body, str):
        return True, from_value(body)
    return False, json_body(body)


def _parts_in(parts: Any) -> tuple[tuple[float, int], ...]:
    if not isinstance(parts, list):
        return ()
    found = [tuple(part) for part in parts if isinstance(part, list) and len(part) == 2]
    whole = len(found) == len(parts) and all(
        _is_number(ms) and isinstance(size, int) and not isinstance(size, bool) and size >= 0
        for ms, size in found
    )
    return tuple((float(ms), size) for ms, size in found) if whole else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LATE


def _number(value: Any) -> float:
    return float(value) if _is_number(value) else 0.0


_LATE = 1e15  # milliseconds or seconds; also keeps infinity and NaN out


# ---------------------------------------------------------------------------------------------- schema


def exchange_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An exchange with an LLM endpoint: one line of the JSONL that `run --exchanges` writes",
        "type": "object",
        "anyOf": [{"required": ["response"]}, {"required": ["failure"]}],
        "properties": {
            "request": {
                "description": "Absent where only the response was kept.",
                "type": "object",
                "properties": {
                    "method": {"type": "string", "default": "POST"},
                    "url": {"type": "string"},
                    "headers": {"$ref": "#/$defs/headers"},
                    "body": {"$ref": "#/$defs/body"},
                },
            },
            "response": {
                "type": "object",
                "required": ["body"],
                "properties": {
                    "status": {"type": "integer", "minimum": 100, "maximum": 999},
                    "headers": {"$ref": "#/$defs/headers"},
                    "body": {"$ref": "#/$defs/body"},
                    "parts": {
                        "description": "Each network read: milliseconds since the request began, and bytes "
                        "of the body; the sizes sum to its length.",
                        "type": "array",
                        "items": {
                            "type": "array",
                            "prefixItems": [
                                {"type": "number", "minimum": 0},
                                {"type": "integer", "minimum": 0},
                            ],
                            "minItems": 2,
                            "maxItems": 2,
                        },
                    },
                    "ending": {"enum": list(ENDINGS), "default": "complete"},
                },
            },
            "failure": {
                "description": "Why no response came.",
                "type": "object",
                "required": ["kind", "message"],
                "properties": {"kind": {"enum": list(FAILURES)}, "message": {"type": "string"}},
            },
            "wire": {"enum": list(WIRES)},
            "endpoint": {"description": "Its name in providers.yaml.", "type": "string"},
            "scenario": {"type": "string"},
            "probe": {"description": "What the request was for, by name.", "type": "string"},
            "expect": {
                "description": "What a conforming endpoint does with the request.",
                "enum": list(EXPECTATIONS),
                "default": "either",
            },
            "kept": {
                "description": "What the line is evidence of; all that it holds where this is absent.",
                "type": "array",
                "items": {"enum": list(ASPECTS)},
            },
            "started": {"description": "Seconds since 1970.", "type": "number", "minimum": 0},
            "elapsed_ms": {"type": "number", "minimum": 0},
        },
        "$defs": {
            "headers": {
                "description": "A table of names, or pairs where order or repetition matter.",
                "oneOf": [
                    {
                        "type": "object",
                        "additionalProperties": {
                            "oneOf": [
                                {"type": "string"},
                                {"type": "array", "items": {"type": "string"}},
                            ]
                        },
                    },
                    {
                        "type": "array",
                        "items": {
                            "type": "array",
                            "items": {"type": "string"},
                            "minItems": 2,
                            "maxItems": 2,
                        },
                    },
                ],
            },
            "body": {
                "description": "After content decoding: the text; for bytes that are no UTF-8 an object with "
                "the one member `base64`; any other JSON value is the body's own, spelt anew.",
            },
        },
    }

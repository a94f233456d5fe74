"""WireMock's stub mappings, in YAML (a document each) or JSON: what is asked is only there as patterns.

Source: https://wiremock.org/docs/stubbing/ and https://wiremock.org/docs/request-matching/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from conformance.grade.bodies import Decoded, from_base64, from_value
from conformance.grade.exchanges import Headers, headers_of, request_of
from conformance.grade.importers.interactions import Table, checked, parsed, recorded, table
from conformance.grade.importers.yamls import entries, outline
from conformance.grade.recorded import Fidelity, Recorded, Unusable
from conformance.grade.source import Head, Source

name = "wiremock"

_LIST = "mappings"
_URLS = ("url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate")
_OWN = (
    "insertionIndex",
    "scenarioName",
    "request/bodyPatterns",
    *(f"request/{key}" for key in _URLS[1:]),
    *(
        f"response/{key}"
        for key in ("base64Body", "jsonBody", "bodyFileName", "proxyBaseUrl", "transformers")
    ),
)


def looks_like(head: Head) -> bool:
    """Whether it begins with a mapping, or a list of them: in JSON by a member that only WireMock has."""
    seen = outline(head)
    if f"{_LIST}/request" in seen:
        return True
    if head.json is None:
        return "request/method" in seen and any(f"request/{key}" in seen for key in _URLS)
    return "request" in seen and any(path in seen for path in _OWN)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """The mappings, in order. Raises ``OSError`` and `source.Unreadable`."""
    for position, (mapping, problem) in enumerate(_mappings(source)):
        asked, got = mapping.get("request"), mapping.get("response")
        yield checked(source, position, asked, got, problem, _pair)


def _mappings(source: Source) -> Iterator[tuple[Table, str | None]]:
    for _, members in groupby(entries(source), key=lambda entry: entry.document):
        document: dict[str, Any] = {}
        problem = None
        for entry in members:
            if entry.key in (_LIST, ""):
                yield table(entry.value), entry.problem
            elif entry.key in ("request", "response"):
                document[entry.key], problem = entry.value, problem or entry.problem
        if document:
            yield document, problem


def _pair(source: Source, position: int, asked: Table, got: Table) -> Recorded | Unusable:
    fidelity: Fidelity = "wire"
    if got.get("jsonBody") is not None:
        fidelity, body = "parsed", parsed(got["jsonBody"])
    elif isinstance(got.get("base64Body"), str):
        body = from_base64(got["base64Body"])
    elif "bodyFileName" in got:
        body = Decoded(b"", "it lies in another file (bodyFileName)")
    elif "fault" in got or "proxyBaseUrl" in got:
        body = Decoded(b"", "none: the mapping tells of a fault or a proxy")
    else:
        body = from_value(got.get("body"))
    url = next((asked[key] for key in _URLS if key in asked), None)
    return recorded(
        source,
        position,
        (name, fidelity),
        request_of(asked.get("method"), url, _expected(asked.get("headers")), _sent(asked)),
        (got.get("status", 200), headers_of(got.get("headers")), body),
    )


def _sent(asked: Table) -> Decoded:
    """The body that is asked for, where a pattern says it whole."""
    patterns = asked.get("bodyPatterns")
    for pattern in patterns if isinstance(patterns, list) else []:
        for key in ("equalToJson", "equalTo", "binaryEqualTo"):
            value = table(pattern).get(key)
            if isinstance(value, str):
                return from_base64(value) if key == "binaryEqualTo" else from_value(value)
            if value is not None:
                return parsed(value)
    return Decoded(b"")


def _expected(headers: object) -> Headers:
    pairs = table(headers).items()
    return headers_of({key: value.get("equalTo") for key, value in pairs if isinstance(value, Mapping)})

"""Logs of request and response bodies side by side, without URLs or headers: a pair a line, or a list.

Many tools write such pairs under names of their own: ``request`` and ``response`` (Vertex AI's batch
prediction too), ``request_body`` and ``response_body`` (Helicone), ``input`` and ``output`` (OpenPipe).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.grade.exchanges import Origin, json_body, opened, request_of, status_of, table
from conformance.grade.recorded import KEPT, Recorded, Unusable
from conformance.grade.shapes import is_answer, is_request
from conformance.grade.source import Head, Source

name = "pair-log"

_PAIRS = (
    ("request", "response"),
    ("request_body", "response_body"),
    ("requestBody", "responseBody"),
    ("input", "output"),
)
_STATUSES = ("status_code", "statusCode", "response_status", "status")


def looks_like(head: Head) -> bool:
    """Two members of which one asks as LLM endpoints are asked, and the other is there as well."""
    return any(
        asked in head.item
        and is_request(opened(head.item[asked]))
        and (not head.whole or is_answer(opened(head.item.get(got))))
        for asked, got in _PAIRS
    )


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """A status is evidence where the log has one."""
    origin = Origin(source, name, "parsed", KEPT["parsed"] - {"headers"})
    for position, value in enumerate(source.values()):
        line = table(value)
        pair = next((pair for pair in _PAIRS if is_request(opened(line.get(pair[0])))), None)
        if pair is None or line.get(pair[1]) is None:
            yield origin.unusable(f"not a pair of request and response: {origin.why(value)}", position)
            continue
        request = request_of("POST", _url(line), (), json_body(line[pair[0]]))
        status = next((line[key] for key in _STATUSES if status_of(line.get(key)) is not None), None)
        yield origin.recorded(position, request, status, (), json_body(line[pair[1]]))


def _url(line: Mapping[str, Any]) -> str:
    found = next((line[key] for key in ("url", "request_url", "endpoint") if key in line), "")
    return found if isinstance(found, str) else ""

"""Results of batches, a line each: OpenAI's (and its followers'), Anthropic's and Gemini's.

Sources: OpenAI's OpenAPI schema ``BatchRequestOutput`` and ``BatchRequestInput``; Anthropic's API reference,
"Retrieve Message Batch results"; Gemini's API guide, "Batch API".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.grade.exchanges import Origin, json_body, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.shapes import is_answer
from conformance.grade.source import Head, Source

name = "batch-output"

INPUT = "the requests of a batch, without answers: grade its output file"


def looks_like(head: Head) -> bool:
    """An id of the sender's own beside a response, a result, or a request."""
    line = head.item
    response, result = line.get("response"), line.get("result")
    if "custom_id" not in line:
        return isinstance(line.get("key"), str) and is_answer(response)
    return (
        (isinstance(response, dict) and "body" in response)
        or (response is None and isinstance(line.get("error"), dict))
        or (isinstance(result, dict) and isinstance(result.get("type"), str))
        or _is_input(line)
    )


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """What a batch did not get to has no response and is named."""
    if _is_input(source.head.item):
        yield Unusable(source.file, INPUT, foreign=True)
        return
    origin = Origin(source, name, "parsed", frozenset({"status", "presence", "values"}))
    for position, value in enumerate(source.values()):
        line = table(value)
        response, result = table(line.get("response")), table(line.get("result"))
        if "body" in response:
            status = response.get("status_code")
            yield origin.recorded(position, None, status, (), json_body(response["body"]))
        elif "key" in line and is_answer(response):
            yield origin.recorded(position, None, 200, (), json_body(response))
        elif isinstance(result.get("message"), dict):
            yield origin.recorded(position, None, 200, (), json_body(result["message"]))
        elif isinstance(result.get("error"), dict):
            # The HTTP status is not in the line; an error is no answer, whichever it was.
            yield origin.unusable("an error of the batch, without its HTTP status", position)
        else:
            yield origin.unusable(f"no response: {_why(origin, value, line)}", position)


def _is_input(line: Mapping[str, Any]) -> bool:
    """Whether this asks: OpenAI's lines have the path of the request, Anthropic's its parameters."""
    asks = isinstance(line.get("body"), dict) and isinstance(line.get("url"), str)
    asks = asks or isinstance(line.get("params"), dict)
    return "custom_id" in line and asks and not line.keys() & {"response", "result"}


def _why(origin: Origin, value: Any, line: dict[str, Any]) -> str:
    error = table(line.get("error"))
    code = error.get("code") or error.get("message") or table(line.get("result")).get("type")
    return code[:60] if isinstance(code, str) else origin.why(value)

"""Results of batches, a line each: OpenAI's (and its followers') and Anthropic's.

Sources: OpenAI's OpenAPI schema ``BatchRequestOutput``; Anthropic's API reference,
"Retrieve Message Batch results".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grade.exchanges import Origin, json_body, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "batch-output"


def looks_like(head: Head) -> bool:
    """An id of the sender's own beside a response or a result."""
    response, result = head.item.get("response"), head.item.get("result")
    return "custom_id" in head.item and (
        (isinstance(response, dict) and "body" in response)
        or (response is None and isinstance(head.item.get("error"), dict))
        or (isinstance(result, dict) and isinstance(result.get("type"), str))
    )


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """What a batch did not get to has no response and is named."""
    origin = Origin(source, name, "parsed", frozenset({"status", "presence", "values"}))
    for position, value in enumerate(source.values()):
        line = table(value)
        response, result = table(line.get("response")), table(line.get("result"))
        if "body" in response:
            status = response.get("status_code")
            yield origin.recorded(position, None, status, (), json_body(response["body"]))
        elif isinstance(result.get("message"), dict):
            yield origin.recorded(position, None, 200, (), json_body(result["message"]))
        elif isinstance(result.get("error"), dict):
            # The HTTP status is not in the line; an error is no answer, whichever it was.
            yield origin.unusable("an error of the batch, without its HTTP status", position)
        else:
            yield origin.unusable(f"no response: {_why(origin, value, line)}", position)


def _why(origin: Origin, value: Any, line: dict[str, Any]) -> str:
    code = table(line.get("error")).get("code") or table(line.get("result")).get("type")
    return code[:60] if isinstance(code, str) else origin.why(value)

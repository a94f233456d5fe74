"""LiteLLM's ``StandardLoggingPayload``, as its proxy logs it to files and buckets.

LiteLLM builds the response anew in OpenAI's form: what is logged is its object, not the provider's bytes.
Source: https://docs.litellm.ai/docs/proxy/logging_spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.grade.exchanges import Origin, json_body, request_of, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "litellm-log"

_MARKS = ("model_parameters", "api_base", "hidden_params", "model_map_information", "response_cost")


def looks_like(head: Head) -> bool:
    """A call's type and at least two more of the payload's own members."""
    payload = _payload(head.item)
    return isinstance(payload.get("call_type"), str) and sum(mark in payload for mark in _MARKS) >= 2


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Failures are named and left out: what is logged of them is LiteLLM's exception, not a response."""
    origin = Origin(source, name, "sdk-dump")
    for position, value in enumerate(source.values()):
        payload = _payload(table(value))
        response = payload.get("response")
        if not isinstance(response, dict):
            failed = payload.get("status") == "failure"
            why = "the call failed: no response is logged" if failed else origin.why(value)
            yield origin.unusable(f"no response object: {why}", position)
            continue
        base = payload.get("api_base")
        asked = {
            "model": payload.get("model"),
            "messages": payload.get("messages"),
            **table(payload.get("model_parameters")),
        }
        request = request_of("POST", base if isinstance(base, str) else "", (), json_body(asked))
        yield origin.recorded(position, request, None, (), json_body(response))


def _payload(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload, or the one within what a callback gets."""
    inner = value.get("standard_logging_object")
    return inner if isinstance(inner, dict) else value

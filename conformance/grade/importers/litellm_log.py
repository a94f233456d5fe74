"""What LiteLLM logs: its ``StandardLoggingPayload`` and the rows of its proxy's spend logs.

The payload goes to S3, GCS and Azure buckets as a JSON file for each call, to generic endpoints as a list of
them, and to callbacks within ``standard_logging_object``. Spend logs hold messages and answers as JSON texts.
LiteLLM builds the response anew in OpenAI's form: what is logged is its object, not the provider's bytes, and
the endpoint is LiteLLM, whichever provider it asked.

Sources: https://docs.litellm.ai/docs/proxy/logging_spec; ``litellm/types/utils.py`` and the expected payloads
in ``tests/logging_callback_tests`` of github.com/BerriAI/litellm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.grade.exchanges import Origin, json_body, opened, request_of, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source
from conformance.types import WireName

name = "litellm-log"

ENDPOINT = "litellm"
REDACTED = "redacted-by-litellm"

_MARKS = ("model_parameters", "hidden_params", "model_map_information", "response_cost", "api_base")
_SPEND = ("request_id", "spend", "startTime")
_WIRES: Mapping[str, WireName] = {"completion": "openai-chat", "responses": "openai-responses"}
_INPUT = ("responses", "embedding")
"""Kinds of call whose ``messages`` are the request's ``input``."""
_DROPPED: tuple[Any, ...] = ("", {}, [], None)


def looks_like(head: Head) -> bool:
    """A call's type and some more of the payload's own members, or those of a row of the spend logs."""
    payload = _payload(head.item)
    if not isinstance(payload.get("call_type"), str):
        return False
    return sum(mark in payload for mark in _MARKS) >= 2 or all(mark in payload for mark in _SPEND)


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """Failures are named and left out: what is logged of them is LiteLLM's exception, not a response."""
    origin = Origin(source, name, "sdk-dump")
    for position, value in enumerate(source.values()):
        payload = _payload(table(value))
        response = opened(payload.get("response"))
        if (problem := _problem(origin, value, payload, response)) is not None:
            yield origin.unusable(problem, position)
            continue
        kind = _kind(payload)
        url = payload.get("api_base") or table(payload.get("hidden_params")).get("api_base")
        request = request_of(
            "POST", url if isinstance(url, str) else "", (), json_body(_asked(payload, kind))
        )
        found = origin.recorded(position, request, None, (), json_body(response))
        if isinstance(found, Recorded):
            found = replace(found, endpoint=ENDPOINT, wire=_WIRES.get(kind))
        yield found


def _problem(origin: Origin, value: Any, payload: Mapping[str, Any], response: Any) -> str | None:
    if payload.get("status") == "failure":
        error = table(payload.get("error_information"))
        told = [one for one in (error.get("error_code"), error.get("error_class")) if isinstance(one, str)]
        said = f" ({' '.join(filter(None, told))[:60]})" if any(told) else ""
        return f"the call failed{said}: what is logged is an exception, not a response"
    if response in _DROPPED and payload:
        return "no response was logged (store_prompts_in_spend_logs, or a callback's own switch, is off)"
    if isinstance(response, dict):
        return "its content was taken out (turn_off_message_logging)" if _is_redacted(response) else None
    return f"no response object: {origin.why(value)}"


def _is_redacted(response: Mapping[str, Any]) -> bool:
    choices = response.get("choices")
    first = table(choices[0]) if isinstance(choices, list) and choices else {}
    return REDACTED in (response.get("text"), table(first.get("message")).get("content"))


def _kind(payload: Mapping[str, Any]) -> str:
    """The kind of a call, whether or not it was made asynchronously (``acompletion``)."""
    kind = payload.get("call_type")
    return kind.removeprefix("a") if kind in ("acompletion", "aresponses", "aembedding") else str(kind)


def _asked(payload: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The request as the proxy got it where that was kept, else put together from what is logged of it."""
    sent = table(opened(payload.get("proxy_server_request")))
    if sent:
        return table(sent.get("body")) or sent
    messages = "input" if kind in _INPUT else "messages"
    return {
        "model": payload.get("model"),
        messages: opened(payload.get("messages")),
        **table(payload.get("model_parameters")),
    }


def _payload(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload, or the one within what a callback gets."""
    inner = value.get("standard_logging_object")
    return inner if isinstance(inner, dict) else value

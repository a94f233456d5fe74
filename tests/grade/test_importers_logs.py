"""Logs of gateways and results of batches: LiteLLM's, OpenAI's, Anthropic's, Gemini's, and what they lack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.grade.importers.batch_output import INPUT
from conformance.grade.recorded import Recorded, Unusable

from .samples import litellm
from .support import ANSWER, QUESTION, URL, exchange, found, packed, reason, response

GEMINI = {"candidates": [{"content": {"parts": [{"text": "Ho"}], "role": "model"}, "finishReason": "STOP"}]}


def spend_log(**more: Any) -> dict[str, Any]:
    """A row of the proxy's table, which the proxy writes to a topic or file as it is."""
    row = {"request_id": "chatcmpl-1", "call_type": "acompletion", "spend": 0.1, "startTime": "2026-01-24"}
    empty = {"messages": "{}", "response": "{}", "proxy_server_request": "{}", "api_base": "", "model": "m"}
    return {**row, **empty, **more}


# -------------------------------------------------------------------------------------------------- LiteLLM


@pytest.mark.parametrize(
    "logged",
    [
        pytest.param(litellm(), id="a file in a bucket"),
        pytest.param([litellm()], id="a batch to an endpoint"),
        pytest.param({"standard_logging_object": litellm()}, id="what a callback gets"),
        pytest.param(spend_log(response=packed(ANSWER), messages=packed(QUESTION["messages"])), id="spend"),
        pytest.param(
            spend_log(response=packed(ANSWER), proxy_server_request=packed(QUESTION)), id="as asked"
        ),
        pytest.param(
            spend_log(
                response=ANSWER, proxy_server_request={"url": "/v1/chat/completions", "body": QUESTION}
            ),
            id="with the proxy's own request",
        ),
    ],
)
def test_litellms_logs_hold_its_own_object(tmp_path: Path, logged: Any) -> None:
    one = exchange(tmp_path, logged)
    assert json.loads(response(one).body) == ANSWER
    assert json.loads(one.exchange.request.body)["messages"] == QUESTION["messages"]
    assert (one.format, one.fidelity, one.kept, one.endpoint, one.wire) == (
        "litellm-log",
        "sdk-dump",
        frozenset(),
        "litellm",
        "openai-chat",
    )


def test_the_address_may_stand_with_what_is_hidden(tmp_path: Path) -> None:
    logged = litellm(api_base="", hidden_params={"api_base": URL})
    assert exchange(tmp_path, logged).exchange.request.url == URL


def test_what_was_asked_over_responses_is_the_input(tmp_path: Path) -> None:
    logged = litellm(call_type="aresponses", messages="Hi", response={"object": "response", "output": []})
    one = exchange(tmp_path, logged)
    assert json.loads(one.exchange.request.body)["input"] == "Hi"
    assert one.wire == "openai-responses"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {
                "status": "failure",
                "response": {},
                "error_information": {"error_code": "429", "error_class": "RateLimitError"},
            },
            "the call failed (429 RateLimitError): what is logged is an exception, not a response",
        ),
        (
            {"status": "failure", "response": None, "error_information": {"error_code": 7}},
            "the call failed: what is logged is an exception, not a response",
        ),
        ({"response": {}}, "no response was logged"),
        ({"response": {"text": "redacted-by-litellm"}}, "its content was taken out"),
        (
            {"response": {"choices": [{"message": {"content": "redacted-by-litellm"}}]}},
            "its content was taken out",
        ),
        ({"response": "a text"}, "no response object"),
        ({"response": 7}, "no response object"),
    ],
)
def test_what_litellm_left_out_is_named(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    assert reason(tmp_path, litellm(**changes)).startswith(why)


# -------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize(
    ("line", "status", "body"),
    [
        ({"custom_id": "a", "response": {"status_code": 200, "body": ANSWER}, "error": None}, 200, ANSWER),
        (
            {"custom_id": "a", "response": {"status_code": 400, "body": {"error": {}}}, "error": None},
            400,
            {"error": {}},
        ),
        ({"custom_id": "a", "result": {"type": "succeeded", "message": ANSWER}}, 200, ANSWER),
        ({"key": "a", "response": GEMINI}, 200, GEMINI),
    ],
    ids=["OpenAI", "OpenAI's error", "Anthropic", "Gemini"],
)
def test_a_result_of_a_batch_is_an_answer(tmp_path: Path, line: Any, status: int, body: Any) -> None:
    one = exchange(tmp_path, line)
    assert (response(one).status, json.loads(response(one).body)) == (status, body)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            {"custom_id": "a", "response": None, "error": {"code": "batch_expired"}},
            "no response: batch_expired",
        ),
        ({"custom_id": "a", "result": {"type": "expired"}}, "no response: expired"),
        (
            {"custom_id": "a", "result": {"type": "errored", "error": {"type": "error"}}},
            "an error of the batch, without its HTTP status",
        ),
    ],
)
def test_what_a_batch_did_not_get_to_is_named(tmp_path: Path, line: Any, why: str) -> None:
    assert reason(tmp_path, line) == why


@pytest.mark.parametrize(
    "line",
    [
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": QUESTION},
        {"custom_id": "a", "params": QUESTION},
    ],
    ids=["OpenAI", "Anthropic"],
)
def test_the_requests_of_a_batch_are_no_recording_and_it_says_what_is(tmp_path: Path, line: Any) -> None:
    (one,) = found(tmp_path, f"{packed(line)}\n{packed(line)}\n")
    assert isinstance(one, Unusable)
    assert (one.reason, one.foreign) == (INPUT, True)


def test_a_broken_line_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    line = packed({"key": "a", "response": GEMINI})
    first, broken, last = found(tmp_path, f"{line}\n{line[:-9]}\n{line}\n")
    assert isinstance(first, Recorded)
    assert isinstance(broken, Unusable)
    assert isinstance(last, Recorded)

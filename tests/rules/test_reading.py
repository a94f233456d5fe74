"""Reading an exchange: strict JSON, framing told by the bytes, nothing raised on any of them."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules import check
from conformance.rules.examples import (
    answer,
    call,
    error,
    exchange,
    models,
    opened,
    piece,
    start,
    stream,
    tool,
    tool_stream,
)
from conformance.rules.reading import ABSENT, MAX_DEPTH, is_event_stream, read, read_json


@pytest.mark.parametrize("text", ["null", "[1, 2.5, true]", '{"a": {"b": "\\u00e9"}}', "  {}\n"])
def test_json_reads_as_json_does(text: str) -> None:
    assert read_json(text).value == json.loads(text)
    assert read_json(text.encode()).problem == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b" \n", "empty", id="blank"),
        pytest.param(b'{"a": NaN}', "NaN is not JSON", id="NaN"),
        pytest.param(b"[-Infinity]", "-Infinity is not JSON", id="Infinity"),
        pytest.param(b"{} {}", "Extra data at character 3", id="a second value"),
        pytest.param(b'{"a": 1,}', "at character", id="trailing comma"),
        pytest.param(b'"caf\xe9"', "not UTF-8 at byte 4", id="Latin-1"),
        pytest.param(b"<html>", "Expecting value at character 0", id="HTML"),
        pytest.param(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nested deeper", id="too deep"),
        pytest.param(b"[" * 500_000, "nested deeper", id="far too deep"),
        pytest.param(b"1" * 100_000, "", id="a number of 100,000 digits"),
    ],
)
def test_what_is_no_json_has_no_value_and_says_why(text: bytes, problem: str) -> None:
    found = read_json(text)
    assert found.value is ABSENT
    assert problem in found.problem


def test_the_allowed_depth_is_read() -> None:
    assert read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH).value is not ABSENT


def test_brackets_in_strings_are_no_depth() -> None:
    assert read_json(json.dumps(['["{' * MAX_DEPTH])).value is not ABSENT


def test_a_byte_order_mark_is_a_problem_and_the_value_is_still_there() -> None:
    found = read_json(b"\xef\xbb\xbf{}")
    assert found.value == {}
    assert "byte order mark" in found.problem


def test_repeated_names_are_noted_and_the_last_value_counts() -> None:
    found = read_json('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}')
    assert found.value == {"a": 3, "b": {"c": 2}}
    assert found.duplicates == ("c", "a")


def test_many_repeated_names_take_linear_time() -> None:
    text = "{" + ",".join(f'"{n % 50_000}":1' for n in range(100_000)) + "}"
    began = time.perf_counter()
    assert read_json(text).duplicates
    assert time.perf_counter() - began < 5  # a quadratic count takes minutes


@given(st.binary() | st.text())
def test_no_bytes_make_reading_raise(text: bytes | str) -> None:
    read_json(text)


@pytest.mark.parametrize(
    ("body", "media_type", "framed"),
    [
        (b'data: {"id":1}\n\n', "text/event-stream", True),
        (b'data: {"id":1}\n\n', "application/json", True),
        (b": OPENROUTER PROCESSING\n\n", "", True),
        (b"\xef\xbb\xbfdata: {}\n\n", "", True),
        (b"", "text/event-stream", True),
        (b'{"id":1}', "text/event-stream", False),
        (b"\n\n  {}", "text/event-stream", False),
        (b"<html>", "text/event-stream", False),
        (b"", "application/json", False),
        (b"data", "", False),
    ],
)
def test_the_framing_of_the_body_tells_a_stream_and_only_then_the_header(
    body: bytes, media_type: str, framed: bool
) -> None:
    assert is_event_stream(body, media_type) is framed


def test_a_whole_answer_is_read_as_json_with_the_request_it_answers() -> None:
    reading = read(3, answer()[0])
    assert reading.index == 3
    assert reading.asked["model"] == "example-model"
    assert reading.body.value["object"] == "chat.completion"
    assert reading.stream is None


def test_a_stream_is_read_as_events_each_with_its_payload() -> None:
    reading = read(0, stream()[0])
    assert [payload.value is ABSENT for payload in reading.payloads.values()] == [False] * 4 + [True]
    assert reading.body.value is ABSENT


@pytest.mark.parametrize("url", ["http://[", "", "https://x/v1/chat/completions/?a=1#b"])
def test_no_url_makes_reading_raise(url: str) -> None:
    (one,) = exchange(request={}, body=b"{}")
    assert read(0, replace(one, request=replace(one.request, url=url))).path in ("", "/v1/chat/completions")


@pytest.mark.parametrize("text", ["[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "1" * 5_000])
def test_what_passes_a_limit_of_ours_is_no_fault_of_its_sender(text: str) -> None:
    assert read_json(text).beyond
    deep = f'{{"x":{text}}}'
    body, asked = deep.encode(), {"response_format": {"type": "json_object"}}
    called = [call(arguments=deep)]
    strict = {"tools": [tool(strict=True)]}
    for exchanges in (
        answer(raw=body),
        models(raw=body),
        error(raw=body),
        stream(start(), b"data: " + body + b"\n\n", piece("stop")),
        answer(calls=called),
        answer(calls=called, asked=strict),
        tool_stream(opened(arguments=deep)),
        answer(asked=asked, message={"content": deep}),
    ):
        assert [f for f in check(exchanges) if f.level != "MAY"] == []


def test_the_status_is_judged_of_a_text_beyond_our_limits() -> None:
    deep = b"[" * (MAX_DEPTH + 1)
    (found,) = check(answer(raw=deep, status=500))
    assert found.path == "/exchanges/0/response/status"


@pytest.mark.parametrize("text", ["{", "NaN", "", b"\xff", "{} {}"])
def test_what_is_no_json_is_within_our_limits(text: str | bytes) -> None:
    assert not read_json(text).beyond

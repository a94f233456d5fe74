"""Whole Responses answers as turns, and what is odd in them as facts."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Image, Part, Reasoning, Refusal, Text, ToolCall, Usage

from .answers import response
from .responses_answers import WIRE, answer, call, message, names, own, read, reasoning, text

CUT = {"status": "incomplete"}


def cut(reason: Any) -> dict[str, Any]:
    return CUT | {"incomplete_details": {"reason": reason}}


ENDS: list[tuple[dict[str, Any], list[Any], str | None, str | None]] = [
    ({"status": "completed"}, [message("a")], "stop", None),
    ({"status": "completed"}, [message("a"), call()], "tool_calls", None),
    ({"status": "completed"}, [message({"type": "refusal", "refusal": "no"})], "stop", None),
    ({"status": "completed"}, [], "stop", None),
    (cut("max_output_tokens"), [message("a")], "length", None),
    (cut("max_tokens"), [message("a")], "length", None),
    (cut("max_output_tokens"), [call(arguments="{")], "length", None),
    (cut("content_filter"), [], "content_filter", None),
    (cut("steered"), [message("a")], "length", "steered"),
    ({"status": "failed"}, [], None, "failed"),
    ({"status": "cancelled"}, [], None, "cancelled"),
    ({"status": "queued"}, [], None, "queued"),
    ({"status": "in_progress"}, [message("a")], None, None),
]


@pytest.mark.parametrize(("state", "output", "finish", "native"), ENDS)
def test_the_status_says_how_it_finished(
    state: dict[str, Any], output: list[Any], finish: str | None, native: str | None
) -> None:
    turn = read(answer(*output, **state))
    assert (turn.finish_reason, turn.native_finish_reason) == (finish, native)


ITEMS: list[tuple[list[Any], tuple[Part, ...]]] = [
    ([message("a", "b")], (Text("a"), Text("b"))),
    ([message("", text("b"))], (Text("b"),)),
    ([message("a", phase="commentary")], (Text("a", own(item={"phase": "commentary"})),)),
    (
        [message(text("a", annotations=[{"type": "url_citation"}]))],
        (Text("a", own(annotations=[{"type": "url_citation"}])),),
    ),
    ([message(text("a", refusal=None))], (Text("a"),)),
    ([message({"type": "refusal", "refusal": "no"})], (Refusal("no"),)),
    ([message("a"), call(), message("b")], (Text("a"), ToolCall("call_1", "f", "{}"), Text("b"))),
    ([call(arguments='{ "a" : 9007199254740993}')], (ToolCall("call_1", "f", '{ "a" : 9007199254740993}'),)),
    (
        [
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "call_id": "call_1",
                "name": "sql",
                "input": "select 1",
            }
        ],
        (ToolCall("call_1", "sql", "select 1", own(item={"type": "custom_tool_call"})),),
    ),
    (
        [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AA=="}],
        (
            Image(
                "data:image/png;base64,AA==",
                own(item={"type": "image_generation_call", "id": "ig_1", "status": "completed"}),
            ),
        ),
    ),
    (
        [{"type": "web_search_call", "id": "ws_1"}],
        (Text("", own(item={"type": "web_search_call", "id": "ws_1"})),),
    ),
    (
        [reasoning("a", "b"), call()],
        (
            Reasoning("a\n\nb", "summary_text", own(item=reasoning("a", "b"))),
            ToolCall("call_1", "f", "{}", own(item={"id": "fc_call_1", "status": "completed"})),
        ),
    ),
    (
        [reasoning("short", content=[{"type": "reasoning_text", "text": "long"}])],
        (
            Reasoning(
                "long",
                "reasoning_text",
                own(item=reasoning("short", content=[{"type": "reasoning_text", "text": "long"}])),
            ),
        ),
    ),
    ([reasoning("why", id=None)], (Reasoning("why", "summary_text"),)),
]


@pytest.mark.parametrize(("output", "parts"), ITEMS)
def test_items_are_parts_in_their_order(output: list[Any], parts: tuple[Part, ...]) -> None:
    turn = read(answer(*output))
    assert turn.parts == parts
    assert turn.facts == ()


USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 15,
}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (USAGE, Usage(10, 5, 15, 4, 2, 3)),
        ({"input_tokens": 10, "input_tokens_details": None}, Usage(10)),
        ({}, Usage()),
        (None, None),
    ],
)
def test_usage_counts_as_chat_counts(usage: Any, counted: Usage | None) -> None:
    assert read(answer(usage=usage)).usage == counted


FACTS: list[tuple[dict[str, Any], list[str]]] = [
    (answer(error={"code": "server_error", "message": "m"}, status="failed"), ["error-body"]),
    (answer(status="failed"), ["error-body"]),
    (answer(id=1), ["id-not-string"]),
    (answer(model=1), ["model-not-string"]),
    (answer(message("a"), status=None), ["status-missing"]),
    (answer(message("a"), status="done"), ["status-unknown"]),
    (answer(message("a"), status=7), ["status-unknown"]),
    (answer(status="incomplete"), ["incomplete-unexplained"]),
    (answer() | {"output": None}, ["output-missing"]),
    (answer() | {"output": "hi"}, ["output-not-list"]),
    (answer(usage=[]), ["usage-not-object"]),
    (answer(usage={"input_tokens_details": 1}), ["usage-not-object"]),
    (answer(usage={"input_tokens": "1"}), ["usage-not-integer"]),
    (answer("hi"), ["item-not-object"]),
    (answer({"content": []}), ["item-without-type"]),
    (answer(message("a", role="user")), ["item-of-other-role"]),
    (answer(reasoning(id=None)), ["reasoning-empty"]),
    (answer(call("a"), call("a")), ["repeated-call-id"]),
    (answer(call(call_id="")), ["missing-call-id"]),
    (answer(call() | {"call_id": 5}), ["call-id-not-string"]),
    (answer(call(name="")), ["missing-name"]),
    (answer(call() | {"name": ["f"]}), ["name-not-string"]),
    (answer({k: v for k, v in call().items() if k != "arguments"}), ["missing-arguments"]),
    (answer(call(arguments=None)), ["arguments-null"]),
    (answer(call(arguments={"a": 1})), ["arguments-object"]),
    (answer(call(arguments=[1])), ["arguments-not-string"]),
    (answer(message() | {"content": None}), ["content-not-list"]),
    (answer(message({"type": "hologram", "data": 1})), ["content-part-unknown"]),
    (answer(message() | {"content": [1]}), ["content-part-not-object"]),
    (answer(message(text("x") | {"text": None})), ["text-null"]),
    (answer(message(text("x") | {"text": 1})), ["text-not-string"]),
]


@pytest.mark.parametrize(("body", "facts"), FACTS, ids=[told[0] for _, told in FACTS])
def test_what_is_odd_is_a_fact(body: dict[str, Any], facts: list[str]) -> None:
    assert names(read(body)) == facts


def test_a_fact_says_where() -> None:
    turn = read(answer(message("a"), call(arguments={"a": 1})))
    assert [(fact.path, fact.detail) for fact in turn.facts] == [("/body/output/1/arguments", "dict")]


def test_odd_arguments_and_contents_are_kept() -> None:
    turn = read(answer(call(arguments={"a": 1.5}), message() | {"content": "plain"}))
    assert turn.calls[0].arguments == '{"a":1.5}'
    assert turn.text == "plain"


@pytest.mark.parametrize(
    "body", [{"error": {"message": "m"}}, {"detail": "m"}, [], "x", {"choices": []}, {"object": "list"}]
)
def test_what_is_no_answer_has_no_turn(body: Any) -> None:
    assert WIRE.decode(response(body, 400)) == ()


def test_bytes_that_are_not_utf_8_are_read_and_told() -> None:
    body = b'{"object": "response", "status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "\xff"}]}]}'  # noqa: E501
    (turn,) = WIRE.decode(response(body))
    assert (turn.text, names(turn)) == ("\ufffd", ["not-utf-8"])


@pytest.mark.parametrize(
    ("body", "message_", "code"),
    [
        (answer(status="failed", error={"code": "server_error", "message": "m"}), "m", "server_error"),
        (answer(status="failed"), "", None),
    ],
)
def test_a_failed_answer_is_an_error(body: Any, message_: str, code: str | None) -> None:
    error = WIRE.error_of(response(body))
    assert error is not None
    assert (error.message, error.code) == (message_, code)


@pytest.mark.parametrize("state", [{"status": "completed"}, CUT, {"status": "cancelled"}])
def test_other_answers_are_none(state: dict[str, Any]) -> None:
    assert WIRE.error_of(response(answer(message("a"), **state))) is None

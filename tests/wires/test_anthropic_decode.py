"""Whole Messages answers as turns, and turns as whole answers."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Audio, Image, Loss, Reasoning, Refusal, Text, ToolCall, Turn, Usage
from conformance.wires.errors import ErrorInfo

from .anthropic_answers import SSE_TYPE, WIRE, A, answer, decode, facts, response, sse

CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
TEXT = {"type": "text", "text": "hi"}
KNOWN = Usage(1, 2, 3)


def encode(*turns: Turn) -> tuple[dict[str, Any], list[Loss]]:
    losses: list[Loss] = []
    return WIRE.encode_turns(turns, model="m", losses=losses), losses


def turn(*parts: Any, **fields: Any) -> Turn:
    return Turn(parts, **{"finish_reason": "stop", "usage": KNOWN, "id": "msg_1", "model": "m", **fields})


# -------------------------------------------------------------------------------------------- decoding


def test_an_answer_is_a_turn_of_ordered_parts() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "EqQ="}
    redacted = {"type": "redacted_thinking", "data": "Emw="}
    got = decode(answer(thinking, TEXT, CALL, thinking, redacted, TEXT, stop_reason="tool_use"))
    signed = Reasoning("hm", "thinking", {A: {"signature": "EqQ="}})
    assert got == turn(
        signed,
        Text("hi"),
        ToolCall("toolu_1", "f", '{"a":1}'),
        signed,
        Reasoning("", "redacted_thinking", {A: {"data": "Emw="}}),
        Text("hi"),
        finish_reason="tool_calls",
    )


FINISH: list[tuple[Any, bool, str | None, str | None]] = [
    ("end_turn", False, "stop", None),
    ("tool_use", True, "tool_calls", None),
    ("max_tokens", False, "length", None),
    ("max_tokens", True, "length", None),
    ("refusal", False, "content_filter", None),
    ("refusal", True, "content_filter", None),
    ("stop_sequence", False, "stop", "stop_sequence"),
    ("pause_turn", False, "stop", "pause_turn"),
    ("compaction", False, "stop", "compaction"),
    ("model_context_window_exceeded", False, "length", "model_context_window_exceeded"),
    ("end_turn", True, "tool_calls", "end_turn"),
    ("pause_turn", True, "tool_calls", "pause_turn"),
    ("tool_use", False, "stop", "tool_use"),
    (None, False, None, None),
    (None, True, None, None),
]


@pytest.mark.parametrize(("reason", "calls", "finish", "native"), FINISH)
def test_a_stop_reason_is_a_finish_reason_and_back(
    reason: Any, calls: bool, finish: str | None, native: str | None
) -> None:
    got = decode(answer(CALL if calls else TEXT, stop_reason=reason))
    assert (got.finish_reason, got.native_finish_reason, got.facts) == (finish, native, ())
    assert encode(got) == (answer(CALL if calls else TEXT, stop_reason=reason), [])


USAGES: list[tuple[dict[str, Any], Usage]] = [
    ({"input_tokens": 1, "output_tokens": 2}, Usage(1, 2, 3)),
    (
        {
            "input_tokens": 1,
            "output_tokens": 9,
            "cache_read_input_tokens": 10,
            "cache_creation_input_tokens": 100,
            "output_tokens_details": {"thinking_tokens": 4},
        },
        Usage(111, 9, 120, 10, 100, 4),
    ),
    ({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 0}, Usage(1, 2, 3, 0)),
]


@pytest.mark.parametrize(("counts", "usage"), USAGES)
def test_cached_tokens_belong_to_the_prompt_and_back(counts: dict[str, Any], usage: Usage) -> None:
    got = decode(answer(TEXT, usage=counts))
    assert got.usage == usage
    assert encode(got) == (answer(TEXT, usage=counts), [])


def test_an_unknown_count_is_not_zero() -> None:
    got = decode(answer(TEXT, usage={"output_tokens": 2, "cache_read_input_tokens": None}))
    assert got.usage == Usage(None, 2, None)
    assert decode(answer(TEXT, usage=None)).usage is None


BESIDE: list[dict[str, Any]] = [
    {"stop_sequence": "END", "stop_reason": "stop_sequence"},
    {"context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]}},
    {"container": {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}},
    {"stop_details": {"type": "refusal", "category": "bio"}, "stop_reason": "refusal"},
]


@pytest.mark.parametrize("members", BESIDE)
def test_what_an_answer_says_beside_its_content_survives(members: dict[str, Any]) -> None:
    got = decode(answer(TEXT, **members))
    kept = {key: value for key, value in members.items() if key != "stop_reason"}
    assert got.parts == (Text("hi"), Text("", {A: {"@message": kept}}))
    assert got.text == "hi"
    assert encode(got) == (answer(TEXT, **members), [])


SERVER_BLOCKS: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "x"}]},
    {"type": "compaction", "content": None, "encrypted_content": "x"},
    {"type": "container_upload", "file_id": "file_1"},
]


@pytest.mark.parametrize("block", SERVER_BLOCKS)
def test_a_servers_block_is_kept_whole_and_is_no_call(block: dict[str, Any]) -> None:
    got = decode(answer(block, TEXT))
    assert got.parts == (Text("", {A: {"@block": block}}), Text("hi"))
    assert (got.calls, got.facts) == ((), ())
    assert encode(got) == (answer(block, TEXT), [])


def test_an_id_that_we_escaped_comes_back_as_it_was() -> None:
    call = ToolCall("functions.f:0", "f", "{}")
    body, losses = encode(turn(call, finish_reason="tool_calls"))
    assert body["content"][0]["id"] == "esc_functions_2e_f_3a_0"
    assert [(loss.path, loss.weight) for loss in losses] == [("/turns/0/parts/0", "form")]
    assert decode(body).calls == (call,)


B = "/body/content/0"
ODD: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    (answer({"type": "text"}), [("text-not-string", f"{B}/text"), ("text-empty", B)]),
    (answer({"type": "text", "text": ""}), [("text-empty", B)]),
    (answer({"type": "text", "text": 5}), [("text-not-string", f"{B}/text")]),
    (answer("hi"), [("block-not-object", B)]),
    (answer({"type": "new"}), [("block-unknown", f"{B}/type")]),
    (answer({}), [("block-unknown", f"{B}/type")]),
    (answer({"type": ["text"]}), [("block-unknown", f"{B}/type")]),
    (answer({"type": "thinking", "thinking": "x"}), [("missing-signature", f"{B}/signature")]),
    (
        answer({"type": "thinking", "signature": "x"}),
        [("thinking-not-string", f"{B}/thinking")],
    ),
    (answer({"type": "redacted_thinking"}), [("missing-data", f"{B}/data")]),
    (answer({**CALL, "id": None}), [("missing-id", f"{B}/id")]),
    (answer({**CALL, "id": ""}), [("missing-id", f"{B}/id")]),
    (answer({**CALL, "id": 7}), [("call-id-not-string", f"{B}/id")]),
    (answer({**CALL, "name": None}), [("missing-name", f"{B}/name")]),
    (answer({**CALL, "name": 7}), [("name-not-string", f"{B}/name")]),
    (answer({**CALL, "input": None}), [("missing-input", f"{B}/input")]),
    (answer({**CALL, "input": "{}"}), [("input-string", f"{B}/input")]),
    (answer({**CALL, "input": [1]}), [("input-not-object", f"{B}/input")]),
    (answer({**CALL, "input": {"a": [float("nan")]}}), [("input-not-finite", f"{B}/input")]),
    (answer(CALL, CALL), [("repeated-id", "/body/content/1/id")]),
    (answer() | {"content": None}, [("content-missing", "/body/content")]),
    (answer() | {"content": "hi"}, [("content-string", "/body/content")]),
    (answer() | {"content": {}}, [("content-not-list", "/body/content")]),
    (answer(TEXT, id=7), [("id-not-string", "/body/id")]),
    (answer(TEXT, model=7), [("model-not-string", "/body/model")]),
    (answer(TEXT, usage=[]), [("usage-not-object", "/body/usage")]),
    (answer(TEXT, usage={"input_tokens": "1"}), [("usage-not-integer", "/body/usage/input_tokens")]),
    (answer(TEXT, stop_reason=5), [("stop-reason-not-string", "/body/stop_reason")]),
    (answer(TEXT, stop_reason="stop"), [("stop-reason-unknown", "/body/stop_reason")]),
    (answer(TEXT, error={"message": "m"}), [("error-body", "/body/error")]),
]


@pytest.mark.parametrize(("body", "expected"), ODD)
def test_an_odd_answer_is_survived_and_told(body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert facts(decode(body).facts) == expected


READ: list[tuple[Any, str]] = [
    ({"a": 9007199254740993, "é": "\ud800"}, '{"a":9007199254740993,"é":"\\ud800"}'),
    ({}, "{}"),
    (None, "{}"),
    ('{ "a": 1 }', '{ "a": 1 }'),
    ([1], "[1]"),
]


@pytest.mark.parametrize(("value", "arguments"), READ)
def test_an_input_is_compact_json(value: Any, arguments: str) -> None:
    assert decode(answer({**CALL, "input": value})).calls[0].arguments == arguments


NO_TURN: list[bytes] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff",
    b"<html>",
    b'{"input_tokens": 5}',
    b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    b"[" * 100_000,
    b'{"content":' * 1000,
]


@pytest.mark.parametrize("body", NO_TURN)
def test_what_is_no_answer_gives_no_turn(body: bytes) -> None:
    assert WIRE.decode(response(body)) == ()


def test_bytes_that_are_not_utf_8_are_told() -> None:
    (got,) = WIRE.decode(response(b'{"content":[{"type":"text","text":"\xff"}]}'))
    assert (got.text, facts(got.facts)) == ("\ufffd", [("not-utf-8", "/body")])


ERROR = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "Overloaded"},
    "request_id": "req_1",
}


def test_an_error_body_is_told_in_the_endpoints_words() -> None:
    wanted = ErrorInfo("Overloaded", "overloaded_error")
    assert WIRE.error_of(response(ERROR, status=529)) == wanted
    assert WIRE.error_of(response(ERROR)) == wanted


def test_an_error_in_mid_stream_is_told() -> None:
    start = {"type": "message_start", "message": answer(stop_reason=None)}
    body = response(sse([start, ERROR]), SSE_TYPE)
    assert WIRE.error_of(body) == ErrorInfo("Overloaded", "overloaded_error")
    (got,) = WIRE.decode(body)
    assert (got.finish_reason, facts(got.facts)) == (None, [("error-event", "/events/1/data/error")])


def test_an_answer_is_no_error() -> None:
    assert WIRE.error_of(response(answer(TEXT))) is None


# -------------------------------------------------------------------------------------------- encoding


def test_an_answer_without_id_and_model_gets_some() -> None:
    one, losses = encode(turn(Text("a"), id=None, model=None))
    other, _ = encode(turn(Text("b"), id=None, model=None))
    assert one["id"].startswith("msg_")
    assert one["id"] != other["id"]
    assert (one["model"], losses) == ("m", [])


def test_no_turn_is_an_answer_without_content() -> None:
    body, _ = encode()
    assert (body["content"], body["stop_reason"]) == ([], None)


LOSSY: list[tuple[Turn, list[tuple[str, str]], Any]] = [
    (turn(Reasoning("hm"), Text("hi")), [("/turns/0/parts/0", "meaning")], {"content": [TEXT]}),
    (turn(Refusal("hi")), [("/turns/0/parts/0", "form")], {"content": [TEXT]}),
    (turn(Audio("AA==", "wav")), [("/turns/0/parts/0", "meaning")], {"content": []}),
    (turn(Image("")), [("/turns/0/parts/0", "meaning")], {"content": []}),
    (turn(Text("")), [], {"content": []}),
    (
        turn(Text("hi"), finish_reason="eos"),
        [("/turns/0/finish_reason", "form")],
        {"stop_reason": "end_turn"},
    ),
    (
        turn(Text("hi"), finish_reason="tool_calls"),
        [("/turns/0/finish_reason", "form")],
        {"stop_reason": "end_turn"},
    ),
    (
        turn(Text("hi"), finish_reason="function_call"),
        [("/turns/0/finish_reason", "form")],
        {"stop_reason": "end_turn"},
    ),
    (
        turn(ToolCall("toolu_1", "f", '{"a":1}')),
        [("/turns/0/finish_reason", "form")],
        {"stop_reason": "tool_use", "content": [CALL]},
    ),
    (
        turn(Text("hi"), native_finish_reason="SAFETY", finish_reason="content_filter"),
        [("/turns/0/native_finish_reason", "form")],
        {"stop_reason": "refusal"},
    ),
    (
        turn(Text("hi"), usage=None),
        [("/turns/0/usage", "form")],
        {"usage": {"input_tokens": 0, "output_tokens": 0}},
    ),
    (
        turn(Text("hi"), usage=Usage(5, 1, 6, 9)),
        [("/turns/0/usage", "form")],
        {"usage": {"input_tokens": 0, "output_tokens": 1, "cache_read_input_tokens": 9}},
    ),
    (turn(Text("hi"), usage=Usage(5, 1, 7)), [("/turns/0/usage/total_tokens", "form")], {}),
    (
        turn(ToolCall("toolu_1", "f", '{"a":'), finish_reason="length"),
        [("/turns/0/parts/0/arguments", "meaning")],
        {"stop_reason": "max_tokens", "content": [{**CALL, "input": {"__raw": '{"a":'}}]},
    ),
]


@pytest.mark.parametrize(("given", "losses", "said"), LOSSY)
def test_what_an_answer_cannot_say_is_told(given: Turn, losses: list[tuple[str, str]], said: Any) -> None:
    body, lost = encode(given)
    assert [(loss.path, loss.weight) for loss in lost] == losses
    assert body.items() >= said.items()


def test_a_second_turn_is_a_loss() -> None:
    body, losses = encode(turn(Text("hi")), turn(Text("yo")))
    assert body == answer(TEXT)
    assert [(loss.path, loss.weight) for loss in losses] == [("/turns/1", "meaning")]


def test_a_call_without_an_id_gets_one_from_its_content() -> None:
    given = turn(ToolCall("", "f", "{}"), ToolCall("", "f", "{}"), finish_reason="tool_calls")
    body, losses = encode(given)
    one, other = (block["id"] for block in body["content"])
    assert one != other
    assert [loss.weight for loss in losses] == ["form", "form"]
    assert encode(given)[0] == body

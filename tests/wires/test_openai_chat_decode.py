"""Decoding whole answers and streams: what a body is, and what is read of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.types import Fact, Image, Reasoning, Refusal, Text, ToolCall, Usage

from .answers import SSE_TYPE, WIRE, answer_with, assemble, call, calls, own, read, response, sse, stream_of

# ------------------------------------------------------------------------------------- what a body is


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (json.dumps(answer_with({"content": "a"})), ()),
        ("\ufeff" + json.dumps(answer_with({"content": "a"})), ()),
        (" \n\n " * 300 + json.dumps(answer_with({"content": "a"})), ()),
        (json.dumps(answer_with({"content": "a"})), SSE_TYPE),
        (sse(json.dumps(c) for c in stream_of({"content": "a"})), ()),
        (b": PROCESSING\n\n" + sse(json.dumps(c) for c in stream_of({"content": "a"})), ()),
        (sse(json.dumps(c) for c in stream_of({"content": "a"})), (("content-type", "application/json"),)),
    ],
)
def test_the_bytes_say_whether_it_is_a_stream(body: Any, headers: Any) -> None:
    (turn,) = WIRE.decode(response(body, headers=headers))
    assert (turn.text, turn.finish_reason, turn.facts) == ("a", "stop", ())


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "{",
        "[]",
        "null",
        "1",
        '"a"',
        "{}",
        '{"error": {"message": "no"}}',
        '{"choices": []}',
        '{"choices": 1}',
        '{"choices": [1]}',
        "data: [DONE]\n\n",
        "data: x\n\n",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_there_is_no_turn_where_there_is_no_choice(body: str) -> None:
    assert WIRE.decode(response(body)) == ()


def test_an_event_that_the_end_cuts_is_not_read() -> None:
    body = sse(json.dumps(c) for c in stream_of({"content": "a"}, {"content": "b"}, finish=None))
    (turn,) = WIRE.decode(response(body[:-1]))
    assert turn.text == "a"


def test_the_envelope_is_read() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    (turn,) = WIRE.decode(response(answer_with({"content": "a"}) | {"usage": usage}))
    assert (turn.id, turn.model, turn.finish_reason, turn.usage) == ("c", "m", "stop", Usage(1, 2, 3))


def test_an_empty_id_in_the_first_chunk_waits_for_the_next() -> None:
    first = {"id": "", "model": "", "choices": [], "prompt_filter_results": []}  # Azure
    (turn,) = assemble([first, *stream_of({"content": "a"})])
    assert (turn.id, turn.model, turn.facts) == ("c", "m", ())


def test_later_usage_replaces_earlier_and_null_replaces_nothing() -> None:
    chunks: Any = stream_of({"content": "a"})
    chunks[0]["usage"] = {"prompt_tokens": 1, "completion_tokens": None, "total_tokens": 1}  # Databricks
    chunks[1]["usage"] = {"prompt_tokens": None, "completion_tokens": 2, "total_tokens": 3}
    (turn,) = assemble(chunks)
    assert (turn.usage, turn.facts) == (Usage(1, 2, 3), ())


def test_integers_of_any_size_and_nan_are_read() -> None:
    huge = "9" * 5000
    usage = '{"prompt_tokens": %s, "total_tokens": NaN}'
    body = '{"choices": [{"index": 0, "message": {"content": "a"}}], "usage": ' + usage + "}"
    (turn,) = WIRE.decode(response(body % huge))
    assert turn.usage == Usage()
    assert [fact.path for fact in turn.facts] == ["/body/usage/prompt_tokens", "/body/usage/total_tokens"]


# ----------------------------------------------------------------------------------------- the parts


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ({"content": None}, ()),
        ({"content": ""}, ()),
        ({"content": "a", "refusal": "r"}, (Text("a"), Refusal("r"))),
        ({"content": "a", "reasoning_content": "r"}, (Reasoning("r"), Text("a"))),
        ({"content": "a", "reasoning": "r"}, (Reasoning("r", "reasoning"), Text("a"))),
        (
            {"reasoning_text": "r", "reasoning_opaque": "x"},
            (Reasoning("r", "reasoning_text", own(reasoning_opaque="x")),),
        ),
        ({"content": "<think>r</think>a"}, (Text("<think>r</think>a"),)),
        ({"tool_calls": None}, ()),
        ({"tool_calls": []}, ()),
        (
            calls(call(id="c", name="f", arguments="{ }", extra_content={"x": 1})),
            (ToolCall("c", "f", "{ }", own(extra_content={"x": 1})),),
        ),
        (
            calls({"id": "c", "type": "custom", "custom": {"name": "f", "input": "i"}}),
            (ToolCall("c", "f", "i", own(type="custom")),),
        ),
        (
            {"function_call": {"name": "f", "arguments": "{}"}},
            (ToolCall("", "f", "{}", own(function_call=True)),),
        ),
    ],
)
def test_a_message_is_read_without_facts(message: dict[str, Any], parts: Any) -> None:
    (turn,) = WIRE.decode(response(answer_with(message)))
    assert (turn.parts, turn.facts) == (parts, ())


def test_reasoning_details_beside_their_text_are_opaque() -> None:
    details = [
        {"type": "reasoning.text", "text": "r", "index": 0},
        {"type": "reasoning.encrypted", "data": "x", "index": 0},
    ]
    (turn,) = WIRE.decode(response(answer_with({"reasoning": "r", "reasoning_details": details})))
    assert turn.parts == (Reasoning("r", "reasoning", own(reasoning_details=details)),)


def test_reasoning_details_alone_are_the_text() -> None:
    details = [{"type": "reasoning.summary", "summary": "r"}, {"type": "reasoning.text", "text": "s"}]
    (turn,) = WIRE.decode(response(answer_with({"reasoning_details": details})))
    assert turn.parts == (Reasoning("rs", "reasoning_details", own(reasoning_details=details)),)


def test_encrypted_reasoning_alone_is_kept_for_the_echo() -> None:
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    (turn,) = WIRE.decode(response(answer_with({"content": "a", "reasoning_details": details})))
    assert turn.parts == (Reasoning("", "reasoning_details", own(reasoning_details=details)), Text("a"))


def test_streamed_reasoning_details_are_put_together_by_index_and_type() -> None:
    def detail(kind: str, **rest: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": kind, "index": 0} | rest]}

    parts, facts = read(
        detail("reasoning.text", text="a"),
        detail("reasoning.encrypted", data="x"),
        detail("reasoning.text", text="b", signature="s"),
    )
    merged = [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 0, "data": "x"},
    ]
    assert parts == (Reasoning("ab", "reasoning_details", own(reasoning_details=merged)),)
    assert facts == []


def test_a_content_list_is_read_in_order() -> None:
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]},
        {"type": "text", "text": "a"},
        "b",
        {"type": "text", "text": "c", "annotations": [1]},
        {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
        {"type": "refusal", "refusal": "no"},
        {"type": "reference"},
    ]
    (turn,) = WIRE.decode(response(answer_with({"content": content})))
    assert turn.parts == (
        Reasoning("r", "thinking"),
        Text("ab"),
        Text("c", own(annotations=[1])),
        Image("data:x", own(detail="low")),
        Refusal("no"),
    )
    at = "/body/choices/0/message/content"
    assert turn.facts == (Fact("content-list", at), Fact("content-part-unknown", f"{at}/6", "reference"))


def test_parts_stand_in_the_order_in_which_they_began() -> None:
    parts, facts = read(
        {"reasoning": "r"},
        {"content": "a"},
        calls(call(0, "c0", "f", "")),
        calls(call(1, "c1", "g", "")),
        calls(call(0, arguments="x")),
        {"reasoning": "s"},
        {"content": "b"},
        calls(call(1, arguments="y")),
        {"content": "c"},
    )
    assert parts == (
        Reasoning("r", "reasoning"),
        Text("a"),
        ToolCall("c0", "f", "x"),
        ToolCall("c1", "g", "y"),
        Reasoning("s", "reasoning"),
        Text("bc"),
    )
    assert facts == []


def test_the_choices_of_a_stream_are_told_apart_by_index() -> None:
    chunks = [{"choices": [{"index": i, "delta": {"content": t}}]} for i, t in ((1, "b"), (0, "a"), (1, "c"))]
    assert [turn.text for turn in assemble(chunks)] == ["a", "bc"]


def test_the_counts_inside_the_totals_are_read() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    (turn,) = WIRE.decode(response(answer_with({"content": "a"}) | {"usage": usage}))
    assert (turn.usage, turn.facts) == (Usage(9, 5, 14, 4, 3, 2), ())


def test_odd_details_of_a_usage_are_facts() -> None:
    usage = {"prompt_tokens_details": [], "completion_tokens_details": {"reasoning_tokens": "2"}}
    (turn,) = WIRE.decode(response(answer_with({"content": "a"}) | {"usage": usage}))
    at = "/body/usage"
    assert turn.usage == Usage()
    assert turn.facts == (
        Fact("usage-not-object", f"{at}/prompt_tokens_details", "list"),
        Fact("usage-not-integer", f"{at}/completion_tokens_details/reasoning_tokens", '"2"'),
    )


@pytest.mark.parametrize(
    "item",
    [
        {"type": "input_audio", "input_audio": {"data": "UklG"}},
        {"type": "input_audio", "input_audio": "UklG"},
        {"type": "file", "file": {"file_data": 1}},
        {"type": "image_url", "image_url": {"detail": "low"}},
        {"type": "image_url"},
    ],
)
def test_media_without_their_data_are_no_parts(item: dict[str, Any]) -> None:
    (turn,) = WIRE.decode(response(answer_with({"content": [item]})))
    assert turn.parts == ()
    assert [fact.name for fact in turn.facts] == ["content-list", "content-part-unknown"]

"""What is read from Gemini answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.types import Audio, File, Image, Part, Reasoning, Text, ToolCall, Turn, Usage

from .gemini_kit import PNG, SSE, WIRE, answer, assemble, call, facts, read, response, sse

SIGNED: Any = {"gemini": {"thoughtSignature": "AAAA"}}
AT = "/body/candidates/0"
PART = f"{AT}/content/parts/0"


# ------------------------------------------------------------------------------------------ whole answers


def test_an_answer_is_a_turn_with_its_id_model_and_usage() -> None:
    body = answer({"text": "hi"}) | {
        "responseId": "r1",
        "modelVersion": "gemini-x",
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
    }
    assert WIRE.decode(response(body)) == (Turn((Text("hi"),), "stop", Usage(3, 2, 5), "r1", "gemini-x"),)


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"text": "a"}, Text("a")),
        ({"text": "a", "thought": False}, Text("a")),
        ({"text": "a", "thought": True}, Reasoning("a", "thought")),
        ({"text": "a", "thought": True, "thoughtSignature": "AAAA"}, Reasoning("a", "thought", SIGNED)),
        ({"text": "", "thoughtSignature": "AAAA"}, Text("", SIGNED)),
        ({"thoughtSignature": "AAAA"}, Text("", SIGNED)),
        (call("f", {"a": 1}, id="c1"), ToolCall("c1", "f", '{"a":1}')),
        (call("f", {"é": [1, 2]}, id="c1"), ToolCall("c1", "f", '{"é":[1,2]}')),
        (call("f", id="c1"), ToolCall("c1", "f", "{}")),
        (call("_:get:20:weather", {}, id="c1"), ToolCall("c1", "get weather", "{}")),
        (call("f", {}, id="c1") | {"thoughtSignature": "AAAA"}, ToolCall("c1", "f", "{}", SIGNED)),
        (call("f", {"a": 2**53 + 1}, id="c1"), ToolCall("c1", "f", '{"a":9007199254740993}')),
        (call("f", {"a": "\ud800"}, id="c1"), ToolCall("c1", "f", '{"a":"\\ud800"}')),
        (call("f", {"a": "\0"}, id="c1"), ToolCall("c1", "f", '{"a":"\\u0000"}')),
        ({"inlineData": {"mimeType": "image/png", "data": PNG}}, Image(f"data:image/png;base64,{PNG}")),
        ({"inlineData": {"mimeType": "image/png", "data": "-_8="}}, Image("data:image/png;base64,+/8=")),
        ({"inlineData": {"mimeType": "audio/L16;rate=24000", "data": "AA"}}, Audio("AA", "L16;rate=24000")),
        ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a.mp4"}}, File("gs://a.mp4")),
    ],
)
def test_a_part_is_read_without_a_fact(part: dict[str, Any], found: Part) -> None:
    turn = read(part)
    assert (turn.parts, turn.facts) == ((found,), ())


def test_texts_in_a_row_are_one_and_signed_ones_stay_apart() -> None:
    turn = read(
        {"text": "a"}, {"text": "b"}, {"text": "c", "thoughtSignature": "AAAA"}, {"text": "d"}, {"text": "e"}
    )
    assert turn.parts == (Text("ab"), Text("c", SIGNED), Text("de"))


def test_texts_and_calls_keep_their_order() -> None:
    turn = read({"text": "a"}, call("f", {}, id="c1"), {"text": "b"}, {"text": "t", "thought": True})
    assert [type(part) for part in turn.parts] == [Text, ToolCall, Text, Reasoning]


def test_candidates_are_turns_in_the_order_of_their_indexes() -> None:
    body = answer({"text": "a"}, index=1)
    body["candidates"] += answer({"text": "b"}, index=0)["candidates"]
    assert [turn.text for turn in WIRE.decode(response(body))] == ["b", "a"]


def test_a_part_of_a_kind_without_counterpart_is_carried() -> None:
    turn = read({"executableCode": {"language": "PYTHON", "code": "1"}})
    assert turn.parts == (Text("", {"gemini": {"executableCode": {"language": "PYTHON", "code": "1"}}}),)
    assert facts(turn) == [("part-carried", PART)]


# ---------------------------------------------------------------------------------------------- call ids


def test_a_call_without_an_id_gets_one_that_its_place_and_content_determine() -> None:
    parts = (call("f", {"n": 1}), call("f", {"n": 1}), call("f", {"n": 2}))
    ids = [each.id for each in read(*parts).calls]
    assert len(set(ids)) == 3
    assert all(name.startswith("call_") for name in ids)
    assert [each.id for each in read(*parts).calls] == ids


def test_equal_calls_of_two_answers_have_different_ids() -> None:
    one, other = (
        WIRE.decode(response(answer(call("f", {})) | {"responseId": name}))[0].calls[0] for name in "ab"
    )
    assert one.id != other.id


# ---------------------------------------------------------------------------------------------- finishing


@pytest.mark.parametrize(
    ("word", "reason", "native"),
    [
        ("STOP", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("SAFETY", "content_filter", None),
        ("RECITATION", "content_filter", "RECITATION"),
        ("BLOCKLIST", "content_filter", "BLOCKLIST"),
        ("PROHIBITED_CONTENT", "content_filter", "PROHIBITED_CONTENT"),
        ("SPII", "content_filter", "SPII"),
        ("IMAGE_SAFETY", "content_filter", "IMAGE_SAFETY"),
        ("MODEL_ARMOR", "content_filter", "MODEL_ARMOR"),
        ("LANGUAGE", "stop", "LANGUAGE"),
        ("OTHER", "stop", "OTHER"),
        ("MALFORMED_FUNCTION_CALL", "stop", "MALFORMED_FUNCTION_CALL"),
        ("TOO_MANY_TOOL_CALLS", "stop", "TOO_MANY_TOOL_CALLS"),
        ("CONTINUATION", "stop", "CONTINUATION"),
    ],
)
def test_a_finish_reason_is_said_in_chats_words(word: str, reason: str, native: str | None) -> None:
    turn = read({"text": "a"}, finishReason=word)
    assert (turn.finish_reason, turn.native_finish_reason, turn.facts) == (reason, native, ())


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "tool_calls"),
        ("OTHER", "tool_calls"),
        ("UNEXPECTED_TOOL_CALL", "tool_calls"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
    ],
)
def test_calls_win_over_an_end_but_not_over_a_cap_or_a_filter(word: str, reason: str) -> None:
    assert read(call("f", {}), finishReason=word).finish_reason == reason


def test_every_finish_reason_of_the_sdk_is_known() -> None:
    from google.genai.types import FinishReason

    for word in FinishReason:
        if word != FinishReason.FINISH_REASON_UNSPECIFIED:
            assert facts(read({"text": "a"}, finishReason=word.value)) == [], word


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "JAILBREAK"])
def test_a_blocked_prompt_is_a_turn_without_parts(reason: str) -> None:
    body = {
        "promptFeedback": {"blockReason": reason},
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4},
    }
    assert WIRE.decode(response(body)) == (
        Turn((), "content_filter", Usage(4, None, 4), None, None, (), reason),
    )


def test_feedback_beside_candidates_blocks_nothing() -> None:
    body = answer({"text": "a"}) | {"promptFeedback": {"blockReason": "SAFETY"}}
    assert [turn.finish_reason for turn in WIRE.decode(response(body))] == ["stop"]


# -------------------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"promptTokenCount": 3, "totalTokenCount": 3}, Usage(3, None, 3)),
        ({"candidatesTokenCount": 2, "thoughtsTokenCount": 5}, Usage(None, 7, None, None, None, 5)),
        ({"thoughtsTokenCount": 5}, Usage(None, 5, None, None, None, 5)),
        ({"promptTokenCount": 3, "toolUsePromptTokenCount": 4}, Usage(7)),
        ({"promptTokenCount": 9, "cachedContentTokenCount": 8}, Usage(9, None, None, 8)),
        ({"trafficType": "ON_DEMAND"}, None),
    ],
)
def test_counts_are_said_as_chat_counts(said: dict[str, Any], usage: Usage | None) -> None:
    (turn,) = WIRE.decode(response(answer({"text": "a"}) | {"usageMetadata": said}))
    assert (turn.usage, turn.facts) == (usage, ())


def test_later_counts_replace_earlier_ones_and_nothing_else() -> None:
    first = answer({"text": "a"}, finishReason=None) | {"usageMetadata": {"promptTokenCount": 3}}
    second = {"usageMetadata": {"candidatesTokenCount": 1}}
    third = {"usageMetadata": {"candidatesTokenCount": 2, "promptTokenCount": None}}
    assert assemble([first, second, third])[0].usage == Usage(3, 2)


# ------------------------------------------------------------------------------------------------ streams


def test_a_stream_is_put_together_and_a_late_signature_is_kept_on_its_own() -> None:
    chunks = [
        answer({"text": "t", "thought": True}, finishReason=None),
        answer({"text": "He"}, finishReason=None),
        answer({"text": "llo"}, finishReason=None),
        answer({"text": "", "thoughtSignature": "AAAA"}),
    ]
    (turn,) = assemble(chunks)
    assert turn.parts == (Reasoning("t", "thought"), Text("Hello"), Text("", SIGNED))
    assert (turn.finish_reason, turn.facts) == ("stop", ())


def test_an_array_is_a_stream_without_sse() -> None:
    chunks = [answer({"text": "He"}, finishReason=None), answer({"text": "llo"})]
    (turn,) = WIRE.decode(response(chunks))
    assert (turn.parts, facts(turn)) == ((Text("Hello"),), [("array-body", "/body")])


def test_an_event_that_the_end_cut_is_not_read() -> None:
    chunks = [json.dumps(answer({"text": text}, finishReason=None)) for text in ("a", "b")]
    (turn,) = WIRE.decode(response(sse(chunks)[:-2], headers=SSE))
    assert (turn.parts, turn.facts) == ((Text("a"),), ())


@pytest.mark.parametrize(
    ("pieces", "arguments"),
    [
        ([[("$.city", "Os", True)], [("$.city", "lo", False)]], '{"city":"Oslo"}'),
        (
            [[("$.a.b", "x", False), ("$.a.c", 2, False)], [("$.d", None, False)]],
            '{"a":{"b":"x","c":2},"d":null}',
        ),
        ([[("$.l[0]", "x", False)], [("$.l[1].y", True, False)]], '{"l":["x",{"y":true}]}'),
        ([[("$['a b']", "x", False)]], '{"a b":"x"}'),
        ([], "{}"),
    ],
)
def test_arguments_in_pieces_are_put_together(pieces: list[Any], arguments: str) -> None:
    def partial(path: str, value: Any, more: bool) -> dict[str, Any]:
        key = {str: "stringValue", int: "numberValue", bool: "boolValue"}.get(type(value), "nullValue")
        return {"jsonPath": path, key: value} | ({"willContinue": True} if more else {})

    said = [call("f", willContinue=True, id="c1") | {"thoughtSignature": "AAAA"}]
    said += [
        {"functionCall": {"partialArgs": [partial(*p) for p in some], "willContinue": True}}
        for some in pieces
    ]
    said += [{"functionCall": {}}]
    (turn,) = assemble([answer(part, finishReason=None) for part in said] + [answer()])
    assert turn.parts == (ToolCall("c1", "f", arguments, SIGNED),)
    assert facts(turn) == [("partial-args", "/events/0/data/candidates/0/content/parts/0/functionCall")]
    assert turn.finish_reason == "tool_calls"


def test_pieces_add_to_the_arguments_that_came_whole() -> None:
    pieces = [{"jsonPath": "$.b", "numberValue": 2}]
    (turn,) = assemble([answer(call("f", {"a": 1}, partialArgs=pieces))])
    assert turn.calls[0].arguments == '{"a":1,"b":2}'


def test_a_call_that_announced_more_is_unfinished() -> None:
    (turn,) = assemble([answer(call("f", willContinue=True))])
    assert [name for name, _ in facts(turn)] == ["partial-args", "call-unfinished"]


def test_a_new_name_begins_the_next_call() -> None:
    (turn,) = assemble([answer(call("f", willContinue=True)), answer(call("g", {"a": 1}))])
    assert [(each.name, each.arguments) for each in turn.calls] == [("f", "{}"), ("g", '{"a":1}')]


@pytest.mark.parametrize(
    "piece",
    [
        {},
        {"jsonPath": "city", "stringValue": "x"},
        {"jsonPath": "$", "stringValue": "x"},
        {"jsonPath": "$.l[7]", "stringValue": "x"},
        {"jsonPath": "$.city", "stringValue": 1},
        {"jsonPath": "$.city"},
        {"jsonPath": "$..city", "stringValue": "x"},
        {"jsonPath": "$" + ".a" * 1000, "stringValue": "x"},
    ],
)
def test_a_piece_that_is_not_understood_is_dropped_and_said(piece: dict[str, Any]) -> None:
    (turn,) = assemble([answer(call("f", partialArgs=[piece]))])
    assert [name for name, _ in facts(turn)] == ["partial-args", "partial-path"]

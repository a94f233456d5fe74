"""Malformed messages, answers and streams: survived, with a fact that says where."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Fact
from conformance.wires.facts import MAX_PER_FACT
from conformance.wires.openai_chat_answer import MAX_CHOICES

from .answers import WIRE, answer_with, assemble, call, calls, response, stream_of


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        (
            {"tool_calls": {"id": "c"}},
            Fact("tool-calls-not-list", "/body/choices/0/message/tool_calls", "dict"),
        ),
        ({"tool_calls": ["x"]}, Fact("call-not-object", "/body/choices/0/message/tool_calls/0", "str")),
        ({"content": {"a": 1}}, Fact("content-object", "/body/choices/0/message/content", "dict")),
        ({"content": 5}, Fact("content-not-string", "/body/choices/0/message/content", "int")),
        ({"refusal": True}, Fact("refusal-not-string", "/body/choices/0/message/refusal", "true")),
        ({"reasoning": {"a": 1}}, Fact("reasoning-malformed", "/body/choices/0/message/reasoning", "dict")),
        (
            {"reasoning_details": "r"},
            Fact("reasoning-malformed", "/body/choices/0/message/reasoning_details", "str"),
        ),
        (
            {"reasoning": "r", "reasoning_content": "r"},
            Fact(
                "reasoning-both-spellings",
                "/body/choices/0/message/reasoning",
                "the same text as in reasoning_content",
            ),
        ),
        (
            {"function_call": {"name": "", "arguments": ""}},
            Fact("function-call-stub", "/body/choices/0/message/function_call"),
        ),
    ],
)
def test_a_malformed_message_is_a_fact(message: dict[str, Any], fact: Fact) -> None:
    (turn,) = WIRE.decode(response(answer_with(message)))
    assert turn.facts[0] == fact


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (answer_with(None), Fact("message-not-object", "/body/choices/0/message")),
        ({"choices": [{"index": 0}]}, Fact("missing-message", "/body/choices/0/message")),
        (
            {"choices": [{"index": 0, "delta": {"content": "a"}}]},
            Fact("delta-for-message", "/body/choices/0/delta"),
        ),
        ({"choices": [{"message": {}}]}, Fact("choice-missing-index", "/body/choices/0/index")),
        (
            {"choices": [{"index": "0", "message": {}}]},
            Fact("choice-index-not-integer", "/body/choices/0/index", '"0"'),
        ),
        (answer_with({}, finish_reason=1), Fact("finish-not-string", "/body/choices/0/finish_reason", "1")),
        (answer_with({}, finish_reason=""), Fact("finish-empty", "/body/choices/0/finish_reason")),
        (answer_with({}) | {"id": 1}, Fact("id-not-string", "/body/id", "1")),
        (answer_with({}) | {"model": []}, Fact("model-not-string", "/body/model", "[]")),
        (answer_with({}) | {"usage": 1}, Fact("usage-not-object", "/body/usage", "int")),
        (
            answer_with({}) | {"usage": {"total_tokens": True}},
            Fact("usage-not-integer", "/body/usage/total_tokens", "true"),
        ),
        (answer_with({}) | {"error": {"message": "no"}}, Fact("error-body", "/body/error", "no")),
        (answer_with({}, error={"message": "no"}), Fact("error-body", "/body/choices/0/error", "no")),
        (
            b'{"choices": [{"index": 0, "message": {"content": "\xff"}}]}',
            Fact("not-utf-8", "/body", "byte 50"),
        ),
    ],
)
def test_a_malformed_answer_is_a_fact(body: Any, fact: Fact) -> None:
    (turn,) = WIRE.decode(response(body))
    assert turn.facts == (fact,)


def test_a_choice_index_twice_in_one_answer_is_a_fact_and_both_are_kept() -> None:
    choice = {"index": 0, "message": {"content": "a"}}
    one, two = WIRE.decode(response({"choices": [choice, choice]}))
    assert (one.facts, two.facts) == ((), (Fact("choice-repeated-index", "/body/choices/1/index", "0"),))


A, FINISH = stream_of({"content": "a"})


@pytest.mark.parametrize(
    ("chunks", "text", "facts"),
    [
        ([A, "nope", FINISH], "a", [("not-json", "/events/1/data")]),
        ([A, "[1]", FINISH], "a", [("not-object", "/events/1/data")]),
        ([A, {"type": "ping"}, FINISH], "a", [("choices-missing", "/events/1/data/choices")]),
        ([A, {"choices": {}}, FINISH], "a", [("choices-not-list", "/events/1/data/choices")]),
        ([A, {"choices": [None]}, FINISH], "a", [("choice-not-object", "/events/1/data/choices/0")]),
        ([A, {"error": {"message": "no"}}], "a", [("error-event", "/events/1/data/error")]),
        ([A, {"object": "error", "message": "no"}], "a", [("error-event", "/events/1/data")]),
        (
            [A, {"choices": [{"index": 0, "error": {"message": "no"}, "delta": {}}]}],
            "a",
            [("error-event", "/events/1/data/choices/0/error")],
        ),
        (
            [A, FINISH, "[DONE]", A],
            "aa",
            [("after-done", "/events/3/data"), ("after-finish", "/events/3/data/choices/0/delta/content")],
        ),
        ([A, FINISH, "[DONE]", "[DONE]"], "a", [("after-done", "/events/3/data")]),
        ([A, FINISH, A], "aa", [("after-finish", "/events/2/data/choices/0/delta/content")]),
        ([A, FINISH, FINISH], "a", [("finish-twice", "/events/2/data/choices/0/finish_reason")]),
        (
            [A, {"choices": [{"delta": {"content": "b"}}]}],
            "ab",
            [("choice-missing-index", "/events/1/data/choices/0/index")],
        ),
        ([A, {"choices": [{"index": 0}]}], "a", [("missing-delta", "/events/1/data/choices/0/delta")]),
        (
            [A, {"choices": [{"index": 0, "delta": None}]}],
            "a",
            [("delta-not-object", "/events/1/data/choices/0/delta")],
        ),
        (
            [{"choices": [{"index": 0, "message": {"content": "a"}}]}],
            "a",
            [("message-for-delta", "/events/0/data/choices/0/message")],
        ),
        (
            stream_of({"content": "a"}, {"content": "ab"}, {"content": "abc"}),
            "aababc",
            [("snapshot-like", "/events/2/data/choices/0/delta/content")],
        ),
        (stream_of({"content": "a"}, {"content": "ab"}), "aab", []),
        (
            stream_of({"reasoning": "a"}, {"reasoning_content": "b"}),
            "",
            [("reasoning-both-spellings", "/events/1/data/choices/0/delta/reasoning_content")],
        ),
    ],
)
def test_an_odd_stream_is_survived_with_a_fact(chunks: Any, text: str, facts: Any) -> None:
    (turn,) = assemble(chunks)
    assert turn.text == text
    assert [(fact.name, fact.path) for fact in turn.facts] == facts


def test_content_in_the_chunk_that_finishes_is_not_after_it() -> None:
    (turn,) = assemble([{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}])
    assert (turn.text, turn.finish_reason, turn.facts) == ("a", "stop", ())


def test_the_last_finish_reason_counts() -> None:
    (turn,) = assemble([*stream_of({"content": "a"}, finish="tool_calls"), FINISH])
    assert turn.finish_reason == "stop"


def test_a_fact_of_the_whole_answer_is_stated_of_every_choice() -> None:
    chunks: list[Any] = [{"choices": [{"index": i, "delta": {}} for i in (0, 1)]}, "nope"]
    assert [[fact.name for fact in turn.facts] for turn in assemble(chunks)] == [["not-json"]] * 2


def test_a_fact_that_shows_in_every_chunk_is_kept_so_many_times() -> None:
    (turn,) = assemble(stream_of(*[calls(call(0, "c", "f", "1"))] * 100))
    assert [fact.name for fact in turn.facts].count("repeated-id") == MAX_PER_FACT


def test_choices_without_end_are_not_kept() -> None:
    turns = assemble([{"choices": [{"index": i, "delta": {}}]} for i in range(MAX_CHOICES + 2)])
    assert len(turns) == MAX_CHOICES
    assert [fact.name for fact in turns[0].facts] == ["too-many-choices"] * 2

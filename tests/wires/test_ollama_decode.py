"""What is read from Ollama's answers, which oddities become facts, and what turns are as answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.types import Image, Loss, Part, Reasoning, Refusal, Text, ToolCall, Turn, Usage

from .gemini_kit import PNG
from .ollama_kit import JSON_TYPE, NDJSON, SPELLING, WIRE, assemble, call, facts, last, line, ndjson, response

PICTURE = Image(f"data:image/png;base64,{PNG}")
CALL = ToolCall("c1", "f", "{}")


def read(**message: Any) -> Turn:
    (turn,) = WIRE.decode(response(line(message, done=True, done_reason="stop")))
    return turn


# ------------------------------------------------------------------------------------------ whole answers


def test_an_answer_is_a_turn_with_its_model_and_usage() -> None:
    body = line({"content": "hi"}, done=True, done_reason="stop", prompt_eval_count=3, eval_count=2)
    assert WIRE.decode(response(body)) == (Turn((Text("hi"),), "stop", Usage(3, 2, 5), None, "m"),)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ({"content": "a"}, (Text("a"),)),
        ({"content": ""}, ()),
        ({"content": "a", "thinking": "r"}, (Reasoning("r", SPELLING), Text("a"))),
        ({"images": [PNG]}, (PICTURE,)),
        (
            {"content": "a", "tool_calls": [call("f", {"é": 1}, id="c1")]},
            (Text("a"), ToolCall("c1", "f", '{"é":1}')),
        ),
        ({"tool_calls": [call("f", id="c1")]}, (CALL,)),
        (
            {"tool_calls": [call("f", {"a": 2**53 + 1}, id="c1")]},
            (ToolCall("c1", "f", '{"a":9007199254740993}'),),
        ),
        (
            {"tool_calls": [call("f", {"a": "\ud800\0"}, id="c1")]},
            (ToolCall("c1", "f", '{"a":"\\ud800\\u0000"}'),),
        ),
    ],
)
def test_a_message_is_read_without_a_fact(message: dict[str, Any], parts: tuple[Part, ...]) -> None:
    turn = read(**message)
    assert (turn.parts, turn.facts) == (parts, ())


def test_a_pretty_printed_answer_is_one_answer() -> None:
    body = json.dumps(last(message={"content": "hi"}), indent=2).encode()
    (turn,) = WIRE.decode(response(body, headers=JSON_TYPE))
    assert turn.text == "hi"


def test_calls_without_ids_get_some_that_their_line_place_and_content_determine() -> None:
    said = [call("f", {"n": 1}), call("f", {"n": 1})]
    ids = [each.id for each in read(tool_calls=said).calls]
    assert len(set(ids)) == 2
    assert [each.id for each in read(tool_calls=said).calls] == ids
    (later,) = WIRE.decode(response(line({"tool_calls": said}) | {"created_at": "2026-01-02T00:00:00Z"}))
    assert {each.id for each in later.calls}.isdisjoint(ids)


# ---------------------------------------------------------------------------------------------- finishing


@pytest.mark.parametrize(
    ("word", "calls", "reason", "native"),
    [
        ("stop", [], "stop", None),
        ("length", [], "length", None),
        ("load", [], "stop", "load"),
        ("unload", [], "stop", "unload"),
        ("stop", [call()], "tool_calls", None),
        ("length", [call()], "length", None),
    ],
)
def test_a_done_reason_is_said_in_chats_words(word: str, calls: Any, reason: str, native: str | None) -> None:
    (turn,) = WIRE.decode(response(line({"tool_calls": calls}, done=True, done_reason=word)))
    assert (turn.finish_reason, turn.native_finish_reason, turn.facts) == (reason, native, ())


def test_an_answer_that_is_not_done_has_not_finished() -> None:
    assert assemble(line({"content": "a"})).finish_reason is None


def test_an_end_without_a_reason_is_a_stop() -> None:
    assert assemble(line({"content": "a"}, done=True)).finish_reason == "stop"


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"prompt_eval_count": 3, "eval_count": 2}, Usage(3, 2, 5)),
        ({"eval_count": 2}, Usage(None, 2)),
        ({"prompt_eval_count": 3}, Usage(3)),
        ({}, None),
    ],
)
def test_the_total_is_the_sum_of_both_counts(counts: dict[str, int], usage: Usage | None) -> None:
    assert assemble(last(**counts)).usage == usage


# ------------------------------------------------------------------------------------------------ streams


def test_a_stream_is_put_together_line_by_line() -> None:
    turn = assemble(
        line({"thinking": "t"}),
        line({"content": "He"}),
        line({"content": "llo"}),
        line({"tool_calls": [call("f", {}, id="a")]}),
        line({"tool_calls": [call("g", {}, id="b")]}),
        last(prompt_eval_count=3, eval_count=2),
    )
    parts = (Reasoning("t", SPELLING), Text("Hello"), ToolCall("a", "f", "{}"), ToolCall("b", "g", "{}"))
    assert turn == Turn(parts, "tool_calls", Usage(3, 2, 5), None, "m")


def test_a_line_that_the_end_cut_is_not_read() -> None:
    body = ndjson([line({"content": "a"}), line({"content": "b"})])[:-5]
    (turn,) = WIRE.decode(response(body, headers=NDJSON))
    assert (turn.parts, turn.facts) == ((Text("a"),), ())


def test_a_last_line_without_its_end_is_read() -> None:
    body = ndjson([line({"content": "a"}), last()])[:-1]
    (turn,) = WIRE.decode(response(body, headers=NDJSON))
    assert turn.finish_reason == "stop"


def test_a_text_may_hold_what_other_decoders_take_for_an_end_of_line() -> None:
    data = json.dumps(line({"content": "a\u2028b\u0085c"}), ensure_ascii=False)
    assert assemble(data, last()).text == "a\u2028b\u0085c"


# -------------------------------------------------------------------------------------------------- facts


@pytest.mark.parametrize(
    ("lines", "fact", "path"),
    [
        (["{", last()], "not-json", "/events/0/data"),
        (["[1]", last()], "not-object", "/events/0/data"),
        (["", last()], "blank-line", "/events/0/data"),
        ([f"data: {json.dumps(last())}"], "sse-prefix", "/events/0/data"),
        ([line(), {"error": "boom"}], "error-line", "/events/1/data/error"),
        ([last(), line({"content": "a"})], "after-done", "/events/1/data/message"),
        ([line(done="yes")], "done-not-boolean", "/events/0/data/done"),
        ([line(done=True)], "done-reason-missing", "/events/0/data/done_reason"),
        ([line(done_reason="stop"), last()], "done-reason-early", "/events/0/data/done_reason"),
        ([line(done=True, done_reason="eos")], "done-reason-unknown", "/events/0/data/done_reason"),
        ([last() | {"model": 1}], "model-not-string", "/events/0/data/model"),
        ([last(eval_count="2")], "count-not-integer", "/events/0/data/eval_count"),
        ([last(), last() | {"message": 1}], "message-not-object", "/events/1/data/message"),
        ([last() | {"message": {"content": "a"}}], "role-not-assistant", "/events/0/data/message/role"),
        ([line({"content": 1}), last()], "content-not-string", "/events/0/data/message/content"),
        ([line({"thinking": 1}), last()], "thinking-not-string", "/events/0/data/message/thinking"),
        ([line({"images": "x"}), last()], "images-not-list", "/events/0/data/message/images"),
        ([line({"images": [1]}), last()], "image-not-string", "/events/0/data/message/images/0"),
        (
            [line({"tool_calls": call("f", {})}), last()],
            "tool-calls-not-list",
            "/events/0/data/message/tool_calls",
        ),
        ([line({"tool_calls": [1]}), last()], "call-not-object", "/events/0/data/message/tool_calls/0"),
        (
            [line({"tool_calls": [call("")]}), last()],
            "missing-name",
            "/events/0/data/message/tool_calls/0/function/name",
        ),
        (
            [line({"tool_calls": [call(1)]}), last()],
            "name-not-string",
            "/events/0/data/message/tool_calls/0/function/name",
        ),
        (
            [line({"tool_calls": [call("f", id=1)]}), last()],
            "call-id-not-string",
            "/events/0/data/message/tool_calls/0/id",
        ),
        (
            [line({"tool_calls": [call("f", id="a"), call("g", id="a")]}), last()],
            "repeated-id",
            "/events/0/data/message/tool_calls/1/id",
        ),
        (
            [line({"tool_calls": [call("f", "{}")]}), last()],
            "arguments-not-object",
            "/events/0/data/message/tool_calls/0/function/arguments",
        ),
        (
            [line({"content": t}) for t in ("a", "ab", "abc")],
            "snapshot-like",
            "/events/2/data/message/content",
        ),
    ],
)
def test_an_oddity_is_a_fact(lines: list[Any], fact: str, path: str) -> None:
    assert facts(assemble(*lines)) == [(fact, path)]


def test_a_call_without_a_function_has_neither_name_nor_arguments() -> None:
    turn = assemble(line({"tool_calls": [{"id": "a"}]}), last())
    assert turn.calls == (ToolCall("a", "", "{}"),)
    assert [name for name, _ in facts(turn)] == ["missing-function", "missing-name"]


@pytest.mark.parametrize(("arguments", "kept"), [("{}", "{}"), ("x", "x"), ([1], "[1]"), (7, "7")])
def test_arguments_that_are_no_object_are_kept(arguments: Any, kept: str) -> None:
    (found,) = assemble(line({"tool_calls": [call("f", arguments)]}), last()).calls
    assert found.arguments == kept


# ------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": "boom"}, 404),
        ({"error": "boom"}, 200),
        (ndjson([line({"content": "a"}), {"error": "boom"}]), 200),
        (b"boom", 502),
    ],
)
def test_an_error_is_found_wherever_it_stands(body: Any, status: int) -> None:
    found = WIRE.error_of(response(body, status))
    assert found is not None
    assert found.message == "boom"


def test_a_good_answer_is_no_error() -> None:
    assert WIRE.error_of(response(ndjson([line({"content": "error"}), last()]), headers=NDJSON)) is None


# --------------------------------------------------------------------------------------- turns as answers


def say(*turns: Turn) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    losses: list[Loss] = []
    body = WIRE.encode_turns(turns, model="asked", losses=losses)
    return body, [(loss.path, loss.weight) for loss in losses]


TURN = Turn((Reasoning("r", SPELLING), Text("a"), PICTURE, CALL), "tool_calls", Usage(3, 2, 5), None, "m")


def test_a_turn_is_an_answer() -> None:
    assert say(TURN) == (
        {
            "model": "m",
            "created_at": "1970-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": "a",
                "thinking": "r",
                "images": [PNG],
                "tool_calls": [{"function": {"name": "f", "arguments": {}}, "id": "c1"}],
            },
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 3,
            "eval_count": 2,
        },
        [],
    )


def test_a_turn_that_names_no_model_has_the_one_asked_for_and_one_without_an_end_is_not_done() -> None:
    body, _ = say(Turn((Text("a"),)))
    assert (body["model"], body["done"]) == ("asked", False)
    assert "done_reason" not in body


@pytest.mark.parametrize(
    ("change", "losses"),
    [
        ({"id": "r1"}, [("id", "form")]),
        ({"usage": Usage(3, 2, 9)}, [("usage/total_tokens", "meaning")]),
        (
            {"usage": Usage(3, 2, 5, 1, 1, 1)},
            [
                ("usage/cached_tokens", "meaning"),
                ("usage/cache_write_tokens", "meaning"),
                ("usage/reasoning_tokens", "meaning"),
            ],
        ),
        ({"finish_reason": "stop"}, [("finish_reason", "form")]),
        ({"finish_reason": "content_filter"}, [("finish_reason", "meaning")]),
        ({"finish_reason": "length"}, []),
        ({"native_finish_reason": "load"}, []),
        ({"native_finish_reason": "MAX_TOKENS"}, [("native_finish_reason", "form")]),
        ({"parts": (Text("a"), CALL, Text("b"))}, [("parts/2", "form"), ("", "form")]),
        ({"parts": (Refusal("no"), CALL)}, [("parts/0", "form")]),
        (
            {"parts": (Reasoning("r", "thinking", {"anthropic-messages": {"signature": "s"}}), CALL)},
            [("parts/0", "form")],
        ),
    ],
)
def test_what_an_answer_cannot_say_is_a_loss(change: dict[str, Any], losses: list[tuple[str, str]]) -> None:
    _, lost = say(replace(TURN, **change))
    assert lost == [(f"/turns/0/{path}".removesuffix("/"), weight) for path, weight in losses]


def test_of_several_turns_the_first_is_said() -> None:
    body, losses = say(TURN, replace(TURN, parts=(Text("b"),)))
    assert body["message"]["content"] == "a"
    assert losses == [("/turns/1", "meaning")]

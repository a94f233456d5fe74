"""Streamed Messages answers, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Reasoning, Text, ToolCall, Usage

from .anthropic_answers import WIRE, A, answer, assemble, facts


def start(index: Any, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, type: str, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **members}}


def text(index: Any, words: str) -> dict[str, Any]:
    return delta(index, "text_delta", text=words)


def piece(index: Any, json: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=json)


def stop(index: Any) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def finish(reason: str | None = "end_turn", usage: Any = None, **members: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage, **members}


START = {"type": "message_start", "message": answer(stop_reason=None)}
STOP = {"type": "message_stop"}
OPEN = start(0, type="text", text="")
TOOL = start(0, type="tool_use", id="toolu_1", name="f", input={})
THINK = start(0, type="thinking", thinking="", signature="")


def test_nothing_is_said_before_the_first_event() -> None:
    assembler = WIRE.assembler()
    assert assembler.turns() == ()
    assembler.feed('{"type":"ping"}')
    assert assembler.turns() == ()


def test_a_turn_grows_and_is_unfinished_until_it_says_so() -> None:
    got = assemble([START, OPEN, text(0, "h")])
    assert (got.id, got.model, got.text, got.finish_reason) == ("msg_1", "m", "h", None)
    assert assemble([START, OPEN, text(0, "h"), STOP]).finish_reason is None


def test_blocks_are_told_apart_by_index_where_they_overlap() -> None:
    got = assemble(
        [
            START,
            OPEN,
            start(1, type="tool_use", id="t", name="f", input={}),
            piece(1, '{"a"'),
            text(0, "h"),
            piece(1, ":1}"),
            text(0, "i"),
            stop(1),
            stop(0),
            finish("tool_use"),
            STOP,
        ]
    )
    assert got.parts == (Text("hi"), ToolCall("t", "f", '{"a":1}'))
    assert got.facts == ()


ARGUMENTS: list[tuple[tuple[str, ...], str]] = [
    ((), "{}"),
    (("",), "{}"),
    (("{}",), "{}"),
    (("", '{"a"', ': 9007199254740993, "b": "\\ud800"}'), '{"a": 9007199254740993, "b": "\\ud800"}'),
    (('{"a": 1.10, "a": 2}',), '{"a": 1.10, "a": 2}'),
]


@pytest.mark.parametrize(("pieces", "arguments"), ARGUMENTS)
def test_arguments_are_the_pieces_as_they_came(pieces: tuple[str, ...], arguments: str) -> None:
    got = assemble([START, TOOL, *(piece(0, p) for p in pieces), stop(0), finish("tool_use")])
    assert (got.calls[0].arguments, got.facts) == (arguments, ())


def test_the_last_signature_counts() -> None:
    got = assemble(
        [
            START,
            THINK,
            delta(0, "thinking_delta", thinking="h"),
            delta(0, "signature_delta", signature="first"),
            delta(0, "thinking_delta", thinking="m"),
            delta(0, "signature_delta", signature="second"),
            stop(0),
            finish(),
        ]
    )
    assert got.parts == (Reasoning("hm", "thinking", {A: {"signature": "second"}}),)


def test_interleaved_and_redacted_thinking_keep_their_places() -> None:
    got = assemble(
        [
            START,
            start(0, type="redacted_thinking", data="Emw="),
            stop(0),
            start(1, type="tool_use", id="t", name="f", input={}),
            stop(1),
            start(2, type="thinking", thinking="", signature=""),
            delta(2, "signature_delta", signature="s"),
            stop(2),
            finish("tool_use"),
        ]
    )
    assert got.parts == (
        Reasoning("", "redacted_thinking", {A: {"data": "Emw="}}),
        ToolCall("t", "f", "{}"),
        Reasoning("", "thinking", {A: {"signature": "s"}}),
    )


def test_citations_are_collected() -> None:
    cite = [delta(0, "citations_delta", citation={"cited_text": c}) for c in "ab"]
    got = assemble(
        [START, start(0, type="text", text="", citations=[]), *cite, text(0, "hi"), stop(0), finish()]
    )
    assert got.parts == (Text("hi", {A: {"citations": [{"cited_text": "a"}, {"cited_text": "b"}]}}),)


def test_a_servers_call_gets_its_input_and_is_kept_whole() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search"}
    got = assemble([START, start(0, **block, input={}), piece(0, '{"query":"q"}'), stop(0), finish()])
    assert got.parts == (Text("", {A: {"@block": {**block, "input": {"query": "q"}}}}),)


def test_a_compaction_is_replaced_by_its_delta() -> None:
    got = assemble(
        [
            START,
            start(0, type="compaction", content=None),
            delta(0, "compaction_delta", content="all", encrypted_content="x"),
            stop(0),
            finish(),
        ]
    )
    block = {"type": "compaction", "content": "all", "encrypted_content": "x"}
    assert got.parts == (Text("", {A: {"@block": block}}),)


USAGES: list[tuple[list[Any], Usage]] = [
    ([None], Usage(1, 2, 3)),
    ([{"output_tokens": 9}], Usage(1, 9, 10)),
    ([{"output_tokens": 3}, {"output_tokens": 9}], Usage(1, 9, 10)),
    ([{"output_tokens": 9, "input_tokens": 7}], Usage(7, 9, 16)),
    ([{"output_tokens": 9, "input_tokens": None, "cache_read_input_tokens": 4}], Usage(5, 9, 14, 4)),
    ([{"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 5}}], Usage(1, 9, 10, None, None, 5)),
]


@pytest.mark.parametrize(("counts", "usage"), USAGES)
def test_later_counts_replace_earlier_ones_unless_null(counts: list[Any], usage: Usage) -> None:
    assert assemble([START, *(finish("end_turn", count) for count in counts), STOP]).usage == usage


def test_what_message_delta_says_beside_the_stop_survives() -> None:
    edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}]}
    last = finish("stop_sequence", context_management=edits)
    last["delta"]["stop_sequence"] = "END"
    got = assemble([START, last, STOP])
    assert got.native_finish_reason == "stop_sequence"
    assert got.parts == (Text("", {A: {"@message": {"stop_sequence": "END", "context_management": edits}}}),)


def test_pings_say_nothing_anywhere() -> None:
    ping = {"type": "ping"}
    got = assemble([ping, START, ping, OPEN, ping, text(0, "hi"), ping, stop(0), finish(), ping, STOP, ping])
    assert (got.text, got.facts) == ("hi", ())


ODD: list[tuple[list[Any], str, list[tuple[str, str]]]] = [
    ([START, "{", OPEN, text(0, "hi")], "hi", [("not-json", "/events/1/data")]),
    ([START, "[]", OPEN, text(0, "hi")], "hi", [("not-object", "/events/1/data")]),
    ([START, "[DONE]"], "", [("done-marker", "/events/1/data")]),
    ([START, {"type": "new"}], "", [("event-unknown", "/events/1/data/type")]),
    ([START, {"no": "type"}], "", [("event-unknown", "/events/1/data/type")]),
    ([START, OPEN, text(0, "hi"), STOP, text(0, "!")], "hi!", [("after-message-stop", "/events/4/data")]),
    ([OPEN, text(0, "hi")], "hi", [("message-start-missing", "/events/0/data")]),
    ([finish()], "", [("message-start-missing", "/events/0/data")]),
    ([START, START, OPEN, text(0, "hi")], "hi", [("message-start-twice", "/events/1/data/message")]),
    (
        [{"type": "message_start", "message": []}, OPEN, text(0, "hi")],
        "hi",
        [("message-not-object", "/events/0/data/message")],
    ),
    (
        [{"type": "message_start", "message": answer()}],
        "",
        [("stop-reason-at-start", "/events/0/data/message/stop_reason")],
    ),
    (
        [START, finish(), OPEN, text(0, "hi")],
        "hi",
        [("after-stop-reason", f"/events/{i}/data") for i in (2, 3)],
    ),
    ([START, finish("stop")], "", [("stop-reason-unknown", "/events/1/data/delta/stop_reason")]),
    ([START, {"type": "message_delta"}], "", [("delta-not-object", "/events/1/data/delta")]),
    (
        [START, start(None, type="text", text=""), text(None, "hi")],
        "hi",
        [("index-missing", f"/events/{i}/data/index") for i in (1, 2)],
    ),
    (
        [START, start("0", type="text", text=""), text("0", "hi")],
        "hi",
        [("index-not-integer", f"/events/{i}/data/index") for i in (1, 2)],
    ),
    ([START, OPEN, text(0, "h"), OPEN, text(0, "i")], "hi", [("index-repeated", "/events/3/data/index")]),
    (
        [START, {"type": "content_block_start", "index": 0}],
        "",
        [("start-not-object", "/events/1/data/content_block")],
    ),
    ([START, text(0, "hi")], "hi", [("delta-without-start", "/events/1/data/index")]),
    ([START, delta(0, "new")], "", [("delta-without-start", "/events/1/data/index")]),
    ([START, stop(0)], "", [("stop-without-start", "/events/1/data/index")]),
    (
        [START, OPEN, text(0, "h"), stop(0), text(0, "i")],
        "hi",
        [("delta-after-block-stop", "/events/4/data/index")],
    ),
    ([START, OPEN, text(0, "hi"), piece(0, "{}")], "hi", [("delta-mismatch", "/events/3/data/delta/type")]),
    ([START, OPEN, text(0, "hi"), delta(0, "new")], "hi", [("delta-unknown", "/events/3/data/delta/type")]),
    (
        [START, OPEN, text(0, "hi"), delta(0, "text_delta", text=None)],
        "hi",
        [("delta-not-string", "/events/3/data/delta/text")],
    ),
    (
        [START, OPEN, text(0, "hi"), {"type": "content_block_delta", "index": 0}],
        "hi",
        [("delta-not-object", "/events/3/data/delta")],
    ),
    (
        [START, TOOL, piece(0, '{"a"'), stop(0)],
        "",
        [("input-not-json", "/events/1/data/content_block/input")],
    ),
    (
        [START, start(0, type="tool_use", id="t", name="f", input={"a": 1}), piece(0, "{}"), stop(0)],
        "",
        [("input-in-start", "/events/1/data/content_block/input")],
    ),
    ([START, THINK, stop(0)], "", [("missing-signature", "/events/1/data/content_block/signature")]),
    (
        [START, {"type": "error", "error": {"type": "api_error", "message": "m"}}],
        "",
        [("error-event", "/events/1/data/error")],
    ),
]


@pytest.mark.parametrize(("events", "words", "expected"), ODD)
def test_an_odd_stream_is_survived_and_told(
    events: list[Any], words: str, expected: list[tuple[str, str]]
) -> None:
    got = assemble(events)
    assert (got.text, facts(got.facts)) == (words, expected)


def test_a_call_whose_input_comes_with_its_start_has_it() -> None:
    got = assemble(
        [START, start(0, type="tool_use", id="t", name="f", input={"a": 1}), stop(0), finish("tool_use")]
    )
    assert (got.calls[0].arguments, got.facts) == ('{"a":1}', ())


def test_blocks_that_message_start_holds_already_go_on() -> None:
    begun = {"type": "message_start", "message": answer({"type": "text", "text": "h"}, stop_reason=None)}
    got = assemble([begun, text(0, "i"), stop(0), finish()])
    assert (got.parts, got.facts) == ((Text("hi"),), ())


def test_an_unfinished_call_of_a_cut_stream_is_kept_as_it_is() -> None:
    got = assemble([START, TOOL, piece(0, '{"a": "b')])
    assert (got.calls[0].arguments, got.finish_reason, got.facts) == ('{"a": "b', None, ())

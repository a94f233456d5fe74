"""Responses streams, event by event, and what is odd in them as facts."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from conformance.types import Reasoning, Text, ToolCall
from conformance.wires.openai_responses_stream import Assembler

from .answers import SSE_TYPE, response, sse
from .responses_answers import (
    WIRE,
    answer,
    assemble,
    call,
    datas,
    events,
    message,
    names,
    own,
    read,
    reasoning,
    text,
)

Event = dict[str, Any]
CREATED: Event = {"type": "response.created", "response": answer(status="in_progress")}


def ended(*output: Any, kind: str = "completed", **rest: Any) -> Event:
    return {"type": f"response.{kind}", "response": answer(*output, status=kind, **rest)}


def added(item: Any, index: Any = 0, **rest: Any) -> Event:
    return {"type": "response.output_item.added", "output_index": index, "item": item, **rest}


def done(item: Any, index: Any = 0) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def piece(kind: str, index: Any = 0, **rest: Any) -> Event:
    where = {} if "arguments" in kind or "input" in kind else {"content_index": 0}
    return {"type": f"response.{kind}", "output_index": index, **where, **rest}


def said(*deltas: str, index: Any = 0) -> list[Event]:
    return [piece("output_text.delta", index, delta=delta) for delta in deltas]


def passed(*deltas: str, index: Any = 0) -> list[Event]:
    return [piece("function_call_arguments.delta", index, delta=delta) for delta in deltas]


EMPTY, HI = message(), message("hi")
BEGUN = call(arguments="", status="in_progress")
ALL = answer(
    reasoning("one", "two", encrypted_content="gAAA=="),
    message(
        text("héllo", annotations=[{"type": "file_path"}], logprobs=[{"token": "h"}]),
        {"type": "refusal", "refusal": "no"},
        phase="commentary",
    ),
    call(arguments='{"a": 1}', namespace="n"),
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c2", "name": "sql", "input": "select 1"},
    reasoning(content=[{"type": "reasoning_text", "text": "raw"}], id="rs_2"),
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}},
    usage={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
)


@pytest.mark.parametrize("seed", range(20))
def test_every_kind_of_item_streams_to_what_it_is_whole(seed: int) -> None:
    assert assemble(events(ALL, random.Random(seed))) == read(ALL)


def test_the_done_sentinel_of_open_responses_changes_nothing() -> None:
    told = datas(events(ALL, random.Random(0)))
    assert assemble([*told, "[DONE]"]) == assemble(told)


SPELLINGS: list[tuple[list[Event], str]] = [
    ([piece("reasoning.delta", delta="wh"), piece("reasoning.delta", delta="y")], "reasoning_text"),
    ([piece("reasoning_text.delta", delta="why")], "reasoning_text"),
    (
        [
            piece("reasoning_part.added", part={"type": "reasoning_text", "text": ""}),
            piece("reasoning_text.delta", delta="why"),
            piece("reasoning_part.done", part={"type": "reasoning_text", "text": "why"}),
        ],
        "reasoning_text",
    ),
    ([piece("reasoning_summary_text.delta", summary_index=0, delta="why")], "summary_text"),
    ([piece("reasoning_summary.delta", summary_index=0, delta="why")], "summary_text"),
]


@pytest.mark.parametrize(("told", "spelling"), SPELLINGS)
def test_both_flavours_name_of_reasoning_is_read(told: list[Event], spelling: str) -> None:
    turn = assemble([CREATED, added({"type": "reasoning", "summary": []}), *told])
    assert (turn.parts, turn.facts) == ((Reasoning("why", spelling),), ())


@pytest.mark.parametrize(
    "event",
    [
        {"type": "acme:trace", "delta": "x"},
        {"type": "response.web_search_call.searching", "output_index": 0},
        {"type": "response.output_audio.delta", "delta": "AA=="},
        {"type": "response.mcp_call_arguments.delta", "output_index": 0, "delta": "x"},
        {"type": "keepalive"},
    ],
)
def test_events_that_say_nothing_of_the_turn_are_ignored(event: Event) -> None:
    told = [CREATED, added(EMPTY), *said("hi"), done(HI), ended(HI)]
    assert assemble([*told[:2], event, *told[2:]]).parts == assemble(told).parts
    assert names(assemble([*told[:2], event, *told[2:]])) == []


PLAIN = [CREATED, added(EMPTY), *said("h", "i"), done(HI), ended(HI)]
FACTS: list[tuple[str, list[Event | str]]] = [
    ("not-json", [CREATED, "{", *PLAIN[1:]]),
    ("not-object", [CREATED, "[]", *PLAIN[1:]]),
    ("event-without-type", [CREATED, {"delta": "x"}, *PLAIN[1:]]),
    ("after-done", [*PLAIN, "[DONE]", {"type": "acme:bye"}]),
    ("after-terminal", [*PLAIN[:4], ended(HI), done(HI)]),
    ("terminal-twice", [*PLAIN, ended(HI)]),
    (
        "terminal-name",
        [*PLAIN[:4], {"type": "response.completed", "response": answer(HI, status="in_progress")}],
    ),
    ("terminal-only", [CREATED, ended(HI)]),
    ("terminal-missing-item", [*PLAIN[:4], ended()]),
    ("terminal-more-items", [*PLAIN[:4], ended(HI, call())]),
    ("terminal-disagrees", [*PLAIN[:4], ended(message("ho"))]),
    ("terminal-disagrees", [*PLAIN[:4], ended(call())]),
    (
        "terminal-disagrees",
        [CREATED, added(BEGUN), *passed("{}"), done(call()), ended(call("call_2"))],
    ),
    ("done-disagrees", [*PLAIN[:4], done(message("h")), ended(HI)]),
    ("done-disagrees", [*PLAIN[:4], piece("output_text.done", text="ho"), *PLAIN[4:]]),
    ("without-deltas", [CREATED, added(EMPTY), done(HI), ended(HI)]),
    ("item-added-twice", [CREATED, added(EMPTY), *said("hi"), added(EMPTY)]),
    ("item-not-added", [CREATED, *said("hi"), done(HI), ended(HI)]),
    ("item-not-added", [CREATED, done({"type": "web_search_call", "id": "ws_1"})]),
    ("item-of-other-type", [CREATED, added(BEGUN), *said("hi")]),
    ("item-not-object", [CREATED, added(None), *PLAIN[1:]]),
    ("item-of-other-type", [CREATED, added(EMPTY), done(call())]),
    ("not-object", [CREATED, {"type": "response.completed", "response": None}]),
    ("index-not-integer", [CREATED, added(EMPTY, index=None), *said("hi")]),
    (
        "index-not-integer",
        [CREATED, added(EMPTY), piece("output_text.delta", delta="hi") | {"content_index": "0"}],
    ),
    (
        "part-index-gap",
        [CREATED, added(EMPTY), piece("output_text.delta", delta="hi") | {"content_index": 1}, done(HI)],
    ),
    ("delta-not-string", [CREATED, added(EMPTY), piece("output_text.delta", delta=1), *said("hi")]),
    ("error-event", [CREATED, {"type": "error", "code": "server_error", "message": "m", "param": None}]),
    ("error-event", [CREATED, {"type": "error", "error": {"code": "server_error", "message": "m"}}]),
    ("error-event", [CREATED, ended(kind="failed", error={"code": "server_error", "message": "m"})]),
    ("id-changed", [CREATED, added(EMPTY), *said("hi"), ended(HI, id="resp_2")]),
    ("output-not-list", [CREATED, ended() | {"response": answer() | {"output": None}}]),
]


@pytest.mark.parametrize(("fact", "told"), FACTS)
def test_what_is_odd_is_a_fact(fact: str, told: list[Event | str]) -> None:
    assert fact in names(assemble(told))


def test_the_terminal_event_tells_of_an_item_by_its_id() -> None:
    """A message that comes behind the calls and stands before them at the end (transformers serve 5.24.0)."""
    one, two = (call(f"c{n}", arguments=f'{{"n": {n}}}') for n in (1, 2))
    told = [CREATED]
    for item, index in ((one, 1), (two, 2), (EMPTY, 2)):
        told += [added(item, index), done(item, index)]
    turn = assemble([*told, ended(EMPTY, one, two)])
    assert [(c.id, c.arguments) for c in turn.calls] == [("c1", '{"n": 1}'), ("c2", '{"n": 2}')]


def test_a_plain_stream_has_no_fact() -> None:
    assert names(assemble(PLAIN)) == []


RECOVERED: list[tuple[str, list[Event], tuple[Any, ...]]] = [
    ("deltas win over the end", [*PLAIN[:4], ended(message("other"))], (Text("hi"),)),
    (
        "the end stands in for deltas",
        [CREATED, ended(HI, call())],
        (Text("hi"), ToolCall("call_1", "f", "{}")),
    ),
    ("an empty terminal output takes nothing away", [*PLAIN[:4], ended()], (Text("hi"),)),
    (
        "ids that rotate",
        [CREATED, added(message(id="a")), *said("hi"), done(message("hi", id="b"))],
        (Text("hi"),),
    ),
    (
        "two items on one index",
        [
            CREATED,
            added(message(id="a")),
            piece("output_text.delta", delta="one", item_id="a"),
            added(call(arguments="")),
            piece("function_call_arguments.delta", delta="{}", item_id="fc_call_1"),
            piece("output_text.delta", delta=" more", item_id="a"),
        ],
        (Text("one more"), ToolCall("call_1", "f", "{}")),
    ),
    (
        "calls that interleave",
        [
            CREATED,
            added(call("a", arguments=""), 0),
            added(call("b", arguments=""), 1),
            *passed("{", index=1),
            *passed('{"a":', index=0),
            *passed("}", index=1),
            *passed("1}", index=0),
        ],
        (ToolCall("a", "f", '{"a":1}'), ToolCall("b", "f", "{}")),
    ),
    (
        "items out of order",
        [CREATED, added(EMPTY, 1), *said("b", index=1), added(EMPTY, 0), *said("a", index=0)],
        (Text("a"), Text("b")),
    ),
    ("no index at all", [CREATED, added(EMPTY, None), *said("a", index=None)], (Text("a"),)),
    (
        "text of a call",
        [CREATED, added(BEGUN), *said("a"), *passed("{}")],
        (ToolCall("call_1", "f", "{}"), Text("a")),
    ),
    (
        "an end of another item than began",
        [CREATED, added(EMPTY), *said("hi"), done(call())],
        (Text("hi"), ToolCall("call_1", "f", "{}")),
    ),
    (
        "a part beyond its list",
        [CREATED, added(EMPTY), piece("output_text.delta", delta="hi") | {"content_index": 1}, done(HI)],
        (Text("hi"),),
    ),
]


@pytest.mark.parametrize(("told", "parts"), [row[1:] for row in RECOVERED], ids=[row[0] for row in RECOVERED])
def test_odd_streams_still_say_what_they_say(told: list[Event], parts: tuple[Any, ...]) -> None:
    assert assemble(told).parts == parts


@pytest.mark.parametrize(
    ("told", "finish", "native"),
    [
        (PLAIN, "stop", None),
        (PLAIN[:4], None, None),
        ([{"type": "response.created", "response": answer(status="completed")}], None, None),
        ([CREATED, {"type": "response.queued", "response": answer(status="queued")}], None, "queued"),
        (
            [CREATED, ended(kind="incomplete", incomplete_details={"reason": "content_filter"})],
            "content_filter",
            None,
        ),
        ([CREATED, ended(kind="failed")], None, "failed"),
        ([CREATED, {"type": "response.completed", "response": {}}], "stop", None),
        ([CREATED, {"type": "error", "message": "m"}], None, None),
    ],
)
def test_only_a_terminal_event_finishes(told: list[Event], finish: str | None, native: str | None) -> None:
    turn = assemble(told)
    assert (turn.finish_reason, turn.native_finish_reason) == (finish, native)


def test_encrypted_content_counts_only_once_its_item_is_done() -> None:
    early, late = reasoning("why", encrypted_content="early"), reasoning("why", encrypted_content="late")
    told = [CREATED, added(early), piece("reasoning_summary_text.delta", summary_index=0, delta="why")]
    (soon,) = assemble(told).parts
    assert soon.opaque == own(item=reasoning("why"))
    (part,) = assemble([*told, done(late)]).parts
    assert part.opaque == own(item=late)


def test_nothing_is_a_turn_before_the_response_begins() -> None:
    assembler = Assembler()
    assembler.feed(json.dumps({"type": "error", "message": "m"}))
    assert assembler.turns() == ()


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "m"},
        {"type": "error", "error": {"code": "server_error", "message": "m"}},
        ended(kind="failed", error={"code": "server_error", "message": "m"}),
    ],
)
def test_an_error_in_the_stream_is_the_error_of_the_answer(event: Event) -> None:
    error = WIRE.error_of(response(sse(map(json.dumps, [CREATED, event])), headers=SSE_TYPE))
    assert error is not None
    assert (error.message, error.code) == ("m", "server_error")


def test_whole_texts_told_again_and_again_are_compared_once_they_are_asked_for() -> None:
    assembler = Assembler()
    for event in [CREATED, added(EMPTY), *said("x" * 1_000_000)]:
        assembler.feed(json.dumps(event))
    more = [json.dumps(event) for event in (*said("y"), piece("output_text.done", text="z"))]
    for _ in range(20_000):
        for data in more:
            assembler.feed(data)
    (turn,) = assembler.turns()
    assert len(turn.text) == 1_020_000
    assert names(turn) == ["done-disagrees"] * 20

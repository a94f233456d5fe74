"""Calls of a stream, stitched together again: what each family gets wrong, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Request

from .support import (
    END,
    NAMED_LATE,
    ONE,
    START,
    TWO,
    WITH_ALPHA,
    call,
    chunk,
    deltas,
    reasons,
    streamed,
    told_calls,
)

CALLS: dict[str, tuple[list[Any], list[tuple[str, str, str]]]] = {
    "stream-index-missing": (
        [
            call(id="c1", type="function", function={"name": "alpha", "arguments": "{}"}),
            call(id="c2", type="function", function={"name": "beta", "arguments": "{}"}),
        ],
        TWO,
    ),
    "stream-all-index-zero": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": "{}"}),
            call(index=0, id="c2", type="function", function={"name": "beta", "arguments": "{}"}),
        ],
        TWO,
    ),
    "stream-name-after-arguments": (NAMED_LATE, ONE),
    "stream-full-name-every-chunk": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": '{"a":'}),
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": '"b"}'}),
        ],
        ONE,
    ),
    "stream-empty-name-continuation": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": ""}),
            call(index=0, type="function", function={"name": "", "arguments": '{"a":"b"}'}),
        ],
        ONE,
    ),
    "stream-null-id-type-final": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": '{"a":'}),
            call(index=0, id=None, type=None, function={"name": None, "arguments": '"b"}'}),
        ],
        ONE,
    ),
    "arguments-object-not-string": (
        [call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": {"a": "b"}})],
        ONE,
    ),
    "arguments-null-literal": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": "nu"}),
            call(index=0, function={"arguments": "ll"}),
        ],
        [("c1", "alpha", "{}")],
    ),
    "arguments-empty-string": (
        [call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": ""})],
        [("c1", "alpha", "{}")],
    ),
    "arguments-control-chars": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": '{"a":"x'}),
            call(index=0, function={"arguments": '\ny"}'}),
        ],
        [("c1", "alpha", '{"a":"x\\ny"}')],
    ),
    "harmony-token-leak-in-name": (
        [
            call(
                index=0,
                id="c1",
                type="function",
                function={"name": "alpha<|channel|>commentary", "arguments": '{"a":"b"}'},
            )
        ],
        ONE,
    ),
    "duplicate-id-in-one-turn": (
        [
            call(index=0, id="c1", type="function", function={"name": "alpha", "arguments": "{}"}),
            call(index=1, id="c1", type="function", function={"name": "beta", "arguments": "{}"}),
        ],
        [("c1", "alpha", "{}"), ("c1_d2", "beta", "{}")],
    ),
    "multi-tool-use-parallel-hallucinated": (
        [
            call(
                index=0,
                id="c1",
                type="function",
                function={
                    "name": "multi_tool_use.parallel",
                    "arguments": '{"tool_uses":[{"recipient_name":"functions.alpha",'
                    '"parameters":{"a":"b"}}]}',
                },
            )
        ],
        ONE,
    ),
}


@pytest.mark.parametrize("quirk", CALLS)
def test_calls_are_stitched_by_their_index_alone(quirk: str) -> None:
    pieces, wanted = CALLS[quirk]
    events = streamed("compatible", [START, *map(chunk, pieces), END, "[DONE]"])
    assert told_calls(events) == wanted
    assert (reasons(events)[-1], events[-1]) == ("tool_calls", "[DONE]")


@pytest.mark.parametrize("quirk", CALLS)
def test_a_call_is_opened_once_with_all_that_opens_it(quirk: str) -> None:
    events = streamed("compatible", [START, *map(chunk, CALLS[quirk][0]), END, "[DONE]"])
    pieces = [piece for delta in deltas(events) for piece in delta.get("tool_calls", ())]
    opened = [piece for piece in pieces if "id" in piece]
    assert [piece["index"] for piece in opened] == list(range(len(opened)))
    assert all(piece["type"] == "function" and piece["function"]["name"] for piece in opened)
    assert not [p for p in pieces if "id" not in p and ("type" in p or "name" in p["function"])]


@pytest.mark.parametrize(("name", "calls"), [("vllm", 1), ("compatible", 2)])
def test_where_one_call_was_asked_for_some_families_keep_the_first(name: str, calls: int) -> None:
    one = Request(WITH_ALPHA.messages, tools=WITH_ALPHA.tools, parallel_tool_calls=False)
    events = streamed(name, [START, *map(chunk, CALLS["stream-index-missing"][0]), END, "[DONE]"], one)
    assert len(told_calls(events)) == calls


NEW_IDS = [
    call(index=0, id="A", type="function", function={"name": "alpha", "arguments": '{"a":'}),
    call(index=0, id="B", function={"arguments": '"b"}'}),
]


def test_two_ids_on_one_index_are_one_call_for_one_family_and_two_for_another() -> None:
    stream = [START, *map(chunk, NEW_IDS), END, "[DONE]"]
    assert told_calls(streamed("zai", stream)) == [("A", "alpha", '{"a":"b"}')]
    both = [START, *map(chunk, CALLS["stream-all-index-zero"][0]), END, "[DONE]"]
    assert told_calls(streamed("compatible", both)) == TWO


def test_a_call_without_an_id_gets_one_that_stays_the_same() -> None:
    piece = call(index=0, type="function", function={"name": "alpha", "arguments": "{}"})
    first, again = (told_calls(streamed("vllm", [START, chunk(piece), END, "[DONE]"])) for _ in range(2))
    assert first == again
    assert first[0][0].startswith("call_")

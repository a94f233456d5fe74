"""How the deltas of a stream tell calls and texts, and how its chunks are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.support import SCRIPTS, TIME, WEATHER, Talk, deltas

MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "same": ("call-deltas-carry", {"members": {"name": "{same}", "id": "{fresh}"}}),
    "last": ("call-deltas-carry", {"members": {"id": None, "name": None}, "deltas": "last"}),
    "late": ("call-name-late", {}),
    "whole": ("calls-in-one-delta", {}),
    "objects": ("calls-in-one-delta", {"as_objects": True}),
    "headless": ("arguments-head-lost", {"characters": 2}),
    "announced": ("calls-announced", {"member": "busy"}),
    "empty": ("empty-arguments-are", {"value": "null"}),
    "ended": ("finish-with-last-delta", {}),
    "over": ("finish-in-every-chunk", {"value": "stop"}),
    "once": ("text-in-one-delta", {}),
    "so-far": ("message-so-far", {"object_name": "chat.completion"}),
    "added": ("chunk-added", {"chunk": {"choices": [], "x": 1}}),
    "filtered": ("chunk-added", {"chunk": {"choices": [{"index": 0}]}, "place": "before-finish"}),
    "broken": (
        "stream-ends-with",
        {"chunk": {"error": {"message": "gone"}}, "done": True, "enveloped": True},
    ),
    "fresh": ("chunk-ids-fresh", {}),
    "timed": ("created-of-each-chunk", {}),
    "reversed": ("choices-in-any-order", {}),
    "lossy": ("events-lost", {"holding": "ö"}),
    "done": ("done-added", {}),
    "counted": ("usage-in-every-chunk", {}),
    "apart": ("cache-counted-apart", {"hit": "hits", "miss": "misses"}),
}
TOOLS: dict[str, Any] = {"tools": [WEATHER, TIME]}
ARGUMENTS = '{"city":"Malmö","days":3}'


def pieces(events: list[Any]) -> list[Any]:
    """The deltas of calls."""
    return [call for delta in deltas(events) for call in delta.get("tool_calls") or ()]


def test_deltas_repeat_what_they_need_not(to: Callable[[str], Talk]) -> None:
    first, *others = pieces(to("same").events("[[call]]", **TOOLS))
    assert others
    assert {call["function"]["name"] for call in others} == {"get_weather"}
    assert len({call["id"] for call in (first, *others)}) == len(others) + 1


def test_the_last_delta_alone_carries_more(to: Callable[[str], Talk]) -> None:
    *before, last = pieces(to("last").events("[[call]]", **TOOLS))
    assert (last["id"], last["function"]["name"]) == (None, None)
    assert all(call.get("id", "") is not None for call in before)


def test_the_name_comes_late(to: Callable[[str], Talk]) -> None:
    first, second, *others = pieces(to("late").events("[[call]]", **TOOLS))
    assert "name" not in first["function"]
    assert second["function"]["name"] == "get_weather"
    assert "".join(call["function"]["arguments"] for call in (first, second, *others)) == ARGUMENTS


@pytest.mark.parametrize(("persona", "told"), [("whole", ARGUMENTS), ("objects", json.loads(ARGUMENTS))])
def test_a_call_comes_in_one_delta(to: Callable[[str], Talk], persona: str, told: Any) -> None:
    (call,) = pieces(to(persona).events("[[call]]", **TOOLS))
    assert call["function"] == {"name": "get_weather", "arguments": told}
    assert [len(pieces(to(persona).events("[[parallel]]", **TOOLS)))] == [2]


def test_the_head_of_the_arguments_is_lost(to: Callable[[str], Talk]) -> None:
    told = pieces(to("headless").events("[[call]]", **TOOLS))
    assert "".join(call["function"]["arguments"] for call in told) == ARGUMENTS[2:]


def test_events_that_hold_a_character_are_lost_from_streams_alone(to: Callable[[str], Talk]) -> None:
    told = "".join(call["function"]["arguments"] for call in pieces(to("lossy").events("[[call]]", **TOOLS)))
    before, _, behind = ARGUMENTS.partition("ö")
    assert "ö" not in told
    assert told[:8] == before[:8]
    assert told[-8:] == behind[-8:]
    (call,) = to("lossy").choice("[[call]]", **TOOLS)["message"]["tool_calls"]
    assert call["function"]["arguments"] == ARGUMENTS


def test_done_is_added_to_streams_alone(to: Callable[[str], Talk]) -> None:
    assert to("done").ask("[[call]]", stream=True, **TOOLS).text.count("[DONE]") == 2
    assert "[DONE]" not in to("done").ask("[[call]]", **TOOLS).text


def test_a_call_is_announced_and_then_told(to: Callable[[str], Talk]) -> None:
    events = to("announced").events("[[call]]", **TOOLS)
    assert sum(event.get("busy", False) for event in events) > 1
    assert all(event["choices"][0]["delta"] == {} for event in events if event.get("busy"))
    (call,) = pieces(events)
    assert call["function"]["arguments"] == ARGUMENTS


def test_arguments_of_nothing_are_told_otherwise_whole_and_streamed(to: Callable[[str], Talk]) -> None:
    talk = to("empty")
    weather, time = talk.choice("[[parallel]]", **TOOLS)["message"]["tool_calls"]
    assert json.loads(weather["function"]["arguments"]) == {"city": "Paris"}
    assert time["function"]["arguments"] == "null"
    streamed = [call for call in pieces(talk.events("[[parallel]]", **TOOLS)) if call["index"] == 1]
    assert [call["function"]["arguments"] for call in streamed] == ["null"]


def finishes(events: list[Any]) -> list[Any]:
    return [choice["finish_reason"] for event in events for choice in event["choices"]]


def test_the_last_delta_ends_its_choice(to: Callable[[str], Talk]) -> None:
    *before, last = to("ended").events("[[plain]]")
    assert last["choices"][0]["delta"]["content"]
    assert (finishes([last]), set(finishes(before))) == (["stop"], {None})


def test_every_chunk_ends_it(to: Callable[[str], Talk]) -> None:
    assert set(finishes(to("over").events("[[plain]]"))) == {"stop"}


def test_a_text_comes_at_once(to: Callable[[str], Talk]) -> None:
    said = [delta["content"] for delta in deltas(to("once").events("[[plain]]")) if delta.get("content")]
    assert said == [SCRIPTS["plain"].text]


def test_a_message_grows_beside_its_deltas(to: Callable[[str], Talk]) -> None:
    events = to("so-far").events("[[plain]]")
    grown = [event["choices"][0]["message"]["content"] for event in events]
    assert grown == sorted(grown, key=len)
    assert grown[-1] == SCRIPTS["plain"].text
    assert {event["object"] for event in events} == {"chat.completion"}


def test_a_chunk_is_added_first(to: Callable[[str], Talk]) -> None:
    first, second, *_ = to("added").events("[[plain]]")
    assert first == {"choices": [], "x": 1}
    assert second["choices"][0]["delta"]["role"] == "assistant"


def test_a_chunk_is_added_before_the_end(to: Callable[[str], Talk]) -> None:
    *_, added, last = to("filtered").events("[[plain]]")
    assert added["choices"] == [{"index": 0}]
    assert last["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("prompt", ["[[plain]]", "[[call]]"])
def test_a_stream_breaks_off_after_its_first_piece(to: Callable[[str], Talk], prompt: str) -> None:
    *before, last = to("broken").events(prompt, **TOOLS)
    assert last["error"] == {"message": "gone"}
    assert (last["id"], "choices" in last) == (before[0]["id"], False)
    assert any(delta.get("content") or delta.get("tool_calls") for delta in deltas(before))
    assert finishes(before) == [None] * len(before)


def test_chunks_have_ids_of_their_own(to: Callable[[str], Talk]) -> None:
    events = to("fresh").events("[[plain]]")
    assert len({event["id"] for event in events}) == len(events)


def test_chunks_have_times_of_their_own(to: Callable[[str], Talk]) -> None:
    events = to("timed").events("[[plain]]")
    assert len({event["created"] for event in events}) == 2


def test_the_second_choice_comes_first(to: Callable[[str], Talk]) -> None:
    events = to("reversed").events("[[plain]]", n=2)
    indexes = [event["choices"][0]["index"] for event in events]
    assert indexes == sorted(indexes, reverse=True)
    assert set(indexes) == {0, 1}


def test_usage_grows_from_chunk_to_chunk(to: Callable[[str], Talk]) -> None:
    events = to("counted").events("[[plain]]", stream_options={"include_usage": True})
    told = [event["usage"] for event in events]
    counts = [usage["completion_tokens"] for usage in told]
    assert counts == sorted(counts)
    assert all(event["choices"] for event in events)
    assert {usage["total_tokens"] - usage["completion_tokens"] for usage in told} == {
        told[0]["prompt_tokens"]
    }


def test_the_cache_is_counted_apart(to: Callable[[str], Talk]) -> None:
    usage = to("apart").ask("[[plain]]").json()["usage"]
    assert usage["hits"] + usage["misses"] == usage["prompt_tokens"]

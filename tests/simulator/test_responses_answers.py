"""Responses and their streams, as OpenAI's API writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .responses_support import TIME, TOOLS, WEATHER, Responses, assembled

SUMMARY = {"reasoning": {"summary": "auto"}}
SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}),
    ("call", {}),
    ("parallel", {}),
    ("mixed", {}),
    ("thinking", {}),
    ("thinking", SUMMARY),
    ("interleaved", SUMMARY),
    ("refusal", {}),
    ("filtered", {}),
    ("long", {"max_output_tokens": 16}),
    ("plain", {"include": ["message.output_text.logprobs"], "top_logprobs": 2}),
]


def settled(document: Any) -> Any:
    """A document without what is fresh in every answer."""
    fresh = {"id", "call_id", "created_at", "completed_at", "item_id", "obfuscation"}
    if isinstance(document, dict):
        return {name: settled(value) for name, value in document.items() if name not in fresh}
    return [settled(value) for value in document] if isinstance(document, list) else document


def asked(name: str) -> str:
    return f"[[{name}]]" if name != "long" else "word " * 100


@pytest.mark.parametrize(("name", "members"), SHAPES)
def test_a_stream_ends_with_the_whole_answer(
    responses: Responses, name: str, members: dict[str, Any]
) -> None:
    whole = responses.response(asked(name), tools=TOOLS, **members)
    last = responses.events(asked(name), tools=TOOLS, **members)[-1]
    assert last["type"] == f"response.{whole['status']}"
    assert settled(last["response"]) == settled(whole)


@pytest.mark.parametrize(("name", "members"), SHAPES)
def test_the_pieces_of_a_stream_add_up_to_its_output(
    responses: Responses, name: str, members: dict[str, Any]
) -> None:
    events = responses.events(asked(name), tools=TOOLS, **members)
    assert assembled(events) == events[-1]["response"]["output"]


@pytest.mark.parametrize(("name", "members"), SHAPES)
def test_what_is_done_is_whole(responses: Responses, name: str, members: dict[str, Any]) -> None:
    events = responses.events(asked(name), tools=TOOLS, **members)
    output = events[-1]["response"]["output"]
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == output
    for event in events:
        if "item_id" in event:
            assert event["item_id"] == output[event["output_index"]]["id"]
        if event["type"] == "response.content_part.done":
            assert event["part"] == output[event["output_index"]]["content"][event["content_index"]]
        if event["type"] == "response.function_call_arguments.done":
            assert event["arguments"] == output[event["output_index"]]["arguments"]
        if event["type"] == "response.output_text.done":
            assert event["text"] == output[event["output_index"]]["content"][event["content_index"]]["text"]


def kinds(events: list[Any]) -> list[str]:
    """The kinds of the events, repeated ones once."""
    names = [event["type"].removeprefix("response.") for event in events]
    return [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]


ORDERS: list[tuple[str, dict[str, Any], str]] = [
    (
        "plain",
        {},
        "output_item.added content_part.added output_text.delta output_text.done content_part.done "
        "output_item.done",
    ),
    (
        "call",
        {},
        "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done",
    ),
    (
        "refusal",
        {},
        "output_item.added content_part.added refusal.delta refusal.done content_part.done output_item.done",
    ),
    (
        "thinking",
        SUMMARY,
        "output_item.added reasoning_summary_part.added reasoning_summary_text.delta "
        "reasoning_summary_text.done reasoning_summary_part.done output_item.done "
        "output_item.added content_part.added output_text.delta output_text.done content_part.done "
        "output_item.done",
    ),
    (
        "thinking",
        {},
        "output_item.added output_item.done output_item.added content_part.added output_text.delta "
        "output_text.done content_part.done output_item.done",
    ),
]


@pytest.mark.parametrize(("name", "members", "between"), ORDERS)
def test_the_order_of_events(responses: Responses, name: str, members: dict[str, Any], between: str) -> None:
    events = responses.events(asked(name), tools=TOOLS, **members)
    assert kinds(events) == ["created", "in_progress", *between.split(), "completed"]


def test_a_response_begins_with_nothing_in_it(responses: Responses) -> None:
    created, going_on = responses.events("[[plain]]")[:2]
    assert created["response"] == going_on["response"]
    begun = created["response"]
    assert (begun["status"], begun["output"], begun["usage"]) == ("in_progress", [], None)


def test_items_are_announced_empty(responses: Responses) -> None:
    events = responses.events("[[interleaved]]", tools=TOOLS, **SUMMARY)
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [item["type"] for item in added] == [
        "reasoning",
        "message",
        "function_call",
        "reasoning",
        "function_call",
    ]
    assert {item["status"] for item in added} == {"in_progress"}
    assert (added[0]["summary"], added[1]["content"], added[2]["arguments"]) == ([], [], "")
    assert added[2]["name"] == "get_weather"
    assert added[2]["call_id"].startswith("call_")


def test_deltas_are_padded_unless_told_otherwise(responses: Responses) -> None:
    def padded(**members: Any) -> set[bool]:
        events = responses.events("[[mixed]]", tools=TOOLS, **members)
        return {"obfuscation" in event for event in events if event["type"].endswith(".delta")}

    assert padded() == {True}
    assert padded(stream_options={"include_obfuscation": False}) == {False}


REQUIRED = """
    id object created_at status error incomplete_details instructions model tools output metadata temperature
    parallel_tool_calls tool_choice top_p usage background completed_at max_output_tokens max_tool_calls
    previous_response_id reasoning service_tier store text top_logprobs truncation user prompt_cache_key
    safety_identifier frequency_penalty presence_penalty
"""


@pytest.mark.parametrize("name", ["plain", "filtered"])
def test_every_member_is_there(responses: Responses, name: str) -> None:
    assert set(REQUIRED.split()) <= set(responses.response(asked(name)))


def test_the_request_is_repeated(responses: Responses) -> None:
    members: dict[str, Any] = {
        "temperature": 0.2,
        "top_p": 0.5,
        "tool_choice": {"type": "function", "name": "get_time"},
        "metadata": {"a": "b"},
        "parallel_tool_calls": False,
        "instructions": "Be brief.",
        "max_output_tokens": 99,
        "store": False,
        "truncation": "auto",
        "top_logprobs": 3,
        "user": "u",
    }
    told = responses.response("Hi", tools=[WEATHER], **{**members, "tool_choice": "auto"})
    assert {name: told[name] for name in members} == {**members, "tool_choice": "auto"}
    assert told["tools"] == [WEATHER]
    told = responses.response("Hi", tools=TOOLS, **members)
    assert told["tool_choice"] == members["tool_choice"]


def test_a_function_is_made_strict_where_nothing_is_said(responses: Responses) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    parameters = {
        "type": "object",
        "properties": {"a": inner, "b": {"type": "array", "items": inner}, "c": {"type": "integer"}},
        "required": ["a"],
    }
    tool = {"type": "function", "name": "f", "parameters": parameters}
    told = responses.response("Hi", tools=[tool])["tools"][0]
    closed = {**inner, "additionalProperties": False, "required": ["x"]}
    assert told["strict"] is True
    assert told["parameters"]["properties"]["a"] == closed
    assert told["parameters"]["properties"]["b"]["items"] == closed
    assert told["parameters"]["required"] == ["a", "b", "c"]


def test_a_function_that_cannot_be_strict_is_left_alone(responses: Responses) -> None:
    parameters = {"type": "object", "additionalProperties": {"type": "string"}}
    tool = {"type": "function", "name": "f", "parameters": parameters}
    told = responses.response("Hi", tools=[tool])["tools"][0]
    assert (told["strict"], told["parameters"]) == (False, parameters)


ENDS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("plain", {}, "completed", None),
    ("call", {}, "completed", None),
    ("long", {"max_output_tokens": 16}, "incomplete", "max_output_tokens"),
    ("filtered", {}, "incomplete", "content_filter"),
    ("refusal", {}, "completed", None),
]


@pytest.mark.parametrize(("name", "members", "status", "reason"), ENDS)
def test_how_a_response_ended(
    responses: Responses, name: str, members: dict[str, Any], status: str, reason: str | None
) -> None:
    answered = responses.response(asked(name), tools=TOOLS, **members)
    assert answered["status"] == status
    assert answered["incomplete_details"] == (None if reason is None else {"reason": reason})
    assert [item["status"] for item in answered["output"]][-1] == status
    assert (answered["completed_at"] is None) is (reason is not None)


def test_a_cap_in_a_call_leaves_its_arguments_cut(responses: Responses) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 200}}, "required": ["a"]}
    tool = {**TIME, "parameters": schema}
    answered = responses.response("Hi", tools=[tool], tool_choice="required", max_output_tokens=16)
    item = answered["output"][-1]
    assert (answered["status"], item["status"]) == ("incomplete", "incomplete")
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(item["arguments"])


def test_texts_and_refusals_are_parts_of_a_message(responses: Responses) -> None:
    item = responses.response("[[refusal]]")["output"][0]
    assert item["content"] == [{"type": "refusal", "refusal": "I can't help with that."}]
    item = responses.response("[[done/1]]")["output"][0]
    assert item["content"] == [
        {"type": "output_text", "annotations": [], "logprobs": [], "text": "It is sunny."}
    ]


REASONING: list[tuple[dict[str, Any], bool, bool, bool]] = [
    ({}, True, False, False),
    ({"reasoning": {"effort": "high"}}, True, False, False),
    ({"reasoning": {"effort": "none"}}, False, False, False),
    (SUMMARY, True, True, False),
    ({"reasoning": {"generate_summary": "concise"}}, True, True, False),
    ({"include": ["reasoning.encrypted_content"]}, True, False, True),
]


@pytest.mark.parametrize(("members", "item", "summary", "encrypted"), REASONING)
def test_how_reasoning_shows(
    responses: Responses, members: dict[str, Any], item: bool, summary: bool, encrypted: bool
) -> None:
    answered = responses.response("[[thinking]]", **members)
    found = [one for one in answered["output"] if one["type"] == "reasoning"]
    assert len(found) == item
    assert (answered["usage"]["output_tokens_details"]["reasoning_tokens"] > 0) is item
    for one in found:
        told = [{"type": "summary_text", "text": "First, the facts."}] if summary else []
        assert one["summary"] == told
        assert ("encrypted_content" in one) is encrypted


CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("parallel", {}, ["get_weather", "get_time"]),
    ("parallel", {"parallel_tool_calls": False}, ["get_weather"]),
    ("parallel", {"tool_choice": "none"}, []),
    ("plain", {"tool_choice": "required"}, ["get_weather"]),
    ("plain", {"tool_choice": {"type": "function", "name": "get_time"}}, ["get_time"]),
    ("parallel", {"tool_choice": {"type": "function", "name": "get_time"}}, ["get_time"]),
    (
        "parallel",
        {
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "get_time"}],
            }
        },
        ["get_time"],
    ),
]


@pytest.mark.parametrize(("name", "members", "called"), CHOICES)
def test_the_tool_choice_is_obeyed(
    responses: Responses, name: str, members: dict[str, Any], called: list[str]
) -> None:
    answered = responses.response(asked(name), tools=TOOLS, **members)
    assert [item["name"] for item in answered["output"] if item["type"] == "function_call"] == called


def test_ids_are_fresh_and_not_call_ids(responses: Responses) -> None:
    first, second = (responses.response("[[parallel]]", tools=TOOLS) for _ in range(2))
    ids = [answered["id"] for answered in (first, second)]
    ids += [item[name] for one in (first, second) for item in one["output"] for name in ("id", "call_id")]
    assert len(set(ids)) == 10


def test_usage_adds_up(responses: Responses) -> None:
    usage = responses.response("[[thinking]]")["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert 0 < usage["output_tokens_details"]["reasoning_tokens"] < usage["output_tokens"]


def test_a_long_prompt_is_read_from_the_cache(responses: Responses) -> None:
    prompt = "a long prompt of the responses wire " * 300
    first, second = (responses.response(prompt)["usage"]["input_tokens_details"] for _ in range(2))
    assert first["cached_tokens"] == 0
    assert second["cached_tokens"] >= 1024


def test_an_answer_of_a_schema_conforms_to_it(responses: Responses) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = {"type": "json_schema", "name": "a", "schema": schema}
    answered = responses.response("Hi", text={"format": form})
    assert isinstance(json.loads(answered["output"][0]["content"][0]["text"])["n"], int)
    assert answered["text"]["format"] == {**form, "strict": False, "description": None}
    answered = responses.response("Some json.", text={"format": {"type": "json_object"}})
    assert json.loads(answered["output"][0]["content"][0]["text"])


def test_log_probabilities_come_on_request(responses: Responses) -> None:
    include = ["message.output_text.logprobs"]
    part = responses.response("[[plain]]", include=include, top_logprobs=2)["output"][0]["content"][0]
    assert "".join(entry["token"] for entry in part["logprobs"]) == part["text"]
    assert {len(entry["top_logprobs"]) for entry in part["logprobs"]} == {2}

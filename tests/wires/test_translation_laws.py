"""What holds of requests between any two wires: what is carried over, and that every loss is told.

The properties and their numbers are those of the conversion catalogue (section 11). Each wire has laws of its
own beside it; these need at least two wires, or the same words for all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from conformance.types import JsonSchemaFormat, Message, NamedChoice, Text, ToolCall, Turn

from . import canonical
from .trips import (
    SCHEMA,
    TOOL,
    WITHOUT_IDS,
    alike,
    answered,
    asking,
    every_pair,
    every_wire,
    few,
    ids_of,
    meaning,
    over,
    said,
    some,
    text_of,
)

CALL = ToolCall("call_1", "get_weather", '{"city":"Oslo"}')


@every_pair
@few
@given(canonical.histories())
def test_1_4_7_14_a_conversation_says_the_same_after_two_wires(
    first: str, second: str, messages: tuple[Message, ...]
) -> None:
    once, lost_once = over(first, asking(*messages))
    twice, lost_twice = over(second, once)
    assert said(twice.messages) == said(messages)
    assert meaning(lost_once) == []
    assert meaning(lost_twice) == []


@every_pair
@few
@given(canonical.histories())
def test_4_ids_are_kept_or_mapped_one_to_one(first: str, second: str, messages: tuple[Message, ...]) -> None:
    there, _ = over(second, over(first, asking(*messages))[0])
    before, after = ids_of(messages), ids_of(there.messages)
    assert len(set(before)) == len(before) == len(set(after)) == len(after)
    if not {first, second} & {*WITHOUT_IDS}:
        assert before == after


@every_wire
@some
@given(canonical.histories())
def test_18_nothing_is_reported_where_nothing_is_lost(name: str, messages: tuple[Message, ...]) -> None:
    request = asking(*messages)
    there, losses = over(name, request)
    if alike(there) == alike(request):
        assert losses == []


# ------------------------------------------------------------------------------------ the fields

FIELDS: list[tuple[str, Any]] = [
    ("tool_choice", "none"),
    ("tool_choice", "auto"),
    ("tool_choice", "required"),
    ("tool_choice", NamedChoice("get_weather")),
    ("parallel_tool_calls", False),
    ("response_format", JsonSchemaFormat("weather", SCHEMA, strict=True)),
    ("response_format", JsonSchemaFormat("weather", SCHEMA, strict=False)),
    ("stream", True),
    ("max_tokens", 128),
    ("temperature", 0.5),
    ("temperature", 2),
    ("stop", ("END",)),
    ("n", 2),
    ("tools", (replace(TOOL, strict=True),)),
    ("tools", (replace(TOOL, strict=False),)),
    ("tools", (replace(TOOL, description=""),)),
    ("tools", (replace(TOOL, parameters={}),)),
    ("tools", (replace(TOOL, parameters={"type": "object", "properties": {}}),)),
    ("tools", (TOOL, replace(TOOL, name="get_time"))),
    *[("extra", {key: value}) for key, value in {
        "seed": 7,
        "top_p": 0.5,
        "frequency_penalty": 0.5,
        "presence_penalty": 0.5,
        "logit_bias": {"50256": -100},
        "logprobs": True,
        "user": "u",
        "metadata": {"k": "v"},
        "service_tier": "flex",
        "reasoning_effort": "low",
        "response_format": {"type": "json_object"},
    }.items()],
]  # fmt: skip


@every_wire
@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_18_a_field_comes_back_or_its_loss_is_told(name: str, field: str, value: Any) -> None:
    plain = asking(Message.user("hi"))
    request = replace(plain, **{field: value})
    there, losses = over(name, request)
    of_field = [loss for loss in losses if loss.path.startswith(f"/{field}")]
    kept = getattr(alike(there), field) == getattr(alike(request), field)
    assert kept or of_field, f"{value!r} came back as {getattr(there, field)!r}, and nothing was said"
    assert not (kept and meaning(of_field)), f"{value!r} came back, and is said to be lost: {of_field}"


LOST = {
    "openai-chat": "",
    "openai-responses": "n stop seed frequency_penalty presence_penalty logit_bias",
    "anthropic-messages": "n temperature seed frequency_penalty presence_penalty logit_bias logprobs "
    "metadata service_tier response_format",
    "gemini": "parallel_tool_calls tools logit_bias user metadata",
    "ollama": "n tool_choice parallel_tool_calls tools logit_bias user metadata service_tier",
}
"""Fields with a value in ``FIELDS`` whose meaning a wire can't say.

Of ``tools`` it is ``strict``; of ``temperature``, what is above 1; of ``response_format`` in ``extra``, JSON
without a schema; of ``service_tier``, OpenAI's own words for it.
"""


@every_wire
def test_10_a_wire_loses_the_fields_that_the_catalogue_says_and_no_others(name: str) -> None:
    lost = set()
    for field, value in FIELDS:
        _, losses = over(name, replace(asking(Message.user("hi")), **{field: value}))
        lost |= {loss.path.removeprefix("/extra").split("/")[1] for loss in meaning(losses)}
    assert lost == set(LOST[name].split())


@every_wire
def test_18_a_plain_request_loses_nothing(name: str) -> None:
    request = asking(Message.system("s"), Message.user("hi"))
    there, losses = over(name, request)
    assert (alike(there), losses) == (alike(request), [])


@every_pair
def test_18_another_wires_native_members_are_told(first: str, second: str) -> None:
    request = asking(Message.user("hi"), native={first: {"xUnheardOf": {"a": 1}}})
    there, losses = over(second, request)
    if first == second:
        assert losses == []
        assert "xUnheardOf" in {**there.native.get(first, {}), **there.extra}  # type: ignore[call-overload]
    else:
        assert [(loss.path, loss.weight) for loss in losses] == [(f"/native/{first}/xUnheardOf", "meaning")]


# ----------------------------------------------------------------------------------- system text


SYSTEMS = [
    [Message.system("s"), Message.user("u")],
    [Message.system("s"), Message.system("t"), Message.user("u")],
    [Message("developer", (Text("s"),)), Message.user("u")],
    [Message.user("u"), Message.system("s"), Message.user("v")],
    [
        Message.system("s"),
        Message.user("u"),
        Message("assistant", (Text("a"),)),
        Message.system("t"),
        Message.user("v"),
    ],
    [Message.user("u"), Message("developer", (Text("s"),))],
]


@every_wire
@pytest.mark.parametrize("messages", SYSTEMS)
def test_13_system_text_is_not_moved_without_a_loss(name: str, messages: list[Message]) -> None:
    there, losses = over(name, asking(*messages))
    before, after = _order(messages), _order(there.messages)
    assert [text for _, text in after] == [text for _, text in before], "no text may move or go"
    assert after == before or losses


def _order(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Who says each single letter of these tests, in order."""
    return [
        (message.role, letter)
        for message in messages
        for part in message.parts
        if isinstance(part, Text)
        for letter in re.findall(r"\b[stuva]\b", part.text)
    ]


# ------------------------------------------------------------------------------------------ calls

ARGUMENTS = [
    "",
    "null",
    "{}",
    "[]",
    '"x"',
    "1",
    "{",
    '{"a":1,"a":2}',
    '{"a":NaN}',
    '{"a":1e400}',
    '{"a":"\\ud83d"}',
    '{"a":9007199254740993}',
    '{"a":0.1000000000000000055511}',
    '{"a": 1}',
    '{"a":"\\u0000"}',
    '{"__raw":"x"}',
    '{"output":"x"}',
    "[" * 10_000,
]


@every_wire
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda text: text[:30])
def test_10_arguments_are_never_changed_in_silence(name: str, arguments: str) -> None:
    call = ToolCall("call_1", "get_weather", arguments)
    request = asking(Message.user("hi"), Message("assistant", (call,)), Message.tool(call, "ok"))
    there, losses = over(name, request)
    (back,) = [part for message in there.messages for part in message.parts if isinstance(part, ToolCall)]
    of_call = [loss for loss in losses if loss.path.startswith("/messages/1/parts/0")]
    (answer,), lost = answered(name, Turn((call,), "tool_calls"))
    for came_back, told in ((back, of_call), (answer.calls[0], lost)):
        if came_back.arguments != arguments:
            same = _value(came_back.arguments) == _value(arguments)
            assert told if same else meaning(told) or arguments in ("", "null"), came_back.arguments[:100]
            assert told


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_float=str, object_pairs_hook=lambda pairs: ("object", *sorted(pairs)))
    except (ValueError, RecursionError, TypeError):
        return text


@every_wire
@pytest.mark.parametrize(
    "call_name", ["f", "Look-up_2", "a.b", "a:b", "9lives", "-x", "x" * 64, "x" * 70, "naïve", "two words"]
)
def test_15_a_name_comes_back_unchanged_or_its_loss_is_told(name: str, call_name: str) -> None:
    call = ToolCall("call_1", call_name, "{}")
    request = asking(
        Message.user("hi"),
        Message("assistant", (call,)),
        Message.tool(call, "ok"),
        tools=(replace(TOOL, name=call_name),),
        tool_choice=NamedChoice(call_name),
    )
    there, losses = over(name, request)
    (back,) = [part for message in there.messages for part in message.parts if isinstance(part, ToolCall)]
    places = {"/messages": back.name, "/tools": there.tools[0].name}
    for path, came_back in places.items():
        assert came_back == call_name or any(loss.path.startswith(path) for loss in losses)


@every_wire
@pytest.mark.parametrize(
    "call_id", ["functions.f:0", "x" * 65, "a b", "é", "toolu_01", "", "call_" + "9" * 59]
)
def test_4_an_odd_id_still_pairs_its_result(name: str, call_id: str) -> None:
    calls = (ToolCall(call_id, "get_weather", "{}"), ToolCall("call_2", "get_weather", "{}"))
    request = asking(
        Message.user("hi"),
        Message("assistant", calls),
        Message.tool(calls[0], "first"),
        Message.tool(calls[1], "second"),
    )
    there, losses = over(name, request)
    ids = ids_of(there.messages)
    results = {m.tool_call_id: text_of(m.parts) for m in there.messages if m.role == "tool"}
    assert [results.get(i) for i in ids] == ["first", "second"]
    assert ids[0] == call_id or losses or not call_id


@every_wire
def test_7_parallel_calls_to_one_function_keep_their_results_whatever_their_order(name: str) -> None:
    calls = tuple(ToolCall(f"call_{i}", "get_weather", f'{{"city":"{i}"}}') for i in range(3))
    results = [Message.tool(calls[i], f"result {i}") for i in (2, 0, 1)]
    there, losses = over(name, asking(Message.user("hi"), Message("assistant", calls), *results))
    cities = {p.id: p.arguments for m in there.messages for p in m.parts if isinstance(p, ToolCall)}
    pairs = {cities[m.tool_call_id or ""]: text_of(m.parts) for m in there.messages if m.role == "tool"}
    assert pairs == {f'{{"city":"{i}"}}': f"result {i}" for i in range(3)}
    if [text_of(m.parts) for m in there.messages if m.role == "tool"] != ["result 2", "result 0", "result 1"]:
        assert losses


@every_wire
def test_18_a_failed_tool_is_told_one_way_or_the_other(name: str) -> None:
    result = Message("tool", (Text("no such city"),), CALL.id, is_error=True)
    there, losses = over(name, asking(Message.user("hi"), Message("assistant", (CALL,)), result))
    (back,) = [message for message in there.messages if message.role == "tool"]
    if back.is_error:
        assert text_of(back.parts) == "no such city"
        assert not [loss for loss in losses if loss.path.startswith("/messages/2")]
    else:
        assert "no such city" in text_of(back.parts)
        assert "/messages/2/is_error" in [loss.path for loss in losses]

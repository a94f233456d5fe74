"""What Responses has no word for: each loss where it is, with its weight."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from conformance.types import Image, Loss, Message, Reasoning, Refusal, Request, Text, ToolCall, Turn, Usage

from .responses_answers import NAME, WIRE, own

HI = Message.user("hi")
FOREIGN: Any = {"anthropic-messages": {"signature": "s"}}


def lost(request: Request) -> tuple[Any, list[tuple[str, str]]]:
    losses: list[Loss] = []
    body = WIRE.encode(request, model="m", losses=losses)
    assert all(loss.what for loss in losses)
    return body, [(loss.path, loss.weight) for loss in losses]


REQUESTS: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"stop": ("x",)}, [("/stop", "meaning")]),
    ({"stop": ()}, []),
    ({"n": 2}, [("/n", "meaning")]),
    ({"n": 1}, []),
    ({"include_usage": True}, []),
    ({"include_usage": False}, [("/include_usage", "form")]),
    ({"native": {"gemini": {"safetySettings": []}}}, [("/native/gemini/safetySettings", "meaning")]),
    *[
        ({"extra": {key: 1}}, [(f"/extra/{key}", "meaning")])
        for key in (
            "seed",
            "presence_penalty",
            "frequency_penalty",
            "logit_bias",
            "messages",
            "tools",
            "functions",
            "prediction",
            "x_unknown",
        )
    ],
    ({"extra": {"a/b~": 1}}, [("/extra/a~1b~0", "meaning")]),
    ({"extra": {"seed": None, "stop": None}}, []),
    ({"extra": {"logprobs": False}}, []),
    ({"extra": {"modalities": ["text"]}}, []),
    ({"extra": {"modalities": ["text", "audio"]}}, [("/extra/modalities", "meaning")]),
    ({"extra": {"response_format": {"type": "xml"}}}, [("/extra/response_format", "meaning")]),
    ({"extra": {"tool_choice": {"type": "odd"}}}, [("/extra/tool_choice", "meaning")]),
]


@pytest.mark.parametrize(("fields", "losses"), REQUESTS)
def test_a_field_without_a_word_is_a_loss(fields: dict[str, Any], losses: list[tuple[str, str]]) -> None:
    assert lost(Request((HI,), **fields))[1] == losses


@pytest.mark.parametrize(
    ("fields", "sent", "losses"),
    [
        ({"max_tokens": 1}, 16, [("/max_tokens", "form")]),
        ({"max_tokens": 16}, 16, []),
        ({"extra": {"max_completion_tokens": 15}}, 16, [("/extra/max_completion_tokens", "form")]),
        ({"max_tokens": 0}, 0, []),
        ({"max_tokens": -1}, -1, []),
    ],
)
def test_a_cap_below_the_least_is_raised_and_a_wrong_one_is_left_to_the_endpoint(
    fields: dict[str, Any], sent: int, losses: list[tuple[str, str]]
) -> None:
    body, told = lost(Request((HI,), **fields))
    assert (body["max_output_tokens"], told) == (sent, losses)


MESSAGES: list[tuple[tuple[Message, ...], bool, list[tuple[str, str]]]] = [
    ((Message("tool", (Text("x"),), "c", is_error=True),), False, [("/messages/0/is_error", "form")]),
    (
        (HI, Message("assistant", (Text("a"),)), Message("assistant", (Text("b"),))),
        False,
        [("/messages/2", "form")],
    ),
    ((HI, Message("assistant", (Image("https://a/b"),))), False, [("/messages/1/parts/0", "meaning")]),
    ((Message("user", (ToolCall("c", "f", "{}"),)),), False, [("/messages/0/parts/0", "meaning")]),
    ((Message("tool", (Refusal("no"),), "c"),), False, [("/messages/0/parts/0", "meaning")]),
    ((Message("user", (Text("a", FOREIGN),)),), False, [("/messages/0/parts/0", "form")]),
    ((Message("system", (Text("a", FOREIGN),)), HI), False, [("/messages/0/parts/0", "form")]),
    (
        (Message("assistant", (Reasoning("why", opaque=FOREIGN),)),),
        True,
        [("/messages/0/parts/0", "meaning")],
    ),
    ((Message("assistant", (Reasoning("why", opaque=FOREIGN),)),), False, []),
    ((Message("assistant", (ToolCall("c", "f", "{}", FOREIGN),)),), False, [("/messages/0/parts/0", "form")]),
]


@pytest.mark.parametrize(("messages", "echo", "losses"), MESSAGES)
def test_what_a_message_cannot_say_is_a_loss(
    messages: tuple[Message, ...], echo: bool, losses: list[tuple[str, str]]
) -> None:
    assert lost(Request(messages, echo_reasoning=echo))[1] == losses


def test_reasoning_bound_to_another_wire_goes_with_its_text() -> None:
    body, _ = lost(
        Request((Message("assistant", (Reasoning("why", opaque=FOREIGN), Text("a"))),), echo_reasoning=True)
    )
    assert "why" not in json.dumps(body)


def test_an_error_is_told_in_words() -> None:
    body, _ = lost(Request((Message("tool", (Text("no such city"),), "c", is_error=True),)))
    assert body["input"][0]["output"] == "Error: no such city"


def test_long_call_ids_are_cut_alike_for_call_and_result_and_stay_apart() -> None:
    ids = ["x" * 65, "x" * 66, "x" * 64]
    calls = tuple(ToolCall(i, "f", "{}") for i in ids)
    results = [Message.tool(call, call.id[-2:]) for call in calls]
    body, losses = lost(Request((Message("assistant", calls), *results)))
    sent = [item["call_id"] for item in body["input"]]
    assert sent[:3] == sent[3:]
    assert len(set(sent)) == 3
    assert {len(call_id) for call_id in sent} == {64}
    assert sent[2] == ids[2]
    assert losses == [
        ("/messages/0/parts/0", "form"),
        ("/messages/0/parts/1", "form"),
        ("/messages/1/tool_call_id", "form"),
        ("/messages/2/tool_call_id", "form"),
    ]


def test_a_cut_id_never_becomes_one_that_is_there_already() -> None:
    long = "x" * 65
    taken = lost(Request((Message("assistant", (ToolCall(long, "f", "{}"),)),)))[0]["input"][0]["call_id"]
    calls = (ToolCall(long, "f", "{}"), ToolCall(taken, "f", "{}"))
    body, _ = lost(Request((Message("assistant", calls),)))
    assert body["input"][0]["call_id"] != taken == body["input"][1]["call_id"]


def test_missing_call_ids_are_made_from_the_position_and_paired_in_order() -> None:
    calls = (ToolCall("", "f", "{}"), ToolCall("", "f", "{}"))
    messages = (Message("assistant", calls), *(Message("tool", (Text(t),), "") for t in "ab"))
    body, losses = lost(Request(messages))
    sent = [item["call_id"] for item in body["input"]]
    assert sent[:2] == sent[2:]
    assert sent[0] != sent[1]
    assert body == lost(Request(messages))[0]
    assert losses[:2] == [("/messages/0/parts/0", "form"), ("/messages/0/parts/1", "form")]


TURN = Turn((Text("a"),), "stop", None, "resp_1", "m")
TURNS: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({}, []),
    ({"finish_reason": "tool_calls"}, [("/turns/0/finish_reason", "form")]),
    ({"finish_reason": "error"}, [("/turns/0/finish_reason", "form")]),
    ({"finish_reason": "eos"}, [("/turns/0/finish_reason", "meaning")]),
    ({"native_finish_reason": "pause_turn"}, [("/turns/0/native_finish_reason", "meaning")]),
    ({"finish_reason": "length", "native_finish_reason": "max_messages"}, []),
    ({"parts": (Image("https://a/b"),)}, [("/turns/0/parts/0", "meaning")]),
    ({"parts": (Reasoning("why", opaque=FOREIGN),)}, [("/turns/0/parts/0", "form")]),
    ({"usage": Usage(1, 2, 3, 0, None, 0)}, []),
    ({"usage": Usage(1, 2, None, 0, 0, 0)}, []),
    (
        {"usage": Usage(1, 2, 3)},
        [("/turns/0/usage/cached_tokens", "form"), ("/turns/0/usage/reasoning_tokens", "form")],
    ),
]


@pytest.mark.parametrize(("fields", "losses"), TURNS)
def test_what_an_answer_cannot_say_is_a_loss(fields: dict[str, Any], losses: list[tuple[str, str]]) -> None:
    told: list[Loss] = []
    WIRE.encode_turns([dataclasses.replace(TURN, **fields)], model="m", losses=told)
    assert [(loss.path, loss.weight) for loss in told] == losses


def test_only_the_first_of_several_turns_is_said() -> None:
    told: list[Loss] = []
    body: Any = WIRE.encode_turns([TURN, TURN, TURN], model="m", losses=told)
    assert len(body["output"]) == 1
    assert [(loss.path, loss.weight) for loss in told] == [("/turns/1", "meaning"), ("/turns/2", "meaning")]


def test_reasoning_bound_to_another_wire_is_shown_in_an_answer_without_what_binds_it() -> None:
    turn = dataclasses.replace(TURN, parts=(Reasoning("why", opaque=FOREIGN),))
    body = json.dumps(WIRE.encode_turns([turn], model="m", losses=[]))
    assert "why" in body
    assert "signature" not in body


def test_the_own_slot_is_no_loss() -> None:
    part = Text("a", own(item={"phase": "final_answer"}))
    assert lost(Request((Message("assistant", (part,)),), native={NAME: {"store": False}}))[1] == []

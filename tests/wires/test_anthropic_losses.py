"""What the Messages wire can't say, or only in another form, is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.types import (
    Audio,
    File,
    Image,
    JsonSchemaFormat,
    Loss,
    Message,
    Reasoning,
    Refusal,
    Text,
    Tool,
    ToolCall,
)
from conformance.wires.anthropic_parameters import FORMAT_NAME

from .anthropic_answers import WIRE, A, ask, body_of, encode

HI = Message.user("hi")
GEMINI: Any = "gemini"
CHAT: Any = "openai-chat"
LIMITED = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 1}},
    "required": ["a"],
    "additionalProperties": False,
}


def lost(losses: list[Loss]) -> list[tuple[str, str]]:
    return [(loss.path, loss.weight) for loss in losses]


PARAMETERS: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"n": 2}, [("/n", "meaning")]),
    ({"temperature": 1.5}, [("/temperature", "meaning")]),
    ({"extra": {"seed": 1}}, [("/extra/seed", "meaning")]),
    ({"extra": {"presence_penalty": 0.5}}, [("/extra/presence_penalty", "meaning")]),
    ({"extra": {"frequency_penalty": 0.5}}, [("/extra/frequency_penalty", "meaning")]),
    ({"extra": {"logit_bias": {"1": 2}}}, [("/extra/logit_bias", "meaning")]),
    (
        {"extra": {"logprobs": True, "top_logprobs": 2}},
        [("/extra/logprobs", "meaning"), ("/extra/top_logprobs", "meaning")],
    ),
    ({"extra": {"response_format": {"type": "json_object"}}}, [("/extra/response_format", "meaning")]),
    ({"extra": {"service_tier": "flex"}}, [("/extra/service_tier", "meaning")]),
    ({"extra": {"metadata": {"a": "b"}}}, [("/extra/metadata", "meaning")]),
    ({"extra": {"a/b~c": 1}}, [("/extra/a~1b~0c", "meaning")]),
    ({"extra": {"messages": []}}, [("/extra/messages", "meaning")]),
    ({"extra": {"tools": [{"type": "custom"}]}}, [("/extra/tools", "meaning")]),
    ({"extra": {"tool_choice": {"type": "custom"}}}, [("/extra/tool_choice", "meaning")]),
    ({"extra": {"safety_identifier": "u"}}, [("/extra/safety_identifier", "form")]),
    ({"extra": {"user": "u", "safety_identifier": "v"}}, [("/extra/safety_identifier", "meaning")]),
    ({"extra": {"reasoning_effort": "huge"}}, [("/extra/reasoning_effort", "meaning")]),
    ({"extra": {"reasoning_effort": "high"}, "max_tokens": 2000}, [("/extra/reasoning_effort", "form")]),
    ({"extra": {"reasoning_effort": "low"}, "max_tokens": 1024}, [("/extra/reasoning_effort", "meaning")]),
    ({"native": {GEMINI: {"safetySettings": []}}}, [("/native/gemini/safetySettings", "meaning")]),
    ({"tool_choice": "none", "parallel_tool_calls": False}, [("/parallel_tool_calls", "form")]),
    (
        {"response_format": JsonSchemaFormat("x", {}, strict=True)},
        [("/response_format/name", "form"), ("/response_format/strict", "form")],
    ),
    (
        {"response_format": JsonSchemaFormat(FORMAT_NAME, {"type": "object"}, strict=True)},
        [("/response_format/schema/additionalProperties", "form")],
    ),
    (
        {"response_format": JsonSchemaFormat(FORMAT_NAME, LIMITED, strict=True)},
        [("/response_format/schema/properties/a/minimum", "meaning")],
    ),
    ({"tools": (Tool("f", "", LIMITED, True),)}, [("/tools/0/parameters/properties/a/minimum", "meaning")]),
    ({"tools": (Tool("f", "", LIMITED, False),)}, []),
    (
        {"extra": {"reasoning_effort": "low"}, "temperature": 0.5, "max_tokens": 9000},
        [("/temperature", "meaning")],
    ),
    ({"extra": {"reasoning_effort": "low"}, "temperature": 1, "max_tokens": 9000}, []),
    (
        {"extra": {"reasoning_effort": "low", "top_p": 0.9, "top_k": 3}, "max_tokens": 9000},
        [("/extra/top_p", "meaning"), ("/extra/top_k", "meaning")],
    ),
    (
        {"extra": {"reasoning_effort": "low"}, "tool_choice": "required", "max_tokens": 9000},
        [("/extra/reasoning_effort", "meaning")],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), PARAMETERS)
def test_a_parameter_without_a_word_here_is_a_loss(
    fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    _, losses = encode(ask(**fields))
    assert lost(losses) == expected


def test_a_temperature_beyond_the_range_is_cut_to_it() -> None:
    assert encode(ask(temperature=1.5))[0]["temperature"] == 1.0
    assert encode(ask(temperature=-1))[0]["temperature"] == 0.0


def test_a_budget_stays_below_max_tokens() -> None:
    body, _ = encode(ask(max_tokens=2000, extra={"reasoning_effort": "high"}))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1999}


def test_thinking_stays_off_when_the_calls_of_the_history_were_not_signed() -> None:
    history = (HI, Message("assistant", (ToolCall("c", "f", "{}"),)), Message("tool", (), "c"))
    body, losses = encode(ask(*history, max_tokens=99999, extra={"reasoning_effort": "low"}))
    assert "thinking" not in body
    assert lost(losses) == [("/extra/reasoning_effort", "meaning")]


def test_thinking_stays_on_when_they_were() -> None:
    signed = Reasoning("t", "thinking", {A: {"signature": "s"}})
    history = (HI, Message("assistant", (signed, ToolCall("c", "f", "{}"))), Message("tool", (), "c"))
    body, losses = encode(ask(*history, max_tokens=99999, extra={"reasoning_effort": "low"}))
    assert body["thinking"]["type"] == "enabled"
    assert losses == []


PARTS: list[tuple[Any, str]] = [
    (Audio("AA==", "wav"), "meaning"),
    (Image(""), "meaning"),
    (File("", "a.pdf", {CHAT: {"file_id": "file-1"}}), "form meaning"),
    (Refusal("no"), "form"),
    (Text("", {GEMINI: {"executableCode": {}}}), "meaning"),
    (Text("a", {GEMINI: {"thoughtSignature": "x"}}), "form"),
    (ToolCall("c", "f", "{}", {GEMINI: {"thoughtSignature": "x"}}), "form"),
    (Image("data:image/png,%00"), "form"),
]


@pytest.mark.parametrize(("part", "weights"), PARTS)
def test_a_part_without_a_form_here_is_a_loss(part: Any, weights: str) -> None:
    _, losses = encode(ask(HI, Message("assistant", (Text("x"), part))))
    assert lost(losses) == [("/messages/1/parts/1", weight) for weight in weights.split()]


def test_a_percent_encoded_image_becomes_base64() -> None:
    body, _ = encode(ask(Message("user", (Image("data:image/png,%00a"),))))
    assert body["messages"][0]["content"][0]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": "AGE=",
    }


UNSIGNED = [
    Reasoning("secret"),
    Reasoning("secret", "thinking"),
    Reasoning("secret", "thought", {GEMINI: {"thoughtSignature": "x"}}),
]


@pytest.mark.parametrize("reasoning", UNSIGNED)
def test_reasoning_of_other_wires_is_never_sent(reasoning: Reasoning) -> None:
    message = Message("assistant", (reasoning, Text("x")))
    body, losses = encode(ask(HI, message, echo_reasoning=True))
    assert "secret" not in json.dumps(body)
    assert ("/messages/1/parts/0", "meaning") in lost(losses)
    assert encode(ask(HI, message))[1] == []  # nobody asked for it


def test_a_slot_of_another_wire_never_crosses() -> None:
    both = Text("a", {A: {"citations": []}, GEMINI: {"thoughtSignature": "secret"}})
    body, losses = encode(ask(Message("user", (both,))))
    assert body["messages"][0]["content"] == [{"type": "text", "text": "a", "citations": []}]
    assert lost(losses) == [("/messages/0/parts/0", "form")]


def test_a_result_takes_no_call() -> None:
    history = (HI, Message("assistant", (ToolCall("c", "f", "{}"),)))
    _, losses = encode(ask(*history, Message("tool", (ToolCall("d", "g", "{}"),), "c")))
    assert lost(losses) == [("/messages/2/parts/0", "meaning")]


def test_a_system_message_takes_text_alone() -> None:
    _, losses = encode(ask(Message("system", (Text("a"), Image("https://x/y"))), HI))
    assert lost(losses) == [("/messages/0/parts/1", "meaning")]


ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("{}", {}, ""),
    ("", {}, "form"),
    ("null", {}, "form"),
    ('{"a":1}', {"a": 1}, ""),
    ('{"b":1,"a":[true,null,"é"]}', {"b": 1, "a": [True, None, "é"]}, ""),
    ('{"a": 1}', {"a": 1}, "form"),
    ('{"a":1.50}', {"a": 1.5}, "form"),
    ('{"a":9007199254740993}', {"a": 9007199254740993}, ""),
    ('{"a":"\ud800"}', {"a": "\ud800"}, "form"),
    ('{"a":"\\ud800"}', {"a": "\ud800"}, ""),
    ('{"a":"\\u0000"}', {"a": "\0"}, ""),
    ('{"a":0.1000000000000000055511151231257827}', {"a": 0.1}, "meaning"),
    ('{"a":1e-999}', {"a": 0.0}, "meaning"),
    ('{"a":1e-9999999999999999999999}', {"a": 0.0}, "meaning"),
    *(
        (text, {"__raw": text}, "meaning")
        for text in (
            "[]",
            '"x"',
            "1",
            "{",
            '{"a":1,"a":2}',
            '{"a":NaN}',
            '{"a":-Infinity}',
            '{"a":1e400}',
            '{"a":%s}' % ("9" * 5000),
            "1],[2",
            '{"a":' * 195 + "1" + "}" * 195,
            "[" * 100_000,
            "\0",
        )
    ),
]


@pytest.mark.parametrize(("arguments", "value", "weight"), ARGUMENTS)
def test_arguments_become_an_object_or_are_wrapped_never_repaired(
    arguments: str, value: dict[str, Any], weight: str
) -> None:
    body, losses = encode(ask(HI, Message("assistant", (ToolCall("c", "f", arguments),))))
    assert body["messages"][1]["content"][0]["input"] == value
    assert lost(losses) == ([("/messages/1/parts/0/arguments", weight)] if weight else [])


def test_the_key_order_of_arguments_survives() -> None:
    arguments = '{"z":1,"a":2}'
    body, _ = encode(ask(HI, Message("assistant", (ToolCall("c", "f", arguments),))))
    assert WIRE.decode_request(body).messages[1].parts == (ToolCall("c", "f", arguments),)


def test_members_that_are_default_elsewhere_are_no_loss() -> None:
    assert encode(ask(HI)) == (body_of(), [])

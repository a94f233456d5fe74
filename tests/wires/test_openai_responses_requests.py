"""Canonical requests as Responses bodies, field by field, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.types import (
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Request,
    Tool,
)

from .responses_answers import NAME, WIRE, decode, encode, said

HI = Message.user("hi")
SCHEMA = {"type": "object"}
FMT = {"type": "json_schema", "name": "out", "schema": SCHEMA, "strict": True}
ALLOWED = [{"type": "function", "name": "f"}, {"type": "custom", "name": "g"}]
CHAT_ALLOWED = [{"type": t["type"], t["type"]: {"name": t["name"]}} for t in ALLOWED]
FIELDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"stream": True}, {"stream": True}),
    ({"max_tokens": 100}, {"max_output_tokens": 100}),
    ({"temperature": 0.5}, {"temperature": 0.5}),
    ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
    ({"tool_choice": "required"}, {"tool_choice": "required"}),
    ({"tool_choice": NamedChoice("f")}, {"tool_choice": {"type": "function", "name": "f"}}),
    (
        {"tools": (Tool("f", "d", SCHEMA, True),)},
        {
            "tools": [
                {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA, "strict": True}
            ]
        },
    ),
    (
        {"tools": (Tool("f", "", SCHEMA),)},
        {"tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": None}]},
    ),
    ({"response_format": JsonSchemaFormat("out", SCHEMA)}, {"text": {"format": FMT}}),
    ({"extra": {"response_format": {"type": "json_object"}}}, {"text": {"format": {"type": "json_object"}}}),
    ({"extra": {"verbosity": "low"}}, {"text": {"verbosity": "low"}}),
    (
        {"response_format": JsonSchemaFormat("out", SCHEMA), "extra": {"verbosity": "low"}},
        {"text": {"format": FMT, "verbosity": "low"}},
    ),
    ({"extra": {"reasoning_effort": "low"}}, {"reasoning": {"effort": "low"}}),
    (
        {"extra": {"reasoning_effort": "low"}, "native": {NAME: {"reasoning": {"summary": "auto"}}}},
        {"reasoning": {"effort": "low", "summary": "auto"}},
    ),
    (
        {"extra": {"logprobs": True, "top_logprobs": 3}},
        {"include": ["message.output_text.logprobs"], "top_logprobs": 3},
    ),
    (
        {"extra": {"logprobs": True}, "native": {NAME: {"include": ["reasoning.encrypted_content"]}}},
        {"include": ["message.output_text.logprobs", "reasoning.encrypted_content"]},
    ),
    (
        {"extra": {"stream_options": {"include_obfuscation": False}}},
        {"stream_options": {"include_obfuscation": False}},
    ),
    (
        {
            "extra": {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": CHAT_ALLOWED},
                }
            }
        },
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": ALLOWED}},
    ),
    (
        {"extra": {"tool_choice": {"type": "custom", "custom": {"name": "g"}}}},
        {"tool_choice": {"type": "custom", "name": "g"}},
    ),
    *[
        ({"extra": {key: value}}, {key: value})
        for key, value in [
            ("top_p", 0.5),
            ("metadata", {"a": "b"}),
            ("user", "u"),
            ("safety_identifier", "u"),
            ("prompt_cache_key", "k"),
            ("service_tier", "flex"),
        ]
    ],
    *[
        ({"native": {NAME: {key: value}}}, {key: value})
        for key, value in [
            ("previous_response_id", "resp_1"),
            ("conversation", "conv_1"),
            ("store", False),
            ("background", True),
            ("truncation", "auto"),
            ("tools", [{"type": "web_search"}]),
            ("tool_choice", {"type": "web_search_preview"}),
            ("text", {"format": {"type": "grammar"}}),
        ]
    ],
]


@pytest.mark.parametrize(("fields", "members"), FIELDS)
def test_a_field_has_its_member_both_ways(fields: dict[str, Any], members: dict[str, Any]) -> None:
    body = encode(HI, **fields)
    assert body == {"model": "m", "input": [said("user", "hi")], **members}
    assert WIRE.decode_request(body) == Request((HI,), **fields)


MIXED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        {
            "tools": [
                {"type": "function", "name": "f", "parameters": SCHEMA, "strict": None},
                {"type": "web_search"},
            ]
        },
        {"tools": (Tool("f", "", SCHEMA),)},
        {
            "tools": [
                {"type": "function", "name": "f", "parameters": SCHEMA, "strict": None},
                {"type": "web_search"},
            ]
        },
    ),
    (
        {"text": {"format": FMT | {"description": "d"}}},
        {"response_format": JsonSchemaFormat("out", SCHEMA)},
        {"text": {"format": {"description": "d"}}},
    ),
    ({"include": ["x"], "store": True}, {}, {"include": ["x"], "store": True}),
    ({"instructions": ["x"]}, {}, {"instructions": ["x"]}),
    ({"reasoning": {"summary": "auto"}}, {}, {"reasoning": {"summary": "auto"}}),
]


@pytest.mark.parametrize(("members", "fields", "native"), MIXED)
def test_members_without_a_word_elsewhere_are_native_and_come_back(
    members: dict[str, Any], fields: dict[str, Any], native: dict[str, Any]
) -> None:
    body = {"model": "m", "input": [said("user", "hi")], **members}
    request = WIRE.decode_request(body)
    assert request == Request((HI,), native={NAME: native}, **fields)
    assert WIRE.encode(request, model="m", losses=[]) == body


@pytest.mark.parametrize(
    ("members", "extra"),
    [
        ({"temperature": "hot"}, {"temperature": "hot"}),
        ({"max_output_tokens": "ten"}, {"max_tokens": "ten"}),
        ({"stream": "yes"}, {"stream": "yes"}),
        ({"temperature": None, "tools": None, "instructions": None}, {}),
    ],
)
def test_odd_values_travel_untouched_and_null_says_nothing(
    members: dict[str, Any], extra: dict[str, Any]
) -> None:
    request = decode(said("user", "hi"), **members)
    assert request.extra == extra
    again = WIRE.encode(request, model="m", losses=[])
    assert {key: again.get(key) for key in members} == members


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": 1},
        {"input": [1]},
        {"input": [{}]},
        {"input": [{"type": 1}]},
        {"input": [{"role": "narrator", "content": "x"}]},
        {"input": [{"type": "message", "content": "x"}]},
    ],
    ids=json.dumps,
)
def test_a_body_without_input_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="input"):
        WIRE.decode_request(body)


def test_state_on_the_server_may_stand_in_for_input() -> None:
    assert WIRE.decode_request({"previous_response_id": "resp_1"}).messages == ()

"""Messages bodies: every parameter, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import JsonSchemaFormat, Message, NamedChoice, Tool
from conformance.wires import wire
from conformance.wires.anthropic_history import OPENING
from conformance.wires.anthropic_parameters import BUDGETS, DEFAULT_MAX_TOKENS, FORMAT_NAME

from .anthropic_answers import WIRE, A, ask, body_of, encode

F = Tool("f", "does f", {"type": "object", "properties": {}})
F_BODY = {"name": "f", "description": "does f", "input_schema": {"type": "object", "properties": {}}}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_the_wire_binds_to_its_paths_and_headers() -> None:
    anthropic = wire(A)
    assert (anthropic.name, anthropic.path("m", True), anthropic.models_path) == (
        A,
        "/v1/messages",
        "/v1/models",
    )
    assert anthropic.headers == (("anthropic-version", "2023-06-01"),)
    assert anthropic.auth_headers("k") == (("x-api-key", "k"),)
    assert anthropic.auth_headers("") == ()


BOTH_WAYS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"stream": True}, {"stream": True}),
    ({"temperature": 0.5}, {"temperature": 0.5}),
    ({"temperature": 1}, {"temperature": 1}),
    ({"stop": ("a", "b")}, {"stop_sequences": ["a", "b"]}),
    ({"tools": (F,)}, {"tools": [F_BODY]}),
    (
        {"tools": (Tool("f", "", SCHEMA, True),)},
        {"tools": [{"name": "f", "input_schema": SCHEMA, "strict": True}]},
    ),
    ({"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
    ({"tool_choice": "auto"}, {"tool_choice": {"type": "auto"}}),
    ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
    ({"tool_choice": NamedChoice("f")}, {"tool_choice": {"type": "tool", "name": "f"}}),
    (
        {"tool_choice": "required", "parallel_tool_calls": False},
        {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
    ),
    (
        {"tool_choice": "auto", "parallel_tool_calls": True},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
    ),
    (
        {"response_format": JsonSchemaFormat(FORMAT_NAME, SCHEMA)},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    ),
    ({"extra": {"top_p": 0.5}}, {"top_p": 0.5}),
    ({"extra": {"user": "u"}}, {"metadata": {"user_id": "u"}}),
    ({"extra": {"service_tier": "auto"}}, {"service_tier": "auto"}),
    ({"extra": {"service_tier": "default"}}, {"service_tier": "standard_only"}),
    ({"extra": {"reasoning_effort": "none"}}, {"thinking": {"type": "disabled"}}),
    (
        {"extra": {"reasoning_effort": "low"}, "max_tokens": 9000},
        {"thinking": {"type": "enabled", "budget_tokens": BUDGETS["low"]}, "max_tokens": 9000},
    ),
    ({"native": {A: {"top_k": 5}}}, {"top_k": 5}),
    ({"native": {A: {"thinking": {"type": "adaptive"}}}}, {"thinking": {"type": "adaptive"}}),
    (
        {"native": {A: {"thinking": {"type": "enabled", "budget_tokens": 1500}}}},
        {"thinking": {"type": "enabled", "budget_tokens": 1500}},
    ),
    ({"native": {A: {"output_config": {"effort": "high"}}}}, {"output_config": {"effort": "high"}}),
    (
        {
            "response_format": JsonSchemaFormat(FORMAT_NAME, SCHEMA),
            "native": {A: {"output_config": {"effort": "max"}}},
        },
        {"output_config": {"effort": "max", "format": {"type": "json_schema", "schema": SCHEMA}}},
    ),
    (
        {"native": {A: {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}}},
        {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
    ),
    ({"native": {A: {"cache_control": {"type": "ephemeral"}}}}, {"cache_control": {"type": "ephemeral"}}),
    (
        {"extra": {"user": "u"}, "native": {A: {"metadata": {"team": "t"}}}},
        {"metadata": {"user_id": "u", "team": "t"}},
    ),
    (
        {"tools": (F,), "native": {A: {"tools": [{**F_BODY, "cache_control": {"type": "ephemeral"}}]}}},
        {"tools": [{**F_BODY, "cache_control": {"type": "ephemeral"}}]},
    ),
    (
        {
            "tools": (F,),
            "native": {A: {"tools": [F_BODY, {"type": "web_search_20250305", "name": "web_search"}]}},
        },
        {"tools": [F_BODY, {"type": "web_search_20250305", "name": "web_search"}]},
    ),
]


@pytest.mark.parametrize(("fields", "members"), BOTH_WAYS)
def test_a_parameter_is_said_and_read_without_loss(fields: dict[str, Any], members: dict[str, Any]) -> None:
    request, body = ask(**fields), body_of(**members)
    assert encode(request) == (body, [])
    assert WIRE.decode_request(body) == request


READ_ONLY: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"stop_sequences": [1]}, {"native": {A: {"stop_sequences": [1]}}}),
    ({"temperature": "hot"}, {"native": {A: {"temperature": "hot"}}}),
    ({"stream": None}, {"native": {A: {"stream": None}}}),
    ({"tools": [{"name": "f"}]}, {"native": {A: {"tools": [{"name": "f"}]}}}),
    ({"tools": "f"}, {"native": {A: {"tools": "f"}}}),
    ({"tool_choice": {"type": "new"}}, {"native": {A: {"tool_choice": {"type": "new"}}}}),
    ({"tool_choice": "auto"}, {"native": {A: {"tool_choice": "auto"}}}),
    ({"system": 5}, {"native": {A: {"system": 5}}}),
    ({"service_tier": ["x"]}, {"native": {A: {"service_tier": ["x"]}}}),
    ({"output_config": None}, {"native": {A: {"output_config": None}}}),
]


@pytest.mark.parametrize(("members", "fields"), READ_ONLY)
def test_an_unexpected_value_is_kept_as_native(members: dict[str, Any], fields: dict[str, Any]) -> None:
    assert WIRE.decode_request(body_of(**members)) == ask(**fields)
    assert encode(ask(**fields))[0] == body_of(**members)


SAYS_NOTHING: list[dict[str, Any]] = [
    {"n": 1},
    {"include_usage": True},
    {"extra": {"seed": None}},
    {"extra": {"logprobs": False, "presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": {}}},
    {"extra": {"response_format": {"type": "text"}, "store": False, "metadata": {}}},
]


@pytest.mark.parametrize("fields", SAYS_NOTHING)
def test_what_this_wire_does_anyway_is_left_out_without_loss(fields: dict[str, Any]) -> None:
    assert encode(ask(**fields)) == (body_of(), [])


def test_a_user_told_twice_is_told_once() -> None:
    twice = ask(extra={"user": "u", "safety_identifier": "u"})
    assert encode(twice) == (body_of(metadata={"user_id": "u"}), [])


def test_a_tool_without_a_schema_takes_an_empty_object() -> None:
    body, losses = encode(ask(tools=(Tool("f", "", {}),)))
    assert body["tools"] == [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]
    assert losses == []


def test_one_call_at_most_needs_a_choice() -> None:
    body, losses = encode(ask(tools=(F,), parallel_tool_calls=False))
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert losses == []


def test_max_tokens_has_a_default_that_is_told() -> None:
    body, losses = encode(ask(max_tokens=None))
    assert body["max_tokens"] == DEFAULT_MAX_TOKENS
    assert [(loss.path, loss.weight) for loss in losses] == [("/max_tokens", "form")]


def test_the_default_of_max_tokens_leaves_room_beside_the_thinking() -> None:
    body, _ = encode(ask(max_tokens=None, extra={"reasoning_effort": "high"}))
    assert body["max_tokens"] == DEFAULT_MAX_TOKENS + BUDGETS["high"]


def test_native_members_are_merged_last() -> None:
    body, losses = encode(ask(max_tokens=None, native={A: {"max_tokens": 7, "metadata": {"a": 1}}}))
    assert (body["max_tokens"], body["metadata"], losses) == (7, {"a": 1}, [])


def test_every_effort_has_a_budget_of_its_own_that_the_api_accepts() -> None:
    assert len(set(BUDGETS.values())) == len(BUDGETS)
    assert min(BUDGETS.values()) == 1024


NO_MESSAGES: list[Any] = [
    None,
    {},
    "hi",
    [1],
    [{"role": "tool", "content": ""}],
    [{"content": "x"}],
    [{"role": ["user"]}],
    [{"role": "user", "content": 1}],
    [{"role": "user", "content": ["x"]}],
]


@pytest.mark.parametrize("messages", NO_MESSAGES)
def test_messages_that_are_none_are_refused(messages: Any) -> None:
    with pytest.raises(ValueError, match="messages"):
        WIRE.decode_request({"model": "m", "messages": messages})


def test_allowed_tools_are_the_only_ones_sent() -> None:
    allowed = {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]}
    chosen = {"type": "allowed_tools", "allowed_tools": allowed}
    body, losses = encode(ask(tools=(F, Tool("g", "", SCHEMA)), extra={"tool_choice": chosen}))
    assert (body["tools"], body["tool_choice"]) == ([F_BODY], {"type": "any"})
    assert [(loss.path, loss.weight) for loss in losses] == [("/extra/tool_choice", "form")]


def test_a_request_of_system_text_alone_has_a_user_begin() -> None:
    """The API refuses a request without messages."""
    body, losses = encode(ask(Message.system("s")))
    assert (body["system"], body["messages"]) == ("s", [{"role": "user", "content": OPENING}])
    assert [(loss.path, loss.weight) for loss in losses] == [("/messages", "form")]

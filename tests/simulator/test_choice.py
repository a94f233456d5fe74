"""Tool choice, parallel calls and structured output: what a request makes of an ideal turn."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from .support import TIME, WEATHER, Talk

TOOLS = [WEATHER, TIME]


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [named(n) for n in names]}}


@pytest.mark.parametrize(
    ("prompt", "members", "called", "finish"),
    [
        ("[[parallel]]", {"tools": TOOLS}, ["get_weather", "get_time"], "tool_calls"),
        ("[[parallel]]", {"tools": TOOLS, "tool_choice": "auto"}, ["get_weather", "get_time"], "tool_calls"),
        ("[[parallel]]", {"tools": TOOLS, "tool_choice": "none"}, [], "stop"),
        ("[[parallel]]", {}, [], "stop"),
        ("[[parallel]]", {"tools": [TIME]}, ["get_time"], "tool_calls"),
        ("[[parallel]]", {"tools": TOOLS, "parallel_tool_calls": False}, ["get_weather"], "tool_calls"),
        ("[[plain]]", {"tools": TOOLS, "tool_choice": "required"}, ["get_weather"], "tool_calls"),
        ("[[plain]]", {"tools": TOOLS, "tool_choice": named("get_time")}, ["get_time"], "stop"),
        ("[[call]]", {"tools": TOOLS, "tool_choice": named("get_weather")}, ["get_weather"], "stop"),
        ("[[parallel]]", {"tools": TOOLS, "tool_choice": named("get_time")}, ["get_time"], "tool_calls"),
        (
            "[[parallel]]",
            {"tools": TOOLS, "tool_choice": allowed("auto", "get_time")},
            ["get_time"],
            "tool_calls",
        ),
        (
            "[[plain]]",
            {"tools": TOOLS, "tool_choice": allowed("required", "get_time")},
            ["get_time"],
            "tool_calls",
        ),
        ("Anything", {"tools": TOOLS}, [], "stop"),
    ],
)
def test_who_is_called(
    reference: Talk, prompt: str, members: dict[str, Any], called: list[str], finish: str
) -> None:
    choice = reference.choice(prompt, **members)
    message = choice["message"]
    assert [c["function"]["name"] for c in message.get("tool_calls", ())] == called
    assert choice["finish_reason"] == finish
    assert called or message["content"]
    assert "tool_calls" not in message or called


def test_a_forced_call_has_arguments_that_fit_its_schema(reference: Talk) -> None:
    choice = reference.choice("Hi", tools=[WEATHER], tool_choice="required")
    arguments = json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])
    assert jsonschema_rs.is_valid(WEATHER["function"]["parameters"], arguments)


def test_a_function_without_parameters_is_called_with_an_empty_object(reference: Talk) -> None:
    choice = reference.choice("Hi", tools=[TIME], tool_choice="required")
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("prompt", ["[[plain]]", "Anything"])
def test_a_json_schema_is_obeyed_in_the_order_of_its_properties(reference: Talk, prompt: str) -> None:
    schema = {
        "type": "object",
        "properties": {"zebra": {"type": "string"}, "apple": {"enum": ["red", "green"]}},
        "required": ["zebra", "apple"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "fruit", "strict": True, "schema": schema}}
    content = json.loads(reference.choice(prompt, response_format=wanted)["message"]["content"])
    assert list(content) == ["zebra", "apple"]
    assert jsonschema_rs.is_valid(schema, content)


def test_a_json_object_is_an_object(reference: Talk) -> None:
    choice = reference.choice("Some json", response_format={"type": "json_object"})
    assert isinstance(json.loads(choice["message"]["content"]), dict)


def test_a_schema_that_can_not_be_satisfied_is_refused_and_not_ignored(reference: Talk) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^q{3}z$"}},
        "required": ["a"],
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "odd", "schema": schema}}
    response = reference.ask("Hi", response_format=wanted)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "unsupported_schema"

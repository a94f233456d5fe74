"""Requests that OpenAI refuses, and the shape of the refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .support import TIME, WEATHER, Talk, assistant, tool, user


def function(**members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **members}}


def formatted(**members: Any) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": members}}


def parts(kind: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": kind, "text": "Hi"}]}


def called(arguments: Any) -> dict[str, Any]:
    """An assistant message that calls ``get_weather`` as ``c1``."""
    function = {"name": "get_weather", "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
OPTIONAL = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}

INVALID: list[tuple[str, dict[str, Any], str | None]] = [
    ("no-model", {"model": None}, "model"),
    ("model-type", {"model": 3}, "model"),
    ("no-messages", {"messages": None}, "messages"),
    ("empty-messages", {"messages": []}, "messages"),
    ("messages-type", {"messages": "hi"}, "messages"),
    ("message-type", {"messages": ["hi"]}, "messages[0]"),
    ("bad-role", {"messages": [{"role": "robot", "content": "hi"}]}, "messages[0].role"),
    ("no-role", {"messages": [{"content": "hi"}]}, "messages[0].role"),
    ("no-content", {"messages": [{"role": "user"}]}, "messages[0].content"),
    ("content-type", {"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
    ("part-type", {"messages": [parts("smell")]}, "messages[0].content[0].type"),
    ("empty-parts", {"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
    ("temperature", {"temperature": 9}, "temperature"),
    ("temperature-type", {"temperature": "hot"}, "temperature"),
    ("boolean-number", {"temperature": True}, "temperature"),
    ("top-p", {"top_p": 1.1}, "top_p"),
    ("n-zero", {"n": 0}, "n"),
    ("n-many", {"n": 129}, "n"),
    ("max-tokens-zero", {"max_tokens": 0}, "max_tokens"),
    ("max-tokens-type", {"max_tokens": "ten"}, "max_tokens"),
    ("max-completion-tokens", {"max_completion_tokens": -1}, "max_completion_tokens"),
    ("presence-penalty", {"presence_penalty": 3}, "presence_penalty"),
    ("stream-type", {"stream": "yes"}, "stream"),
    ("stop-many", {"stop": ["a", "b", "c", "d", "e"]}, "stop"),
    ("stop-type", {"stop": [1]}, "stop"),
    ("top-logprobs-alone", {"top_logprobs": 2}, "top_logprobs"),
    ("stream-options-alone", {"stream_options": {"include_usage": True}}, "stream_options"),
    ("tools-empty", {"tools": []}, "tools"),
    ("tools-129", {"tools": [function(name=f"f{i}") for i in range(129)]}, "tools"),
    ("tool-name", {"tools": [function(name="a b")]}, "tools[0].function.name"),
    ("tool-name-long", {"tools": [function(name="a" * 65)]}, "tools[0].function.name"),
    ("tool-without-type", {"tools": [{"function": {"name": "f"}}]}, "tools[0].type"),
    ("custom-tool", {"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "tools[0].type"),
    ("bad-schema", {"tools": [function(parameters={"type": "objekt"})]}, "tools[0].function.parameters"),
    ("array-schema", {"tools": [function(parameters={"type": "array"})]}, "tools[0].function.parameters"),
    ("open-strict", {"tools": [function(parameters=OPEN, strict=True)]}, "tools[0].function.parameters"),
    ("choice-alone", {"tool_choice": "required"}, "tool_choice"),
    ("choice-none-alone", {"tool_choice": "none"}, "tool_choice"),
    ("choice-unknown", {"tools": [TIME], "tool_choice": "maybe"}, "tool_choice"),
    ("choice-undeclared", {"tools": [TIME], "tool_choice": function()}, "tool_choice.function.name"),
    ("parallel-alone", {"parallel_tool_calls": True}, "parallel_tool_calls"),
    ("format-type", {"response_format": {"type": "yaml"}}, "response_format.type"),
    ("schema-no-name", formatted(schema=OPEN), "response_format.json_schema.name"),
    ("schema-invalid", formatted(name="x", schema={"type": "objekt"}), "response_format"),
    ("schema-open", formatted(name="x", schema=OPEN, strict=True), "response_format"),
    ("schema-optional", formatted(name="x", schema=OPTIONAL, strict=True), "response_format"),
    ("schema-remote", formatted(name="x", schema={"$ref": "http://127.0.0.1:9/"}), "response_format"),
    ("json-unnamed", {"response_format": {"type": "json_object"}}, "messages"),
    ("cache-key", {"prompt_cache_key": "k" * 65}, "prompt_cache_key"),
    ("functions", {"functions": [{"name": "f"}]}, "functions"),
    ("audio", {"modalities": ["text", "audio"]}, "modalities"),
    ("too-long", {"messages": [user("x" * 600_000)]}, "messages"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("members", "param"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID]
)
def test_an_invalid_member_is_named(reference: Talk, members: dict[str, Any], param: str) -> None:
    response = reference.ask("Hi", **members)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"]
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-request-id"]


NESTED = b"[" * 200 + b"]" * 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'\xef\xbb\xbf{"model":"reference"}',
        b'{"model":"reference","messages":[],"temperature":NaN}',
        b'{"model":"reference","messages":[],"temperature":1e999}',
        b'{"model":"\\ud83d"}',
        b'{"model":"reference","metadata":' + NESTED + b"}",
        b'{"model":' + b"[" * 100_000,
        b'{"n":' + b"9" * 10_000 + b"}",
    ],
)
def test_a_body_that_is_no_json_object_is_refused(reference: Talk, body: bytes) -> None:
    response = reference.send(body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


HISTORIES: list[tuple[str, list[Any], int]] = [
    ("result", ["Hi", assistant("c1"), tool("c1")], 200),
    ("results-in-any-order", ["Hi", assistant("c1", "c2"), tool("c2"), tool("c1")], 200),
    ("result-as-parts", ["Hi", assistant("c1"), tool("c1", [{"type": "text", "text": "x"}])], 200),
    ("empty-result", ["Hi", assistant("c1"), tool("c1", "")], 200),
    ("large-result", ["Hi", assistant("c1"), tool("c1", "x" * 100_000)], 200),
    ("foreign-ids", ["Hi", assistant("toolu_01", "f.f:0"), tool("toolu_01"), tool("f.f:0")], 200),
    ("empty-content-with-calls", ["Hi", assistant("c1", content=""), tool("c1")], 200),
    ("text-with-calls", ["Hi", assistant("c1", content="Look"), tool("c1")], 200),
    ("invalid-arguments-in-history", ["Hi", called("{"), tool("c1")], 200),
    ("reasoning-echo", ["Hi", assistant("c1", reasoning_content="Hm"), tool("c1")], 200),
    ("consecutive-users", ["Hi", "Are you there?"], 200),
    ("system", [{"role": "system", "content": "a"}, "Hi"], 200),
    ("developer", [{"role": "developer", "content": "a"}, "Hi"], 200),
    ("names", [{"role": "user", "name": "ada", "content": "Hi"}], 200),
    ("parts", [parts("text")], 200),
    ("image", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}], 200),
    ("orphan", ["Hi", tool("c1")], 400),
    ("orphan-after-text", ["Hi", {"role": "assistant", "content": "x"}, tool("c1")], 400),
    ("foreign-result", ["Hi", assistant("c1"), tool("c1"), tool("c2")], 400),
    ("late-result", ["Hi", assistant("c1"), tool("c1"), "Thanks", tool("c1")], 400),
    ("one-of-two", ["Hi", assistant("c1", "c2"), tool("c1"), "Go on"], 400),
    ("unanswered-at-the-end", ["Hi", assistant("c1")], 400),
    ("twice", ["Hi", assistant("c1"), tool("c1"), tool("c1")], 400),
    ("no-tool-call-id", ["Hi", assistant("c1"), {"role": "tool", "content": "x"}], 400),
    ("empty-assistant", ["Hi", {"role": "assistant", "content": None}], 400),
    ("reasoning-only-assistant", ["Hi", {"role": "assistant", "reasoning_content": "Hm"}], 400),
    ("empty-tool-calls", ["Hi", {"role": "assistant", "content": "x", "tool_calls": []}], 400),
    ("arguments-object", ["Hi", called({}), tool("c1")], 400),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "status"), [h[1:] for h in HISTORIES], ids=[h[0] for h in HISTORIES])
def test_a_history_is_accepted_or_refused(reference: Talk, messages: list[Any], status: int) -> None:
    response = reference.ask(*messages, tools=[WEATHER])
    assert response.status_code == status, response.text


def test_a_history_with_calls_needs_no_tools(reference: Talk) -> None:
    assert reference.ask("Hi", assistant("c1"), tool("c1")).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_its_own_message_is_accepted_back(reference: Talk, stream: bool) -> None:
    message = reference.choice("[[mixed]]", tools=[WEATHER])["message"]
    result = tool(message["tool_calls"][0]["id"])
    assert reference.ask("Hi", message, result, tools=[WEATHER], stream=stream).status_code == 200


def test_another_model_is_not_found(reference: Talk) -> None:
    response = reference.ask("Hi", model="no-such-model")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, None),
        ({"authorization": "Bearer sk-wrong-0123456789"}, "invalid_api_key"),
        ({"authorization": "Basic sk-reference"}, "invalid_api_key"),
        ({"authorization": "sk-reference"}, "invalid_api_key"),
    ],
)
def test_the_key_is_checked_before_the_body_and_never_repeated(
    reference: Talk, headers: dict[str, str], code: str | None
) -> None:
    response = reference.send(b"{", headers)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == code
    assert "sk-wrong" not in response.text + str(response.headers)


def test_models_lists_the_model_and_returns_it_alone(reference: Talk) -> None:
    document = reference.get("/models").json()
    (entry,) = document["data"]
    assert document["object"] == "list"
    assert (entry["id"], entry["object"]) == ("reference", "model")
    assert isinstance(entry["created"], int)
    assert entry["owned_by"]
    assert reference.get("/models/reference").json() == entry


def test_an_unknown_model_or_route_is_404_with_an_error_object(reference: Talk) -> None:
    for path in ("/models/nope", "/nope", "/models/", "/chat"):
        response = reference.get(path)
        assert response.status_code == 404
        assert response.json()["error"]["message"]


def test_a_wrong_method_is_405_and_says_which_is_right(reference: Talk) -> None:
    response = reference.get("/chat/completions")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_body_over_the_limit_is_413_although_the_client_is_still_sending(reference: Talk) -> None:
    response = reference.send(json.dumps({"pad": "x" * 6_000_000}).encode())
    assert response.status_code == 413
    assert response.json()["error"]["code"] == "request_too_large"

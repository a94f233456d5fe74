"""Requests that OpenAI's Responses API refuses."""

from __future__ import annotations

from typing import Any

import pytest

from .responses_support import TIME, TOOLS, WEATHER, Responses, call, message, output


def function(**members: Any) -> dict[str, Any]:
    return {"tools": [{**TIME, **members}]}


def formatted(**members: Any) -> dict[str, Any]:
    return {"text": {"format": members}}


def schema(**members: Any) -> dict[str, Any]:
    return formatted(type="json_schema", name="a", schema=members)


def chosen(**members: Any) -> dict[str, Any]:
    return {"tools": TOOLS, "tool_choice": members}


def said(*content: Any, role: str = "user") -> dict[str, Any]:
    return {"input": [message(role, *content)]}


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("no-model", {"model": None}, "model"),
    ("another-model", {"model": "nope"}, "model"),
    ("no-input", {"input": None}, "input"),
    ("no-items", {"input": []}, "input"),
    ("input-type", {"input": 3}, "input"),
    ("item-type", {"input": ["hi"]}, "input[0]"),
    ("messages", {"messages": []}, "messages"),
    ("n", {"n": 2}, "n"),
    ("stop", {"stop": "x"}, "stop"),
    ("seed", {"seed": 1}, "seed"),
    ("max-tokens", {"max_tokens": 100}, "max_tokens"),
    ("response-format", {"response_format": {"type": "text"}}, "response_format"),
    ("small-cap", {"max_output_tokens": 15}, "max_output_tokens"),
    ("temperature", {"temperature": 2.1}, "temperature"),
    ("top-p", {"top_p": -0.1}, "top_p"),
    ("top-logprobs", {"top_logprobs": 21}, "top_logprobs"),
    ("stream-type", {"stream": "yes"}, "stream"),
    ("stream-options", {"stream_options": {"include_obfuscation": False}}, "stream_options"),
    (
        "usage-option",
        {"stream": True, "stream_options": {"include_usage": True}},
        "stream_options.include_usage",
    ),
    ("background", {"background": True}, "background"),
    ("conversation", {"conversation": "conv_1"}, "conversation"),
    ("prompt", {"prompt": {"id": "p"}}, "prompt"),
    ("instructions", {"instructions": 3}, "instructions"),
    ("include-type", {"include": "reasoning"}, "include"),
    ("include", {"include": ["usage"]}, "include[0]"),
    ("effort", {"reasoning": {"effort": "huge"}}, "reasoning.effort"),
    ("summary", {"reasoning": {"summary": "yes"}}, "reasoning.summary"),
    ("reasoning-member", {"reasoning": {"budget": 1}}, "reasoning.budget"),
    ("metadata-value", {"metadata": {"a": 1}}, "metadata.a"),
    ("metadata-many", {"metadata": {str(i): "" for i in range(17)}}, "metadata"),
    ("metadata-long", {"metadata": {"a": "x" * 513}}, "metadata.a"),
    ("truncation", {"truncation": "middle"}, "truncation"),
    ("service-tier", {"service_tier": "best"}, "service_tier"),
    ("explicit-caching", {"prompt_cache_options": {"mode": "explicit"}}, "prompt_cache_options.mode"),
    ("unknown-previous", {"previous_response_id": "resp_1"}, "previous_response_id"),
    ("no-role", {"input": [{"type": "message", "content": "x"}]}, "input[0].role"),
    ("bad-role", {"input": [message("tool", "x")]}, "input[0].role"),
    ("no-content", {"input": [{"role": "user"}]}, "input[0].content"),
    ("content-type", {"input": [{"role": "user", "content": 3}]}, "input[0].content"),
    ("item-member", {"input": [message("user", "x", name="ada")]}, "input[0].name"),
    ("item-kind", {"input": [{"type": "web_search_call"}]}, "input[0].type"),
    ("kindless", {"input": [{"output": "x"}]}, "input[0].type"),
    ("part-kind", said({"type": "text", "text": "x"}), "input[0].content[0].type"),
    (
        "assistant-part",
        said({"type": "input_text", "text": "x"}, role="assistant"),
        "input[0].content[0].type",
    ),
    ("user-part", said({"type": "output_text", "text": "x"}), "input[0].content[0].type"),
    ("part-text", said({"type": "input_text"}), "input[0].content[0].text"),
    ("part-member", said({"type": "input_text", "text": "x", "bold": 1}), "input[0].content[0].bold"),
    ("image-url", said({"type": "input_image", "image_url": "file:///x"}), "input[0].content[0].image_url"),
    (
        "image-data",
        said({"type": "input_image", "image_url": "data:image/png;base64,%"}),
        "input[0].content[0].image_url",
    ),
    ("image-file", said({"type": "input_image", "file_id": "file_1"}), "input[0].content[0].file_id"),
    ("no-file", said({"type": "input_file"}), "input[0].content[0].file_data"),
    ("message-id", {"input": [message("assistant", "x", id="x")]}, "input[0].id"),
    ("call-item-id", {"input": [{**call("a"), "id": "call_1"}, output("a")]}, "input[0].id"),
    ("call-id-long", {"input": [call("a" * 65), output("a" * 65)]}, "input[0].call_id"),
    ("call-nameless", {"input": [{**call("a"), "name": None}, output("a")]}, "input[0].name"),
    ("call-object", {"input": [{**call("a"), "arguments": {}}, output("a")]}, "input[0].arguments"),
    ("no-output", {"input": [call("a"), output("a", None)]}, "input[1].output"),
    (
        "output-part",
        {"input": [call("a"), output("a", [{"type": "output_text"}])]},
        "input[1].output[0].type",
    ),
    ("no-summary", {"input": [{"type": "reasoning", "id": "rs_1"}]}, "input[0].summary"),
    ("nested-tool", {"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools[0].function"),
    ("tool-kind", {"tools": [{"type": "web_search"}]}, "tools[0].type"),
    ("tool-name", function(name="a b"), "tools[0].name"),
    ("tool-nameless", function(name=None), "tools[0].name"),
    ("parameters-type", function(parameters={"type": "array"}), "tools[0].parameters"),
    ("bad-parameters", function(parameters={"type": "object", "required": 3}), "tools[0].parameters"),
    ("strict-open", function(parameters=OPEN, strict=True), "tools[0].parameters"),
    ("deferred", function(defer_loading=True), "tools[0].defer_loading"),
    ("choice-alone", {"tool_choice": "required"}, "tool_choice"),
    ("choice-word", {"tools": TOOLS, "tool_choice": "any"}, "tool_choice"),
    ("choice-kind", chosen(type="web_search"), "tool_choice.type"),
    ("choice-nested", chosen(type="function", function={"name": "get_time"}), "tool_choice.function"),
    ("choice-unknown", chosen(type="function", name="f"), "tool_choice.name"),
    (
        "allowed-mode",
        chosen(type="allowed_tools", mode="none", tools=[{"type": "function", "name": "get_time"}]),
        "tool_choice.mode",
    ),
    ("allowed-none", chosen(type="allowed_tools", mode="auto", tools=[]), "tool_choice.tools"),
    ("verbosity", {"text": {"verbosity": "loud"}}, "text.verbosity"),
    ("format-kind", formatted(type="yaml"), "text.format.type"),
    ("format-nested", formatted(type="json_schema", json_schema={"name": "a"}), "text.format.json_schema"),
    ("format-nameless", formatted(type="json_schema", schema=OPEN), "text.format.name"),
    ("format-name", formatted(type="json_schema", name="a b", schema=OPEN), "text.format.name"),
    ("no-schema", formatted(type="json_schema", name="a"), "text.format.schema"),
    ("bad-schema", schema(type="nope"), "text.format.schema"),
    (
        "strict-schema",
        formatted(type="json_schema", name="a", schema=OPEN, strict=True),
        "text.format.schema",
    ),
    ("json-unsaid", formatted(type="json_object"), "input"),
    ("json-in-instructions", {**formatted(type="json_object"), "instructions": "Answer in JSON."}, "input"),
    ("cache-key", {"prompt_cache_key": "k" * 65}, "prompt_cache_key"),
]


@pytest.mark.parametrize(("members", "param"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_what_is_refused_names_the_parameter(
    responses: Responses, members: dict[str, Any], param: str
) -> None:
    asked = {"input": "Hi", **members}
    error = responses.error(asked.pop("input"), **asked)
    assert (error["param"], error["type"]) == (param, "invalid_request_error")


CODES = [
    ({"model": "nope"}, "model_not_found"),
    ({"previous_response_id": "resp_1"}, "previous_response_not_found"),
    ({"stop": "x"}, "unknown_parameter"),
    ({"background": True}, "unsupported_parameter"),
    ({"model": None}, "missing_required_parameter"),
]


@pytest.mark.parametrize(("members", "code"), CODES)
def test_refusals_have_the_apis_codes(responses: Responses, members: dict[str, Any], code: str) -> None:
    assert responses.error("Hi", **members)["code"] == code


def test_a_wrong_key_is_refused(responses: Responses) -> None:
    refused = responses.send({"model": "reference", "input": "Hi"}, key="sk-wrong")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
    assert refused.headers["x-request-id"]


def test_a_prompt_beyond_the_context_is_refused(responses: Responses) -> None:
    assert responses.error("word " * 110_000)["code"] == "context_length_exceeded"


def test_with_truncation_the_oldest_messages_give_way(responses: Responses) -> None:
    long = [message("system", "Be brief."), message("user", "old " * 100_000), message("assistant", "Yes.")]
    long += [message("user", "new " * 50_000), message("assistant", "No."), message("user", "[[done/1]]")]
    assert responses.error(long)["code"] == "context_length_exceeded"
    answered = responses.response(long, truncation="auto")
    assert answered["output"][0]["content"][0]["text"] == "It is sunny."
    assert 50_000 < answered["usage"]["input_tokens"] < 60_000
    assert responses.error([message("user", "word " * 110_000)], truncation="auto")


def test_many_small_messages_are_shortened_at_once(responses: Responses) -> None:
    many = [{"role": "user", "content": "x"}] * 60_000
    assert responses.response(many, truncation="auto")["usage"]["input_tokens"] <= 128_000


ACCEPTED: list[dict[str, Any]] = [
    {"metadata": {"a": "b"}, "user": "u", "safety_identifier": "s", "prompt_cache_key": "k"},
    {"max_output_tokens": 16, "temperature": 0, "top_p": 1, "top_logprobs": 0, "max_tool_calls": 3},
    {"parallel_tool_calls": False, "tool_choice": "auto", "tools": []},
    {"prompt_cache_options": {"mode": "implicit", "ttl": "12h"}, "prompt_cache_retention": "24h"},
    {"include": ["web_search_call.results"], "service_tier": "flex", "truncation": "disabled"},
    {"reasoning": {"effort": "none"}, "text": {"verbosity": "low", "format": {"type": "text"}}},
    {"tools": [{**WEATHER, "strict": None}], "tool_choice": "none", "store": False},
    {"stream_options": {"include_obfuscation": True}, "stream": True},
]


@pytest.mark.parametrize("members", ACCEPTED)
def test_what_the_schema_knows_is_accepted(responses: Responses, members: dict[str, Any]) -> None:
    assert responses.ask("Hi", **members).status_code == 200

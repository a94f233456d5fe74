"""Requests that Anthropic refuses, and how the refusal is worded."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator

from .anthropic_support import (
    COMPUTER,
    EDITING,
    NEW,
    OLD,
    THINKING,
    TIME,
    WEATHER,
    Messages,
    assistant,
    error_message,
    result,
    text,
    use,
    user,
)

FORMAT_OPEN = {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {}}}}
MARKED = text("Hi", cache_control={"type": "ephemeral"})
HOUR = text("Hi", cache_control={"type": "ephemeral", "ttl": "1h"})


def custom(**members: Any) -> dict[str, Any]:
    return {"tools": [{**TIME, **members}]}


def picture(**source: Any) -> dict[str, Any]:
    return {"messages": [user({"type": "image", "source": source})]}


def forced(kind: str, **members: Any) -> dict[str, Any]:
    return {"tools": [WEATHER], "tool_choice": {"type": kind, **members}}


INVALID: list[tuple[str, dict[str, Any], str]] = [
    ("no-model", {"model": None}, "model: Field required"),
    ("no-max-tokens", {"max_tokens": None}, "max_tokens: Field required"),
    ("max-tokens-type", {"max_tokens": "ten"}, "max_tokens: "),
    ("max-tokens-negative", {"max_tokens": -1}, "max_tokens: "),
    ("max-tokens-beyond", {"max_tokens": 128_001}, "max_tokens: 128001 > 128000"),
    ("no-messages", {"messages": None}, "messages: Field required"),
    ("empty-messages", {"messages": []}, "messages: at least one message is required"),
    ("messages-type", {"messages": "hi"}, "messages: "),
    ("unknown-member", {"frequency_penalty": 0}, "frequency_penalty: Extra inputs are not permitted"),
    ("n", {"n": 2}, "n: Extra inputs are not permitted"),
    ("temperature", {"temperature": 1}, "temperature: Extra inputs are not permitted"),
    ("top-p", {"top_p": 1}, "top_p: Extra inputs are not permitted"),
    ("top-k", {"top_k": 5}, "top_k: Extra inputs are not permitted"),
    ("container", {"container": "c"}, "container: "),
    ("fast", {"speed": "fast"}, "speed: "),
    ("stream-type", {"stream": "yes"}, "stream: "),
    ("stop-type", {"stop_sequences": "x"}, "stop_sequences: "),
    ("stop-blank", {"stop_sequences": [" \n"]}, "stop_sequences: each stop sequence"),
    ("metadata", {"metadata": {"session": "1"}}, "metadata.session: Extra inputs are not permitted"),
    ("metadata-long", {"metadata": {"user_id": "x" * 257}}, "metadata.user_id: "),
    ("service-tier", {"service_tier": "flex"}, "service_tier: "),
    ("system-type", {"system": 3}, "system: "),
    ("system-image", {"system": [{"type": "image"}]}, "system.0.type: "),
    ("system-empty-block", {"system": [text("")]}, "system.0.text: text content blocks must be non-empty"),
    ("bad-role", {"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role: "),
    ("no-content", {"messages": [{"role": "user"}]}, "messages.0.content: Field required"),
    ("empty-content", {"messages": [user("")]}, "messages.0: all messages must have non-empty content"),
    ("no-blocks", {"messages": [{"role": "user", "content": []}]}, "messages.0: all messages"),
    ("content-type", {"messages": [{"role": "user", "content": 3}]}, "messages.0.content: "),
    ("message-member", {"messages": [{**user("x"), "name": "ada"}]}, "messages.0.name: Extra inputs"),
    ("block-member", {"messages": [user(text("x", style="b"))]}, "messages.0.content.0.style: Extra inputs"),
    ("block-type", {"messages": [user({"type": "image_url"})]}, "messages.0.content.0.type: "),
    ("no-block-type", {"messages": [user({"text": "x"})]}, "messages.0.content.0.type: Field required"),
    ("empty-text", {"messages": [user(text(""))]}, "messages.0.content.0.text: text content blocks must be"),
    ("blank-text", {"messages": [user(text(" \n"))]}, "messages.0.content.0: text content blocks must"),
    ("blank-string", {"messages": [user(" ")]}, "messages.0.content: text content blocks must contain"),
    ("user-thinking", {"messages": [user({"type": "thinking"})]}, "messages.0.content.0.type: "),
    ("user-cites", {"messages": [user(text("x", citations=[{}]))]}, "messages.0.content.0.citations: "),
    (
        "image-media",
        picture(type="base64", media_type="image/bmp", data="aGk="),
        "messages.0.content.0.source",
    ),
    (
        "image-base64",
        picture(type="base64", media_type="image/png", data="%"),
        "messages.0.content.0.source.data",
    ),
    ("image-url", picture(type="url", url="file:///etc/passwd"), "messages.0.content.0.source.url: "),
    ("no-source", {"messages": [user({"type": "image"})]}, "messages.0.content.0.source: Field required"),
    (
        "marks",
        {"messages": [user(*[MARKED] * 5)]},
        "A maximum of 4 blocks with cache_control may be provided",
    ),
    ("mark-order", {"messages": [user(MARKED, HOUR)]}, "messages.0.content.1.cache_control.ttl: a ttl='1h'"),
    ("mark-type", {"cache_control": {"type": "forever"}}, "cache_control.type: "),
    ("tool-name", custom(name="a b"), "tools.0.name: String should match pattern"),
    ("tool-unnamed", custom(name=None), "tools.0.name: Field required"),
    ("tool-type", custom(type="function"), "tools.0.type: "),
    ("tool-member", custom(parameters={}), "tools.0.parameters: Extra inputs are not permitted"),
    ("no-schema", custom(input_schema=None), "tools.0.input_schema: Field required"),
    ("untyped-schema", custom(input_schema={}), "tools.0.input_schema.type: Field required"),
    ("schema-type", custom(input_schema={"type": "array"}), "tools.0.input_schema: type: Input should be"),
    ("bad-schema", custom(input_schema={"type": "object", "required": 3}), "tools.0.input_schema: "),
    ("strict-open", custom(strict=True), "tools.0.input_schema: For 'object' type, 'additionalProperties'"),
    ("same-names", {"tools": [TIME, TIME]}, "tools: Tool names must be unique."),
    ("server-tool", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools.0.type: "),
    ("no-beta", {"tools": [COMPUTER]}, "tools.0.type: Input tag 'computer_20250124' needs the beta"),
    ("deferred", custom(defer_loading=True), "tools.0.defer_loading: "),
    ("choice-alone", {"tool_choice": {"type": "auto"}}, "tool_choice: may only be specified while"),
    ("choice-string", {"tools": [TIME], "tool_choice": "auto"}, "tool_choice: "),
    ("choice-type", forced("required"), "tool_choice.type: "),
    ("choice-unnamed", forced("tool"), "tool_choice.name: Field required"),
    ("choice-unknown", forced("tool", name="f"), "tool_choice.name: Tool 'f' not found in provided tools"),
    ("choice-none-one", forced("none", disable_parallel_tool_use=True), "tool_choice.disable_parallel"),
    ("no-budget", {"thinking": {"type": "enabled"}}, "thinking.budget_tokens: Field required"),
    ("small-budget", {"thinking": {**THINKING, "budget_tokens": 1023}}, "thinking.budget_tokens: "),
    ("budget-is-cap", {"thinking": THINKING, "max_tokens": 1024}, "max_tokens: `max_tokens` must be greater"),
    ("adaptive-budget", {"thinking": {**THINKING, "type": "adaptive"}}, "thinking.budget_tokens: Extra"),
    ("no-thinking-type", {"thinking": {}}, "thinking.type: Field required"),
    ("between-tools", {"thinking": {"type": "between_tools"}}, "thinking.type: "),
    ("thinking-forced", {**forced("any"), "thinking": THINKING}, "tool_choice: Thinking may not be enabled"),
    ("effort", {"output_config": {"effort": "huge"}}, "output_config.effort: "),
    ("format-open", {"output_config": FORMAT_OPEN}, "output_config.format.schema: For 'object' type"),
    ("format-type", {"output_config": {"format": {"type": "json"}}}, "output_config.format.type: "),
    ("editing", {"context_management": {"edits": []}}, "context_management: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("members", "begins"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_what_is_refused_names_where(messages: Messages, members: dict[str, Any], begins: str) -> None:
    asked = {"model": "reference", "max_tokens": 9000, "messages": [user("Hi")], **members}
    content = json.dumps({name: value for name, value in asked.items() if value is not None})
    response = messages.send(content.encode(), {"x-api-key": "sk-reference", "anthropic-version": NEW})
    assert response.status_code == 400, response.text
    assert error_message(response).startswith(begins)
    assert response.json()["error"]["type"] == "invalid_request_error"


EDITS = [
    ("edit-type", [{"type": "compact_20260112"}], "context_management.edits.0.type: "),
    ("edit-member", [{"type": "clear_tool_uses_20250919", "x": 1}], "context_management.edits.0.x: Extra"),
    (
        "trigger",
        [{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses"}}],
        "context_management",
    ),
    ("no-thinking", [{"type": "clear_thinking_20251015"}], "context_management.edits.0.type: "),
]


@pytest.mark.parametrize(("edits", "begins"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_what_is_refused_of_context_edits(messages: Messages, edits: Any, begins: str) -> None:
    refused = messages.error("Hi", beta=EDITING, context_management={"edits": edits})
    assert refused.startswith(begins)


def test_thinking_is_cleared_before_tool_results(messages: Messages) -> None:
    edits = [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}]
    refused = messages.error("Hi", beta=EDITING, thinking=THINKING, context_management={"edits": edits})
    assert "must be the first edit" in refused


@pytest.mark.parametrize("member", ["temperature", "top_p", "top_k"])
def test_sampling_parameters_ended_with_version_2026_10_21(messages: Messages, member: str) -> None:
    asked: dict[str, Any] = {member: 1}
    assert messages.ask("Hi", version=OLD, **asked).status_code == 200
    assert messages.error("Hi", version=NEW, **asked) == f"{member}: Extra inputs are not permitted"


SAMPLING_WHILE_THINKING = [("temperature", 0.5), ("top_k", 5), ("top_p", 0.9)]


@pytest.mark.parametrize(("member", "value"), SAMPLING_WHILE_THINKING)
def test_thinking_fixes_the_sampling_of_older_versions(messages: Messages, member: str, value: Any) -> None:
    refused = messages.error("Hi", version=OLD, thinking=THINKING, **{member: value})
    assert refused.startswith(f"{member}: ")


def test_a_warmer_temperature_than_one_is_refused(messages: Messages) -> None:
    assert messages.error("Hi", version=OLD, temperature=1.1).startswith("temperature: ")


KEYS = [
    ({"x-api-key": "sk-wrong"}, 401),
    ({"authorization": "Bearer sk-wrong"}, 401),
    ({}, 401),
    ({"x-api-key": "sk-wrong", "authorization": "Bearer sk-reference"}, 401),
    ({"x-api-key": "sk-reference", "authorization": "Bearer sk-wrong"}, 200),
    ({"authorization": "Bearer sk-reference"}, 200),
]


@pytest.mark.parametrize(("headers", "status"), KEYS)
def test_a_key_comes_in_either_header_and_the_older_one_wins(
    messages: Messages, headers: dict[str, str], status: int
) -> None:
    asked = {"model": "reference", "max_tokens": 9, "messages": [user("Hi")]}
    response = messages.send(json.dumps(asked).encode(), {"anthropic-version": NEW, **headers})
    assert response.status_code == status
    if status == 401:
        assert error_message(response)
        assert response.json()["error"]["type"] == "authentication_error"
        assert "sk-" not in response.text


@pytest.mark.parametrize(
    ("version", "begins"),
    [
        (None, "anthropic-version: header is required"),
        ("2024-10-22", 'anthropic-version: "2024-10-22" is not a valid version'),
    ],
)
def test_the_version_must_be_a_known_one(messages: Messages, version: str | None, begins: str) -> None:
    headers = {"x-api-key": "sk-reference"} | ({"anthropic-version": version} if version else {})
    response = messages.send(b"{}", headers)
    assert (response.status_code, error_message(response)) == (400, begins)


def test_another_model_is_not_found(messages: Messages) -> None:
    assert messages.error("Hi", status=404, model="nope") == "model: nope"
    assert messages.ask("Hi", model="nope").json()["error"]["type"] == "not_found_error"


def test_a_file_that_is_not_there_is_not_found(messages: Messages) -> None:
    block = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    assert "File not found: file_1" in messages.error(user(block), status=404)


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/messages", 405), ("GET", "/v1/nope", 404)]
)
def test_wrong_urls_are_told_in_anthropics_words(
    messages: Messages, method: str, path: str, status: int
) -> None:
    response = messages.get(path)
    assert response.status_code == status
    assert error_message(response)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b'{"max_tokens": 1e400}', b'{"a":' * 5000])
def test_bodies_that_are_no_object_are_refused(messages: Messages, content: bytes) -> None:
    response = messages.send(content, {"x-api-key": "sk-reference", "anthropic-version": NEW})
    assert response.status_code == 400
    assert error_message(response)


def test_a_prompt_beyond_the_context_is_refused(messages: Messages) -> None:
    assert messages.error("word " * 110_000).startswith("prompt is too long: ")


def test_a_path_of_another_wire_stays_that_wires(simulator: Simulator, client: httpx.Client) -> None:
    url = simulator.base_url("reference", "anthropic-messages") + "/v1/chat/completions"
    response = client.post(url, headers={"x-api-key": "sk-reference"}, content=b"{}")
    assert response.status_code == 401
    assert "code" in response.json()["error"]


def test_a_refusal_with_a_document_of_its_own_is_not_reworded(
    simulator: Simulator, client: httpx.Client
) -> None:
    deepseek = Messages(simulator, client, "deepseek")
    refused = deepseek.ask("Hi", assistant(use("c1")), user(result("c1")), tools=[WEATHER]).json()
    assert refused.keys() == {"error"}
    assert refused["error"]["code"] == "invalid_request_error"

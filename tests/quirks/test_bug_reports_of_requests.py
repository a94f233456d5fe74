"""Public bug reports of requests: what the product foretells of each, see bug_reports.py."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.quirks import catalogue
from conformance.quirks.requests import Objection, objections
from conformance.types import WireName

from .bug_reports import CALL, CALLED, RESULT, USER, chat, tool

SCHEMA_KEYWORDS = {"$schema": "x", "additionalProperties": False, "propertyNames": {"pattern": "a"}}
SCHEMA_PATHS = tuple(f"/tools/0/functionDeclarations/0/parameters/{key}" for key in SCHEMA_KEYWORDS)
FC1, FC2 = ({"type": "function_call", "call_id": c, "name": "alpha", "arguments": "{}"} for c in ("c1", "c2"))
OUT1, OUT2 = ({"type": "function_call_output", "call_id": c, "output": "ok"} for c in ("c1", "c2"))
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "t"}],
}

BLACKHOLE = chat(reasoning={"enabled": True})

REFUSED: list[tuple[str, str, WireName, dict[str, Any], str, tuple[str, ...]]] = [
    (
        "Kai 304",
        "deepseek",
        "openai-chat",
        chat(tools=[tool(), tool()]),
        "duplicate-tool-names-rejected",
        ("/tools/0/function/name", "/tools/1/function/name"),
    ),
    (
        "hermes-agent 17400",
        "deepseek",
        "openai-chat",
        chat(USER, CALLED, RESULT, thinking={"type": "enabled"}),
        "deepseek-reasoning-echo-required",
        ("/messages/1/reasoning_content",),
    ),
    (
        "hermes-agent PR 14941",
        "deepseek",
        "openai-chat",
        chat(USER, {**CALLED, "reasoning_content": "t"}, RESULT, {"role": "assistant", "content": "done"}),
        "deepseek-reasoning-echo-required",
        ("/messages/3/reasoning_content",),
    ),
    (
        "jan 8136",
        "groq",
        "openai-chat",
        chat(USER, {"role": "assistant", "content": "x", "reasoning_content": "y"}, USER),
        "groq-reasoning-fields-unsupported",
        ("/messages/1/reasoning_content",),
    ),
    (
        "openclaude 67",
        "google-gemini",
        "openai-chat",
        chat(USER, CALLED, RESULT),
        "gemini-thought-signature-required",
        ("/messages/1/tool_calls/0/extra_content",),
    ),
    (
        "gptel 1203",
        "mistral",
        "openai-chat",
        chat(
            USER,
            {**CALLED, "tool_calls": [{**CALL, "id": "call_0fypS1hVX"}]},
            {**RESULT, "tool_call_id": "call_0fypS1hVX"},
        ),
        "mistral-tool-id-9-alnum",
        ("/messages/1/tool_calls/0/id",),
    ),
    (
        "crush 279",
        "mistral",
        "openai-chat",
        chat({"role": "system", "content": "s"}, USER, RESULT),
        "mistral-tool-after-user",
        ("/messages/2",),
    ),
    (
        "perplexityai/api-discussion 265",
        "perplexity",
        "openai-chat",
        chat(USER, USER),
        "perplexity-role-alternation",
        ("/messages/1",),
    ),
    (
        "langchain4j 3974",
        "alibaba",
        "openai-chat",
        chat(stream=False, enable_thinking=True),
        "qwen-thinking-nonstream-rejected",
        ("/enable_thinking",),
    ),
    (
        "cherry-studio 16431",
        "minimax",
        "openai-chat",
        chat(thinking={"type": "enabled"}),
        "minimax-thinking-type-enabled-rejected",
        ("/thinking/type",),
    ),
    (
        "zed 36094",
        "openrouter",
        "openai-chat",
        chat(tools=[tool()], tool_choice="required"),
        "openrouter-tool-choice-404",
        ("/tool_choice",),
    ),
    (
        "mastra 7507",
        "anthropic",
        "anthropic-messages",
        {
            "model": "m",
            "max_tokens": 4096,
            "messages": [USER],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "tools": [{"name": "alpha", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "any"},
        },
        "anthropic-thinking-forced-tool-choice",
        ("/tool_choice/type",),
    ),
    (
        "agno 4508",
        "cerebras",
        "openai-chat",
        {**chat(tools=[tool()], parallel_tool_calls=False), "model": "gpt-oss-120b"},
        "cerebras-parallel-false-rejected",
        ("/parallel_tool_calls",),
    ),
    (
        "openswarm 24",
        "google-gemini",
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "tools": [
                {"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT", **SCHEMA_KEYWORDS}}]}
            ],
        },
        "gemini-schema-unknown-keys",
        SCHEMA_PATHS,
    ),
    (
        "zed 32946",
        "openai",
        "openai-chat",
        chat(tools=[tool(f"t{n}") for n in range(158)]),
        "tools-array-max-128",
        ("/tools",),
    ),
    (
        "openai-dotnet 317",
        "openai",
        "openai-chat",
        chat(USER, {**CALLED, "tool_calls": [{**CALL, "id": f"c{n}"} for n in range(200)]}),
        "tool-calls-in-message-max-128",
        ("/messages/1/tool_calls",),
    ),
    (
        "agentgateway 2192",
        "bedrock",
        "openai-chat",
        chat(USER, CALLED, RESULT),
        "bedrock-toolconfig-required",
        ("/tools",),
    ),
    (
        "rikkahub 1690",
        "deepseek",
        "openai-responses",
        {"model": "m", "input": [USER, THOUGHT, FC1, FC2, OUT1, OUT2]},
        "deepseek-responses-reasoning-per-call",
        ("/input/3",),
    ),
    (
        "suna PR 5124",
        "chatgpt-codex",
        "openai-responses",
        {"model": "m", "input": "hi", "max_output_tokens": 512},
        "codex-backend-max-output-tokens",
        ("/max_output_tokens",),
    ),
    (
        "alibaba-coding-plan, 2026-08-08",
        "alibaba-coding-plan",
        "openai-chat",
        BLACKHOLE,
        "aliyun-reasoning-object-blackhole",
        ("/reasoning",),
    ),
]


@pytest.mark.parametrize(
    ("provider", "over", "body", "quirk", "pointers"),
    [row[1:] for row in REFUSED],
    ids=[r[0] for r in REFUSED],
)
def test_a_refused_request_is_foretold_with_its_places(
    provider: str, over: WireName, body: dict[str, Any], quirk: str, pointers: tuple[str, ...]
) -> None:
    objection = objection_of(quirk, over, body)
    assert provider in objection.quirk.providers
    assert objection.effect == "refused"
    assert tuple(place.pointer for place in objection.places) == pointers


def objection_of(quirk: str, over: WireName, body: dict[str, Any]) -> Objection:
    (found,) = objections([catalogue()[quirk]], over, body)
    return found


def test_reasoning_items_before_each_call_are_what_deepseek_wants_on_responses() -> None:
    body = {"model": "m", "input": [USER, THOUGHT, FC1, THOUGHT, FC2, OUT1, OUT2]}
    found = objections([catalogue()["deepseek-responses-reasoning-per-call"]], "openai-responses", body)
    assert list(found) == []


def test_the_id_of_a_result_is_wanted_as_short_as_that_of_its_call() -> None:
    """gptel 1203: who shortens an id shortens it on the call and on its result."""
    called = {**CALLED, "tool_calls": [{**CALL, "id": "abcDEF123"}]}
    body = chat(USER, called, {**RESULT, "tool_call_id": "call_0fypS1hVX"})
    (place,) = objection_of("mistral-tool-id-9-alnum", "openai-chat", body).places
    assert place.pointer == "/messages/2/tool_call_id"


def test_a_field_at_which_the_request_hangs_is_named() -> None:
    objection = objection_of("aliyun-reasoning-object-blackhole", "openai-chat", BLACKHOLE)
    assert objection.answer is not None
    assert objection.answer.hangs

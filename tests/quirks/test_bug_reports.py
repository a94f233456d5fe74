"""Public bug reports as cases: what the product says of each input.

The reports are facts about real software, named by project and number; the inputs are written anew, as small
as shows the bug, with neutral names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.quirks import catalogue
from conformance.quirks.requests import Objection, objections
from conformance.rules import check
from conformance.types import Exchange, HttpRequest, HttpResponse, ToolCall, Turn, WireName
from conformance.wires import wire

CALL = {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}
USER, RESULT = {"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def tool(name: str = "alpha", **parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", **parameters}}}


def chat(*messages: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages or (USER,)), **members}


# --------------------------------------------------------------------------------- requests that are refused

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
        chat(reasoning={"enabled": True}),
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


def test_the_remap_of_a_mistral_id_concerns_call_and_result() -> None:
    assert "result" in catalogue()["mistral-tool-id-9-alnum"].workaround


def test_a_field_at_which_the_request_hangs_is_named() -> None:
    objection = objection_of("aliyun-reasoning-object-blackhole", "openai-chat", REFUSED[-1][3])
    assert objection.answer is not None
    assert objection.answer.hangs


# ------------------------------------------------------------------------------------- streams and answers

ASKED = chat(USER, stream=True, tools=[tool("alpha"), tool("beta")])


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1764000000,
        "model": "m",
        "choices": [choice],
    }


def piece(name: str | None = None, arguments: Any = None, **members: Any) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"tool_calls": [{**members, "function": function}]}


def stream(*chunks: Any, done: bool = True) -> Exchange:
    lines = [f"data: {json.dumps(data)}\n\n" for data in chunks]
    return _exchange(ASKED, "".join(lines) + ("data: [DONE]\n\n" if done else ""), "text/event-stream")


def answer(message: Mapping[str, Any], finish: str, *more: Any, **asked: Any) -> Exchange:
    said = {"role": "assistant", "content": None, "refusal": None}
    messages = [(message, finish), *more]
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1764000000,
        "model": "m",
        "choices": [
            {"index": n, "message": {**said, **m}, "finish_reason": f, "logprobs": None}
            for n, (m, f) in enumerate(messages)
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return _exchange({**ASKED, "stream": False, **asked}, json.dumps(body), "application/json")


def _exchange(asked: Any, body: str, media_type: str) -> Exchange:
    request = HttpRequest("POST", "http://h/v1/chat/completions", (), json.dumps(asked).encode())
    response = HttpResponse(200, (("content-type", media_type),), body.encode())
    return Exchange(request, response, "complete", "openai-chat")


def turns(exchange: Exchange) -> tuple[Turn, ...]:
    assert exchange.response is not None
    return wire("openai-chat").decode(exchange.response)


OPENING = chunk({"role": "assistant", "content": None})
END = chunk({}, "tool_calls")
FIRST = {"index": 0, "id": "c1", "type": "function"}

STREAMS: list[tuple[str, Exchange, set[str], list[tuple[str, str]]]] = [
    (
        "openai-python 2806",
        stream(OPENING, chunk(piece("alpha", "{}", id="c1", type="function"), "stop")),
        {"chat.stream.tool-index-present", "chat.stream.finish-tool-calls"},
        [("alpha", "{}")],
    ),
    (
        "litellm PR 37792",
        stream(
            OPENING,
            chunk(piece("alpha", {"x": 1}, index=0, id="c1")),
            chunk(piece("beta", {"y": 2}, index=0, id="c2"), "stop"),
        ),
        {
            "chat.stream.tool-index-distinct",
            "chat.stream.tool-arguments-string",
            "chat.stream.finish-tool-calls",
            "chat.stream.tool-first-has-type",
        },
        [("alpha", '{"x":1}'), ("beta", '{"y":2}')],
    ),
    (
        "hermes-agent 8089",
        stream(OPENING, chunk(piece("alpha", '{"a":', **FIRST)), chunk(piece("alpha", "1}", index=0)), END),
        {"chat.stream.tool-name-once"},
        [("alpha", '{"a":1}')],
    ),
    (
        "vercel/ai 5885",
        stream(
            OPENING,
            chunk(piece(None, "{", **FIRST)),
            chunk(piece("alpha", index=0)),
            chunk(piece(None, "}", index=0)),
            END,
        ),
        {"chat.stream.tool-first-has-name"},
        [("alpha", "{}")],
    ),
    (
        "vllm PR 38640",
        stream(
            OPENING,
            chunk(piece("alpha", "{", **FIRST)),
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": None,
                            "type": None,
                            "function": {"name": None, "arguments": "}"},
                        }
                    ]
                }
            ),
            END,
        ),
        {"chat.stream.tool-type-never-nulled"},
        [("alpha", "{}")],
    ),
    (
        "vllm 44098",
        stream(
            OPENING, chunk(piece("alpha", "{", **FIRST)), chunk(piece("alpha", "}", **FIRST), "tool_calls")
        ),
        {"chat.stream.tool-id-once", "chat.stream.tool-name-once"},
        [("alpha", "{}")],
    ),
    (
        "gcli2api 403",
        stream(
            OPENING,
            chunk({"reasoning_content": "r"}, "stop"),
            chunk({"content": "x"}),
            chunk({}, "stop"),
        ),
        {"chat.stream.nothing-after-finish", "chat.stream.finish-reason-once"},
        [],
    ),
    (
        "opencodex 1170",
        stream(OPENING, chunk({"content": "a"}), chunk({}, "stop"), done=False),
        {"sse.done-sentinel"},
        [],
    ),
    (
        "nanobot PR 1555",
        answer({"content": "text"}, "tool_calls", ({"tool_calls": [CALL]}, "tool_calls")),
        {"chat.response.choices-count-n", "chat.response.finish-tool-calls-needs-calls"},
        [("alpha", "{}")],
    ),
]


@pytest.mark.parametrize(
    ("exchange", "broken", "called"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS]
)
def test_an_answer_is_judged_and_read_all_the_same(
    exchange: Exchange, broken: set[str], called: list[tuple[str, str]]
) -> None:
    assert {f.rule for f in check([exchange]) if f.level != "MAY"} == broken
    calls = [part for turn in turns(exchange) for part in turn.parts if isinstance(part, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == called


def test_azures_first_chunk_without_choices_is_no_fault_of_the_stream() -> None:
    """mentat 429: legal for Azure; a client that takes choices[0] breaks."""
    filtered = {"id": "", "model": "", "created": 0, "object": "", "choices": [], "prompt_filter_results": []}
    exchange = stream(filtered, OPENING, chunk({"content": "a"}), chunk({}, "stop"))
    assert [f.rule for f in check([exchange]) if f.level != "MAY"] == []
    assert turns(exchange)[0].text == "a"


MARKUP = (
    '<|DSML|tool_calls><|DSML|invoke name="alpha"><|DSML|parameter name="p" string="true">x'
    "</|DSML|parameter></|DSML|invoke></|DSML|tool_calls>"
)


@pytest.mark.parametrize(
    "markup",
    [
        MARKUP,
        MARKUP.replace("tool_calls", "function_calls"),
        MARKUP.replace("<|DSML|tool_calls>", "").replace("</|DSML|tool_calls>", ""),
        MARKUP.partition("</")[0],
        MARKUP.replace("|", "\uff5c"),
    ],
    ids=["as reported", "function_calls", "no wrapper", "unterminated", "fullwidth bars"],
)
def test_markup_that_leaks_is_told_with_the_call_in_it(markup: str) -> None:
    """sglang 40236: the call is not dispatched, its markup is the content."""
    found = [f for f in check([answer({"content": f"ok {markup}"}, "stop")]) if f.level != "MAY"]
    assert {f.rule for f in found} == {"chat.response.no-call-markup-leak"}
    assert any("alpha" in f.got for f in found)


def test_a_named_choice_that_ends_with_stop_is_what_the_reference_does() -> None:
    """vllm PR 25054: OpenAI itself says stop beside the calls of a named choice."""
    named = {"type": "function", "function": {"name": "alpha"}}
    exchange = answer({"tool_calls": [CALL]}, "stop", tool_choice=named)
    assert [f for f in check([exchange]) if f.level != "MAY"] == []

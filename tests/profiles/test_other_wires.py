"""Workarounds of Responses and of Gemini's own wire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles import PROFILES, Asked, profile, repaired
from conformance.profiles.repairs import Frame
from conformance.types import HttpResponse, Message, Request, Tool, WireName
from conformance.wires.body import compact, parse

from .support import HELLO, JSON_TYPE, sent, sent_for, whole

RESPONSES: WireName = "openai-responses"


def reasoning(number: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "reasoning",
        "id": f"rs_{number}",
        "summary": [{"type": "summary_text", "text": "hm"}],
        **more,
    }


def call(number: int, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": f"c{number}", "name": "alpha", "arguments": "{}", **more}


def output(number: int) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": f"c{number}", "output": "ok"}


USER = {"role": "user", "content": "Hello."}
TEXT = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]}

SAID_1, SAID_2 = (reasoning(number, content=[{"type": "reasoning_text", "text": "hm"}]) for number in (1, 2))
ITEMS: dict[str, tuple[str, list[Any], list[Any]]] = {
    "responses-function-call-needs-reasoning-item": (
        "openai",
        [USER, reasoning(1), USER, call(1, id="fc_1"), output(1)],
        [USER, USER, call(1), output(1)],
    ),
    "a pair stays a pair": (
        "openai",
        [USER, reasoning(1), call(1, id="fc_1"), output(1)],
        [USER, reasoning(1), call(1, id="fc_1"), output(1)],
    ),
    "azure-foundry-encrypted-reasoning-replay": (
        "azure",
        [
            reasoning(1, encrypted_content="x"),
            TEXT,
            USER,
            reasoning(2, encrypted_content="y"),
            call(1),
            USER,
        ],
        [TEXT, USER, reasoning(2, encrypted_content="y"), call(1), USER],
    ),
    "none in a turn after a tool": (
        "azure",
        [reasoning(1, encrypted_content="x"), call(1), output(1)],
        [call(1), output(1)],
    ),
    "deepseek-responses-no-interleave": (
        "deepseek",
        [USER, reasoning(1), call(1), TEXT, reasoning(2), call(2)],
        [USER, TEXT, SAID_1, call(1), SAID_2, call(2)],
    ),
    "responses-status-must-be-null": (
        "vllm",
        [USER, call(1, status="completed")],
        [USER, call(1, status=None)],
    ),
    "responses-empty-input-rejected": (
        "openai",
        [],
        [{"role": "user", "content": [{"type": "input_text", "text": ""}]}],
    ),
}


@pytest.mark.parametrize("quirk", ITEMS)
def test_items_are_those_that_a_family_takes(quirk: str) -> None:
    name, given, wanted = ITEMS[quirk]
    assert sent_for(name, {"input": given}, over=RESPONSES)["input"] == wanted


def test_deepseek_gets_reasoning_before_each_call_with_its_text() -> None:
    items = sent_for("deepseek", {"input": [USER, reasoning(1), call(1), call(2)]}, over=RESPONSES)["input"]
    assert [item.get("type") for item in items[1:]] == ["reasoning", "function_call"] * 2
    assert items[3]["content"] == [{"type": "reasoning_text", "text": "hm"}]


def test_where_deepseeks_reasoning_is_lost_thinking_is_off() -> None:
    body = sent_for("deepseek", {"input": [USER, call(1), output(1)]}, over=RESPONSES)
    assert (body["reasoning"], body["input"]) == ({"effort": "none"}, [USER, call(1), output(1)])


def test_a_long_cache_key_is_hashed() -> None:
    body = sent_for("openai", {"input": [USER], "prompt_cache_key": "k" * 80}, over=RESPONSES)
    assert len(body["prompt_cache_key"]) == 64


def test_the_word_json_stands_in_the_input() -> None:
    body = {"input": "Hello.", "instructions": "Use JSON.", "text": {"format": {"type": "json_object"}}}
    assert "JSON" in str(sent_for("openai", body, over=RESPONSES)["input"])


def test_the_codex_backend_stores_nothing_and_has_no_cap() -> None:
    body = sent("chatgpt-codex", replace(HELLO, max_tokens=9), over=RESPONSES)
    assert (body["store"], "max_output_tokens" in body) == (False, False)


# --------------------------------------------------------------------------------------------- answers


def test_call_ids_that_are_counted_anew_in_each_response_bear_its_own() -> None:
    given = {"id": "resp_12345678", "object": "response", "output": [call(0, call_id="call_0")]}
    assert whole("bedrock", given, over=RESPONSES)["output"][0]["call_id"] == "call_0_12345678"
    assert whole("openai", given, over=RESPONSES) == given


def test_a_text_of_null_is_an_empty_one() -> None:
    part = {"type": "reasoning_text", "text": None}
    given = {"id": "r", "output": [{"type": "reasoning", "content": [part]}]}
    assert whole("compatible", given, over=RESPONSES)["output"][0]["content"] == [{**part, "text": ""}]


def events(name: str, *given: dict[str, Any], request: Request = HELLO) -> list[Any]:
    repairer = profile(name).repair_stream(Asked(request, RESPONSES))
    return [parse(f.data) for one in given for f in repairer.feed(Frame(compact(one), one["type"]))]


def test_items_of_a_stream_keep_the_id_they_were_added_with() -> None:
    added = {"type": "response.output_item.added", "output_index": 0, "item": call(1, id="fc_a")}
    delta = {
        "type": "response.function_call_arguments.delta",
        "output_index": 0,
        "item_id": "fc_b",
        "delta": "{}",
    }
    done = {"type": "response.output_item.done", "output_index": 0, "item": call(1, id="fc_c")}
    completed = {"type": "response.completed", "response": {"id": "r", "output": [call(1, id="fc_d")]}}
    told = events("openai", added, delta, done, completed)
    assert told[1]["item_id"] == told[2]["item"]["id"] == told[3]["response"]["output"][0]["id"] == "fc_a"


def test_an_alias_is_the_tools_own_name_again_in_answers() -> None:
    request = Request((Message.user("Hi."),), tools=(Tool("web_search", "", {}),))
    item = {"type": "response.output_item.done", "output_index": 0, "item": call(1, name="x_web_search")}
    assert events("xai", item, request=request)[0]["item"]["name"] == "web_search"
    given = {"id": "r", "output": [call(1, name="x_web_search")]}
    assert whole("opencode", given, request, RESPONSES)["output"][0]["name"] == "web_search"


# ---------------------------------------------------------------------------------------------- Gemini

GEMINI: WireName = "gemini"
CONTENTS = [{"role": "user", "parts": [{"text": "Hello."}]}]


def gemini(body: dict[str, Any], model: str = "gemini-3-pro") -> Any:
    return sent_for("google-gemini", {"contents": CONTENTS, **body}, model, GEMINI)


def test_gemini_gets_its_own_words_alone() -> None:
    assert gemini({"tags": ["a"], "reasoning": {}, "provider": {}}).keys() == {"contents"}


def test_gemma_gets_no_thinking_config() -> None:
    body = {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}, "temperature": 1}}
    assert gemini(body, "gemma-3-27b")["generationConfig"] == {"temperature": 1}
    assert "thinkingConfig" in gemini(body)["generationConfig"]


def test_calling_is_configured_only_where_functions_are_declared() -> None:
    body = {"tools": [{"googleSearch": {}}], "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    assert "toolConfig" not in gemini(body)


def test_a_schema_is_in_geminis_words() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "$schema": "x",
        "required": ["a", "gone"],
        "properties": {"a": {"const": "b"}, "c": {"type": ["string", "null"]}, "d": {"$ref": "#/$defs/e"}},
        "$defs": {"e": {"type": "array"}},
    }
    tools = [{"functionDeclarations": [{"name": "alpha", "parameters": schema}]}]
    assert gemini({"tools": tools})["tools"][0]["functionDeclarations"][0]["parameters"] == {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"enum": ["b"]},
            "c": {"type": "string", "nullable": True},
            "d": {"type": "array", "items": {"type": "string"}},
        },
    }


def test_every_family_leaves_the_other_wires_alone() -> None:
    for name in PROFILES:
        body = {"model": "m", "stream": False, "messages": [{"role": "user", "content": "Hi."}]}
        assert sent_for(name, body, over="ollama") == body


# ------------------------------------------------------------------------------------------- llama.cpp

MESSAGES: WireName = "anthropic-messages"
UNSEEN = "image input is not supported"


def error(status: int, document: Any, over: WireName) -> tuple[int, Any]:
    response = HttpResponse(status, JSON_TYPE, compact(document).encode())
    out = repaired(profile("llama.cpp"), response, Asked(HELLO, over))
    return out.status, parse(out.body.decode())


def test_what_llamacpp_can_not_see_is_the_requests_fault_over_every_wire() -> None:
    unseen = {"error": {"code": 500, "message": UNSEEN, "type": "server_error"}}
    assert error(500, unseen, "openai-chat")[0] == 400
    assert error(500, unseen, RESPONSES)[0] == 400
    assert error(500, unseen, MESSAGES) == (
        400,
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "image input is not supported"},
        },
    )


def test_other_failures_of_llamacpp_stay_failures() -> None:
    failed = {
        "error": {"code": 500, "message": "Failed to parse tool call arguments as JSON: {", "type": "x"}
    }
    status, told = error(500, failed, "openai-chat")
    assert (status, told["error"]["code"], told["error"]["param"]) == (500, "500", None)


def llamacpp(over: WireName, *given: dict[str, Any]) -> list[Any]:
    repairer = profile("llama.cpp").repair_stream(Asked(HELLO, over))
    return [parse(f.data) for one in given for f in repairer.feed(Frame(compact(one), one["type"]))]


def test_a_tool_block_of_llamacpp_begins_with_an_empty_input() -> None:
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "name": "alpha"},
    }
    assert llamacpp(MESSAGES, start)[0]["content_block"]["input"] == {}


def test_a_matched_stop_sequence_is_why_it_stopped() -> None:
    delta = {"stop_reason": "end_turn", "stop_sequence": "Thu"}
    (told,) = llamacpp(MESSAGES, {"type": "message_delta", "delta": delta})
    assert told["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "Thu"}
    given = {"type": "message", "content": [], **delta}
    assert whole("llama.cpp", given, over=MESSAGES)["stop_reason"] == "stop_sequence"


def test_events_without_numbers_are_numbered_as_they_come() -> None:
    created = {"type": "response.created", "response": {"id": "r", "output": []}}
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "a"}
    told = llamacpp(RESPONSES, created, delta)
    assert [event["sequence_number"] for event in told] == [0, 1]
    assert told[1]["logprobs"] == []

"""What each family's whole answers get wrong, before and after."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles import Asked, profile, repaired
from conformance.types import HttpResponse, JsonSchemaFormat, NamedChoice, Tool, Turn
from conformance.wires import wire

from .support import HELLO, JSON_TYPE, WITH_ALPHA, completion, message, whole


def called(arguments: Any = "{}", name: str = "alpha", **more: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def calls(*given: dict[str, Any], reason: Any = "tool_calls", name: str = "compatible") -> Any:
    """The calls that a client gets for those of an answer."""
    return message(name, {"content": None, "tool_calls": list(given)}, reason)["message"]["tool_calls"]


ARGUMENTS: dict[str, tuple[Any, str]] = {
    "arguments-empty-string": ("", "{}"),
    "arguments-null-literal": ("null", "{}"),
    "none at all": (None, "{}"),
    "arguments-object-not-string": ({"a": 1}, '{"a":1}'),
    "arguments-control-chars": ('{"t": "a\nb"}', '{"t": "a\\nb"}'),
    "line breaks between members": ('{\n"t": 1\n}', '{\n"t": 1\n}'),
    "what no escape mends": ('{"t": \n', '{"t": \n'),
}


@pytest.mark.parametrize("quirk", ARGUMENTS)
def test_arguments_are_a_string_of_json(quirk: str) -> None:
    given, wanted = ARGUMENTS[quirk]
    assert calls(called(given))[0]["function"]["arguments"] == wanted


def test_a_call_that_the_cap_cut_short_stays_as_it_is() -> None:
    assert calls(called(""), reason="length")[0]["function"]["arguments"] == ""


@pytest.mark.parametrize("given", [None, "", 7], ids=["missing-id-nonstream", "empty-string-id", "a number"])
def test_a_call_without_an_id_gets_the_same_one_each_time(given: Any) -> None:
    first, again = (calls(called(id=given))[0]["id"] for _ in range(2))
    assert first == again
    assert first.startswith("call_")


def test_a_minted_id_differs_from_that_of_another_turn() -> None:
    later = replace(WITH_ALPHA, messages=(*WITH_ALPHA.messages, *WITH_ALPHA.messages))
    document = completion({"content": None, "tool_calls": [called(id=None)]}, "tool_calls")
    ids = {
        whole("compatible", document, request)["choices"][0]["message"]["tool_calls"][0]["id"]
        for request in (WITH_ALPHA, later)
    }
    assert len(ids) == 2


def test_ids_of_a_turn_are_distinct() -> None:
    assert [call["id"] for call in calls(called(), called())] == ["c1", "c1_d2"]


def test_leaked_control_tokens_are_no_part_of_a_name() -> None:
    assert calls(called(name="alpha<|channel|>commentary"))[0]["function"]["name"] == "alpha"


def test_a_call_of_many_calls_is_these_calls_where_all_are_offered() -> None:
    uses = {"tool_uses": [{"recipient_name": "functions.alpha", "parameters": {"a": "b"}}]}
    inner = {"tool_uses": [{"recipient_name": "functions.gone", "parameters": {}}]}
    name = "multi_tool_use.parallel"
    assert calls(called(json.dumps(uses), name))[0]["function"] == {"name": "alpha", "arguments": '{"a":"b"}'}
    assert calls(called(json.dumps(inner), name))[0]["function"]["name"] == name


def test_where_one_call_was_asked_for_vllm_keeps_the_first() -> None:
    one = replace(WITH_ALPHA, parallel_tool_calls=False)
    given = {"content": None, "tool_calls": [called(), called(id="c2")]}
    assert len(message("vllm", given, "tool_calls", one)["message"]["tool_calls"]) == 1


FINISHES: list[tuple[str, Any, bool, str]] = [
    ("local-finish-stop-with-calls", "stop", True, "tool_calls"),
    ("finish-reason-foreign-vocabulary", "end_turn", False, "stop"),
    ("finish-reason-foreign-vocabulary", "MAX_TOKENS", False, "length"),
    ("finish-reason-foreign-vocabulary", "tool_use", True, "tool_calls"),
    ("finish-reason-integer", 24, False, "stop"),
    ("finish-reason-empty-or-null", "", True, "tool_calls"),
    ("finish-reason-empty-or-null", None, False, "stop"),
    ("vllm-finish-tool-calls-empty", "tool_calls", False, "stop"),
    ("a word that nobody knows", "eclipse", False, "eclipse"),
]


@pytest.mark.parametrize(("quirk", "reason", "has_calls", "wanted"), FINISHES)
def test_the_finish_reason_is_a_known_word_that_agrees_with_the_calls(
    quirk: str, reason: Any, has_calls: bool, wanted: str
) -> None:
    given = {"content": None, "tool_calls": [called()]} if has_calls else {"content": "a", "tool_calls": []}
    choice = message("vllm" if quirk.startswith("vllm") else "compatible", given, reason)
    assert choice["finish_reason"] == wanted
    assert bool(choice["message"].get("tool_calls")) is has_calls


def test_an_answer_as_long_as_its_cap_was_cut_where_it_says_nothing() -> None:
    capped = replace(WITH_ALPHA, max_tokens=2)
    document = {**completion({"content": "a"}, ""), "usage": {"completion_tokens": 2}}
    assert whole("compatible", document, capped)["choices"][0]["finish_reason"] == "length"


def test_vllms_stop_beside_a_required_call_is_put_right_and_a_named_ones_is_the_references() -> None:
    given = {"content": None, "tool_calls": [called()]}
    required = replace(WITH_ALPHA, tool_choice="required")
    named = replace(WITH_ALPHA, tool_choice=NamedChoice("alpha"))
    assert message("vllm", given, "stop", required)["finish_reason"] == "tool_calls"
    assert message("vllm", given, "stop", named)["finish_reason"] == "stop"


BLOCKS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "hi"},
]
FORMAT = replace(HELLO, response_format=JsonSchemaFormat("f", {"type": "object"}))

MESSAGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "content-as-block-list": ("mistral", {"content": BLOCKS}, {"content": "hi", "reasoning_content": "hm"}),
    "minimax-reasoning-inline-unless-split": (
        "minimax",
        {"content": "<think>hm</think>hi"},
        {"content": "hi", "reasoning_content": "hm"},
    ),
    "think-tag-unterminated": (
        "nvidia",
        {"content": "<thinking>hm"},
        {"content": None, "reasoning_content": "hm"},
    ),
    "harmony-channels-in-content": (
        "vllm",
        {"content": "analysishmassistantfinalhi"},
        {"content": "hi", "reasoning_content": "hm"},
    ),
    "azure-deepseek-structured-output-in-reasoning": (
        "azure",
        {"content": "", "reasoning_content": '{"a": 1}'},
        {"content": '{"a": 1}'},
    ),
    "think tags where none are expected": (
        "openai",
        {"content": "<think>a</think>"},
        {"content": "<think>a</think>"},
    ),
}


@pytest.mark.parametrize("quirk", MESSAGES)
def test_reasoning_and_text_are_where_they_belong(quirk: str) -> None:
    name, given, wanted = MESSAGES[quirk]
    assert message(name, given, request=FORMAT)["message"] == {"role": "assistant", **wanted}


def test_calls_that_leaked_into_the_text_are_calls() -> None:
    text = 'Well. <tool_call>{"name": "alpha", "arguments": {"a":"b"}}</tool_call>'
    choice = message("lm-studio", {"content": text})
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "Well. ")
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "alpha", "arguments": '{"a":"b"}'}


ENVELOPES: dict[str, tuple[str, Any]] = {
    "nonstream-envelope-wrapped": ("compatible", {"data": completion({"content": "a"}), "success": True}),
    "openrouter-null-fields-or-nested": ("openrouter", {"provider": completion({"content": "a"})}),
    "nonstandard-service-tier-created": (
        "groq",
        {**completion({"content": "a"}), "service_tier": "on_demand"},
    ),
}


@pytest.mark.parametrize("quirk", ENVELOPES)
def test_a_completion_is_the_document_itself(quirk: str) -> None:
    name, document = ENVELOPES[quirk]
    assert whole(name, document) == completion({"content": "a"})


def test_created_is_a_number() -> None:
    assert isinstance(whole("compatible", {**completion({"content": "a"}), "created": None})["created"], int)


def test_choices_of_null_are_a_failure_that_may_go_away() -> None:
    body = json.dumps({**completion({}), "choices": None}).encode()
    out = repaired(profile("openrouter"), HttpResponse(200, JSON_TYPE, body), Asked(HELLO))
    assert out.status == 502


def test_pieces_of_one_choice_are_one() -> None:
    document = completion({"content": "Well."}, "stop")
    second = completion({"content": None, "tool_calls": [called()]}, "tool_calls")["choices"][0]
    document["choices"].append({**second, "index": 1})
    (choice,) = whole("github-copilot", document)["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Well.", "tool_calls")
    assert len(choice["message"]["tool_calls"]) == 1
    assert len(whole("compatible", document)["choices"]) == 2


def test_usage_is_counted_in_openais_words() -> None:
    cached = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "prompt_cache_hit_tokens": 4,
        "prompt_cache_miss_tokens": 5,
    }
    told = whole("deepseek", {**completion({"content": "a"}), "usage": cached})["usage"]
    assert told["prompt_tokens_details"] == {"cached_tokens": 4}
    assert not [key for key in told if key.startswith("prompt_cache")]
    much = {"completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 14}}
    told = whole("compatible", {**completion({"content": "a"}), "usage": much})["usage"]
    assert told["completion_tokens_details"]["reasoning_tokens"] == 10


def test_model_ids_have_no_prefix() -> None:
    listed = {"object": "list", "data": [{"id": "models/gemini-x", "object": "model"}]}
    assert whole("google-gemini", listed)["data"][0]["id"] == "gemini-x"
    assert whole("openai", listed) == listed


def test_a_strict_schemas_arguments_hold_nothing_it_does_not_know() -> None:
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    request = replace(HELLO, tools=(Tool("alpha", "", closed, strict=True),))
    given = {"content": None, "tool_calls": [called('{"a": 1, "b": 2}')]}
    choice = message("anthropic", given, "tool_calls", request)
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'


def test_a_repaired_body_says_its_own_length() -> None:
    body = json.dumps(completion({"content": "a"}, "STOP")).encode()
    headers = (*JSON_TYPE, ("Content-Length", str(len(body))))
    out = repaired(profile("compatible"), HttpResponse(200, headers, body, ((5.0, len(body)),)), Asked(HELLO))
    assert out.header("content-length") == str(len(out.body))
    assert out.parts == ((5.0, len(out.body)),)


def turn(document: Any) -> Turn:
    return wire("openai-chat").decode(HttpResponse(200, JSON_TYPE, json.dumps(document).encode()))[0]


UNUSABLE: dict[str, tuple[str, Any, str]] = {
    "reasoning-only-response": (
        "compatible",
        completion({"content": "", "reasoning_content": "hm"}),
        "reasoning",
    ),
    "stream-arguments-missing-head": (
        "compatible",
        completion({"content": None, "tool_calls": [called('code":"x"}')]}, "tool_calls"),
        "no JSON",
    ),
    "no name": ("compatible", completion({"tool_calls": [called(name="")]}, "tool_calls"), "no name"),
    "anthropic-compat-strict-ignored": (
        "anthropic",
        completion({"tool_calls": [called('{"a": 1}')]}, "tool_calls"),
        "schema",
    ),
}


@pytest.mark.parametrize("quirk", UNUSABLE)
def test_an_answer_that_is_none_is_told_apart(quirk: str) -> None:
    name, document, why = UNUSABLE[quirk]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    strict = replace(HELLO, tools=(Tool("alpha", "", schema, strict=True),))
    assert why in (profile(name).unusable(turn(document), Asked(strict)) or "")


@pytest.mark.parametrize(
    "given",
    [{"content": "a"}, {"content": None, "refusal": "No."}, {"content": None, "tool_calls": [called()]}],
    ids=["text", "refusal-only-payload", "a call"],
)
def test_any_other_answer_is_one(given: dict[str, Any]) -> None:
    reason = "tool_calls" if "tool_calls" in given else "stop"
    assert profile("compatible").unusable(turn(completion(given, reason)), Asked(WITH_ALPHA)) is None

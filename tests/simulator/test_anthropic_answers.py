"""Messages and their streams, as Anthropic's API writes them."""

from __future__ import annotations

from typing import Any

import pytest

from .anthropic_support import (
    COMPUTER,
    THINKING,
    TIME,
    WEATHER,
    Messages,
    assembled,
    assistant,
    result,
    text,
    use,
    user,
)
from .support import SCRIPTS

TOOLS = [WEATHER, TIME]
SHAPES: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}),
    ("call", {}),
    ("parallel", {}),
    ("mixed", {}),
    ("thinking", {"thinking": {"type": "adaptive"}}),
    ("interleaved", {"thinking": THINKING}),
    ("interleaved", {"thinking": {**THINKING, "display": "omitted"}}),
    ("parallel", {"thinking": THINKING}),
    ("refusal", {}),
    ("filtered", {}),
    ("plain", {"max_tokens": 3}),
    ("call", {"max_tokens": 6}),
    ("plain", {"max_tokens": 0}),
    ("plain", {"stop_sequences": ["fox", "dog"]}),
    ("plain", {"stop_sequences": ["The"]}),
]


def settled(message: Any) -> Any:
    """A message without what is fresh in every answer."""
    fresh = {"id", "signature", "data"}
    blocks = [{k: v for k, v in block.items() if k not in fresh} for block in message["content"]]
    return {**message, "id": "", "content": blocks}


@pytest.mark.parametrize(("name", "members"), SHAPES)
def test_a_stream_adds_up_to_the_whole_answer(messages: Messages, name: str, members: dict[str, Any]) -> None:
    asked = f"[[{name}]]"
    whole = messages.message(asked, tools=TOOLS, **members)
    streamed = assembled(messages.events(asked, tools=TOOLS, **members))
    assert settled(streamed) == settled(whole)


@pytest.mark.parametrize(("name", "members"), SHAPES)
def test_a_stream_is_in_order(messages: Messages, name: str, members: dict[str, Any]) -> None:
    kinds = [event["type"] for event in messages.events(f"[[{name}]]", tools=TOOLS, **members)]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-2:] == ["message_delta", "message_stop"]
    open_block = False
    for kind in kinds[2:-2]:
        assert open_block is (kind != "content_block_start")
        open_block = kind != "content_block_stop"
    assert not open_block


def test_a_stream_comes_in_pieces(messages: Messages) -> None:
    events = messages.events("[[plain]]")
    assert len([event for event in events if event["type"] == "content_block_delta"]) > 5


def test_blocks_start_empty(messages: Messages) -> None:
    events = messages.events("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    starts = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    assert [block["type"] for block in starts] == ["thinking", "text", "tool_use", "thinking", "tool_use"]
    assert starts[0] == {"type": "thinking", "thinking": "", "signature": ""}
    assert starts[1] == {"type": "text", "text": ""}
    assert starts[2]["input"] == {}
    assert starts[2]["id"].startswith("toolu_")


def test_a_thinking_block_ends_with_its_signature(messages: Messages) -> None:
    events = messages.events("[[thinking]]", thinking=THINKING)
    deltas = [event["delta"]["type"] for event in events if event.get("index") == 0 and "delta" in event]
    assert deltas[-1] == "signature_delta"
    assert set(deltas[:-1]) == {"thinking_delta"}


def test_nothing_is_known_of_the_end_at_the_start(messages: Messages) -> None:
    begun = messages.events("[[plain]]")[0]["message"]
    assert (begun["content"], begun["stop_reason"], begun["usage"]["output_tokens"]) == ([], None, 1)


REASONS: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("plain", {}, "end_turn", None),
    ("call", {}, "tool_use", None),
    ("call", {"tool_choice": {"type": "tool", "name": "get_weather"}}, "tool_use", None),
    ("plain", {"max_tokens": 3}, "max_tokens", None),
    ("plain", {"max_tokens": 0}, "max_tokens", None),
    ("call", {"max_tokens": 6}, "max_tokens", None),
    ("plain", {"stop_sequences": ["dog", "fox"]}, "stop_sequence", "fox"),
    ("plain", {"stop_sequences": ["cat"]}, "end_turn", None),
    ("refusal", {}, "end_turn", None),
    ("filtered", {}, "refusal", None),
]


@pytest.mark.parametrize(("name", "members", "reason", "sequence"), REASONS)
def test_why_an_answer_ended(
    messages: Messages, name: str, members: dict[str, Any], reason: str, sequence: str | None
) -> None:
    answered = messages.message(f"[[{name}]]", tools=TOOLS, **members)
    assert (answered["stop_reason"], answered["stop_sequence"]) == (reason, sequence)
    assert (answered["stop_details"] is not None) is (reason == "refusal")


def test_a_stop_sequence_is_not_in_the_answer(messages: Messages) -> None:
    answered = messages.message("[[plain]]", stop_sequences=["fox"])
    assert answered["content"] == [text("The quick brown ")]


def test_an_answer_of_nothing_has_no_blocks(messages: Messages) -> None:
    assert messages.message("[[plain]]", stop_sequences=["The"])["content"] == []


def test_a_call_cut_off_in_its_arguments_has_none(messages: Messages) -> None:
    answered = messages.message("[[call]]", tools=TOOLS, max_tokens=6)
    assert [block["input"] for block in answered["content"]] == [{}]


def test_a_cap_of_nothing_only_reads_the_prompt(messages: Messages) -> None:
    answered = messages.message("[[plain]]", max_tokens=0)
    assert (answered["content"], answered["usage"]["output_tokens"]) == ([], 0)


def test_ids_are_fresh(messages: Messages) -> None:
    first, second = (messages.message("[[parallel]]", tools=TOOLS) for _ in range(2))
    ids = [m["id"] for m in (first, second)]
    ids += [block["id"] for m in (first, second) for block in m["content"]]
    assert len(set(ids)) == 6


CHOICES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("parallel", {}, ["get_weather", "get_time"]),
    ("parallel", {"type": "auto", "disable_parallel_tool_use": True}, ["get_weather"]),
    ("parallel", {"type": "any", "disable_parallel_tool_use": True}, ["get_weather"]),
    ("parallel", {"type": "tool", "name": "get_time"}, ["get_time"]),
    ("parallel", {"type": "none"}, []),
    ("plain", {"type": "any"}, ["get_weather"]),
    ("plain", {"type": "tool", "name": "get_time"}, ["get_time"]),
    ("plain", {"type": "auto"}, []),
]


@pytest.mark.parametrize(("name", "choice", "called"), CHOICES)
def test_the_tool_choice_is_obeyed(
    messages: Messages, name: str, choice: dict[str, Any], called: list[str]
) -> None:
    answered = messages.message(f"[[{name}]]", tools=TOOLS, tool_choice=choice or None)
    assert [b["name"] for b in answered["content"] if b["type"] == "tool_use"] == called


def test_usage_is_of_what_was_written(messages: Messages) -> None:
    quiet = messages.message("[[thinking]]")["usage"]
    loud = messages.message("[[thinking]]", thinking=THINKING)["usage"]
    assert quiet["output_tokens_details"] == {"thinking_tokens": 0}
    thought = loud["output_tokens_details"]["thinking_tokens"]
    assert thought == loud["output_tokens"] - quiet["output_tokens"] > 0


def test_the_last_usage_of_a_stream_is_of_all_of_it(messages: Messages) -> None:
    told = messages.events("[[plain]]")[-2]["usage"]
    whole = messages.message("[[plain]]")["usage"]
    assert told == {name: whole[name] for name in told}
    assert {"input_tokens", "output_tokens", "cache_read_input_tokens"} <= set(told)


def test_an_answer_of_a_schema_conforms_to_it(messages: Messages) -> None:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    config = {"format": {"type": "json_schema", "schema": schema}, "effort": "low"}
    answered = messages.message("[[plain]]", output_config=config)
    assert answered["content"][0]["text"].startswith('{"answer":')


SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"type": "integer", "minimum": 1}, "For 'integer' type, property 'minimum' is not supported"),
    ({"type": ["string", "null"], "maxLength": 3}, "For 'string' type, property 'maxLength'"),
    ({"type": "array", "items": {"type": "string"}, "minItems": 2}, "For 'array' type, 'minItems' values"),
    ({"oneOf": [{"type": "string"}]}, "'oneOf' is not supported"),
    ({"anyOf": [{"type": "object"}]}, "For 'object' type, 'additionalProperties' must be"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, "Invalid schema: Circular"),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}},
        "Inv",
    ),
    ({"anyOf": [{"$ref": "#"}]}, "Invalid schema: Circular reference detected"),
]


@pytest.mark.parametrize(("schema", "begins"), SCHEMAS)
def test_schemas_beyond_what_is_supported_are_refused(
    messages: Messages, schema: dict[str, Any], begins: str
) -> None:
    refused = messages.error("Hi", output_config={"format": {"type": "json_schema", "schema": schema}})
    assert refused.startswith(f"output_config.format.schema: {begins}")


def strict(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": f"f{len(properties)}", "strict": True, "input_schema": schema}


COMPLEX: list[tuple[list[dict[str, Any]], str]] = [
    ([strict(**{f"p{i}": {"type": "string"} for i in range(25)})], "Schemas contains too many optional"),
    (
        [
            strict(**{f"p{i}": {"type": ["string", "null"]} for i in range(9)}),
            strict(**{f"p{i}": {"anyOf": [{"type": "string"}]} for i in range(8)}),
        ],
        "Schemas contains too many parameters with union types (17)",
    ),
    ([strict(a=True)], "tools.0.input_schema: For 'object' type, property 'properties' is not supported"),
]


@pytest.mark.parametrize(("tools", "begins"), COMPLEX)
def test_strict_tools_that_are_too_complex_are_refused(
    messages: Messages, tools: list[dict[str, Any]], begins: str
) -> None:
    assert messages.error("Hi", tools=tools).startswith(begins)
    lax = [{**tool, "strict": False} for tool in tools]
    assert messages.ask("Hi", tools=lax).status_code == 200


def test_a_definition_that_leads_nowhere_round_is_supported(messages: Messages) -> None:
    schema = {
        "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}},
    }
    asked = {"format": {"type": "json_schema", "schema": schema}}
    assert messages.ask("Hi", output_config=asked).status_code == 200


# ------------------------------------------------------------------------------------- typed tools


TYPED: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "computer_20241022",
        "computer",
        {"display_width_px": 9, "display_height_px": 9},
        "computer-use-2024-10-22",
    ),
    (
        "computer_20250124",
        "computer",
        {"display_width_px": 9, "display_height_px": 9},
        "computer-use-2025-01-24",
    ),
    (
        "computer_20251124",
        "computer",
        {"display_width_px": 9, "display_height_px": 9},
        "computer-use-2025-11-24",
    ),
    ("bash_20250124", "bash", {}, ""),
    ("text_editor_20250124", "str_replace_editor", {}, ""),
    ("text_editor_20250429", "str_replace_based_edit_tool", {}, ""),
    ("text_editor_20250728", "str_replace_based_edit_tool", {"max_characters": 9}, ""),
    ("memory_20250818", "memory", {}, ""),
]


@pytest.mark.parametrize(("kind", "name", "members", "beta"), TYPED, ids=[row[0] for row in TYPED])
def test_typed_tools_are_called_by_their_names(
    messages: Messages, kind: str, name: str, members: dict[str, Any], beta: str
) -> None:
    tool = {"type": kind, "name": name, **members}
    answered = messages.message("Hi", tools=[tool], tool_choice={"type": "any"}, beta=beta)
    assert answered["content"][0]["name"] == name
    assert answered["content"][0]["input"]
    assert "tools.0.name: " in messages.error("Hi", tools=[{**tool, "name": "mine"}], beta=beta)


def test_a_screenshot_comes_back_as_a_picture(messages: Messages) -> None:
    beta = "computer-use-2025-01-24, interleaved-thinking-2025-05-14"
    asked = messages.message("[[screenshot]]", tools=[COMPUTER], beta=beta)
    call = asked["content"][0]
    assert (call["name"], call["input"]) == ("computer", {"action": "screenshot"})
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    shown = result(call["id"], [{"type": "image", "source": source}, text("[[done/1]]")])
    turns = ["[[screenshot]]", assistant(*asked["content"]), user(shown)]
    assert messages.message(*turns, tools=[COMPUTER], beta=beta)["content"] == [text("It is sunny.")]


def test_a_display_has_a_size(messages: Messages) -> None:
    tool = {name: value for name, value in COMPUTER.items() if name != "display_width_px"}
    refused = messages.error("Hi", tools=[tool], beta="computer-use-2025-01-24")
    assert refused == "tools.0.display_width_px: Field required"


def test_a_tool_may_be_named_in_the_history_alone(messages: Messages) -> None:
    assert messages.message("Hi", assistant(use("a")), user(result("a")))["stop_reason"] == "end_turn"


def test_the_text_of_a_refusal_is_text(messages: Messages) -> None:
    assert messages.message("[[refusal]]")["content"] == [text(SCRIPTS["refusal"].refusal)]

"""From a parsed text to a turn: ids, finish reasons, facts, what else the answer held."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS, FLAGS
from conformance.types import Fact, Image, Reasoning, Refusal, Text, ToolCall, Turn, Usage

from .samples import TOOLS

TWO = (
    'One.<tool_call>{"name": "f", "arguments": { "n": 1 }}</tool_call>'
    '<tool_call>{"name": "f"}</tool_call>Two.'
)


def test_pieces_become_parts_in_their_order_and_the_text_is_the_content() -> None:
    parsed = DIALECTS["hermes"].parse("<think>Hm.</think>" + TWO)
    turn = parsed.to_turn()
    kinds = [type(part) for part in turn.parts]
    assert kinds == [Reasoning, Text, ToolCall, ToolCall, Text]
    assert turn.text == parsed.content
    assert turn.reasoning == "Hm."


def test_arguments_are_the_characters_of_the_text_where_those_are_strict_json() -> None:
    first, second = DIALECTS["hermes"].parse(TWO).calls
    assert first.arguments == '{ "n": 1 }'
    assert second.arguments == "{}"


def test_repaired_arguments_are_written_anew() -> None:
    (call,) = (
        DIALECTS["hermes"]
        .parse("<tool_call>{'name': 'f', 'arguments': {'city': 'Zürich',}}</tool_call>")
        .calls
    )
    assert call.arguments == '{"city":"Zürich"}'


def test_ids_depend_on_conversation_position_and_number_alone() -> None:
    parsed = DIALECTS["hermes"].parse(TWO)
    ids = [call.id for call in parsed.to_turn(conversation="c", position=3).calls]
    assert ids == [call.id for call in parsed.to_turn(conversation="c", position=3).calls]
    others = [
        call.id
        for place in (("c", 4), ("d", 3))
        for call in parsed.to_turn(conversation=place[0], position=place[1]).calls
    ]
    assert len({*ids, *others}) == 6
    assert all(one.startswith("call_") and len(one) == 29 and one[5:].isalnum() for one in ids)


def test_mistral_ids_are_nine_letters_or_digits() -> None:
    turn = DIALECTS["mistral-compact"].parse("[TOOL_CALLS]f[ARGS]{}").to_turn()
    assert len(turn.calls[0].id) == 9
    assert turn.calls[0].id.isalnum()


def test_an_id_in_the_text_is_kept_unless_it_is_taken() -> None:
    text = (
        "<|tool_calls_section_begin|>"
        + "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>" * 2
        + "<|tool_calls_section_end|>"
    )
    first, second = DIALECTS["kimi-k2"].parse(text).to_turn().calls
    assert first.id == "functions.f:0"
    assert second.id.startswith("call_")
    assert DIALECTS["kimi-k2"].parse(text).to_turn(taken=["functions.f:0"]).calls[0].id.startswith("call_")


@pytest.mark.parametrize(
    ("text", "came", "becomes"),
    [
        (TWO, "stop", "tool_calls"),
        (TWO, None, "tool_calls"),
        (TWO, "length", "length"),
        (TWO, "content_filter", "content_filter"),
        ("Hello", "stop", "stop"),
        ("Hello", None, None),
    ],
)
def test_calls_win_over_a_natural_stop_only(text: str, came: str | None, becomes: str | None) -> None:
    assert DIALECTS["hermes"].parse(text).to_turn(Turn(finish_reason=came)).finish_reason == becomes


def test_all_else_of_the_answer_stays() -> None:
    call = ToolCall("call_native", "g", "{}")
    answer = Turn(
        (Reasoning("R"), Text("raw"), Refusal("no"), Image("data:x"), call),
        "stop",
        Usage(1, 2, 3),
        "id",
        "model",
        (Fact("missing-id", "/x"),),
    )
    turn = DIALECTS["hermes"].parse('<tool_call>{"name": "f"}').to_turn(answer)
    assert turn.parts[0] == Reasoning("R")
    assert turn.parts[2:] == (Refusal("no"), Image("data:x"), call)
    assert (turn.usage, turn.id, turn.model) == (answer.usage, "id", "model")
    assert turn.facts == (Fact("missing-id", "/x"), Fact("dialect-unclosed", "/content", "hermes"))


def test_every_flag_has_its_fact() -> None:
    assert len(set(FLAGS)) == len(FLAGS)


def test_names_that_were_not_offered_are_flagged_only_where_tools_were_offered() -> None:
    text = '<tool_call>{"name": "nope"}</tool_call>'
    assert DIALECTS["hermes"].parse(text).flags == set()
    assert DIALECTS["hermes"].parse(text, TOOLS).flags == {"unknown-tool"}


def test_a_text_may_begin_inside_of_reasoning() -> None:
    text = 'maybe <tool_call>{"name": "f"}</tool_call></think>Hello'
    parsed = DIALECTS["hermes"].parse(text, TOOLS, thinking=True)
    assert parsed.content == "Hello"
    assert parsed.calls == ()
    assert parsed.flags == {"quoted"}


def test_calls_say_where_they_stand() -> None:
    text = 'x <tool_call>{"name": "f"}</tool_call> y'
    (call,) = DIALECTS["hermes"].parse(text).calls
    assert text[call.start : call.end] == '<tool_call>{"name": "f"}</tool_call>'

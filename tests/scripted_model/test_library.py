"""Scripts of the scenarios in every dialect, and scripts from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.dialects import DIALECTS, dialect
from conformance.scenarios import SCENARIOS
from conformance.scenarios.base import asks_of, marker, written_in
from conformance.scenarios.walking import imagined
from conformance.scripted_model import CHECKPOINTS, ScriptError, from_file, from_scenarios, unwritable
from conformance.types import Reasoning, Tool, ToolCall, Turn


def values(calls: tuple[ToolCall, ...]) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in calls]


def thinks_again(turn: Turn) -> bool:
    """Only reasoning that comes first is told from text."""
    return any(isinstance(part, Reasoning) for part in turn.parts[1:])


def tools_of() -> dict[str, tuple[Tool, ...]]:
    return {
        marker(one.id, number): ask.request.tools
        for one in SCENARIOS.values()
        for number, ask in enumerate(ask for step in imagined(one) for ask in asks_of(step))
    }


@pytest.mark.parametrize("name", DIALECTS)
def test_the_dialect_reads_the_ideal_turns_back_from_their_scripts(name: str) -> None:
    grammar, checkpoint, tools = dialect(name), CHECKPOINTS[name], tools_of()
    opening = grammar.think[0] if checkpoint.begun else ""
    found, word_for_word = from_scenarios(grammar), written_in(grammar)
    for marked, one in found.items():
        if marked in word_for_word or one.turn is None or thinks_again(one.turn):
            continue
        if one.turn.calls and not tools[marked]:
            continue  # a tool of a wire's own: nobody knows the types of its raw values
        read = grammar.parse(opening + one.script.text, tools[marked]).to_turn()
        assert values(read.calls) == values(one.turn.calls), marked
        assert read.text.strip() == one.turn.text.strip(), marked
        assert read.reasoning.split() == one.turn.reasoning.split(), marked


@pytest.mark.parametrize("name", DIALECTS)
def test_no_script_holds_a_token_that_ends_the_turn(name: str) -> None:
    ends = CHECKPOINTS[name].ends
    assert not [
        marked
        for marked, one in from_scenarios(dialect(name)).items()
        if any(e in one.script.text for e in ends)
    ]


def test_hermes_has_a_script_for_every_ideal_turn() -> None:
    assert list(from_scenarios(dialect("hermes"))) == [
        marker(one.id, number) for one in SCENARIOS.values() for number in range(len(one.ideal))
    ]


def test_the_message_is_what_a_correct_server_makes_of_it() -> None:
    found = from_scenarios(dialect("qwen3-coder"))["tools.single-call/0"]
    assert found.message is not None
    assert found.message["content"] == found.message["reasoning_content"] == ""
    assert [call["name"] for call in found.message["tool_calls"]] == ["get_weather"]


def test_texts_of_a_file_are_taken_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "scripts.json"
    file.write_text(json.dumps({"a": "Hello.", "b": "<|channel|>commentary to=f<|message|>{}<|call|>"}))
    found = from_file(file, dialect("harmony"))
    assert {name: (one.script.text, one.script.end) for name, one in found.items()} == {
        "a": ("Hello.", "<|return|>"),
        "b": ("<|channel|>commentary to=f<|message|>{}", "<|call|>"),
    }
    assert [one.message for one in found.values()] == [None, None]


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', "[" * 100_000, b"\xff".decode("latin-1")])
def test_a_file_that_is_no_object_of_texts_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "scripts.json"
    file.write_text(content, "latin-1")
    with pytest.raises(ScriptError, match=r"scripts\.json"):
        from_file(file, dialect("hermes"))


@pytest.mark.parametrize(
    ("name", "scenario", "reason"),
    [
        ("hermes", "parser.arguments-first", None),
        ("qwen3-coder", "parser.two-calls", None),
        (
            "qwen3-coder",
            "parser.arguments-first",
            "no model of qwen3-coder writes this: the format has no such text",
        ),
        ("qwen3-coder", "parser.quoted-markup", "the text is one of hermes"),
        ("harmony", "parser.two-calls", "a turn of harmony is over at its first <|call|>"),
    ],
)
def test_why_no_model_of_a_dialect_writes_a_scenario(name: str, scenario: str, reason: str | None) -> None:
    assert unwritable(SCENARIOS[scenario], dialect(name)) == reason


@pytest.mark.parametrize("name", DIALECTS)
def test_a_scenario_that_can_run_has_all_its_scripts(name: str) -> None:
    grammar = dialect(name)
    found = from_scenarios(grammar)
    for one in SCENARIOS.values():
        if unwritable(one, grammar) is None:
            assert all(marker(one.id, index) in found for index in range(len(one.ideal))), one.id

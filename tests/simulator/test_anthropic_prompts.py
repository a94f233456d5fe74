"""Prompt caching and context editing: what of a prompt is paid, and what the model reads of it."""

from __future__ import annotations

from typing import Any

import pytest

from .anthropic_support import (
    EDITING,
    THINKING,
    TIME,
    WEATHER,
    Messages,
    assistant,
    result,
    text,
    use,
    user,
)

LONG = "word " * 1200
MARK: dict[str, Any] = {"type": "ephemeral"}


def tokens(message: Any) -> tuple[int, int, int]:
    usage = message["usage"]
    assert usage["cache_creation_input_tokens"] == sum(usage["cache_creation"].values())
    return usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]


def test_a_marked_prompt_is_written_then_read(messages: Messages) -> None:
    asked = [text("written then read " + LONG, cache_control=MARK)]
    rest, written, read = tokens(messages.message("Hi", system=asked))
    assert (read, written > 1024) == (0, True)
    assert tokens(messages.message("Hi", system=asked)) == (rest, 0, written)
    other = messages.message("Hello there", system=asked)
    assert tokens(other)[1:] == (0, written)


def test_nothing_is_cached_unmarked(messages: Messages) -> None:
    for _ in range(2):
        assert tokens(messages.message("unmarked " + LONG))[1:] == (0, 0)


def test_short_prompts_are_not_cached(messages: Messages) -> None:
    asked = user(text("short", cache_control=MARK))
    for _ in range(2):
        assert tokens(messages.message(asked))[1:] == (0, 0)


def test_all_of_a_prompt_is_counted_once(messages: Messages) -> None:
    unmarked = sum(tokens(messages.message("counted " + LONG, system="counted")))
    asked = user(text("counted " + LONG, cache_control=MARK))
    for _ in range(2):
        assert sum(tokens(messages.message(asked, system="counted"))) == unmarked


def test_a_changed_beginning_is_not_read(messages: Messages) -> None:
    asked = user(text("a changed beginning " + LONG, cache_control=MARK))
    messages.message(asked, system="First")
    assert tokens(messages.message(asked, system="Second"))[2] == 0


def test_a_growing_conversation_reads_what_it_had_before(messages: Messages) -> None:
    first = user(text("growing " + LONG, cache_control=MARK))
    written = tokens(messages.message(first))[1]
    later = [user(text("growing " + LONG)), assistant("Yes."), user(text("More.", cache_control=MARK))]
    rest, more, read = tokens(messages.message(*later))
    assert (read, 0 < more < 10) == (written, True)
    assert rest > 0


def test_a_mark_on_the_request_is_on_its_last_block(messages: Messages) -> None:
    written = tokens(messages.message("the request " + LONG, cache_control=MARK))[1]
    assert tokens(messages.message("the request " + LONG, cache_control=MARK))[2] == written > 1024


def test_tools_are_cached_too(messages: Messages) -> None:
    tool = {**TIME, "description": "tools too " + LONG, "cache_control": MARK}
    written = tokens(messages.message("Hi", tools=[tool]))[1]
    assert tokens(messages.message("Hello", tools=[tool]))[2] == written > 1024


def test_writes_are_counted_by_how_long_they_live(messages: Messages) -> None:
    hour = text("lives " + LONG, cache_control={**MARK, "ttl": "1h"})
    created = messages.message(user(hour, text("longer", cache_control=MARK)))["usage"]["cache_creation"]
    assert created["ephemeral_1h_input_tokens"] > 1024
    assert 0 < created["ephemeral_5m_input_tokens"] < 10


def test_the_cache_is_the_personas_own(messages: Messages, simulator: Any, client: Any) -> None:
    asked = user(text("a persona's own " + LONG, cache_control=MARK))
    messages.message(asked)
    assert tokens(Messages(simulator, client, "deepseek").message(asked))[2] == 0


# ------------------------------------------------------------------------------------ context editing

LOOP = [
    user("Go on."),
    *(
        turn
        for i in range(5)
        for turn in (
            assistant(use(f"c{i}", "get_time" if i == 1 else "get_weather", city="x" * 400)),
            user(result(f"c{i}", f"result {i} " + "y" * 400)),
        )
    ),
]


def edited(messages: Messages, **edit: Any) -> Any:
    edits = [{"type": "clear_tool_uses_20250919", **edit}]
    return messages.message(*LOOP, tools=[WEATHER, TIME], beta=EDITING, context_management={"edits": edits})


def uses(count: int) -> dict[str, Any]:
    return {"type": "tool_uses", "value": count}


EDITS: list[tuple[str, dict[str, Any], int | None]] = [
    ("default", {}, None),
    ("triggered", {"trigger": uses(4)}, 2),
    ("not-beyond", {"trigger": uses(5)}, None),
    ("keep-one", {"trigger": uses(1), "keep": uses(1)}, 4),
    ("keep-none", {"trigger": uses(1), "keep": uses(0)}, 5),
    ("keep-all", {"trigger": uses(1), "keep": uses(9)}, None),
    ("excluded", {"trigger": uses(1), "keep": uses(1), "exclude_tools": ["get_time"]}, 3),
    ("by-tokens", {"trigger": {"type": "input_tokens", "value": 500}}, 2),
    ("too-little", {"trigger": uses(1), "clear_at_least": {"type": "input_tokens", "value": 9000}}, None),
]


@pytest.mark.parametrize(("edit", "cleared"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_old_tool_results_are_cleared_and_told(
    messages: Messages, edit: dict[str, Any], cleared: int | None
) -> None:
    whole = messages.message(*LOOP, tools=[WEATHER, TIME])["usage"]["input_tokens"]
    answered = edited(messages, **edit)
    applied = answered["context_management"]["applied_edits"]
    saved = whole - answered["usage"]["input_tokens"]
    if cleared is None:
        assert (applied, saved) == ([], 0)
    else:
        assert [(one["type"], one["cleared_tool_uses"]) for one in applied] == [
            ("clear_tool_uses_20250919", cleared)
        ]
        assert applied[0]["cleared_input_tokens"] == saved > 80 * cleared


@pytest.mark.parametrize("inputs", [True, ["get_weather"]])
def test_inputs_are_cleared_when_asked(messages: Messages, inputs: Any) -> None:
    kept = edited(messages, trigger=uses(1))["usage"]["input_tokens"]
    cleared = edited(messages, trigger=uses(1), clear_tool_inputs=inputs)["usage"]["input_tokens"]
    assert kept - cleared > 80


def test_the_model_does_not_read_what_was_cleared(messages: Messages) -> None:
    turns = [*LOOP[:-1], user(result("c4", "[[done/1]]"))]
    edits = [{"type": "clear_tool_uses_20250919", "trigger": uses(1), "keep": uses(0)}]
    answered = messages.message(*turns, beta=EDITING, context_management={"edits": edits})
    assert "returned: [Old tool result cleared]" in answered["content"][0]["text"]


def test_a_stream_tells_of_edits_at_its_end(messages: Messages) -> None:
    edits = [{"type": "clear_tool_uses_20250919", "trigger": uses(1)}]
    events = messages.events(*LOOP, beta=EDITING, context_management={"edits": edits})
    assert events[-2]["context_management"]["applied_edits"][0]["cleared_tool_uses"] == 2


def test_nothing_is_told_unasked(messages: Messages) -> None:
    assert "context_management" not in messages.message(*LOOP, beta=EDITING)


@pytest.mark.parametrize(
    ("keep", "cleared"),
    [(None, 1), ({"type": "thinking_turns", "value": 2}, None), ("all", None), ({"type": "all"}, None)],
)
def test_old_thinking_is_cleared_and_told(messages: Messages, keep: Any, cleared: int | None) -> None:
    thought = messages.message("[[thinking]]", thinking=THINKING)["content"]
    turns = ["Hi", assistant(*thought), "So?", assistant(*thought), "And?"]
    edit = {"type": "clear_thinking_20251015"} | ({"keep": keep} if keep else {})
    answered = messages.message(*turns, beta=EDITING, thinking=THINKING, context_management={"edits": [edit]})
    applied = answered["context_management"]["applied_edits"]
    assert [one["cleared_thinking_turns"] for one in applied] == ([cleared] if cleared else [])
    assert all(one["cleared_input_tokens"] > 0 for one in applied)

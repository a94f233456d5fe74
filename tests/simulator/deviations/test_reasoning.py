"""Where reasoning goes: whole and streamed, and only where the condition says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.support import TIME, WEATHER, Talk, deltas

THOUGHT, SAID = "First, the facts.", "So it is."
QUIET: list[dict[str, Any]] = [{"at": "/quiet", "one_of": [True], "is_not": True}]
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "always": ("reasoning-always", {"when": QUIET}),
    "shown": ("reasoning-shown", {"when": QUIET}),
    "dropped": ("reasoning-dropped", {}),
    "alone": ("reasoning-alone", {}),
    "inline": ("reasoning-inline", {"when": QUIET}),
    "open": ("reasoning-inline", {"closed": False}),
    "named": ("reasoning-named", {"member": "reasoning"}),
    "swallowed": ("text-as-reasoning", {}),
    "blocks": ("content-as-blocks", {}),
    "details": ("reasoning-details-share-index", {}),
}


def said(talk: Talk, *messages: Any, **members: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The message of a whole answer, and that of a stream: its texts joined, its lists in order."""
    joined: dict[str, Any] = {}
    for delta in deltas(talk.events(*messages, **members)):
        for name, value in delta.items():
            if isinstance(value, (str, list)) and name != "role":
                joined[name] = joined[name] + value if name in joined else value
    return talk.choice(*messages, **members)["message"], joined


@pytest.mark.parametrize("name", ["always", "shown"])
def test_every_answer_shows_reasoning(to: Callable[[str], Talk], name: str) -> None:
    assert all(message["reasoning_content"] for message in said(to(name), "[[plain]]"))
    assert all(message["reasoning_content"] == THOUGHT for message in said(to(name), "[[thinking]]"))


def test_where_the_condition_fails_one_shows_none_and_the_other_what_there_is(
    to: Callable[[str], Talk],
) -> None:
    assert not any("reasoning_content" in m for m in said(to("always"), "[[thinking]]", quiet=True))
    assert all(m["reasoning_content"] == THOUGHT for m in said(to("shown"), "[[thinking]]", quiet=True))
    assert not any("reasoning_content" in m for m in said(to("shown"), "[[plain]]", quiet=True))


def test_reasoning_is_dropped_and_nothing_else(to: Callable[[str], Talk]) -> None:
    for message in said(to("dropped"), "[[thinking]]"):
        assert "reasoning_content" not in message
        assert message["content"] == SAID


def test_reasoning_comes_alone(to: Callable[[str], Talk]) -> None:
    for message in said(to("alone"), "[[thinking]]"):
        assert (message["reasoning_content"], message["content"]) == (THOUGHT, "")
    choice = to("alone").choice("[[interleaved]]", tools=[WEATHER, TIME])
    assert choice["finish_reason"] == "stop"
    assert "tool_calls" not in choice["message"]


def test_an_answer_without_reasoning_is_whole(to: Callable[[str], Talk]) -> None:
    for name in ("alone", "blocks", "details", "named", "open"):
        choice = to(name).choice("[[call]]", tools=[WEATHER, TIME])
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] is None


@pytest.mark.parametrize(
    ("name", "text"),
    [("inline", f"<think>{THOUGHT}</think>\n\n{SAID}"), ("open", f"<think>{THOUGHT}\n\n{SAID}")],
)
def test_reasoning_stands_in_the_text(to: Callable[[str], Talk], name: str, text: str) -> None:
    for message in said(to(name), "[[thinking]]"):
        assert message["content"] == text
        assert "reasoning_content" not in message


def test_reasoning_asked_for_apart_comes_apart(to: Callable[[str], Talk]) -> None:
    for message in said(to("inline"), "[[thinking]]", quiet=True):
        assert (message["reasoning_content"], message["content"]) == (THOUGHT, SAID)


def test_reasoning_has_another_name(to: Callable[[str], Talk]) -> None:
    for message in said(to("named"), "[[thinking]]"):
        assert (message["reasoning"], message["content"]) == (THOUGHT, SAID)
        assert "reasoning_content" not in message


def test_the_text_comes_as_reasoning_and_is_counted_so(to: Callable[[str], Talk]) -> None:
    for message in said(to("swallowed"), "[[thinking]]"):
        assert (message["reasoning_content"], message["content"]) == (THOUGHT + SAID, "")
    usage = to("swallowed").ask("[[thinking]]").json()["usage"]
    assert usage["completion_tokens_details"]["reasoning_tokens"] == usage["completion_tokens"]


def test_the_content_is_blocks_that_may_come_back(to: Callable[[str], Talk]) -> None:
    message = to("blocks").choice("[[thinking]]")["message"]
    thinking, text = message["content"]
    assert thinking == {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    assert text == {"type": "text", "text": SAID}
    assert "reasoning_content" not in message
    assert to("blocks").ask("[[thinking]]", message, "Again").status_code == 200
    streamed = deltas(to("blocks").events("[[thinking]]"))
    assert any(isinstance(delta.get("content"), list) for delta in streamed)
    texts = "".join(delta["content"] for delta in streamed if isinstance(delta.get("content"), str))
    assert texts == SAID


def test_a_message_of_thinking_and_calls_alone_comes_back_as_one_of_calls(to: Callable[[str], Talk]) -> None:
    message = to("blocks").choice("[[interleaved]]", tools=[WEATHER, TIME])["message"]
    message["content"] = message["content"][:1]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message["tool_calls"]
    ]
    assert to("blocks").ask("Hi", message, *results, tools=[WEATHER, TIME]).status_code == 200


def test_details_of_two_types_share_an_index(to: Callable[[str], Talk]) -> None:
    for message in said(to("details"), "[[thinking]]"):
        kinds = [entry["type"] for entry in message["reasoning_details"]]
        assert (kinds[0], kinds[-1]) == ("reasoning.text", "reasoning.encrypted")
        assert {entry["index"] for entry in message["reasoning_details"]} == {0}
        assert message["content"] == SAID

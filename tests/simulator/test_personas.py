"""The misbehaving personas deviate as the catalogue says, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .support import TIME, WEATHER, Talk, assistant, deltas, tool

OFF = {"type": "disabled"}


@pytest.fixture(scope="module")
def deepseek(talk: Callable[[str], Talk]) -> Talk:
    return talk("deepseek")


@pytest.fixture(scope="module")
def gemini(talk: Callable[[str], Talk]) -> Talk:
    return talk("gemini-front")


@pytest.mark.parametrize("thinking", [None, {"type": "enabled"}])
def test_deepseek_thinks_by_default(deepseek: Talk, thinking: Any) -> None:
    message = deepseek.choice("[[plain]]", thinking=thinking)["message"]
    assert message["reasoning_content"]
    assert message["content"].startswith("The quick")
    found = deltas(deepseek.events("[[call]]", tools=[WEATHER], thinking=thinking))
    assert "reasoning_content" in found[1]


def test_deepseek_keeps_the_reasoning_of_the_ideal_turn(deepseek: Talk) -> None:
    assert deepseek.choice("[[thinking]]")["message"]["reasoning_content"] == "First, the facts."


def test_deepseek_does_not_think_when_told_not_to(deepseek: Talk) -> None:
    assert "reasoning_content" not in deepseek.choice("[[thinking]]", thinking=OFF)["message"]


def test_deepseek_does_not_reason_where_the_effort_is_none(deepseek: Talk) -> None:
    (choice,) = deepseek.ask("Hi", reasoning_effort="none").json()["choices"]
    assert "reasoning_content" not in choice["message"]


R = {"reasoning_content": "Hm"}
SAID = {"role": "assistant", "content": "done"}


@pytest.mark.parametrize(
    ("messages", "thinking", "status"),
    [
        (["Hi", assistant("c1"), tool("c1")], None, 400),
        (["Hi", assistant("c1"), tool("c1")], {"type": "enabled"}, 400),
        (["Hi", assistant("c1"), tool("c1")], OFF, 200),
        (["Hi", assistant("c1", **R), tool("c1")], None, 200),
        (["Hi", assistant("c1", reasoning_content=""), tool("c1")], None, 200),
        (["Hi", assistant("c1", **R), tool("c1"), SAID, "And now?"], None, 400),
        (["Hi", assistant("c1", **R), tool("c1"), {**SAID, **R}, "And now?"], None, 200),
        (["Hi", assistant("c1", **R), tool("c1"), assistant("c2"), tool("c2")], None, 400),
        (["Hi", SAID, "And now?"], None, 200),
        (["Hi", SAID, "And?", assistant("c1", **R), tool("c1")], None, 200),
    ],
)
def test_deepseek_wants_the_reasoning_of_turns_with_calls_back(
    deepseek: Talk, messages: list[Any], thinking: Any, status: int
) -> None:
    response = deepseek.ask(*messages, tools=[WEATHER], thinking=thinking)
    assert response.status_code == status, response.text
    if status == 400:
        assert response.json()["error"] == {
            "message": "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_request_error",
        }


def test_deepseek_accepts_its_own_message_back(deepseek: Talk) -> None:
    message = deepseek.choice("[[call]]", tools=[WEATHER])["message"]
    result = tool(message["tool_calls"][0]["id"])
    assert deepseek.ask("Hi", message, result, tools=[WEATHER]).status_code == 200


def test_only_deepseek_refuses_a_function_name_that_occurs_twice(
    deepseek: Talk, gemini: Talk, reference: Talk
) -> None:
    response = deepseek.ask("Hi", tools=[TIME, TIME])
    assert response.status_code == 400
    assert response.json()["error"]["message"] == "Tool names must be unique."
    assert [other.ask("Hi", tools=[TIME, TIME]).status_code for other in (reference, gemini)] == [200, 200]


def test_gemini_refuses_a_required_choice_with_an_error_in_an_array(gemini: Talk) -> None:
    response = gemini.ask("Hi", tools=[TIME], tool_choice="required")
    assert response.status_code == 400
    (entry,) = response.json()
    assert entry["error"]["status"] == "INVALID_ARGUMENT"
    assert entry["error"]["code"] == 400


@pytest.mark.parametrize(
    "choice", [None, "auto", "none", {"type": "function", "function": {"name": "get_time"}}]
)
def test_gemini_accepts_every_other_choice(gemini: Talk, choice: Any) -> None:
    assert gemini.ask("Hi", tools=[TIME], tool_choice=choice).status_code == 200


def test_gemini_is_otherwise_like_the_reference(gemini: Talk, reference: Talk) -> None:
    assert gemini.choice("[[plain]]") == reference.choice("[[plain]]")
    (entry,), usual = (asked.ask("Hi", temperature=9).json() for asked in (gemini, reference))
    assert entry["error"]["message"] == usual["error"]["message"]

"""Answers that nobody wrote: which tool a prompt names, and that every agent loop ends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.simulator.improvise import improvised
from conformance.simulator.request import read_chat_request

from .support import TIME, WEATHER, Talk, tool, user


def function(name: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
    described = {"name": name} if parameters is None else {"name": name, "parameters": parameters}
    return {"type": "function", "function": described}


FILES = [
    function("read_file"),
    function("write_file"),
    function("searchWeb"),
    function("bash"),
    function("a"),
]


def called(prompt: str, tools: list[dict[str, Any]], **members: Any) -> list[str]:
    body = {"model": "m", "messages": [user(prompt)], "tools": tools, **members}
    return [call.name for call in improvised(read_chat_request(body, "m")).calls]


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("Please call read_file now", ["read_file"]),
        ("read file, then WRITE FILE", ["read_file", "write_file"]),
        ("write_file before read_file", ["write_file", "read_file"]),
        ("use search web", ["searchWeb"]),
        ("run bash", ["bash"]),
        ("what is in this file?", ["read_file"]),
        ("what is in these files?", ["read_file"]),
        ("write me a poem and read it", []),
        ("a word", []),
        ("Hello", []),
        ("", []),
    ],
)
def test_a_prompt_calls_the_tools_it_names(prompt: str, wanted: list[str]) -> None:
    assert called(prompt, FILES) == wanted


def test_one_call_at_a_time_where_parallel_calls_are_off() -> None:
    assert called("read_file, write_file", FILES, parallel_tool_calls=False) == ["read_file"]


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_tools_are_called_only_where_the_model_may_choose(choice: str) -> None:
    assert bool(called("bash", FILES, tool_choice=choice)) == (choice == "auto")


def test_a_tool_whose_arguments_can_not_be_made_up_is_not_called() -> None:
    odd = {"type": "object", "properties": {"a": {"pattern": "^q{3}z$", "type": "string"}}, "required": ["a"]}
    assert called("bash and zip", [function("bash"), function("zip", odd)]) == ["bash"]


def test_a_loop_ends_with_a_text_that_tells_the_result(reference: Talk) -> None:
    messages: list[Any] = [user("What is the weather in Oslo, and get_time please?")]
    for _ in range(5):
        message = reference.choice(*messages, tools=[WEATHER, TIME])["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            messages.append(tool(call["id"], f"result of {call['function']['name']}"))
    assert [len(m["tool_calls"]) for m in messages if m.get("tool_calls")] == [1]
    assert "result of get_time" in messages[-1]["content"]


def test_the_same_prompt_is_answered_with_the_same_arguments(reference: Talk) -> None:
    def arguments() -> Any:
        choice = reference.choice("weather", tools=[WEATHER])
        return json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"])

    assert arguments() == arguments()


@given(st.text(), st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True), unique=True, max_size=4))
def test_any_prompt_calls_only_what_is_offered_and_each_tool_once(prompt: str, names: list[str]) -> None:
    body = {"model": "m", "messages": [user(prompt)], "tools": [function(name) for name in names] or None}
    calls = [call.name for call in improvised(read_chat_request(body, "m")).calls]
    assert len(set(calls)) == len(calls)
    assert set(calls) <= set(names)

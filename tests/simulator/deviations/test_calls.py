"""What becomes of calls and tools: written as text, signed, left unfinished, merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from conformance.simulator import Simulator
from tests.simulator.responses_support import Responses
from tests.simulator.support import TIME, WEATHER, Talk, deltas

FORCED: list[dict[str, Any]] = [{"at": "/tool_choice", "one_of": ["required"]}]
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "written": ("calls-as-text", {"markup": "qwen3-coder", "when": FORCED}),
    "leaking": ("markup-leaks", {"markup": "dsml"}),
    "garbled": ("text-garbled", {}),
    "signed": ("calls-signed", {}),
    "unfinished": ("response-unfinished", {"wires": ["openai-responses"]}),
    "first": ("tools-merged", {"wins": "first"}),
    "last": ("tools-merged", {"wins": "last"}),
}
WRITTEN = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nMalmö\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
)


def test_forced_calls_are_written_as_text(to: Callable[[str], Talk]) -> None:
    asked: dict[str, Any] = {"tools": [WEATHER, TIME], "tool_choice": "required"}
    choice = to("written").choice("[[call]]", **asked)
    assert (choice["message"]["content"], choice["finish_reason"]) == (WRITTEN, "stop")
    assert "tool_calls" not in choice["message"]
    events = to("written").events("[[call]]", **asked)
    assert "".join(delta.get("content") or "" for delta in deltas(events)) == WRITTEN
    assert not any("tool_calls" in delta for delta in deltas(events))
    assert [c["finish_reason"] for e in events for c in e["choices"] if c["finish_reason"]] == ["stop"]


def test_both_calls_of_a_stream_are_written(to: Callable[[str], Talk]) -> None:
    events = to("written").events("[[parallel]]", tools=[WEATHER, TIME], tool_choice="required")
    text = "".join(delta.get("content") or "" for delta in deltas(events))
    assert text.count("<tool_call>") == 2


def test_each_choice_of_a_stream_has_its_own_calls(to: Callable[[str], Talk]) -> None:
    events = to("written").events("[[call]]", tools=[WEATHER], tool_choice="required", n=2)
    for index in (0, 1):
        assert "".join(delta.get("content") or "" for delta in deltas(events, index)) == WRITTEN


def test_calls_that_are_not_forced_are_calls(to: Callable[[str], Talk]) -> None:
    assert to("written").choice("[[call]]", tools=[WEATHER])["message"]["tool_calls"]


def test_markup_leaks_where_tools_are_offered(to: Callable[[str], Talk]) -> None:
    message = to("leaking").choice("Hi", tools=[WEATHER], tool_choice="none")["message"]
    assert message["content"].startswith('<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">')
    assert to("leaking").choice("[[done/1]]")["message"]["content"] == "It is sunny."


def test_a_tool_that_nothing_satisfies_leaks_nothing(to: Callable[[str], Talk]) -> None:
    impossible = {"type": "object", "properties": {"a": {"allOf": [{"type": "string"}, {"type": "number"}]}}}
    tool = {
        "type": "function",
        "function": {"name": "never", "parameters": {**impossible, "required": ["a"]}},
    }
    response = to("leaking").ask("[[done/1]]", tools=[tool], tool_choice="none")
    assert response.json()["choices"][0]["message"]["content"] == "It is sunny."


def test_a_garbled_text_is_no_text_that_was_said(to: Callable[[str], Talk]) -> None:
    message = to("garbled").choice("[[done/1]]")["message"]
    assert message["content"] == "tI si .ynnus"


def test_the_first_call_is_signed_and_it_alone(to: Callable[[str], Talk]) -> None:
    def signed(calls: list[Any]) -> list[bool]:
        return ["thought_signature" in call.get("extra_content", {}).get("google", {}) for call in calls]

    whole = to("signed").choice("[[parallel]]", tools=[WEATHER, TIME])["message"]["tool_calls"]
    assert signed(whole) == [True, False]
    streamed = deltas(to("signed").events("[[parallel]]", tools=[WEATHER, TIME]))
    named = [call for delta in streamed for call in delta.get("tool_calls", ()) if "id" in call]
    assert signed(named) == [True, False]


def test_a_response_that_calls_stays_incomplete(started: Simulator, client: httpx.Client) -> None:
    talk = Responses(started, client, "unfinished")
    tool = {"type": "function", "name": "get_time", "parameters": {"type": "object"}, "strict": False}
    response = talk.ask("Call get_time.", tools=[tool]).json()
    assert (response["status"], response["incomplete_details"]) == ("incomplete", None)
    assert response["output"][-1]["type"] == "function_call"
    streamed = talk.ask("Call get_time.", tools=[tool], stream=True).text
    assert "event: response.incomplete\n" in streamed
    assert "response.completed" not in streamed
    assert talk.ask("Hello").json()["status"] == "completed"


@pytest.mark.parametrize(("name", "wins"), [("first", 0), ("last", 1)])
def test_of_two_tools_of_one_name_the_model_is_shown_one(
    to: Callable[[str], Talk], name: str, wins: int
) -> None:
    long = {**TIME, "function": {**TIME["function"], "description": "The local time. " * 30}}
    both = [TIME, long]

    def tokens(*tools: Any) -> int:
        return int(to(name).ask("Hi", tools=list(tools)).json()["usage"]["prompt_tokens"])

    assert tokens(*both) == tokens(both[wins])
    assert tokens(*both, WEATHER) > tokens(*both)

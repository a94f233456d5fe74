"""Tools and tool choices: the smallest request that is refused, and what is sent in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles.tools import NUDGE, NUDGE_NAMED, PLACEHOLDER
from conformance.types import (
    NamedChoice,
    Request,
    Tool,
    ToolCall,
    WireName,
)

from .support import (
    ALPHA,
    BETA,
    HELLO,
    LOOP,
    USER,
    WITH_ALPHA,
    asked,
    assistant,
    names,
    result,
    said,
    sent,
)

# ------------------------------------------------------------------------------------------------ tools

TWICE = Tool("alpha", "Another.", {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    "name", ["deepseek", "xiaomi-mimo", "moonshot", "zai", "minimax", "azure", "bedrock"]
)
def test_a_tool_name_that_comes_twice_is_sent_once_and_the_first_wins(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tools=(ALPHA, BETA, TWICE)))
    assert names(body) == ["alpha", "beta"]
    assert body["tools"][0]["function"]["description"] == "First."


def function(name: str, text: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": text, "parameters": {}}}


INJECTED: dict[str, tuple[WireName, Request, Callable[[dict[str, Any]], Any]]] = {
    "Chat's own words": (
        "openai-chat",
        asked(tools=[function("a", "1"), function("a", "2")]),
        lambda body: [t["function"]["description"] for t in body["tools"]],
    ),
    "beside the request's": (
        "openai-chat",
        replace(asked(tools=[function("alpha", "2"), function("b", "3")]), tools=(ALPHA,)),
        names,
    ),
    "Responses' flat form": (
        "openai-responses",
        replace(HELLO, native={"openai-responses": {"tools": [
            {"type": "function", "name": "a", "description": "1"},
            {"type": "function", "name": "a", "description": "2"}, {"type": "web_search"}]}}),
        lambda body: [t.get("description", t["type"]) for t in body["tools"]],
    ),
    "a namespace": (
        "openai-responses",
        replace(HELLO, native={"openai-responses": {"tools": [
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "a"}]},
            {"type": "function", "name": "a"}]}}),
        lambda body: [t["type"] for t in body["tools"]],
    ),
    "Gemini's declarations": (
        "gemini",
        replace(HELLO, native={"gemini": {"tools": [
            {"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]}}),
        lambda body: [d["name"] for t in body["tools"] for d in t["functionDeclarations"]],
    ),
}  # fmt: skip
ONCE: dict[str, Any] = {
    "Chat's own words": ["1"],
    "beside the request's": ["b"],
    "Responses' flat form": ["1", "web_search"],
    "a namespace": ["namespace"],
    "Gemini's declarations": ["a"],
}


@pytest.mark.parametrize("path", INJECTED)
def test_tools_are_deduplicated_on_every_path_they_come_in_on(path: str) -> None:
    over, request, read = INJECTED[path]
    assert read(sent("google-gemini" if over == "gemini" else "compatible", request, over=over)) == ONCE[path]


def test_the_callers_own_tool_list_is_never_touched() -> None:
    given = [function("a", "1"), function("a", "2")]
    sent("compatible", asked(tools=given))
    assert len(given) == 2


def test_names_of_past_calls_are_coerced_and_live_ones_never() -> None:
    odd = ToolCall("c1", "ls -la", "{}")
    history = Request((USER, said("", odd), result(odd)), tools=(Tool("a.b", "", {}),))
    body = sent("openai", history)
    assert assistant(body)["tool_calls"][0]["function"]["name"] == "ls_-la"
    assert names(body) == ["a.b"]


def test_128_tools_are_the_most_and_those_that_were_called_stay() -> None:
    many = tuple(Tool(f"t{i}", "", {}) for i in range(130))
    called = ToolCall("c1", "t129", "{}")
    body = sent("openai", Request((USER, said("", called), result(called)), tools=many))
    assert (len(body["tools"]), names(body)[-1]) == (128, "t129")


def test_a_turn_of_more_than_128_calls_becomes_several_each_with_its_results() -> None:
    calls = tuple(ToolCall(f"c{i}", "alpha", "{}") for i in range(200))
    history = Request((USER, said("", *calls), *map(result, calls)), tools=(ALPHA,))
    body = sent("openai", history)
    turns = [m for m in body["messages"] if m["role"] == "assistant"]
    assert [len(turn["tool_calls"]) for turn in turns] == [128, 72]
    assert body["messages"][129 + 1]["role"] == "assistant"


@pytest.mark.parametrize(
    "request_", [replace(HELLO, tool_choice="auto"), asked(tools=[], tool_choice="auto")], ids=["none", "[]"]
)
def test_without_tools_neither_an_empty_list_nor_a_choice_is_sent(request_: Request) -> None:
    assert not {"tools", "tool_choice"} & sent("compatible", request_).keys()


@pytest.mark.parametrize(
    ("name", "tool"), [("opencode", "search_files"), ("xai", "tool_search"), ("xai", "web_search")]
)
def test_a_reserved_tool_name_has_another_one_on_the_wire(name: str, tool: str) -> None:
    reserved = Tool(tool, "", {})
    history = Request(
        (USER, said("", ToolCall("c1", tool, "{}"))), tools=(reserved,), tool_choice=NamedChoice(tool)
    )
    body = sent(name, history)
    assert names(body) == [f"x_{tool}"]
    assert assistant(body)["tool_calls"][0]["function"]["name"] == f"x_{tool}"
    assert body["tool_choice"]["function"]["name"] == f"x_{tool}"


def test_a_history_of_calls_without_tools_gets_an_inert_one() -> None:
    assert names(sent("bedrock", replace(LOOP, tools=()))) == [PLACEHOLDER.name]


# --------------------------------------------------------------------------------------------- choices


@pytest.mark.parametrize("name", ["moonshot", "google-gemini"])
def test_required_is_softened_to_auto_and_asked_for_in_words(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tool_choice="required"))
    assert body["tool_choice"] == "auto"
    assert body["messages"][0] == {"role": "system", "content": NUDGE}


def test_a_named_choice_is_softened_to_one_tool_and_words() -> None:
    body = sent("google-gemini", replace(WITH_ALPHA, tool_choice=NamedChoice("beta")))
    assert (body["tool_choice"], names(body)) == ("auto", ["beta"])
    assert NUDGE_NAMED.format(name="beta") in body["messages"][0]["content"]


def test_geminis_own_wire_keeps_its_mode_any() -> None:
    body = sent("google-gemini", replace(WITH_ALPHA, tool_choice="required"), over="gemini")
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


def test_a_named_choice_is_required_among_one_tool_at_lm_studio() -> None:
    body = sent("lm-studio", replace(WITH_ALPHA, tool_choice=NamedChoice("beta")))
    assert (body["tool_choice"], names(body)) == ("required", ["beta"])


@pytest.mark.parametrize("name", ["mistral", "sglang"])
def test_tools_that_may_not_be_called_are_not_offered(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tool_choice="none"))
    assert not {"tools", "tool_choice"} & body.keys()


@pytest.mark.parametrize("model", ["gemini-3-pro", "anthropic/claude-x"])
def test_openrouter_asks_in_words_where_forcing_costs_something(model: str) -> None:
    forced = replace(WITH_ALPHA, tool_choice="required", extra={"reasoning": {"enabled": True}})
    assert sent("openrouter", forced, model)["tool_choice"] == "auto"
    assert sent("openrouter", forced, "qwen/q")["tool_choice"] == "required"


def test_claude_models_that_refuse_forcing_are_asked_in_words() -> None:
    forced = replace(WITH_ALPHA, tool_choice="required")
    assert sent("anthropic", forced, "claude-mythos-1", "anthropic-messages")["tool_choice"]["type"] == "auto"
    assert sent("anthropic", forced, "claude-haiku-4-5", "anthropic-messages")["tool_choice"]["type"] == "any"


@pytest.mark.parametrize(("name", "choice"), [("lm-studio", "required"), ("openrouter", "required")])
def test_allowed_tools_are_all_that_is_offered_where_no_choice_names_any(name: str, choice: str) -> None:
    item = {"type": "function", "function": {"name": "beta"}}
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [item]}}
    body = sent(name, replace(WITH_ALPHA, extra={"tool_choice": allowed}), "x/y")
    assert (body["tool_choice"], names(body)) == (choice, ["beta"])


@pytest.mark.parametrize("name", ["google-gemini", "cerebras"])
def test_parallel_false_is_not_said_where_it_is_refused(name: str) -> None:
    assert "parallel_tool_calls" not in sent(name, replace(WITH_ALPHA, parallel_tool_calls=False))

"""Who is let in, what ids of calls look like, and what is not done although it was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from conformance.simulator.deviations import DEVIATIONS
from tests.simulator.support import TIME, WEATHER, Talk, assistant, deltas, tool

BLOCKED = {"header": "User-Agent", "matches": "lib/.*", "status": 403, "body": "no", "path": "/v1/models"}
MADE: dict[str, tuple[str, dict[str, Any]]] = {
    "blocked": ("header-refused", {**BLOCKED, "headers": {"content-type": "text/plain"}}),
    "unless": ("header-refused", {**BLOCKED, "unless": "x-let-in"}),
    "own-header": ("key-in-header", {"header": "api-key", "body": {"error": {"code": "401"}}}),
    "named": ("call-ids-name-the-function", {}),
    "short": ("call-ids-short", {"length": 9}),
    "another": ("another-call", {}),
    "dropped": ("calls-dropped", {}),
    "loose": ("arguments-loose", {}),
    "first": ("instructions-first", {}),
}
CALLED = ("[[parallel]]", assistant("x"), tool("x"), "[[parallel]]")


def strict(tool_: dict[str, Any]) -> dict[str, Any]:
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    return {**tool_, "function": {**tool_["function"], "strict": True, "parameters": closed}}


def calls(talk: Talk, *messages: Any, **members: Any) -> tuple[list[Any], list[Any]]:
    """The calls of an answer: of a whole one, and of a stream with their pieces joined."""
    whole = talk.choice(*messages, tools=[WEATHER, TIME], **members)["message"].get("tool_calls") or []
    joined: dict[int, Any] = {}
    for delta in deltas(talk.events(*messages, tools=[WEATHER, TIME], **members)):
        for piece in delta.get("tool_calls") or ():
            call = joined.setdefault(
                piece["index"], {"id": piece.get("id"), "function": {"name": "", "arguments": ""}}
            )
            for member, text in piece["function"].items():
                call["function"][member] += text
    return whole, list(joined.values())


@pytest.mark.parametrize(
    ("agent", "path", "status"),
    [("lib/3", "/models", 403), ("other lib/3", "/models", 200), ("lib/3", "/models/reference", 200)],
)
def test_a_header_is_refused_by_its_value_where_that_is_so(
    to: Callable[[str], Talk], client: httpx.Client, agent: str, path: str, status: int
) -> None:
    talk = to("blocked")
    response = client.get(talk.base + path, headers={**talk.headers, "user-agent": agent})
    assert response.status_code == status
    if status == 403:
        assert (response.headers["content-type"], response.text) == ("text/plain", "no")


@pytest.mark.parametrize(("more", "status"), [({}, 403), ({"x-let-in": "yes"}, 200)])
def test_another_header_lets_in_what_would_be_refused(
    to: Callable[[str], Talk], client: httpx.Client, more: dict[str, str], status: int
) -> None:
    talk = to("unless")
    headers = {**talk.headers, "user-agent": "lib/3", **more}
    assert client.get(talk.base + "/models", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"authorization": "Bearer sk-reference"}, 401, "401"),
        ({"api-key": "sk-reference"}, 200, None),
        ({"api-key": "sk-reference", "authorization": "Bearer other"}, 200, None),
        ({"api-key": "other"}, 401, "invalid_api_key"),
        ({}, 401, None),
    ],
)
def test_a_key_is_taken_from_a_header_of_its_own(
    to: Callable[[str], Talk], client: httpx.Client, headers: dict[str, str], status: int, code: str | None
) -> None:
    response = client.get(to("own-header").base + "/models", headers=headers)
    assert response.status_code == status
    assert response.json().get("error", {}).get("code") == code


def test_ids_that_name_the_function_count_through_the_conversation(to: Callable[[str], Talk]) -> None:
    for answer in calls(to("named"), "[[parallel]]"):
        assert [call["id"] for call in answer] == ["functions.get_weather:0", "functions.get_time:1"]
    for answer in calls(to("named"), *CALLED):
        assert [call["id"] for call in answer] == ["functions.get_weather:1", "functions.get_time:2"]


def test_short_ids_are_told_apart_and_come_back(to: Callable[[str], Talk]) -> None:
    for answer in calls(to("short"), "[[parallel]]"):
        ids = [call["id"] for call in answer]
        assert all(re.fullmatch("[A-Za-z0-9]{9}", one) for one in ids)
        assert len(set(ids)) == 2
    message = to("short").choice("[[call]]", tools=[WEATHER])["message"]
    result = tool(message["tool_calls"][0]["id"])
    assert to("short").ask("[[call]]", message, result, tools=[WEATHER]).status_code == 200


def test_a_turn_of_one_call_calls_the_next_function_as_well(to: Callable[[str], Talk]) -> None:
    for answer in calls(to("another"), "[[call]]"):
        assert [call["function"]["name"] for call in answer] == ["get_weather", "get_time"]
    for answer in calls(to("another"), "[[call]]", parallel_tool_calls=False):
        assert [call["function"]["name"] for call in answer] == ["get_weather"]
    assert to("another").choice("[[plain]]", tools=[WEATHER, TIME])["message"].get("tool_calls") is None


def test_dropped_calls_leave_an_empty_text_that_stops(to: Callable[[str], Talk]) -> None:
    choice = to("dropped").choice("[[parallel]]", tools=[WEATHER, TIME])
    assert (choice["message"]["content"], choice["finish_reason"]) == ("", "stop")
    assert "tool_calls" not in choice["message"]
    chunks = to("dropped").events("[[parallel]]", tools=[WEATHER, TIME])
    assert not any(delta.get("tool_calls") or delta.get("content") for delta in deltas(chunks))
    assert [c["finish_reason"] for e in chunks for c in e["choices"] if c["finish_reason"]] == ["stop"]


def test_only_strict_tools_are_called_with_a_member_too_many(to: Callable[[str], Talk]) -> None:
    members = {"tools": [WEATHER, strict(TIME)]}
    message = to("loose").choice("[[parallel]]", **members)["message"]
    given = {
        call["function"]["name"]: json.loads(call["function"]["arguments"]) for call in message["tool_calls"]
    }
    assert given == {"get_weather": {"city": "Paris"}, "get_time": {"unasked": True}}
    told: dict[int, str] = {}
    for delta in deltas(to("loose").events("[[parallel]]", **members)):
        for piece in delta.get("tool_calls") or ():
            told[piece["index"]] = told.get(piece["index"], "") + piece["function"].get("arguments", "")
    assert [json.loads(text) for text in told.values()] == [{"city": "Paris"}, {"unasked": True}]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ([("user", "a")], [("user", "a")]),
        ([("system", "s"), ("user", "a")], [("system", "s"), ("user", "a")]),
        ([("user", "a"), ("developer", "d")], [("system", "d"), ("user", "a")]),
        (
            [("system", "s"), ("user", "a"), ("system", "t"), ("user", "b")],
            [("system", "s\nt"), ("user", "a"), ("user", "b")],
        ),
    ],
)
def test_instructions_are_read_first_and_as_one(
    given: list[tuple[str, str]], read: list[tuple[str, str]]
) -> None:
    def messages(of: list[tuple[str, str]]) -> list[Any]:
        return [{"role": role, "content": content} for role, content in of]

    behaviour = DEVIATIONS["instructions-first"]()
    body = {"model": "m", "messages": messages(given)}
    assert behaviour.disregard("openai-chat", body, "m") == {"model": "m", "messages": messages(read)}
    assert body["messages"] == messages(given)


@pytest.mark.parametrize("body", [{}, {"messages": 5}, {"messages": [5, None, {"role": []}]}])
def test_what_is_no_conversation_stays_as_it_is(body: dict[str, Any]) -> None:
    assert DEVIATIONS["instructions-first"]().disregard("openai-chat", body, "m") is body

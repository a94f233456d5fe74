"""Conditions on a request: what each clause finds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from conformance.quirks.conditions import CHECKS, Clause, Condition
from conformance.quirks.declarations import Answer
from conformance.quirks.paths import Place

from .test_paths import CHAT, JSON


def found(body: dict[str, Any], *clauses: dict[str, Any], model: str | None = None) -> list[str]:
    condition = Condition.model_validate([*clauses])
    return [place.pointer for place in condition.culprits(body, model)]


@pytest.mark.parametrize(
    ("clause", "body", "pointers"),
    [
        ({"at": "/think"}, {"think": False}, ["/think"]),
        ({"at": "/think"}, {}, []),
        ({"at": "/think", "is_not": True}, {}, [""]),
        ({"at": "/think", "is_not": True}, {"think": 1}, []),
        ({"at": "/e", "one_of": ["none", None]}, {"e": "none"}, ["/e"]),
        ({"at": "/e", "one_of": ["none"]}, {"e": "low"}, []),
        ({"at": "/e", "not_one_of": ["none"]}, {"e": "low"}, ["/e"]),
        ({"at": "/n", "one_of": [1]}, {"n": True}, []),
        ({"at": "/n", "one_of": [1]}, {"n": "1"}, []),
        ({"at": "/n", "one_of": [1]}, {"n": 1.0}, ["/n"]),
        ({"at": "/n", "one_of": [[]]}, {"n": []}, ["/n"]),
        ({"at": "/id", "not_matches": "[a-z]{3}"}, {"id": "abc"}, []),
        ({"at": "/id", "not_matches": "[a-z]{3}"}, {"id": "abcd"}, ["/id"]),
        ({"at": "/id", "not_matches": "[a-z]{3}"}, {"id": 5}, []),
        ({"at": "/t", "contains": "json"}, {"t": "a" * 100_000 + "json"}, ["/t"]),
        ({"at": "/t", "contains": "json"}, {"t": ["json"]}, []),
        ({"at": "/t", "type": ["object"]}, {"t": {}}, ["/t"]),
        ({"at": "/t", "type": ["number"]}, {"t": True}, []),
        ({"at": "/t", "type": ["null", "boolean"]}, {"t": True}, ["/t"]),
        ({"at": "/n", "above": 1}, {"n": 1.5}, ["/n"]),
        ({"at": "/n", "above": 1}, {"n": 1}, []),
        ({"at": "/n", "above": 0}, {"n": True}, []),
        ({"at": "/l", "items_above": 1}, {"l": [1, 2]}, ["/l"]),
        ({"at": "/l", "items_above": 2}, {"l": [1, 2]}, []),
        ({"at": "/s", "characters_above": 2}, {"s": "abc"}, ["/s"]),
        ({"at": "/s", "empty": True}, {"s": ""}, ["/s"]),
        ({"at": "/s", "empty": True}, {"s": None}, []),
        ({"at": "/s", "empty": False}, {"s": [0]}, ["/s"]),
        ({"at": "/m/*", "missing": "type"}, {"m": [{}, {"type": 1}]}, ["/m/0/type"]),
        ({"at": "/m", "other_keys": ["role"]}, {"m": {"role": 1, "x": 2}}, ["/m/x"]),
        ({"at": "/m/*", "repeated": True}, {"m": ["a", "b", "a"]}, ["/m/0", "/m/2"]),
        ({"at": "/m/*[s=true]", "more_than": 1}, {"m": [{"s": True}, {}, {"s": True}]}, ["/m/0", "/m/2"]),
        ({"at": "/m/*[s=true]", "more_than": 2}, {"m": [{"s": True}, {}, {"s": True}]}, []),
        ({"at": "/m/*[r=u]", "after": "[r=t]"}, {"m": [{"r": "u"}, {"r": "t"}, {"r": "u"}]}, ["/m/2"]),
        ({"at": "/m/*[r=t]", "not_after": "[r=a]"}, {"m": [{"r": "t"}, {"r": "a"}, {"r": "t"}]}, ["/m/0"]),
        ({"model": "gpt-oss-.*"}, {"model": "gpt-oss-120b"}, ["/model"]),
        ({"model": "gpt-oss-.*"}, {"model": "other"}, []),
        ({"model": "gpt-oss-.*"}, {"model": 5}, []),
    ],
)
def test_a_clause_finds_what_it_says(
    clause: dict[str, Any], body: dict[str, Any], pointers: list[str]
) -> None:
    assert found(body, clause) == pointers


def test_the_first_clause_is_the_culprit_and_all_must_hold() -> None:
    clauses = ({"at": "/tool_choice", "one_of": ["required"]}, {"at": "/enable_thinking", "one_of": [True]})
    assert found({"tool_choice": "required", "enable_thinking": True}, *clauses) == ["/tool_choice"]
    assert found({"tool_choice": "required"}, *clauses) == []


def test_the_model_may_be_said_outside_of_the_body() -> None:
    assert found({}, {"model": "gemma-.*"}, model="gemma-3") == ["/model"]


@pytest.mark.parametrize(
    "clause",
    [
        {},
        {"one_of": [1]},
        {"at": "/a", "model": "b"},
        {"check": "nothing-of-the-kind"},
        {"check": "roles-not-alternating", "one_of": [1]},
        {"at": "no-path"},
        {"at": "/a", "not_matches": "("},
        {"at": "/a", "after": "role"},
        {"at": "/a", "of_one": [1]},
    ],
)
def test_a_clause_that_says_nothing_sensible_is_refused(clause: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Clause.model_validate(clause)


@given(
    st.dictionaries(st.sampled_from(["messages", "contents", "input", "tools", "model", "thinking"]), JSON)
)
def test_no_request_makes_a_check_raise(body: dict[str, Any]) -> None:
    for name in CHECKS:
        found(body, {"check": name})


def assistant(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "x", **members}


USER, RESULT = {"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "c1", "content": "ok"}
CALLED = assistant(tool_calls=[{"id": "c1"}])


@pytest.mark.parametrize(
    ("messages", "pointers"),
    [
        ([USER, assistant(), USER], []),
        ([USER, CALLED, RESULT], ["/messages/1/reasoning_content"]),
        ([USER, {**CALLED, "reasoning_content": "t"}, RESULT], []),
        (
            [USER, {**CALLED, "reasoning_content": "t"}, RESULT, assistant()],
            ["/messages/3/reasoning_content"],
        ),
        ([USER, CALLED, RESULT, USER, assistant()], ["/messages/1/reasoning_content"]),
    ],
)
def test_reasoning_is_wanted_back_between_user_messages_in_which_a_tool_was_called(
    messages: list[Any], pointers: list[str]
) -> None:
    assert found({"messages": messages}, {"check": "reasoning-not-echoed"}) == pointers


def test_two_messages_of_one_role_do_not_alternate() -> None:
    body = {"messages": [{"role": "system"}, USER, USER, assistant(), RESULT, assistant(), assistant()]}
    assert found(body, {"check": "roles-not-alternating"}) == ["/messages/2", "/messages/6"]


def tools(*parameters: dict[str, Any]) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": "a", "parameters": p}} for p in parameters]}


@pytest.mark.parametrize(
    ("parameters", "pointers"),
    [
        ({"required": ["a"], "properties": {"a": {}}}, []),
        ({"required": ["a", "b"], "properties": {"a": {}}}, ["/required/1"]),
        ({"required": ["a"]}, ["/required/0"]),
        ({"required": 5}, []),
        ({"properties": {"required": {"type": "array"}}}, []),
        ({"properties": {"o": {"required": ["x"]}}}, ["/properties/o/required/0"]),
    ],
)
def test_what_is_required_is_among_the_properties(parameters: dict[str, Any], pointers: list[str]) -> None:
    at = "/tools/0/function/parameters"
    assert found(tools(parameters), {"check": "required-not-in-properties"}) == [at + p for p in pointers]


CALL: dict[str, Any] = {"functionCall": {}}
RESPONSE: dict[str, Any] = {"functionResponse": {}}
TEXT = {"text": "x"}


@pytest.mark.parametrize(
    ("turns", "pointers"),
    [
        ([[TEXT], [CALL, CALL], [RESPONSE, RESPONSE]], []),
        ([[TEXT], [CALL, CALL], [RESPONSE]], ["/contents/2"]),
        ([[TEXT], [CALL], [TEXT]], ["/contents/2"]),
        ([[TEXT], [CALL]], []),
        ([[TEXT], [CALL], [RESPONSE], [CALL], [RESPONSE, RESPONSE]], ["/contents/4"]),
    ],
)
def test_a_turn_of_calls_has_as_many_responses(turns: list[Any], pointers: list[str]) -> None:
    body = {"contents": [{"parts": parts} for parts in turns]}
    assert found(body, {"check": "function-responses-not-as-many"}) == pointers


@pytest.mark.parametrize(
    ("arguments", "broken"),
    [
        ("{}", False),
        ('{"a": 1}', False),
        ('{"a": 1', True),
        ("", True),
        ({"a": 1}, False),
        ("[" * 9_999, True),
    ],
)
def test_arguments_of_a_history_are_json(arguments: Any, broken: bool) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": arguments}}]}
    pointer = "/messages/1/tool_calls/0/function/arguments"
    assert found({"messages": [USER, message]}, {"check": "arguments-not-json"}) == [pointer] * broken


def test_an_answer_names_the_culprit() -> None:
    answer = Answer(body={"error": {"message": "{dotted} {pointer} {index} {key} {value} {model}", "n": 1}})
    place = Place(("messages", 2, "name"), CHAT)
    said = answer.body_at(place, "m")["error"]
    assert said["message"].startswith("messages[2].name /messages/2/name 2 name {")
    assert said["message"].endswith(" m")
    assert said["n"] == 1

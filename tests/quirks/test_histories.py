"""Checks of histories by name: which places each of them finds."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.quirks.conditions import Condition

USER = {"role": "user", "content": "hi"}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
SIGNED = {"id": "c1", "extra_content": {"google": {"thought_signature": "s"}}}
BARE = {"id": "c1"}

SAID = {"role": "assistant", "content": "So."}
CALL = {"type": "function_call", "call_id": "c1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1"}
SEALED = {"type": "reasoning", "encrypted_content": "s"}
OPEN = {"type": "reasoning", "summary": []}


def found(check: str, body: dict[str, Any]) -> list[str]:
    return [place.pointer for place in Condition.model_validate([{"check": check}]).culprits(body)]


def called(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


@pytest.mark.parametrize(
    ("messages", "pointers"),
    [
        ([USER, called(SIGNED), RESULT], []),
        ([USER, called(BARE), RESULT], ["/messages/1/tool_calls/0/extra_content"]),
        ([USER, called(SIGNED, BARE), RESULT], []),
        ([USER, called(SIGNED), RESULT, called(BARE), RESULT], ["/messages/3/tool_calls/0/extra_content"]),
        ([USER, called(BARE), RESULT, USER], []),
        ([USER, called({"extra_content": {"google": "s"}})], ["/messages/1/tool_calls/0/extra_content"]),
        ([USER, called()], []),
    ],
)
def test_first_calls_since_the_last_user_message_are_signed(messages: list[Any], pointers: list[str]) -> None:
    assert found("calls-unsigned", {"messages": messages}) == pointers


@pytest.mark.parametrize(
    ("kinds", "pointers"),
    [
        (["thinking", "tool_use"], []),
        (["redacted_thinking", "tool_use"], []),
        (["text", "tool_use"], ["/messages/1/content"]),
        (["text"], []),
    ],
)
def test_calls_over_the_messages_wire_come_with_their_thinking(kinds: list[str], pointers: list[str]) -> None:
    content = [{"type": kind} for kind in kinds]
    body = {"messages": [USER, {"role": "assistant", "content": content}, {**USER, "content": content}]}
    assert found("thinking-not-echoed", body) == pointers


def test_names_repeat_within_a_namespace_only() -> None:
    tools = [
        {"type": "namespace", "name": "one", "tools": [{"name": "a"}, {"name": "b"}, {"name": "a"}]},
        {"type": "namespace", "name": "two", "tools": [{"name": "b"}]},
        {"type": "function", "name": "a"},
    ]
    assert found("namespaced-names-repeated", {"tools": tools}) == ["/tools/0/tools/2/name"]


@pytest.mark.parametrize(
    ("items", "pointers"),
    [
        ([USER, SEALED, SAID, USER], []),
        ([USER, SEALED, CALL, OUTPUT], ["/input/1"]),
        ([USER, SEALED, CALL, OUTPUT, SEALED, SAID, USER], ["/input/1"]),
        ([USER, OPEN, CALL, OUTPUT], []),
        ([USER, SAID], []),
    ],
)
def test_sealed_reasoning_is_the_newest_and_not_before_an_output(
    items: list[Any], pointers: list[str]
) -> None:
    assert found("sealed-reasoning-outlived", {"input": items}) == pointers


@pytest.mark.parametrize(
    ("items", "pointers"),
    [
        ([USER, OPEN, CALL], []),
        ([USER, OPEN, SAID], []),
        ([USER, OPEN, OPEN, SAID], []),
        ([USER, OPEN], ["/input/1"]),
        ([USER, OPEN, USER], ["/input/1"]),
        ([USER, OPEN, OUTPUT], ["/input/1"]),
        ([USER, OPEN, {"type": "web_search_call"}], []),
    ],
)
def test_something_of_the_models_comes_after_reasoning(items: list[Any], pointers: list[str]) -> None:
    assert found("reasoning-stands-alone", {"input": items}) == pointers


@pytest.mark.parametrize(
    ("items", "pointers"),
    [
        ([USER, CALL, SAID, CALL, OUTPUT], ["/input/2"]),
        ([USER, CALL, {"type": "message", **SAID}, CALL], ["/input/2"]),
        ([USER, CALL, OUTPUT, SAID, CALL], []),
        ([USER, SAID, CALL, CALL], []),
        ([USER, CALL, USER, CALL], []),
    ],
)
def test_no_message_stands_between_calls(items: list[Any], pointers: list[str]) -> None:
    assert found("message-between-calls", {"input": items}) == pointers

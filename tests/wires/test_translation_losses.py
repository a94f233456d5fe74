"""Losses are told exactly where something is lost: conversations with what not every wire can say.

Property 18 of the conversion catalogue (section 11), for all that a message can hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from conformance.types import Message, Part, Reasoning, Refusal, Text, ToolCall

from . import canonical
from .trips import alike, asking, every_wire, over

many = settings(deadline=None, max_examples=100)


def view(messages: Sequence[Message]) -> list[Any]:
    """All that a conversation says, in order: neighbours of one kind are one, ids are numbers."""
    numbers: dict[str, int] = {}
    out: list[Any] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                numbers[part.id] = len(numbers)
        head = (message.role, numbers.get(message.tool_call_id or ""), message.is_error)
        if not out or out[-1][0] != head or message.role == "tool":
            out.append((head, []))
        for part in message.parts:
            _add(out[-1][1], part, numbers)
    return [(head, parts) for head, parts in out if parts]


def _add(parts: list[Part], part: Part, numbers: dict[str, int]) -> None:
    if isinstance(part, Reasoning):
        part = replace(part, spelling="")
    elif isinstance(part, ToolCall):
        part = replace(part, id=str(numbers[part.id]))
    last = parts[-1] if parts else None
    if isinstance(part, Text | Refusal | Reasoning) and type(last) is type(part):
        parts[-1] = replace(part, text=last.text + part.text)
    elif part != Text(""):
        parts.append(part)


@every_wire
@many
@given(canonical.rich_histories())
def test_whatever_changed_is_told(name: str, messages: tuple[Message, ...]) -> None:
    there, losses = over(name, asking(*messages, echo_reasoning=True))
    if view(there.messages) != view(messages):
        assert losses


@every_wire
@many
@given(canonical.rich_histories())
def test_nothing_is_told_where_nothing_changed(name: str, messages: tuple[Message, ...]) -> None:
    request = asking(*messages, echo_reasoning=True)
    there, losses = over(name, request)
    if alike(there).messages == messages:
        assert losses == []


def places(messages: Sequence[Message]) -> list[tuple[str, str, str]]:
    """Of each part but texts and calls: where it is, its kind, and what it holds."""
    return [
        (f"/messages/{i}", type(part).__name__, _held(part))
        for i, message in enumerate(messages)
        for part in message.parts
        if not isinstance(part, Text | ToolCall)
    ]


def _held(part: Part) -> str:
    return next(value for name in ("url", "data", "text") if (value := getattr(part, name, None)) is not None)


@every_wire
@many
@given(canonical.rich_histories())
def test_a_part_that_is_gone_is_told_where_it_was(name: str, messages: tuple[Message, ...]) -> None:
    there, losses = over(name, asking(*messages, echo_reasoning=True))
    after: dict[str, str] = {}
    for _, kind, held in places(there.messages):
        after[kind] = after.get(kind, "") + held
    for place, kind, held in places(messages):
        if held not in after.get(kind, ""):
            assert [loss for loss in losses if loss.path.startswith(f"{place}/")], (place, kind)


ALONE: dict[Any, Any] = {
    "anthropic-messages": {
        "block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    },
    "openai-responses": {"item": {"type": "item_reference", "id": "msg_1"}},
    "gemini": {"executableCode": {"language": "PYTHON", "code": "1"}},
    "openai-chat": {"part": {"type": "video_url", "video_url": {"url": "https://x/y"}}},
}


@every_wire
@pytest.mark.parametrize("source", ALONE)
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_a_part_that_only_another_wire_has_a_form_for_is_a_loss_of_meaning(
    name: str, source: Any, role: Any
) -> None:
    if name == source:
        return
    alone = Text("", {source: ALONE[source]})
    call = ToolCall("c", "get_weather", "{}")
    conversation = {
        "user": (Message("user", (Text("hi"), alone)),),
        "assistant": (Message.user("hi"), Message("assistant", (alone, Text("ho")))),
        "tool": (Message.user("hi"), Message("assistant", (call,)), Message("tool", (Text("1"), alone), "c")),
    }[role]
    _, losses = over(name, asking(*conversation))
    at = next(
        f"/messages/{i}/parts/{j}"
        for i, m in enumerate(conversation)
        for j, p in enumerate(m.parts)
        if p is alone
    )
    assert [(loss.path, loss.weight) for loss in losses if loss.path == at] == [(at, "meaning")]

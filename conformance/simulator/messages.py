"""The conversation in a request, held to OpenAI's rules about roles, content and tool results.

Source: openai/openai-openapi, ``ChatCompletionRequestMessage``; the pairing of calls and results is
OpenAI's function calling guide. ``reasoning_content`` is accepted, although the schema has no such
member, since clients that echo reasoning must be answered too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.simulator.answer import refusal
from conformance.simulator.fields import Fields, missing, wrong_type, wrong_value

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MAX_CALLS = 128
_PART_MEMBERS = {"image_url": "image_url", "input_audio": "input_audio", "file": "file"}


@dataclass(frozen=True, slots=True)
class PastCall:
    """A tool call in the history."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class PastMessage:
    """One message of the history; ``text`` joins its text parts, ``members`` are the names it has.

    ``thought`` is the reasoning in it that reaches the model.
    """

    role: str
    text: str
    calls: tuple[PastCall, ...] = ()
    tool_call_id: str | None = None
    images: int = 0
    members: frozenset[str] = frozenset()
    thought: str = ""


def read_messages(body: Fields) -> tuple[PastMessage, ...]:
    """The conversation.

    Raises:
        Refused: OpenAI would refuse it with 400.
    """
    items = body.objects("messages", 1, 100_000)
    if items is None:
        raise missing("messages")
    messages = tuple(_message(item) for item in items)
    _check_pairing(messages)
    return messages


def _message(item: Fields) -> PastMessage:
    role = item.choice("role", ROLES)
    if role is None:
        raise missing(item.param("role"))
    item.text("name")
    members = frozenset(item.names())
    if role == "assistant":
        calls = _calls(item)
        item.text("refusal")
        optional = bool(calls) or item.has("refusal") or item.has("function_call") or item.has("audio")
        text, _ = _content(item, ("text", "refusal"), optional)
        return PastMessage(role, text, calls, members=members)
    if role == "tool":
        call_id = item.needed_text("tool_call_id")
        text, _ = _content(item, ("text",))
        return PastMessage(role, text, tool_call_id=call_id, members=members)
    if role == "function":
        item.needed_text("name")
        text, _ = _content(item, ("text",), optional=True)
        return PastMessage(role, text, members=members)
    kinds = ("text", *_PART_MEMBERS) if role == "user" else ("text",)
    text, images = _content(item, kinds)
    return PastMessage(role, text, images=images, members=members)


def _content(item: Fields, kinds: Sequence[str], optional: bool = False) -> tuple[str, int]:
    content, param = item.raw("content"), item.param("content")
    if content is None:
        if not optional:
            raise wrong_type(param, "a string or an array of content parts", content)
        return "", 0
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        raise wrong_type(param, "a string or an array of content parts", content)
    texts: list[str] = []
    images = 0
    for part in item.objects("content", 1, 10_000) or ():
        kind = part.choice("type", kinds)
        if kind is None:
            raise missing(part.param("type"))
        if kind in _PART_MEMBERS:
            part.needed_object(_PART_MEMBERS[kind])
            images += 1
            continue
        text = part.text(kind)
        if text is None:
            raise missing(part.param(kind))
        texts.append(text)
    return "".join(texts), images


def _calls(item: Fields) -> tuple[PastCall, ...]:
    calls = []
    for call in item.objects("tool_calls", 1, _MAX_CALLS) or ():
        call_id = call.needed_text("id")
        kind = call.choice("type", ("function", "custom"))
        if kind is None:
            raise missing(call.param("type"))
        function = call.needed_object(kind)
        name = function.needed_text("name")
        if not _NAME.fullmatch(name):
            raise wrong_value(function.param("name"), "it must match ^[A-Za-z0-9_-]+$")
        payload = "arguments" if kind == "function" else "input"
        arguments = function.text(payload)
        if arguments is None:
            raise missing(function.param(payload))
        calls.append(PastCall(call_id, name, arguments))
    return tuple(calls)


def _check_pairing(messages: Sequence[PastMessage]) -> None:
    """Every call is answered once, by a tool message before the next message of another role."""
    called: set[str] = set()
    waiting: list[str] = []
    for i, message in enumerate(messages):
        if message.role != "tool":
            _check_answered(waiting, f"messages[{i}].role")
            waiting = list(dict.fromkeys(call.id for call in message.calls))
            called = set(waiting)
            continue
        if message.tool_call_id not in called:
            raise refusal(
                "A message of role 'tool' must answer one of the 'tool_calls' of the assistant before it.",
                param=f"messages[{i}].tool_call_id",
                why="400 orphan-tool-result",
            )
        if message.tool_call_id not in waiting:
            raise refusal(
                f"The tool call '{message.tool_call_id}' is answered twice.",
                param=f"messages[{i}].tool_call_id",
                why="400 duplicate-tool-result",
            )
        waiting.remove(message.tool_call_id)
    _check_answered(waiting, "messages")


def _check_answered(waiting: Sequence[str], param: str) -> None:
    if waiting:
        raise refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages that answer them. "
            f"Unanswered: {', '.join(waiting)}",
            param=param,
            why="400 missing-tool-result",
        )

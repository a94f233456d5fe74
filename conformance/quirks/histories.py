"""Checks of a history that paths can't say, by name. They never raise on any request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.quirks.paths import Place


def _messages(body: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    messages = body.get("messages")
    if not isinstance(messages, list):
        return []
    return [(index, message) for index, message in enumerate(messages) if isinstance(message, dict)]


def _spans(body: Mapping[str, Any]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """The assistant messages between one user message and the next, where a tool was called among them."""
    span: list[tuple[int, dict[str, Any]]] = []
    for index, message in [*_messages(body), (-1, {"role": "user"})]:
        if message.get("role") == "user":
            if any(past.get("tool_calls") for _, past in span):
                yield span
            span = []
        elif message.get("role") == "assistant":
            span.append((index, message))


def reasoning_not_echoed(body: Mapping[str, Any]) -> Iterator[Place]:
    """Assistant messages without ``reasoning_content`` between two user messages in which a tool was called.

    A text-only turn after the calls needs it too (a comment on NousResearch/hermes-agent PR 14941); where no
    tool was called it is not needed (DeepSeek's guide "Thinking Mode").
    """
    for span in _spans(body):
        for index, message in span:
            if "reasoning_content" not in message:
                yield Place(("messages", index, "reasoning_content"), None)


def reasoning_echoed_empty(body: Mapping[str, Any]) -> Iterator[Place]:
    """The same messages with an empty ``reasoning_content`` (NousResearch/hermes-agent issue 17341)."""
    for span in _spans(body):
        for index, message in span:
            if message.get("reasoning_content") == "":
                yield Place(("messages", index, "reasoning_content"), "")


def roles_not_alternating(body: Mapping[str, Any]) -> Iterator[Place]:
    """A user or assistant message after one of the same role (perplexityai/api-discussion issue 265)."""
    before = None
    for index, message in _messages(body):
        role = message.get("role")
        if role in ("user", "assistant") and role == before:
            yield Place(("messages", index), message)
        before = role


def calls_unsigned(body: Mapping[str, Any]) -> Iterator[Place]:
    """Assistant messages since the last user message whose first call has no thought signature of Gemini's.

    Later calls of a message need none (Gemini API guide "Thought signatures").
    """
    since: list[Place] = []
    for index, message in _messages(body):
        if message.get("role") == "user":
            since = []
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and isinstance(calls, list) and calls:
            signature: Any = calls[0]
            for key in ("extra_content", "google", "thought_signature"):
                signature = signature.get(key) if isinstance(signature, dict) else None
            if not signature:
                since.append(Place(("messages", index, "tool_calls", 0, "extra_content"), None))
    yield from since


def thinking_not_echoed(body: Mapping[str, Any]) -> Iterator[Place]:
    """Assistant messages over the Messages wire with a call and no thinking (DeepSeek-V3 issue 1376)."""
    for index, message in _messages(body):
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
        thought = "thinking" in kinds or "redacted_thinking" in kinds
        if message.get("role") == "assistant" and "tool_use" in kinds and not thought:
            yield Place(("messages", index, "content"), content)


def namespaced_names_repeated(body: Mapping[str, Any]) -> Iterator[Place]:
    """Tools of a Responses request that have the name of another one in the same namespace."""
    tools = body.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        inner = tool.get("tools") if isinstance(tool, dict) and tool.get("type") == "namespace" else None
        seen: set[str] = set()
        for number, one in enumerate(inner if isinstance(inner, list) else ()):
            name = one.get("name") if isinstance(one, dict) else None
            if isinstance(name, str) and name in seen:
                yield Place(("tools", index, "tools", number, "name"), name)
            seen |= {name} if isinstance(name, str) else set()


def _items(body: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The items of a Responses input."""
    items = body.get("input")
    if not isinstance(items, list):
        return []
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]


def sealed_reasoning_outlived(body: Mapping[str, Any]) -> Iterator[Place]:
    """Encrypted reasoning that is not the newest, and any of it where the input ends with a tool's output.

    (NousResearch/hermes-agent, agent/transports/codex.py.) What one response said ends with an item that is
    not the model's.
    """
    items = _items(body)
    responses: list[list[Place]] = [[]]
    for index, item in items:
        if item.get("type") == "function_call_output" or item.get("role") in ("user", "system", "developer"):
            responses.append([])
        elif item.get("type") == "reasoning" and item.get("encrypted_content"):
            responses[-1].append(Place(("input", index), item))
    sealed = [places for places in responses if places]
    after_tools = bool(items) and items[-1][1].get("type") == "function_call_output"
    for places in sealed if after_tools else sealed[:-1]:
        yield from places


def reasoning_stands_alone(body: Mapping[str, Any]) -> Iterator[Place]:
    """Reasoning items of a Responses input after which nothing of the model's comes.

    (0xPlaygrounds/rig issue 751.)
    """
    items = _items(body)
    for (index, item), after in zip(
        items, [*(item for _, item in items[1:]), {"role": "user"}], strict=False
    ):
        spoken = after.get("role") not in ("user", "system", "developer")
        if item.get("type") == "reasoning" and not (spoken and after.get("type") != "function_call_output"):
            yield Place(("input", index), item)


def message_between_calls(body: Mapping[str, Any]) -> Iterator[Place]:
    """Messages of the assistant with a function call right before and right after them in a Responses input.

    (pydantic/pydantic-ai, profiles/openai.py.)
    """
    items = _items(body)
    for (_, before), (index, item), (_, after) in zip(items, items[1:], items[2:], strict=False):
        spoken = item.get("role") == "assistant" and item.get("type", "message") == "message"
        if spoken and before.get("type") == after.get("type") == "function_call":
            yield Place(("input", index), item)


def function_responses_not_as_many(body: Mapping[str, Any]) -> Iterator[Place]:
    """Gemini contents after a turn of calls, of more or fewer responses (microsoft/vscode issue 299295)."""
    contents = body.get("contents")
    called = 0
    for index, content in enumerate(contents if isinstance(contents, list) else ()):
        answered = _parts_with(content, "functionResponse")
        if called and answered != called:
            yield Place(("contents", index), content)
        called = _parts_with(content, "functionCall")


def _parts_with(content: Any, member: str) -> int:
    parts = content.get("parts") if isinstance(content, dict) else None
    held = [isinstance(part, dict) and member in part for part in parts] if isinstance(parts, list) else []
    return sum(held)


def arguments_not_json(body: Mapping[str, Any]) -> Iterator[Place]:
    """Arguments of calls in the history that are a text and no JSON (OpenHands/OpenHands issue 13949)."""
    for index, message in _messages(body):
        calls = message.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, list) else ()):
            function = call.get("function") if isinstance(call, dict) else None
            arguments = function.get("arguments") if isinstance(function, dict) else None
            if isinstance(arguments, str) and not _is_json(arguments):
                yield Place(("messages", index, "tool_calls", number, "function", "arguments"), arguments)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Place]]] = {
    "reasoning-not-echoed": reasoning_not_echoed,
    "reasoning-echoed-empty": reasoning_echoed_empty,
    "roles-not-alternating": roles_not_alternating,
    "function-responses-not-as-many": function_responses_not_as_many,
    "calls-unsigned": calls_unsigned,
    "arguments-not-json": arguments_not_json,
    "thinking-not-echoed": thinking_not_echoed,
    "namespaced-names-repeated": namespaced_names_repeated,
    "reasoning-stands-alone": reasoning_stands_alone,
    "sealed-reasoning-outlived": sealed_reasoning_outlived,
    "message-between-calls": message_between_calls,
}

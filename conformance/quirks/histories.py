"""Checks of a Chat Completions history that paths can't say, by name. They never raise on any request."""

from __future__ import annotations

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


CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Place]]] = {
    "reasoning-not-echoed": reasoning_not_echoed,
    "reasoning-echoed-empty": reasoning_echoed_empty,
    "roles-not-alternating": roles_not_alternating,
}

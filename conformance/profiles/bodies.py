"""Chat bodies, changed where the canonical form has no say: members of messages, spellings, nulls."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

from conformance.profiles.messages import BRIDGE
from conformance.wires.body import compact, parse

Body = dict[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")

REASONING_MEMBERS = (
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "reasoning_details",
    "reasoning_opaque",
)
MESSAGE_MEMBERS = {
    "system": ("role", "content", "name"),
    "developer": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "refusal", "audio", "tool_calls", "function_call"),
    "tool": ("role", "content", "tool_call_id"),
    "function": ("role", "content", "name"),
}
"""What OpenAI's schema has in a message, by its role."""
CALL_MEMBERS = ("id", "type", "function", "custom")
OTHERS_PARAMETERS = ("think", "prompt_cache_key", "safety_identifier")
"""Parameters of Ollama and OpenAI that hosts refuse."""


def messages(body: Body, change: Callable[[Body], Body]) -> Body:
    """The body with every message changed."""
    given = body.get("messages")
    if not isinstance(given, list):
        return body
    return {**body, "messages": [change(m) if isinstance(m, dict) else m for m in given]}


def known_members(body: Body, more: Collection[str] = ()) -> Body:
    """Messages and calls with the members of OpenAI's schema alone, and ``more`` in assistant messages."""

    def message(old: Body) -> Body:
        known = MESSAGE_MEMBERS.get(str(old.get("role")))
        if known is None:
            return old
        also = more if old["role"] == "assistant" else ()
        out = {k: v for k, v in old.items() if k in known or k in also}
        return _calls(out, lambda call: {k: v for k, v in call.items() if k in CALL_MEMBERS})

    return messages(body, message)


def _calls(message: Body, change: Callable[[Body], Body]) -> Body:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [change(c) if isinstance(c, dict) else c for c in calls]}


def without(body: Body, members: Collection[str]) -> Body:
    """The body without these members."""
    return {k: v for k, v in body.items() if k not in members}


def unnamed_results(body: Body) -> Body:
    """Tool messages without a name."""
    return messages(body, lambda m: without(m, ("name", "tool_name")) if m.get("role") == "tool" else m)


def null_content(body: Body) -> Body:
    """Empty content beside calls as null."""

    def message(old: Body) -> Body:
        return {**old, "content": None} if old.get("tool_calls") and old.get("content") == "" else old

    return messages(body, message)


def empty_content(body: Body) -> Body:
    """Null content as an empty string."""

    def message(old: Body) -> Body:
        return {**old, "content": ""} if "content" in old and old["content"] is None else old

    return messages(body, message)


def whole_calls(body: Body) -> Body:
    """Calls of the history in their full shape: a type, and name and arguments in ``function``."""

    def call(old: Body) -> Body:
        if "function" in old or "custom" in old:
            return {**old, "type": old.get("type") or ("function" if "function" in old else "custom")}
        inner = {k: old[k] for k in ("name", "arguments") if k in old}
        return {**without(old, inner), "type": "function", "function": inner} if "name" in inner else old

    return messages(body, lambda m: _calls(m, call))


def arguments_said(body: Body) -> Body:
    """Empty arguments in the history as ``{}``."""

    def call(old: Body) -> Body:
        function = old.get("function")
        if not isinstance(function, dict) or function.get("arguments") not in ("", None, "null"):
            return old
        return {**old, "function": {**function, "arguments": "{}"}}

    return messages(body, lambda m: _calls(m, call))


def bridged(body: Body) -> Body:
    """An assistant's words between a tool's result and a user."""
    given = body.get("messages")
    if not isinstance(given, list):
        return body
    out: list[Any] = []
    for message in given:
        before = out[-1] if out else None
        roles = [m.get("role") if isinstance(m, dict) else None for m in (before, message)]
        if roles == ["tool", "user"]:
            out.append({"role": "assistant", "content": BRIDGE})
        out.append(message)
    return {**body, "messages": out}


def json_arguments(body: Body) -> Body:
    """Past arguments that are no JSON inside of some that are."""

    def call(old: Body) -> Body:
        function = old.get("function")
        given = function.get("arguments") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(given, str):
            return old
        try:
            parse(given)
        except ValueError:
            return {**old, "function": {**function, "arguments": compact({"invalid_json": given})}}
        return old

    return messages(body, lambda m: _calls(m, call))


def results_as_text(body: Body) -> Body:
    """The content of tool messages as one string."""

    def message(old: Body) -> Body:
        content = old.get("content")
        if old.get("role") != "tool" or not isinstance(content, list):
            return old
        texts = [p.get("text") for p in content if isinstance(p, dict)]
        return {**old, "content": "".join(t for t in texts if isinstance(t, str))}

    return messages(body, message)


def content_as_parts(body: Body) -> Body:
    """The content of messages as lists of parts."""

    def message(old: Body) -> Body:
        content = old.get("content")
        return {**old, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else old

    return messages(body, message)


def without_null_ids(body: Body) -> Body:
    """No ``tool_call_id`` that is null."""
    return messages(
        body,
        lambda m: without(m, ("tool_call_id",)) if m.get("tool_call_id", "") is None else m,
    )


def cap_spelt(body: Body, spelling: str) -> Body:
    """The output cap under this name."""
    other = "max_tokens" if spelling == "max_completion_tokens" else "max_completion_tokens"
    if other not in body:
        return body
    return {**without(body, (other,)), spelling: body.get(spelling, body[other])}


def without_surrogates_in(value: Any) -> Any:
    """The value with every lone surrogate in it, keys included, as U+FFFD: no UTF-8 has a place for one."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {without_surrogates_in(k): without_surrogates_in(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_surrogates_in(item) for item in value]
    return value


def matches(pattern: str, model: str) -> bool:
    """Whether a model's name is of a family."""
    return re.search(pattern, model, re.IGNORECASE) is not None

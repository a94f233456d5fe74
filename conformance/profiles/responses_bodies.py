"""Bodies of the Responses wire, changed for who takes less of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]
Items = list[Any]

MAX_CACHE_KEY = 64
_CALLS = ("function_call", "custom_tool_call")


def items(body: Body, change: Callable[[Items], Items]) -> Body:
    """The body with another list of input items."""
    given = body.get("input")
    return {**body, "input": change(list(given))} if isinstance(given, list) else body


def kind(item: Any) -> str:
    """What an item is; a message may leave its type out."""
    if not isinstance(item, dict):
        return ""
    said = item.get("type")
    return said if isinstance(said, str) else ("message" if "role" in item else "")


def _is_of_assistant(item: Any) -> bool:
    spoken = kind(item) == "message" and item.get("role") == "assistant"
    return spoken or kind(item) in (*_CALLS, "reasoning")


def in_pairs(given: Items) -> Items:
    """Reasoning only where an item of the same turn follows it; calls that name no reasoning that is gone."""
    kept: Items = []
    for at, item in enumerate(given):
        follows = given[at + 1] if at + 1 < len(given) else None
        if kind(item) == "reasoning" and not _is_of_assistant(follows):
            continue
        kept.append(item)
    reasons = False
    out: Items = []
    for item in kept:
        if kind(item) == "reasoning":
            reasons = True
        elif not _is_of_assistant(item):
            reasons = False
        if kind(item) in _CALLS and not reasons and str(item.get("id", "")).startswith(("fc_", "ctc_")):
            item = {key: value for key, value in item.items() if key != "id"}
        out.append(item)
    return out


def newest_reasoning(given: Items) -> Items:
    """Encrypted reasoning of the newest turn alone, and none where results of tools follow it."""
    newest = max((i for i, item in enumerate(given) if kind(item) == "reasoning"), default=-1)
    results = any(kind(item).endswith("_call_output") for item in given[newest + 1 :])
    return [
        item
        for i, item in enumerate(given)
        if kind(item) != "reasoning" or not item.get("encrypted_content") or (i == newest and not results)
    ]


def reasoning_before_each_call(given: Items) -> Items | None:
    """The turn's reasoning before each of its calls, with its text in ``content`` as well.

    ``None`` where a turn that calls has no reasoning: it is lost.
    """
    out: Items = []
    latest: Body | None = None
    for item in given:
        if kind(item) == "reasoning":
            latest = item = _with_text(item)
        elif not _is_of_assistant(item):
            latest = None
        if kind(item) in _CALLS and not (out and kind(out[-1]) == "reasoning"):
            if latest is None:
                return None
            out.append(latest)
        out.append(item)
    return out


def _with_text(item: Body) -> Body:
    if item.get("content"):
        return item
    summary = item.get("summary")
    texts = (
        [part.get("text") for part in summary if isinstance(part, dict)] if isinstance(summary, list) else []
    )
    text = "".join(t for t in texts if isinstance(t, str))
    return {**item, "content": [{"type": "reasoning_text", "text": text or " "}]}


def calls_last(given: Items) -> Items:
    """The calls of a turn after all else of it."""
    out: Items = []
    turn: Items = []
    for item in [*given, None]:
        if item is not None and _is_of_assistant(item):
            turn.append(item)
            continue
        messages = [one for one in turn if kind(one) == "message"]
        last = max((i for i, one in enumerate(turn) if kind(one) == "message"), default=-1)
        early = any(kind(one) in _CALLS for one in turn[:last])
        out += [*messages, *(one for one in turn if kind(one) != "message")] if early else turn
        turn = []
        out += [] if item is None else [item]
    return out


def without_status(given: Items) -> Items:
    """Items of earlier turns with a ``status`` of null."""
    return [
        {**item, "status": None} if isinstance(item, dict) and item.get("status") else item for item in given
    ]


def never_empty(body: Body) -> Body:
    """An empty input as an empty message of a user."""
    if body.get("input") in ([], ""):
        return {**body, "input": [{"role": "user", "content": [{"type": "input_text", "text": ""}]}]}
    return body


def json_named(body: Body) -> Body:
    """The word JSON in the input, where a JSON object is asked for and the input has no such word."""
    form = (body.get("text") or {}).get("format") if isinstance(body.get("text"), dict) else None
    if not isinstance(form, dict) or form.get("type") != "json_object":
        return body
    said = body.get("input")
    if "json" in str(said).lower():
        return body
    note = {"role": "user", "content": [{"type": "input_text", "text": "Answer in JSON."}]}
    given = said if isinstance(said, list) else [{"role": "user", "content": said or ""}]
    return {**body, "input": [note, *given]}


def short_cache_key(body: Body) -> Body:
    """A ``prompt_cache_key`` of at most 64 characters: a longer one as its hash."""
    key = body.get("prompt_cache_key")
    if not isinstance(key, str) or len(key) <= MAX_CACHE_KEY:
        return body
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return {**body, "prompt_cache_key": digest[:MAX_CACHE_KEY]}

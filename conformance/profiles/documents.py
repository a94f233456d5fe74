"""Whole answers over Chat, put right; what is right already stays itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from conformance.profiles import calls
from conformance.profiles.finishes import finish_word
from conformance.profiles.profile import Asked
from conformance.profiles.reading import Reading
from conformance.types import Part, Reasoning, Text, ToolCall

Document = dict[str, Any]
ReadText = Callable[[str], "tuple[Part, ...] | None"]
REASONING = ("reasoning_content", "reasoning", "reasoning_text")
_TIERS = (None, "auto", "default", "flex", "scale", "priority")


def unwrapped(document: Any) -> Any:
    """The completion inside of an envelope: ``{"data": {...}, "success": true}``, ``{"provider": {...}}``."""
    if not isinstance(document, dict) or isinstance(document.get("choices"), list):
        return document
    inner = [value for value in document.values() if isinstance(value, dict) and "choices" in value]
    return inner[0] if len(inner) == 1 else document


def repaired(
    document: Any, asked: Asked, reading: Reading, names: Mapping[str, str], read_text: ReadText
) -> Any:
    """A whole Chat answer, put right. ``names``: what aliases of tools stand for."""
    document = unwrapped(document)
    if not isinstance(document, dict) or not isinstance(document.get("choices"), list):
        return document
    out = {**envelope(document, asked), "choices": document["choices"]}
    choices = [choice for choice in out["choices"] if isinstance(choice, dict)]
    if reading.one_choice and len(choices) > 1 and (asked.request.n or 1) == 1:
        choices = [_merged(choices)]
        out["choices"] = choices
    if len(choices) == len(out["choices"]):
        out["choices"] = [
            _choice(choice, asked, reading, names, read_text, counted_out=_spent(document, asked))
            for choice in choices
        ]
    if isinstance(out.get("usage"), dict):
        out["usage"] = usage(out["usage"])
    return {key: out[key] for key in document if key in out}


def envelope(document: Document, asked: Asked) -> Document:
    """The members around the choices, with the values that OpenAI's schema lets them have."""
    out = dict(document)
    if "created" in out and out["created"] is None:
        out["created"] = asked.at
    if out.get("service_tier") not in _TIERS:
        del out["service_tier"]
    return out


def usage(counts: Document) -> Document:
    """Token counts in OpenAI's words: DeepSeek's cache counts, no more reasoning than was written."""
    out = dict(counts)
    hit = out.get("prompt_cache_hit_tokens")
    details = out.get("prompt_tokens_details")
    if isinstance(hit, int) and not isinstance(hit, bool):
        if not isinstance(details, dict) or details.get("cached_tokens") is None:
            out["prompt_tokens_details"] = {
                **(details if isinstance(details, dict) else {}),
                "cached_tokens": hit,
            }
        out = {k: v for k, v in out.items() if not k.startswith("prompt_cache_")}
    inner, written = out.get("completion_tokens_details"), out.get("completion_tokens")
    if isinstance(inner, dict) and isinstance(written, int):
        thought = inner.get("reasoning_tokens")
        if isinstance(thought, int) and thought > written:
            out["completion_tokens_details"] = {**inner, "reasoning_tokens": written}
    return out


def _merged(choices: list[Document]) -> Document:
    """Pieces of one choice as one: texts joined, calls in a row, the reason that speaks of calls first."""
    message: Document = {}
    for choice in choices:
        given = choice.get("message")
        for key, value in given.items() if isinstance(given, dict) else ():
            old = message.get(key)
            if old in (None, "", []):
                message[key] = value
            elif isinstance(old, str) and isinstance(value, str) and key != "role":
                message[key] = old + value
            elif isinstance(old, list) and isinstance(value, list):
                message[key] = [*old, *value]
    reasons = [choice.get("finish_reason") for choice in choices]
    reason = "tool_calls" if "tool_calls" in reasons else next(filter(None, reasons), None)
    return {**choices[0], "index": 0, "message": message, "finish_reason": reason}


def _spent(document: Document, asked: Asked) -> bool:
    """Whether an answer is as long as its cap lets it be."""
    counts, cap = document.get("usage"), asked.request.max_tokens
    written = counts.get("completion_tokens") if isinstance(counts, dict) else None
    return cap is not None and isinstance(written, int) and written >= cap


def _choice(
    choice: Document,
    asked: Asked,
    reading: Reading,
    names: Mapping[str, str],
    read_text: ReadText,
    *,
    counted_out: bool,
) -> Document:
    message = choice.get("message")
    if not isinstance(message, dict):
        return choice
    reason = choice.get("finish_reason")
    cut = isinstance(reason, str) and finish_word(reason, asked.request, calls=True) == "length"
    cut = cut or (reason in (None, "") and counted_out)
    message = _message(message, asked, reading, read_text)
    given = message.get("tool_calls")
    if isinstance(given, list):
        entries = calls.whole(given, asked, names, cut=cut)
        if reading.keeps_first and asked.request.parallel_tool_calls is False:
            entries = entries[:1]
        message = {**message, "tool_calls": entries}
        if not entries and reason in ("tool_calls", "stop"):
            del message["tool_calls"]
    if reason in (None, "") and counted_out:
        reason = "length"
    legacy = isinstance(message.get("function_call"), dict)
    word = finish_word(reason, asked.request, calls=bool(message.get("tool_calls")), legacy=legacy)
    return {**choice, "message": message, "finish_reason": word}


def _message(message: Document, asked: Asked, reading: Reading, read_text: ReadText) -> Document:
    out = dict(message)
    if not out.get("role"):
        out = {"role": "assistant", **{k: v for k, v in out.items() if k != "role"}}
    if isinstance(out.get("content"), list):
        text, reasoning = flattened(out["content"])
        out["content"] = text or None
        out = with_reasoning(out, reasoning)
    if reading.format_in_reasoning and not out.get("content") and wants_json(asked):
        out = _from_reasoning(out)
    parts = read_text(out["content"]) if isinstance(out.get("content"), str) else None
    return out if parts is None else _told(out, parts)


def flattened(content: list[Any]) -> tuple[str, str]:
    """The text and the reasoning of content that is a list of parts."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type") == "thinking":
            inner = part.get("thinking")
            pieces = inner if isinstance(inner, list) else [inner]
            found = [p.get("text") if isinstance(p, dict) else p for p in pieces]
            thoughts += [piece for piece in found if isinstance(piece, str)]
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "".join(texts), "".join(thoughts)


def with_reasoning(message: Document, reasoning: str) -> Document:
    """The message with more reasoning, in the field that it has some in."""
    if not reasoning:
        return message
    field = next((f for f in REASONING if isinstance(message.get(f), str)), REASONING[0])
    return {**message, field: (message.get(field) or "") + reasoning}


def wants_json(asked: Asked) -> bool:
    """Whether the answer has to be JSON."""
    given = asked.request.extra.get("response_format")
    kind = given.get("type") if isinstance(given, dict) else None
    return asked.request.response_format is not None or kind in ("json_object", "json_schema")


def _from_reasoning(message: Document) -> Document:
    field = next((f for f in REASONING if isinstance(message.get(f), str)), "")
    text = message.get(field, "")
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return message
    return {**{k: v for k, v in message.items() if k != field}, "content": text}


def _told(message: Document, parts: tuple[Part, ...]) -> Document:
    """The message whose text turned out to hold other parts."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    found = [entry(part) for part in parts if isinstance(part, ToolCall)]
    out = {**message, "content": text or None}
    out = with_reasoning(out, "".join(part.text for part in parts if isinstance(part, Reasoning)))
    return {**out, "tool_calls": [*(message.get("tool_calls") or ()), *found]} if found else out


def entry(call: ToolCall) -> Document:
    """A call as Chat has it."""
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }

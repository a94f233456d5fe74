"""Canonical messages as Chat messages.

Where a part's own ``opaque`` (under ``openai-chat``) goes: a call's beside ``id`` and ``function`` (Gemini's
``extra_content``); a text's into its content part, which makes the content a list; an image's, a
sound's and a document's beside its data (``detail``, ``file_id``); a reasoning's into the message
(``reasoning_details``), with the reasoning only. A refusal has no place for one. In calls,
``{"type": "custom"}`` and ``{"function_call": true}`` select OpenAI's custom and legacy forms.

Only user messages take pictures, sounds and documents (OpenAI API reference, chat/create). Those of tool
results follow in a user message, after the last result in a row: nothing may stand between a call and its
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from conformance.types import (
    Audio,
    File,
    Image,
    Loss,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    WireName,
)
from conformance.wires.losses import bound_elsewhere, own, said_elsewhere
from conformance.wires.openai_chat_choice import REASONING_FIELDS

WIRE: WireName = "openai-chat"

Media: TypeAlias = Image | Audio | File

_IN_CONTENT = ("think", "thinking")
"""Spellings of reasoning that stand in the content: inline markup, and Mistral's content part."""


def encode_messages(
    messages: Sequence[Message], losses: list[Loss], *, echo_reasoning: bool
) -> list[dict[str, Any]]:
    """The messages of a Chat body."""
    out: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for i, message in enumerate(messages):
        at = f"/messages/{i}"
        if message.role == "tool":
            message, shown = _result(message, at, losses)
            waiting += shown
        elif waiting:
            out.append({"role": "user", "content": waiting})
            waiting = []
        out.append(encode_message(message, at, losses, echo_reasoning=echo_reasoning))
    return out + ([{"role": "user", "content": waiting}] if waiting else [])


def encode_message(
    message: Message, at: str, losses: list[Loss], *, echo_reasoning: bool, media: bool | None = None
) -> dict[str, Any]:
    """One message of a Chat body, or of an answer; ``at`` is where losses point.

    Text alone is a string, ``null`` beside calls or a refusal when there is none; with media, or
    where a text has an ``opaque``, the content is a list of parts. ``media``: whether this message takes
    any; by default, user messages do.
    """
    media = message.role == "user" if media is None else media
    parts = list(_sayable(message.parts, at, losses, echo_reasoning=echo_reasoning, media=media))
    calls = [(p, where) for p, where in parts if isinstance(p, ToolCall)]
    refusal = "".join(p.text for p, _ in parts if isinstance(p, Refusal))
    content = _encode_content(parts, losses)
    if content is None and not calls and not refusal:
        content = ""
    out: dict[str, Any] = {"role": message.role, "content": content}
    out |= _encode_reasoning([(p, where) for p, where in parts if isinstance(p, Reasoning)], losses)
    if refusal:
        out["refusal"] = refusal
    for call, where in calls:
        opaque = own(call.opaque, WIRE, where, losses)
        if not opaque.get("function_call"):
            out.setdefault("tool_calls", []).append(_encode_call(call, opaque))
        elif "function_call" not in out:
            out["function_call"] = {"name": call.name, "arguments": call.arguments}
        else:
            losses.append(Loss(where, "a second call in the form before tools"))
    if message.tool_call_id is not None:
        out["tool_call_id"] = message.tool_call_id
    ranks = [_rank(part) for part, _ in parts if part != Text("")]
    if ranks != sorted(ranks):
        losses.append(Loss(at, "the order of its parts: Chat has reasoning, content, refusal, calls", "form"))
    return out


def _sayable(
    parts: Sequence[Part], at: str, losses: list[Loss], *, echo_reasoning: bool, media: bool
) -> Iterable[tuple[Part, str]]:
    """The parts that this message can hold, each with where it is."""
    for j, part in enumerate(parts):
        where = f"{at}/parts/{j}"
        if isinstance(part, Reasoning):
            if not echo_reasoning or bound_elsewhere(part, WIRE, where, losses):
                continue
        elif said_elsewhere(part, WIRE, where, losses):
            continue
        elif isinstance(part, Refusal) and part.opaque:
            losses.append(Loss(where, "what a wire alone understands of a refusal", "form"))
        elif isinstance(part, Image | Audio | File):
            if not media:
                losses.append(Loss(where, f"{_kind(part)} outside a user message"))
                continue
            if not _reachable(part):
                losses.append(Loss(where, f"{_kind(part)} that Chat has no form for"))
                continue
        yield part, where


def _result(message: Message, at: str, losses: list[Loss]) -> tuple[Message, list[dict[str, Any]]]:
    """A tool message in text alone, and the content parts that a user message has to show for it."""
    parts: list[Part] = []
    shown: list[dict[str, Any]] = []
    if message.is_error:
        parts.append(Text("Error: "))
        losses.append(Loss(f"{at}/is_error", 'told in words: "Error: "', "form"))
    for j, part in enumerate(message.parts):
        if isinstance(part, Image | Audio | File) and _reachable(part):
            where = f"{at}/parts/{j}"
            losses.append(Loss(where, f"{_kind(part)} moved into a user message", "form"))
            lead = "\n" if parts and not message.is_error else ""
            parts.append(Text(f"{lead}[{_kind(part)}: see the user message below]"))
            if not shown:
                head = f"Shown by the result of {message.tool_call_id or 'the tool'}:"
                shown.append({"type": "text", "text": head})
            shown.append(_encode_media(part, where, losses))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts)), shown


def _kind(part: Media) -> str:
    return "image" if isinstance(part, Image) else "sound" if isinstance(part, Audio) else "document"


def _reachable(part: Media) -> bool:
    """Chat takes documents as data or by a file id of its own, and never by URL."""
    if isinstance(part, Audio):
        return True
    if isinstance(part, File):
        by_url = part.url.startswith(("http:", "https:"))
        return bool(part.url and not by_url) or "file_id" in (part.opaque or {}).get(WIRE, {})
    return bool(part.url)


def _rank(part: Part) -> int:
    if isinstance(part, Reasoning):
        return 1 if part.spelling in _IN_CONTENT else 0
    return 3 if isinstance(part, ToolCall) else 2 if isinstance(part, Refusal) else 1


def _encode_content(
    parts: Sequence[tuple[Part, str]], losses: list[Loss]
) -> str | list[dict[str, Any]] | None:
    items: list[dict[str, Any]] = []
    for part, where in parts:
        if isinstance(part, Text):
            mine = own(part.opaque, WIRE, where, losses)
            items.append(mine if "type" in mine else {"type": "text", "text": part.text, **mine})
        elif isinstance(part, Image | Audio | File):
            items.append(_encode_media(part, where, losses))
        elif isinstance(part, Reasoning) and part.spelling == "think":
            items.append({"type": "text", "text": f"<think>{part.text}</think>"})
        elif isinstance(part, Reasoning) and part.spelling == "thinking":
            items.append({"type": "thinking", "thinking": [{"type": "text", "text": part.text}]})
    if not items:
        return None
    if all(item.keys() == {"type", "text"} and isinstance(item["text"], str) for item in items):
        return "".join(item["text"] for item in items)
    return items


def _encode_media(part: Media, where: str, losses: list[Loss]) -> dict[str, Any]:
    opaque = own(part.opaque, WIRE, where, losses)
    if isinstance(part, Image):
        return {"type": "image_url", "image_url": {"url": part.url, **opaque}}
    if isinstance(part, Audio):
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": part.format, **opaque}}
    name = {"filename": part.name} if part.name else {}
    data = {"file_data": part.url} if part.url else {}
    return {"type": "file", "file": {**data, **name, **opaque}}


def _encode_reasoning(parts: Sequence[tuple[Reasoning, str]], losses: list[Loss]) -> dict[str, Any]:
    """Each in the field it was read from; a spelling unknown to Chat becomes ``reasoning_content``."""
    texts: dict[str, list[str]] = {}
    all_details: list[Any] = []
    rest: dict[str, Any] = {}
    for part, where in parts:
        opaque = own(part.opaque, WIRE, where, losses)
        details = opaque.pop("reasoning_details", None)
        if part.spelling == "reasoning_details":
            details = details or [{"type": "reasoning.text", "text": part.text}]
        elif part.spelling not in _IN_CONTENT:
            field = part.spelling if part.spelling in REASONING_FIELDS else "reasoning_content"
            texts.setdefault(field, []).append(part.text)
        all_details += details or ()
        rest |= {k: v for k, v in opaque.items() if k not in rest}
    said: dict[str, Any] = {field: "".join(pieces) for field, pieces in texts.items()}
    said |= {"reasoning_details": all_details} if all_details else {}
    return said | {k: v for k, v in rest.items() if k not in said}


def _encode_call(call: ToolCall, opaque: dict[str, Any]) -> dict[str, Any]:
    if opaque.get("type") == "custom":
        form = {"type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    else:
        form = {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    return {"id": call.id, **form, **opaque}

"""Content blocks as canonical parts, and back: one reader for requests and for answers.

What a block has beyond its text (``signature``, ``cache_control``, ``citations``, ``caller``) is in the
part's opaque slot under ``anthropic-messages``, byte for byte. Four keys there are none of Anthropic's:

- ``@block``: a whole block that has no canonical form (server tools and their results, compaction,
  search results ...), on a ``Text("")`` that keeps its place.
- ``@message``: what an answer says beside its content (``stop_sequence``, ``stop_details``, ``container``,
  ``context_management``), on a last ``Text("")``; requests leave it out.
- ``@tool_result``: what the ``tool_result`` block around a result has, on the result's first part.
- ``@system_message``: marks a system message that stands among the messages, on its first part.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from conformance.types import File, Image, Loss, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from conformance.wires.anthropic_facts import Note
from conformance.wires.anthropic_ids import unescape
from conformance.wires.anthropic_media import WIRE, encode_media, read_media
from conformance.wires.arguments import object_of, text_of
from conformance.wires.body import compact, parse
from conformance.wires.losses import own, said_elsewhere

BLOCK, MESSAGE, TOOL_RESULT, SYSTEM_MESSAGE = "@block", "@message", "@tool_result", "@system_message"

_KNOWN_BLOCKS = frozenset(
    {
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "advisor_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "mcp_tool_listing",
        "container_upload",
        "compaction",
        "fallback",
        "search_result",
        "tool_reference",
        "browser_state",
        "tool_addition",
        "tool_removal",
    }
)
"""Blocks kept whole (anthropic SDK 2.14.0, ``types/content_block*.py`` and ``types/beta``)."""


def carried(parts: Iterable[Part], key: str) -> dict[str, Any] | None:
    """What the parts carry under one of our own keys; ``None`` when none of them has it."""
    for part in parts:
        found = (part.opaque or {}).get(WIRE, {}).get(key)
        if isinstance(found, dict):
            return found
    return None


def encode_part(part: Part, at: str, call_id: str, losses: list[Loss]) -> dict[str, Any] | None:
    """The block that says the part; ``None`` where there is nothing to say, or no way to.

    ``call_id`` is the id that a call has on this wire. Reasoning without an opaque slot of this
    wire was never signed by it, and has no form here (S2).
    """
    if said_elsewhere(part, WIRE, at, losses):
        return None
    mine = {k: v for k, v in own(part.opaque, WIRE, at, losses).items() if not k.startswith("@")}
    if isinstance(part, Text):
        whole = carried((part,), BLOCK)
        if whole is not None:
            return dict(whole)
        return {"type": "text", "text": part.text, **mine} if part.text or mine else None
    if isinstance(part, Reasoning):
        if WIRE not in (part.opaque or {}):
            losses.append(Loss(at, "reasoning that this wire did not sign"))
            return None
        if part.spelling == "redacted_thinking":
            return {"type": "redacted_thinking", **mine}
        return {"type": "thinking", "thinking": part.text, **mine}
    if isinstance(part, ToolCall):
        value = object_of(part.arguments, at, losses)
        return {"type": "tool_use", "id": call_id, "name": part.name, "input": value, **mine}
    if isinstance(part, Refusal):
        losses.append(Loss(at, "that it is a refusal: told as text", "form"))
        return {"type": "text", "text": part.text} if part.text else None
    if isinstance(part, Image | File):
        return encode_media(part, mine, at, losses)
    losses.append(Loss(at, "a sound: this wire takes none"))
    return None


def read_block(block: Any, at: str, note: Note, arguments: str | None = None) -> Part | None:
    """The part that a block is; ``None`` where it says nothing.

    ``arguments``: the input of a streamed call, put together from its pieces.
    """
    if not isinstance(block, dict):
        note("block-not-object", at, type(block).__name__)
        return None
    kind = block.get("type")
    if kind == "text":
        return _read_text(block, at, note)
    if kind in ("thinking", "redacted_thinking"):
        return _read_thinking(block, at, note)
    if kind == "tool_use":
        return _read_call(block, at, note, arguments)
    if kind in ("image", "document"):
        return read_media(block)
    if not isinstance(kind, str) or kind not in _KNOWN_BLOCKS:
        note("block-unknown", f"{at}/type", kind if isinstance(kind, str) else compact(kind))
    return Text("", {WIRE: {BLOCK: block}})


def _read_text(block: dict[str, Any], at: str, note: Note) -> Text | None:
    text = block.get("text")
    if not isinstance(text, str):
        note("text-not-string", f"{at}/text", compact(text))
        text = "" if text is None else compact(text)
    rest = _rest(block, "text")
    if not text and not rest:
        note("text-empty", at, "")
        return None
    return Text(text, rest)


def _read_thinking(block: dict[str, Any], at: str, note: Note) -> Reasoning:
    kind = str(block["type"])
    if kind == "redacted_thinking":
        if not isinstance(block.get("data"), str):
            note("missing-data", f"{at}/data", compact(block.get("data")))
        return Reasoning("", kind, {WIRE: {k: v for k, v in block.items() if k != "type"}})
    text = block.get("thinking")
    if not isinstance(text, str):
        note("thinking-not-string", f"{at}/thinking", compact(text))
        text = "" if text is None else compact(text)
    if not isinstance(block.get("signature"), str) or not block["signature"]:
        note("missing-signature", f"{at}/signature", "")
    rest = {k: v for k, v in block.items() if k not in ("type", "thinking")}
    return Reasoning(text, kind, {WIRE: rest})


def _read_call(block: dict[str, Any], at: str, note: Note, arguments: str | None) -> ToolCall:
    call_id, name = block.get("id"), block.get("name")
    if call_id is not None and not isinstance(call_id, str):
        note("call-id-not-string", f"{at}/id", compact(call_id))
        call_id = compact(call_id)
    elif not call_id:
        note("missing-id", f"{at}/id", "")
    if name is not None and not isinstance(name, str):
        note("name-not-string", f"{at}/name", compact(name))
        name = compact(name)
    elif not name:
        note("missing-name", f"{at}/name", "")
    if arguments is None:
        arguments = _arguments(block, at, note)
    return ToolCall(unescape(call_id or ""), name or "", arguments, _rest(block, "id", "name", "input"))


def _arguments(block: dict[str, Any], at: str, note: Note) -> str:
    value, path = block.get("input"), f"{at}/input"
    if value is None:
        note("missing-input", path, "")
        return "{}"
    if isinstance(value, str):
        note("input-string", path, value)
        return value
    if not isinstance(value, dict):
        note("input-not-object", path, type(value).__name__)
    elif not _is_finite(value):
        note("input-not-finite", path, "")
    return text_of(value)


def is_object(text: str) -> bool:
    """True of JSON that is an object."""
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False


def _is_finite(value: Any) -> bool:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, float) and not isfinite(item):
            return False
        if isinstance(item, dict | list):
            todo += item.values() if isinstance(item, dict) else item
    return True


def _rest(block: dict[str, Any], *known: str) -> Opaque | None:
    """The other members of a block; those that are null say nothing."""
    rest = {k: v for k, v in block.items() if k not in ("type", *known) and v is not None and k[:1] != "@"}
    return {WIRE: rest} if rest else None

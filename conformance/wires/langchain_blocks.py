"""LangChain's content blocks as canonical parts, and back.

Written are the standard blocks of langchain-core 1.x (``langchain_core.messages.content``). Read are these,
the data blocks before them (``source_type``), and what provider packages leave in ``content`` as it came:
OpenAI's ``image_url``, ``input_audio`` and ``file``, Anthropic's ``thinking``, ``redacted_thinking``,
``image`` and ``document``. What a part has beyond a block's own members travels in the block's ``extras``:
the opaque slot by wire name, the ``spelling`` of reasoning, the ``filename`` of a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import (
    WIRES,
    Audio,
    File,
    Image,
    Loss,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from conformance.wires.media import Media, data_url, inline, medium
from conformance.wires.openai_chat_parts import media_in

_SPELLING = Reasoning("").spelling


def encode_part(part: Text | Reasoning | Refusal | Media) -> dict[str, Any]:
    """The standard block of a part; calls have theirs in ``langchain``."""
    extras = extras_of(part)
    if isinstance(part, Text):
        block: dict[str, Any] = {"type": "text", "text": part.text}
    elif isinstance(part, Reasoning):
        block = {"type": "reasoning", "reasoning": part.text}
        if part.spelling != _SPELLING:
            extras["spelling"] = part.spelling
    elif isinstance(part, Refusal):
        block = {"type": "refusal", "refusal": part.text}
    elif isinstance(part, Audio):
        block = {"type": "audio", "base64": part.data, "mime_type": f"audio/{part.format}"}
    else:
        block = {"type": "image" if isinstance(part, Image) else "file", **_location(part.url)}
        if isinstance(part, File) and part.name:
            extras["filename"] = part.name
    return block | ({"extras": extras} if extras else {})


def extras_of(part: Part) -> dict[str, Any]:
    """The part's opaque slot as a block's ``extras``."""
    return {name: dict(members) for name, members in (part.opaque or {}).items()}


def _location(url: str) -> dict[str, str]:
    found = inline(url)
    if found is not None and data_url(*found) == url:
        return {"base64": found[1], "mime_type": found[0]}
    return {"url": url} if url else {}


def decode_block(block: Any, at: str, losses: list[Loss], *, provider: str = "") -> Part | None:
    """The part that a block is, unless it is a call; ``None``, and a loss, for what has no canonical form.

    ``provider`` is the ``model_provider`` of the message's ``response_metadata``.
    """
    if isinstance(block, str):
        return Text(block)
    if not isinstance(block, dict):
        losses.append(Loss(at, "not a content block"))
        return None
    kind = block.get("type")
    part = _text_in(kind, block, provider) or media_in(block) or _media_in(kind, block)
    if part is None:
        losses.append(Loss(at, f"a content block of type {kind!r}"[:200]))
        return None
    if block.get("annotations") or block.get("citations"):
        losses.append(Loss(at, "citations"))
    extras = block.get("extras")
    if isinstance(extras, dict):
        known = {*WIRES, *_EXTRAS.get(type(part), ())}
        losses += [Loss(f"{at}/extras", f"{key!r}"[:200]) for key in extras if key not in known]
    return part


_EXTRAS: Mapping[type, tuple[str, ...]] = {Reasoning: ("spelling", "signature"), File: ("filename",)}


def opaque_in(block: Mapping[str, Any]) -> Opaque | None:
    """The opaque slot in a block's ``extras``."""
    extras = block.get("extras")
    found = extras if isinstance(extras, dict) else {}
    return {name: found[name] for name in WIRES if isinstance(found.get(name), dict)} or None


def _text_in(kind: Any, block: dict[str, Any], provider: str) -> Text | Reasoning | Refusal | None:
    opaque = opaque_in(block)
    if kind in ("text", "text-plain") and isinstance(text := block.get("text"), str):
        return Text(text, opaque)
    if kind == "refusal" and isinstance(text := block.get("refusal"), str):
        return Refusal(text, opaque)
    if kind == "reasoning" and isinstance(text := block.get("reasoning", ""), str):
        extras = block.get("extras") if isinstance(block.get("extras"), dict) else {}
        assert isinstance(extras, dict)
        spelling, signature = extras.get("spelling"), extras.get("signature")
        if opaque is None and signature is not None and provider == "anthropic":
            return Reasoning(text, "thinking", {"anthropic-messages": {"signature": signature}})
        return Reasoning(text, spelling if isinstance(spelling, str) else _SPELLING, opaque)
    if kind == "thinking" and isinstance(text := block.get("thinking"), str):
        signed = {"signature": block["signature"]} if "signature" in block else {}
        return Reasoning(text, "thinking", {"anthropic-messages": signed} if signed else None)
    if kind == "redacted_thinking" and isinstance(block.get("data"), str):
        return Reasoning("", kind, {"anthropic-messages": {"data": block["data"]}})
    return None


def _media_in(kind: Any, block: dict[str, Any]) -> Media | None:
    if kind not in ("image", "audio", "file", "document"):
        return None
    inner = block.get("source")
    source = inner if isinstance(inner, dict) else block
    media_type = source.get("mime_type") or source.get("media_type")
    data = source.get("base64") or source.get("data")
    opaque, extras, url = opaque_in(block), block.get("extras"), source.get("url")
    if isinstance(data, str) and isinstance(media_type, str):
        url = data_url(media_type, data)
    url = url if isinstance(url, str) else ""
    if kind == "audio":
        found = inline(url)
        sound = medium(*found) if found else None
        return Audio(sound.data, sound.format, opaque) if isinstance(sound, Audio) else None
    if not url and not opaque:
        return None
    if kind == "image":
        return Image(url, opaque)
    name = block.get("filename") or (extras.get("filename") if isinstance(extras, dict) else None)
    return File(url, name if isinstance(name, str) else "", opaque)


def call_of(block: Mapping[str, Any], arguments: str) -> ToolCall:
    """The call that a block or an entry of ``tool_calls`` is; an id or name that is no string is ``""``."""
    call_id, name = block.get("id"), block.get("name")
    return ToolCall(
        call_id if isinstance(call_id, str) else "",
        name if isinstance(name, str) else "",
        arguments,
        opaque_in(block),
    )

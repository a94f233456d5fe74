"""Canonical requests as Messages bodies, and back.

``decode_request`` after ``encode`` is the identity on the canonical subset: system text in leading messages,
one message of it, then users and assistants by turns, results right after their calls and a user message
right after those; a user first; no empty text, no ``developer``, refusal, sound, or reasoning of other wires
(``echo_reasoning`` true exactly when there is some of ours); arguments as ``compact`` writes them;
``max_tokens`` given, ``temperature`` at most 1, ``include_usage`` and ``n`` left out, tools with a schema, a
tool choice where ``parallel_tool_calls`` is set, schemas named ``FORMAT_NAME``, closed where they are held to
and strict where OpenAI takes them so, no sampling or forced call beside ``reasoning_effort``. Beyond it,
``losses`` tells what is lost.

Usage always comes with a stream, so ``include_usage`` asks for nothing here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.types import JSON, Loss, Message, Part, Reasoning, Request, Text
from conformance.wires.anthropic_blocks import SYSTEM_MESSAGE, TOOL_RESULT, read_block
from conformance.wires.anthropic_facts import unheard
from conformance.wires.anthropic_history import encode_history
from conformance.wires.anthropic_ids import unescape
from conformance.wires.anthropic_media import WIRE
from conformance.wires.anthropic_parameters import decode_parameters, encode_parameters
from conformance.wires.losses import merge_native


def encode(request: Request, *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The body that says ``request``; what is ``None`` is left out, ``native`` merged last."""
    system, messages = encode_history(request.messages, losses, echo_reasoning=request.echo_reasoning)
    body: dict[str, Any] = {"model": model}
    if system:
        body["system"] = system
    body |= {"messages": messages, **encode_parameters(request, losses)}
    return merge_native(body, request.native, WIRE, losses)


def decode_request(body: dict[str, JSON]) -> Request:
    """The canonical request that a body says; the model is not part of it.

    A user message with ``tool_result`` blocks becomes a tool message for each, and a user message for the
    blocks between, before and after them, in their order. Raises ``ValueError`` when ``messages`` is no list
    of messages with known roles and readable content.
    """
    rest = {k: v for k, v in body.items() if k not in ("model", "messages")}
    given = body.get("messages")
    if not isinstance(given, list):
        raise ValueError("messages: not a list")
    messages: list[Message] = []
    system = rest.get("system")
    if isinstance(system, str) or (isinstance(system, list) and all(isinstance(b, dict) for b in system)):
        parts = _read_content(system, "system")
        messages += [Message("system", parts)] if parts else []
        del rest["system"]
    for i, message in enumerate(given):
        messages += _read_message(message, f"messages/{i}")
    fields, extra, native = decode_parameters(rest)
    return Request(
        messages=tuple(messages),
        echo_reasoning=any(isinstance(part, Reasoning) for m in messages for part in m.parts),
        extra=extra,
        native={WIRE: native} if native else {},
        **fields,
    )


def _read_message(message: Any, at: str) -> list[Message]:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("user", "assistant", "system"):
        raise ValueError(f"{at}: not a message with a role of user, assistant, system")
    content = message.get("content", "")
    if role == "user":
        return _read_user(content, at)
    parts = _read_content(content, at)
    if role == "system":
        members = {k: v for k, v in message.items() if k not in ("role", "content")}
        parts = _mark(parts, SYSTEM_MESSAGE, members)
    return [Message(role, parts)]


def _read_user(content: Any, at: str) -> list[Message]:
    messages: list[Message] = []
    blocks: list[Any] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            if blocks:
                messages.append(_user(blocks, at))
            messages.append(_read_result(block, at))
            blocks = []
        else:
            blocks.append(block)
    if not isinstance(content, list):
        return [_user(content, at)]
    return [*messages, _user(blocks, at)] if blocks or not messages else messages


def _user(content: Any, at: str) -> Message:
    return Message("user", _read_content(content, at))


def _read_result(block: dict[str, Any], at: str) -> Message:
    known = ("type", "tool_use_id", "content", "is_error")
    members = {k: v for k, v in block.items() if k not in known and v is not None}
    parts = _read_content(block.get("content") or "", f"{at}/content")
    call_id = block.get("tool_use_id")
    return Message(
        role="tool",
        parts=_mark(parts, TOOL_RESULT, members) if members else parts,
        tool_call_id=unescape(call_id) if isinstance(call_id, str) else None,
        is_error=block.get("is_error") is True,
    )


def _read_content(content: Any, at: str) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        raise ValueError(f"{at}: content that is neither a string nor a list")
    parts = []
    for i, block in enumerate(content):
        if not isinstance(block, dict):
            raise ValueError(f"{at}/content/{i}: not a block")
        parts.append(read_block(block, "", unheard))
    return tuple(part for part in parts if part is not None)


def _mark(parts: tuple[Part, ...], key: str, members: dict[str, Any]) -> tuple[Part, ...]:
    """The parts with ``members`` in the opaque slot of the first, or of an empty text."""
    first, *others = parts or (Text(""),)
    opaque = dict(first.opaque or {})
    opaque[WIRE] = {**opaque.get(WIRE, {}), key: members}
    return (replace(first, opaque=opaque), *others)

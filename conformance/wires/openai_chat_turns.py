"""Canonical turns as Chat messages and as whole Chat answers.

Decoding what ``encode_turns`` says gives the same turns on the canonical subset: that of requests, with
one id, model and usage for all turns of an answer, all three totals in a usage, reasoning in a field that
Chat knows, and a ``finish_reason`` that agrees with the calls.

Reasoning bound to another wire keeps its text here and loses what binds it: an answer is shown, not
sent back to a provider.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.types import JSON, Loss, Message, Part, Reasoning, ToolCall, Turn, Usage
from conformance.wires.body import compact
from conformance.wires.losses import is_foreign, own
from conformance.wires.openai_chat_answer import DETAILS, TOTALS
from conformance.wires.openai_chat_choice import REASONING_FIELDS
from conformance.wires.openai_chat_message import WIRE, encode_message

_SPELLINGS = (*REASONING_FIELDS, "reasoning_details")


def to_chat(turn: Turn) -> dict[str, Any]:
    """The turn as one canonical Chat message.

    Reasoning of every spelling is in ``reasoning_content``; keys without a value are left out, except
    ``content``, which is ``null`` then.
    """
    plain = tuple(p for p in turn.parts if not isinstance(p, Reasoning))
    message = encode_message(Message("assistant", plain), "", [], echo_reasoning=False, media=True)
    message["content"] = message["content"] or None
    return message | ({"reasoning_content": turn.reasoning} if turn.reasoning else {})


def encode_turns(turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The whole answer that says these turns, a choice each.

    ``model`` and an id made from the content stand in where the turns have none; ``created`` is 0, since
    no turn knows its time. A ``finish_reason`` that contradicts the calls is put right, a loss of form:
    clients look at it before they look for calls.
    """
    choices = [_choice(turn, i, losses) for i, turn in enumerate(turns)]
    first = turns[0] if turns else Turn()
    for i, turn in enumerate(turns):
        for name in ("id", "model", "usage"):
            if getattr(turn, name) != getattr(first, name):
                losses.append(Loss(f"/turns/{i}/{name}", f"an answer has one {name} for all its choices"))
    text = compact(choices).encode("utf-8", "surrogatepass")
    body: dict[str, Any] = {
        "id": first.id or f"chatcmpl-{hashlib.sha256(text).hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": first.model or model,
        "choices": choices,
    }
    return body | ({"usage": _usage(first.usage)} if first.usage else {})


def _choice(turn: Turn, number: int, losses: list[Loss]) -> dict[str, Any]:
    at = f"/turns/{number}"
    parts = tuple(part for j, p in enumerate(turn.parts) for part in _shown(p, f"{at}/parts/{j}", losses))
    message = encode_message(Message("assistant", parts), at, losses, echo_reasoning=True, media=True)
    message["content"] = message["content"] or None
    reason = _finish_reason(turn)
    if reason != turn.finish_reason:
        losses.append(Loss(f"{at}/finish_reason", f"{turn.finish_reason} said as {reason}", "form"))
    choice = {
        "index": number,
        "message": {"refusal": None, **message},
        "logprobs": None,
        "finish_reason": reason,
    }
    native = turn.native_finish_reason
    return choice | ({"native_finish_reason": native} if native is not None else {})


def _shown(part: Part, at: str, losses: list[Loss]) -> tuple[Part, ...]:
    if not isinstance(part, Reasoning):
        return (part,)
    opaque = own(part.opaque, WIRE, at, losses)
    if not part.text and not opaque:
        return ()
    ours = part.spelling in _SPELLINGS and not is_foreign(part.opaque, WIRE)
    spelling = part.spelling if ours else "reasoning_content"
    return (replace(part, spelling=spelling, opaque={WIRE: opaque} if opaque else None),)


def _finish_reason(turn: Turn) -> str | None:
    """The turn's, unless it contradicts the calls; what was cut or filtered stays so."""
    if turn.finish_reason not in ("stop", "tool_calls", "function_call"):
        return turn.finish_reason
    legacy = [_is_legacy(call) for call in turn.calls]
    return "stop" if not legacy else "function_call" if all(legacy) else "tool_calls"


def _is_legacy(call: ToolCall) -> bool:
    return bool((call.opaque or {}).get(WIRE, {}).get("function_call"))


def _usage(usage: Usage) -> Mapping[str, Any]:
    """The counts that are known; the total is their sum where none was told."""
    known = {key: getattr(usage, key) for key in TOTALS}
    if known["total_tokens"] is None and None not in (usage.prompt_tokens, usage.completion_tokens):
        known["total_tokens"] = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
    out: dict[str, Any] = {key: count for key, count in known.items() if count is not None}
    for name, keys in DETAILS.items():
        details = {key: getattr(usage, key) for key in keys if getattr(usage, key) is not None}
        if details:
            out[name] = details
    return out

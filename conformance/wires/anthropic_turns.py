"""Canonical turns as the body of a whole Messages answer.

Decoding it gives the same turn on the canonical subset: one turn with an id and a model, parts of this wire
with ids, arguments as ``compact`` writes them, both totals of the usage and their sum, a ``finish_reason``
that agrees with the calls, and a ``native_finish_reason`` of this wire where that says more.

Reasoning of other wires has no form here: a ``thinking`` block is signed, and what nobody signed would
be sent back as if it were (S2).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from conformance.types import JSON, Loss, Part, ToolCall, Turn, Usage
from conformance.wires.anthropic_answer import STOP_REASONS, finish_reason, stop_reason
from conformance.wires.anthropic_blocks import MESSAGE, carried, encode_part
from conformance.wires.anthropic_ids import escape
from conformance.wires.body import compact

_ENDS = ("stop", "tool_calls", "function_call")


def encode_turns(turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The whole answer that says the first turn: this wire gives one.

    Ids are made from the content where there are none. A count that is not known is 0, since a usage has
    to be there; its total is not told.
    """
    losses += [Loss(f"/turns/{i}", "an answer is one turn here") for i in range(1, len(turns))]
    turn = turns[0] if turns else Turn()
    content = []
    for j, part in enumerate(turn.parts):
        block = encode_part(part, f"/turns/0/parts/{j}", _id(part, j, losses), losses)
        if block is not None:
            content.append(block)
    body: dict[str, Any] = {
        "id": turn.id or f"msg_{_digest(content)}",
        "type": "message",
        "role": "assistant",
        "model": turn.model or model,
        "content": content,
        "stop_reason": _stop_reason(turn, losses),
        "stop_sequence": None,
        "usage": _usage(turn.usage or Usage(), losses),
    }
    return body | (carried(turn.parts, MESSAGE) or {})


def _id(part: Part, position: int, losses: list[Loss]) -> str:
    if not isinstance(part, ToolCall):
        return ""
    at = f"/turns/0/parts/{position}"
    written = escape(part.id)
    if not written:
        written = f"toolu_{_digest([position, part.name, part.arguments])}"
        losses.append(Loss(at, f"a call without an id: it got {written}", "form"))
    elif written != part.id:
        losses.append(Loss(at, f"the id {part.id[:60]}, written as {written}", "form"))
    return written


def _digest(value: Any) -> str:
    return hashlib.sha256(compact(value).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _stop_reason(turn: Turn, losses: list[Loss]) -> str | None:
    """The wire's own word if the turn has it, else the one for its ``finish_reason`` and its calls."""
    finish, native, calls = turn.finish_reason, turn.native_finish_reason, bool(turn.calls)
    if native in STOP_REASONS and finish_reason(native, calls=calls) == finish:
        return native
    if native is not None:
        losses.append(Loss("/turns/0/native_finish_reason", f"{native[:60]} is no word of this wire", "form"))
    if finish is None:
        return None
    said = ("tool_use" if calls else "end_turn") if finish in _ENDS else stop_reason(finish)
    said = said or "end_turn"
    if finish_reason(said, calls=calls) != finish:
        losses.append(Loss("/turns/0/finish_reason", f"{finish[:60]} said as {said}", "form"))
    return said


def _usage(usage: Usage, losses: list[Loss]) -> dict[str, Any]:
    """Counts as this wire counts: the prompt without what the cache gave or took (U2)."""
    at = "/turns/0/usage"
    cached, written = usage.cached_tokens, usage.cache_write_tokens
    given = (usage.prompt_tokens or 0) - (cached or 0) - (written or 0)
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        losses.append(Loss(at, "counts that are not known, told as 0", "form"))
    elif given < 0:
        losses.append(Loss(at, "more cached tokens than the prompt has", "form"))
    elif usage.total_tokens not in (None, usage.prompt_tokens + usage.completion_tokens):
        losses.append(Loss(f"{at}/total_tokens", "totals are not told here", "form"))
    out: dict[str, Any] = {
        "input_tokens": max(given, 0),
        "output_tokens": usage.completion_tokens or 0,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    if usage.reasoning_tokens is not None:
        out["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return {key: count for key, count in out.items() if count is not None}

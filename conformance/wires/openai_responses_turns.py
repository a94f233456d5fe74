"""Canonical turns as whole Responses answers.

Decoding what ``encode_turns`` says gives the same turn on the canonical subset: one turn with id and model,
parts as in requests (reasoning also without an opaque, text without one bound elsewhere), a usage with all
counts (``cache_write_tokens`` may lack) or none, a ``finish_reason`` that agrees with the calls,
``native_finish_reason`` only where there is no finish. ``id`` and ``status`` of items are made from the
position where the parts bring none.

Reasoning bound to another wire keeps its text here and loses what binds it: an answer is shown, not sent
back to a provider.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.types import JSON, Loss, Turn, Usage
from conformance.wires.body import compact
from conformance.wires.openai_responses_answer import DETAILS, REASONS, TOTALS, UNFINISHED
from conformance.wires.openai_responses_items import MADE
from conformance.wires.openai_responses_parts import CallIds, Writer

_PREFIXES = {"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}

_CUT_REASONS = ("max_messages", "steered")
"""Further reasons of ``incomplete_details`` (openai SDK, types/responses/response.py)."""

_UNTOLD: Mapping[str, Any] = {
    "background": False,
    "completed_at": None,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""The request's members, which an answer repeats and a turn does not know: their defaults.

All keys that OpenAI's schema and Open Responses' (ResponseResource) require.
"""


def encode_turns(turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The whole answer that says the first turn; there is no second one in it.

    ``model`` and an id made from the content stand in where the turn has none; ``created_at`` is 0, since no
    turn knows its time.
    """
    losses += [Loss(f"/turns/{i}", "Responses gives one answer") for i in range(1, len(turns))]
    turn = turns[0] if turns else Turn()
    ids = CallIds([call.id for call in turn.calls], losses)
    writer = Writer(ids, losses, echo_reasoning=True, answer=True)
    writer.write(turn.parts, "/turns/0")
    state = _state(turn, losses)
    done = "completed" if state["status"] == "completed" else "incomplete"
    output = [
        _identified(item, i, done if i == len(writer.items) - 1 else "completed")
        for i, item in enumerate(writer.items)
    ]
    digest = hashlib.sha256(compact(output).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "id": turn.id or f"resp_{digest[:24]}",
        "object": "response",
        "created_at": 0,
        **state,
        "model": turn.model or model,
        "output": output,
        "usage": None if turn.usage is None else _usage(turn.usage, losses),
        **_UNTOLD,
    }


def _identified(item: dict[str, Any], position: int, status: str) -> dict[str, Any]:
    """The item with an id, and with a status where its schema has one."""
    prefix = _PREFIXES.get(item["type"])
    opaque = item["type"] == "reasoning" and item.keys() - {"type", "summary", "content"}
    if prefix is None or opaque:
        return item
    return {"type": item["type"], "id": f"{prefix}{MADE}{position}", "status": status, **item}


def _state(turn: Turn, losses: list[Loss]) -> dict[str, Any]:
    """``status``, ``error`` and ``incomplete_details``."""
    finish, native = turn.finish_reason, turn.native_finish_reason
    out: dict[str, Any] = {"status": "completed", "error": None, "incomplete_details": None}
    agreed = "tool_calls" if turn.calls else "stop"
    if finish in ("length", "content_filter"):
        reason = next(word for word, meaning in REASONS.items() if meaning == finish)
        if native in _CUT_REASONS and finish == "length":
            reason, native = native, None
        out |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
    elif finish is None:
        out["status"] = native if native in UNFINISHED else "in_progress"
        native = None if native in UNFINISHED else native
    elif finish == "error":
        out["status"] = "failed"
        losses.append(Loss("/turns/0/finish_reason", "error said as the status failed", "form"))
    elif finish != agreed:
        said = f"{finish} said as {agreed}"
        form = finish in ("stop", "tool_calls", "function_call")
        losses.append(Loss("/turns/0/finish_reason", said, "form" if form else "meaning"))
    if out["status"] == "failed":
        told = (fact.detail for fact in turn.facts if fact.name in ("error-body", "error-event"))
        message = next((detail for detail in told if detail), "The answer failed.")
        out["error"] = {"code": "server_error", "message": message}
    if native is not None:
        losses.append(Loss("/turns/0/native_finish_reason", f"Responses has no word for {native}"))
    return out


def _usage(usage: Usage, losses: list[Loss]) -> dict[str, Any]:
    """The counts; of those that nobody told, the total is a sum and what both schemas require is 0."""
    known = {
        name: getattr(usage, name) for name in (*TOTALS, *(n for keys in DETAILS.values() for n in keys))
    }
    if known["total_tokens"] is None and None not in (known["prompt_tokens"], known["completion_tokens"]):
        known["total_tokens"] = known["prompt_tokens"] + known["completion_tokens"]
    if (
        known["cache_write_tokens"] is None
    ):  # in OpenAI's schema since 2026 only, in Open Responses' not at all
        del known["cache_write_tokens"]
    for name, count in known.items():
        if count is None:
            known[name] = 0
            losses.append(Loss(f"/turns/0/usage/{name}", "not told, and required: said as 0", "form"))
    out: dict[str, Any] = {key: known[name] for name, key in TOTALS.items()}
    for group, keys in DETAILS.items():
        out[group] = {key: known[name] for name, key in keys.items() if name in known}
    return out

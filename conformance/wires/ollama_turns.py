"""Canonical turns as whole answers of Ollama's ``/api/chat``.

Decoding what ``encode_turns`` says gives the same turns on the canonical subset: one turn without an id,
parts in the order of ``ollama_request``, an id in every call, both counts or none and their sum, a
``finish_reason`` that agrees with the calls. Reasoning bound to another wire keeps its text here and loses
what binds it: an answer is shown, not sent back to a provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.types import JSON, Loss, Message, Part, Reasoning, Turn, Usage
from conformance.wires.losses import own
from conformance.wires.ollama_answer import finish_of, usage_of
from conformance.wires.ollama_request import WIRE, encode_message

CREATED_AT = "1970-01-01T00:00:00Z"
"""When a turn was made: no turn knows it, and every answer must say it."""


def encode_turns(turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The whole answer that says the first turn; the wire has one. ``model`` stands in where it names none.

    Calls have their ids, as newer servers send them.
    """
    losses += [Loss(f"/turns/{i}", "one answer is all there is") for i in range(1, len(turns))]
    turn = turns[0] if turns else Turn()
    at = "/turns/0"
    if turn.id is not None:
        losses.append(Loss(f"{at}/id", "answers have no id", "form"))
    parts = tuple(_shown(part, f"{at}/parts/{j}", losses) for j, part in enumerate(turn.parts))
    message = encode_message(Message("assistant", parts), at, losses, echo_reasoning=True)
    for call, said in zip(turn.calls, message.get("tool_calls", ()), strict=True):
        said.update({"id": call.id} if call.id else {})
    body: dict[str, Any] = {"model": turn.model or model, "created_at": CREATED_AT, "message": message}
    word = _say_finish(turn, at, losses)
    body |= {"done": word is not None} | ({} if word is None else {"done_reason": word})
    return body | ({} if turn.usage is None else _say_usage(turn.usage, f"{at}/usage", losses))


def _shown(part: Part, at: str, losses: list[Loss]) -> Part:
    if not isinstance(part, Reasoning):
        return part
    mine = own(part.opaque, WIRE, at, losses)
    return replace(part, opaque={WIRE: mine} if mine else None)


def _say_finish(turn: Turn, at: str, losses: list[Loss]) -> str | None:
    reason, native, calls = turn.finish_reason, turn.native_finish_reason, bool(turn.calls)
    if reason is None:
        return None
    if native is not None and finish_of(native, calls=calls) == (reason, native):
        return native
    word = "length" if reason == "length" else "stop"
    back = finish_of(word, calls=calls)[0]
    if back != reason:
        weight: Any = "meaning" if reason == "content_filter" else "form"
        read = f", read as {back}" if word.lower() == reason else ""
        losses.append(Loss(f"{at}/finish_reason", f"{reason} said as {word}{read}", weight))
    if native is not None:
        losses.append(Loss(f"{at}/native_finish_reason", f"{native} is no word of Ollama", "form"))
    return word


def _say_usage(usage: Usage, at: str, losses: list[Loss]) -> dict[str, Any]:
    said = {"prompt_eval_count": usage.prompt_tokens, "eval_count": usage.completion_tokens}
    counts = {key: count for key, count in said.items() if count is not None}
    back = usage_of(counts) or Usage()
    for name in Usage.__dataclass_fields__:
        if getattr(back, name) != getattr(usage, name):
            losses.append(Loss(f"{at}/{name}", f"{getattr(usage, name)} read back as {getattr(back, name)}"))
    return counts

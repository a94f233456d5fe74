"""Canonical turns as whole Gemini answers.

Decoding what ``encode_turns`` says gives the same turns on the canonical subset: an id and a model, the
same for all turns, and the same usage; texts of one kind not in a row unless one is signed; ``thought`` the
spelling of reasoning; an id in every call; a ``finish_reason`` that agrees with the calls.

Reasoning bound to another wire keeps its text here and loses what binds it: an answer is shown, not
sent back to a provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.types import JSON, Loss, Text, Turn
from conformance.wires.gemini_outcome import BLOCKED, say_finish, say_usage
from conformance.wires.gemini_parts import WIRE, encode_part
from conformance.wires.losses import said_elsewhere


def encode_turns(turns: Sequence[Turn], *, model: str, losses: list[Loss]) -> dict[str, JSON]:
    """The whole answer that says these turns, a candidate each; ``model`` stands in where they name none.

    A turn without parts that ended by a ``blockReason`` is a blocked prompt.
    """
    first = turns[0] if turns else Turn()
    for i, turn in enumerate(turns):
        for name in ("id", "model", "usage"):
            if getattr(turn, name) != getattr(first, name):
                losses.append(Loss(f"/turns/{i}/{name}", f"an answer has one {name} for all its candidates"))
    body: dict[str, Any] = {}
    if len(turns) == 1 and _is_blocked(first):
        body["promptFeedback"] = {"blockReason": first.native_finish_reason}
    else:
        body["candidates"] = [_candidate(turn, i, losses) for i, turn in enumerate(turns)]
    if first.usage is not None:
        body["usageMetadata"] = say_usage(first.usage, "/turns/0/usage", losses)
    body["modelVersion"] = first.model or model
    return body | ({"responseId": first.id} if first.id else {})


def _is_blocked(turn: Turn) -> bool:
    return not turn.parts and turn.finish_reason == "content_filter" and turn.native_finish_reason in BLOCKED


def _candidate(turn: Turn, number: int, losses: list[Loss]) -> dict[str, Any]:
    at = f"/turns/{number}"
    parts: list[dict[str, Any]] = []
    for j, part in enumerate(turn.parts):
        where = f"{at}/parts/{j}"
        if said_elsewhere(part, WIRE, where, losses) or part == Text(""):
            continue
        encoded = encode_part(part, where, losses)
        parts += [encoded] if encoded is not None else []
    out: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": number}
    reason = say_finish(turn, at, losses)
    return out if reason is None else {**out, "finishReason": reason}

"""Deviations in which the ids of calls say something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.quirks.paths import places
from conformance.simulator import chance
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.deviations.messages import messages_of
from conformance.simulator.mutants.mutant import Answer, Change


def _named() -> Change:
    """Ids of calls are ``functions.NAME:N``; N counts the calls of the conversation from 0."""

    def change(answer: Answer) -> None:
        before = sum(1 for _ in places(answer.asked, "/messages/*/tool_calls/*"))
        told: dict[str, str] = {}
        for call in _with_id(answer):
            made = f"functions.{call['function']['name']}:{before + len(told)}"
            call["id"] = told.setdefault(call["id"], made)

    return change


def _short(length: int) -> Change:
    """Ids of calls are so many letters and digits."""

    def change(answer: Answer) -> None:
        told: dict[str, str] = {}
        for call in _with_id(answer):
            call["id"] = told.setdefault(call["id"], chance.letters(length))

    return change


def _with_id(answer: Answer) -> list[dict[str, Any]]:
    messages = [message for document in documents(answer) for message in messages_of(document)]
    return [call for message in messages for call in message.get("tool_calls") or () if call.get("id")]


CALL_IDS: Mapping[str, Maker] = dict(
    (deviation("call-ids-name-the-function", _named), deviation("call-ids-short", _short))
)
"""Makers by name."""

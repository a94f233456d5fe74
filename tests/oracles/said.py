"""What an answer says, in a form that a turn of ours and any SDK's result can both be brought to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from conformance.types import Reasoning, Refusal, Text, ToolCall, Turn, Usage

Words: TypeAlias = "tuple[str, ...]"
"""One part: its kind and its text, or ``("call", id, name, arguments)`` with sorted JSON as arguments."""


@dataclass(frozen=True, slots=True)
class Said:
    """One choice of an answer. Ids are ``""`` where the answer has none."""

    parts: tuple[Words, ...]
    finish: str | None
    usage: Usage | None = None
    id: str | None = None
    model: str | None = None


def said(parts: Iterable[Words], *, ordered: bool) -> tuple[Words, ...]:
    """Parts without empty texts, neighbours of one kind joined.

    Where the wire keeps no order between texts, reasoning and calls, they come kind by kind.
    """
    told = list(parts)
    if not ordered:
        told.sort(key=lambda words: ("reasoning", "text", "refusal", "call").index(words[0]))
    out: list[Words] = []
    for words in told:
        if words[0] != "call" and out and out[-1][0] == words[0]:
            out[-1] = (words[0], out[-1][1] + words[1])
        elif words[0] == "call" or words[1]:
            out.append(words)
    return tuple(out)


def without_ids(said: Said) -> Said:
    """The same, its calls without ids."""
    return replace(said, parts=tuple(("call", "", *w[2:]) if w[0] == "call" else w for w in said.parts))


def call(id: str | None, name: str, arguments: Any) -> Words:
    """A call, its arguments given as a JSON text or as a value."""
    return "call", id or "", name, spelled(arguments)


def spelled(arguments: Any) -> str:
    """The value of the arguments, so that 1, 1.0 and true stay apart; a text that is no JSON as it is."""
    value = arguments
    if isinstance(arguments, str):
        try:
            value = json.loads(arguments)
        except ValueError:
            return arguments
    return json.dumps(value, sort_keys=True)


def ours(turn: Turn, *, ordered: bool) -> Said:
    """What a turn says."""
    parts: list[Words] = []
    for part in turn.parts:
        match part:
            case Text(words):
                parts.append(("text", words))
            case Reasoning(words):
                parts.append(("reasoning", words))
            case Refusal(words):
                parts.append(("refusal", words))
            case ToolCall(id, name, arguments):
                parts.append(call(id, name, arguments))
            case _:
                raise AssertionError(part)
    return Said(said(parts, ordered=ordered), turn.finish_reason, turn.usage, turn.id, turn.model)

"""What a dialect read from a text: content, reasoning and calls in order, and flags instead of guesses."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from conformance.types import Fact, Part, Reasoning, Text, ToolCall, Turn

Flag = Literal[
    "unclosed",  # a closing tag is missing, but what it closes is whole
    "malformed",  # markup that is no call and no quotation; kept as content
    "repaired",  # a call that only a lenient reading finds; a failure in strict mode
    "unknown-tool",  # a call of a tool that was not offered
    "quoted",  # markup in code, in reasoning or in prose; no call
    "ambiguous",  # a call in the spelling of another family, or one of several where one counts
    "type-mismatch",  # a raw value that does not convert to the type of its schema; kept as text
    "builtin",  # a call of a tool the model brings along (``brave_search``, ``python``)
    "final",  # an answer marked as final (ReAct, JSON action)
    "hallucinated-observation",  # the model went on with a tool's result of its own; cut there
]
FLAGS: tuple[Flag, ...] = get_args(Flag)

Ids = Literal["call", "mistral"]
"""How ids are minted: ``call_`` and 24 letters or digits, or Mistral's nine."""

_ALPHABET = string.digits + string.ascii_letters


@dataclass(frozen=True, slots=True)
class Call:
    """A call found in a text.

    ``arguments`` is JSON: the characters of the text where those are a strict JSON object, otherwise
    ``args`` as compact JSON. ``id`` is ``None`` where the text carries none. ``start`` and ``end`` say
    where its markup lies in the text, in characters.
    """

    name: str
    arguments: str
    args: Mapping[str, Any]
    id: str | None = None
    start: int = 0
    end: int = 0


Piece: TypeAlias = Text | Reasoning | Call


@dataclass(frozen=True, slots=True)
class Parsed:
    """A whole text, read. ``pieces`` are in the order of the text, each trimmed of white space outside."""

    pieces: tuple[Piece, ...] = ()
    flags: frozenset[Flag] = frozenset()
    ids: Ids = "call"
    dialect: str = ""

    @property
    def content(self) -> str | None:
        """The visible text; ``None`` where there is none."""
        return "".join(p.text for p in self.pieces if isinstance(p, Text)) or None

    @property
    def reasoning(self) -> str | None:
        """The reasoning text; ``None`` where there is none."""
        return "\n".join(p.text for p in self.pieces if isinstance(p, Reasoning)) or None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls, in order."""
        return tuple(p for p in self.pieces if isinstance(p, Call))

    def to_turn(
        self,
        answer: Turn = Turn(finish_reason="stop"),  # noqa: B008  (frozen)
        *,
        conversation: str = "",
        position: int = 0,
        taken: Collection[str] = (),
    ) -> Turn:
        """The turn a server that understood the dialect would have answered.

        ``answer`` is the turn as it came over the wire: its text gives way to the pieces, all else stays.
        Ids that the text carries are kept unless ``taken`` or used twice; the others are minted from
        ``conversation`` (any name of it), ``position`` (the number of the turn in it) and the number of the
        call: the same text at the same place gets the same ids. A natural stop becomes ``tool_calls`` where
        there are calls; a cut (``length``) or a filter stays what it was. Flags become facts.
        """
        used = set(taken) | {call.id for call in answer.calls}
        read: list[Part] = []
        number = 0
        for piece in self.pieces:
            if not isinstance(piece, Call):
                read.append(piece)
                continue
            seed = f"{conversation}\0{position}\0{number}"
            number += 1
            own = piece.id if piece.id and piece.id not in used else mint(seed, self.ids, used)
            used.add(own)
            read.append(ToolCall(own, piece.name, piece.arguments))
        kept = [p for p in answer.parts if not isinstance(p, Text)]
        before = [p for p in kept if isinstance(p, Reasoning)]
        after = [p for p in kept if not isinstance(p, Reasoning)]
        finish = answer.finish_reason
        if self.calls and finish in (None, "stop"):
            finish = "tool_calls"
        facts = tuple(
            Fact(f"dialect-{flag}", "/content", self.dialect) for flag in FLAGS if flag in self.flags
        )
        return replace(
            answer, parts=(*before, *read, *after), finish_reason=finish, facts=answer.facts + facts
        )


def mint(seed: str, ids: Ids, used: Collection[str] = ()) -> str:
    """An id that depends on the seed alone, and on what is used already."""
    for attempt in range(len(used) + 1):
        digest = hashlib.sha256(f"{seed}\0{attempt}".encode("utf-8", "surrogatepass")).digest()
        number = int.from_bytes(digest, "big")
        letters = []
        for _ in range(24 if ids == "call" else 9):
            number, index = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[index])
        minted = ("call_" if ids == "call" else "") + "".join(letters)
        if minted not in used:
            return minted
    raise AssertionError("more attempts than used ids")

"""One streamed content block, put together from its pieces."""

from __future__ import annotations

from typing import Any

from conformance.types import Part
from conformance.wires.anthropic_blocks import is_object, read_block
from conformance.wires.anthropic_facts import Note
from conformance.wires.body import compact, parse

_STARTS = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
    "compaction_delta": "compaction",
}
"""The type of block that each type of delta belongs to."""

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}

_NO_INPUT = frozenset({"text", "thinking", "redacted_thinking", "compaction"})
"""Types of blocks that take no ``input_json_delta``; any other may be a call (of a server's tool)."""


def begun_by(delta: Any) -> dict[str, Any] | None:
    """The block that a delta without a start would belong to."""
    kind = delta.get("type") if isinstance(delta, dict) else None
    begun = _STARTS.get(kind) if isinstance(kind, str) else None
    return None if begun is None else {"type": begun}


class Block:
    """A block of an answer: whole, or while its deltas come in. ``at`` is where it began."""

    __slots__ = ("_citations", "_pieces", "_replaced", "_start", "at", "stopped")

    def __init__(self, start: Any, at: str) -> None:
        self._start = start
        self.at = at
        self._pieces: list[str] = []
        self._citations: list[Any] = []
        self._replaced: dict[str, Any] = {}
        self.stopped = False

    def take(self, delta: Any, at: str, note: Note) -> None:
        """Take a delta; ``at`` is where it is."""
        if not isinstance(delta, dict):
            note("delta-not-object", at, type(delta).__name__)
            return
        kind = delta.get("type")
        if not isinstance(kind, str) or kind not in _STARTS:
            note("delta-unknown", f"{at}/type", kind if isinstance(kind, str) else compact(kind))
        elif not self._takes(kind):
            note("delta-mismatch", f"{at}/type", f"{kind} in a block of type {self._kind}")
        elif kind in _PIECES:
            piece = delta.get(_PIECES[kind])
            if isinstance(piece, str):
                self._pieces.append(piece)
            else:
                note("delta-not-string", f"{at}/{_PIECES[kind]}", compact(piece))
        elif kind == "citations_delta":
            self._citations.append(delta.get("citation"))
        else:  # a signature or a compaction: the last one counts, also in the official SDK (S5)
            self._replaced |= {k: v for k, v in delta.items() if k != "type"}

    def part(self, note: Note) -> Part | None:
        """The part so far."""
        if not isinstance(self._start, dict):
            return read_block(self._start, self.at, note)
        block, joined = self._start | self._replaced, "".join(self._pieces)
        if self._citations:
            given = block.get("citations")
            block["citations"] = [*(given if isinstance(given, list) else []), *self._citations]
        if not joined:
            return read_block(block, self.at, note)
        if self._kind in ("text", "thinking"):
            head = block.get(self._kind)
            block[self._kind] = (head if isinstance(head, str) else "") + joined
            return read_block(block, self.at, note)
        if block.get("input"):
            note("input-in-start", f"{self.at}/input", "")
        if self.stopped and not is_object(joined):
            note("input-not-json", f"{self.at}/input", joined)
        if self._kind != "tool_use":
            block["input"] = parse(joined) if is_object(joined) else joined
        return read_block(block, self.at, note, joined)

    @property
    def _kind(self) -> str:
        kind = self._start.get("type") if isinstance(self._start, dict) else None
        return kind if isinstance(kind, str) else ""

    def _takes(self, delta: str) -> bool:
        if delta == "input_json_delta":
            return self._kind not in _NO_INPUT
        return self._kind == _STARTS[delta]

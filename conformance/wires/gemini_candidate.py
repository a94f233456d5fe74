"""One candidate of a Gemini answer while it grows: parts in their order, texts in a row as one.

Texts that carry something of their own (a signature) stay apart: what binds to a part must go back with
just that part. Nothing raises; what is odd becomes a fact.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from conformance.types import Fact, Part, Reasoning, Text, ToolCall
from conformance.wires.facts import Ledger
from conformance.wires.gemini_names import members
from conformance.wires.gemini_outcome import FINISH, NUMBERS, finish_of
from conformance.wires.gemini_partial import PartialCall
from conformance.wires.gemini_parts import decode_part
from conformance.wires.openai_chat_parts import Pieces
from conformance.wires.pairing import minted

GeminiFact = Literal[
    # the body or the event
    "not-utf-8",  # the body is not UTF-8; it was read with U+FFFD
    "not-json",  # an event's data is not JSON
    "not-object",  # an event's data, or an item of an array body, is no object
    "array-body",  # a stream as one JSON array, as without alt=sse
    "done-sentinel",  # [DONE], which this wire has not
    "error-body",
    "error-event",  # an error inside a stream; the detail is its message
    "snake-case",  # a member in snake_case
    "id-not-string",
    "model-not-string",
    "usage-not-object",
    "usage-not-integer",
    # candidates
    "candidates-not-list",
    "candidate-not-object",
    "candidate-index-not-integer",  # the position in the list stands in
    "candidate-repeated-index",  # twice in one response; both are read
    "too-many-candidates",  # more than MAX_CANDIDATES; the rest is dropped
    "content-not-object",
    "role-not-model",
    "parts-not-list",
    # finishing
    "finish-not-string",  # a number that stands for a word is read as the word
    "finish-unspecified",  # not taken as an end
    "finish-unknown",
    "finish-twice",  # the last one counts
    "after-finish",  # something said after finishReason; it is kept
    # parts
    "part-not-object",  # dropped
    "several-data",  # more than one datum in a part; each is a part
    "datum-not-object",  # dropped
    "datum-missing",  # a medium without data or address; dropped
    "mime-not-string",
    "part-carried",  # no canonical counterpart; an empty text carries it
    "text-not-string",  # kept as JSON
    "thought-not-boolean",
    "snapshot-like",  # three or more pieces, each the whole so far and more; still concatenated
    # calls
    "missing-name",
    "name-not-string",
    "call-id-not-string",  # kept as JSON
    "repeated-id",
    "args-not-object",  # a string is kept as it is, anything else as compact JSON
    "partial-args",  # arguments in pieces
    "partial-path",  # a piece whose path or value is not understood; dropped
    "call-unfinished",  # more pieces were announced
]


class _Run:
    """Texts in a row, of answer or of thought."""

    __slots__ = ("pieces", "thought")

    def __init__(self, thought: bool) -> None:
        self.thought = thought
        self.pieces = Pieces()


class Candidate:
    """One candidate."""

    def __init__(self, number: int, ledger: Ledger) -> None:
        self.number = number
        self._ledger = ledger
        self._parts: list[_Run | Part | PartialCall] = []
        self._finish: str | None = None
        self._ids: set[str] = set()
        self._calls = 0
        self._partial: PartialCall | None = None

    def note(self, name: GeminiFact, path: str, detail: str = "") -> None:
        self._ledger.note(self.number, name, path, detail)

    def absorb(self, content: dict[str, Any], at: str, answer_id: str) -> None:
        """Take a ``content``; ``answer_id`` is the ``responseId`` so far, for calls without an id."""
        role, parts = content.get("role"), content.get("parts")
        if role is not None and role != "model":
            self.note("role-not-model", f"{at}/role", str(role))
        if parts is not None and not isinstance(parts, list):
            self.note("parts-not-list", f"{at}/parts", type(parts).__name__)
            parts = [parts]
        for i, item in enumerate(parts or ()):
            where = f"{at}/parts/{i}"
            if not isinstance(item, dict):
                self.note("part-not-object", where, type(item).__name__)
                continue
            raw = members(item, where, self.note)
            said = self._take_partial(raw, where) or self._take(raw, where, answer_id)
            if said and self._finish:
                self.note("after-finish", where)

    def finish(self, reason: Any, path: str) -> None:
        """Take a ``finishReason``."""
        if reason is None:
            return
        if not isinstance(reason, str):
            self.note("finish-not-string", path, type(reason).__name__)
            if type(reason) is not int or not 0 <= reason < len(NUMBERS):
                return
            reason = NUMBERS[reason]
        if reason in ("", "FINISH_REASON_UNSPECIFIED"):
            self.note("finish-unspecified", path, reason)
            return
        if reason not in FINISH:
            self.note("finish-unknown", path, reason)
        if self._finish:
            self.note("finish-twice", path, f"{self._finish}, then {reason}")
        self._finish = reason

    def build(self, answer_id: str) -> tuple[tuple[Part, ...], str | None, str | None, tuple[Fact, ...]]:
        """The parts so far, both finish reasons, and the facts that hold of them as they stand."""
        moment = Ledger()
        parts: list[Part] = []
        for part in self._parts:
            if isinstance(part, _Run):
                text = part.pieces.join()
                parts.append(Reasoning(text, "thought") if part.thought else Text(text))
                if part.pieces.snapshot_at:
                    moment.note(self.number, "snapshot-like", part.pieces.snapshot_at)
            elif isinstance(part, PartialCall):
                parts.append(part.build(partial(self._id, answer_id, part.position)))
                if part.open:
                    moment.note(self.number, "call-unfinished", part.at)
            else:
                parts.append(part)
        reason, native = finish_of(self._finish, calls=any(isinstance(part, ToolCall) for part in parts))
        return tuple(parts), reason, native, moment.of(self.number)

    def _take(self, raw: dict[str, Any], at: str, answer_id: str) -> bool:
        """Take a part that is complete; true when it says anything."""
        parts = decode_part(raw, at, self.note, partial(self._id, answer_id, self._calls))
        for part in parts:
            if isinstance(part, ToolCall):
                self._calls += 1
                self._partial = None
                if part.id in self._ids:
                    self.note("repeated-id", at, part.id)
                self._ids.add(part.id)
            if isinstance(part, Text | Reasoning) and part.opaque is None:
                self._say(part.text, isinstance(part, Reasoning), f"{at}/text")
            else:
                self._parts.append(part)
        return bool(parts)

    def _take_partial(self, raw: dict[str, Any], at: str) -> bool:
        """Take a part that is a piece of a call, if it is one."""
        call = raw.get("functionCall")
        if not isinstance(call, dict):
            return False
        where = f"{at}/functionCall"
        call = members(call)
        current = self._partial if self._partial is not None and self._partial.open else None
        if call.get("name"):
            current = None
        if current is None and not (call.get("willContinue") is True or call.get("partialArgs")):
            return False
        if current is None:
            current = self._partial = PartialCall(where, self._calls)
            self._calls += 1
            self._parts.append(current)
            self.note("partial-args", where)
            if not call.get("name"):
                self.note("missing-name", f"{where}/name")
        rest = {k: v for k, v in raw.items() if k not in ("functionCall", "text") and v is not None}
        current.absorb(call, rest, where, self.note)
        return True

    def _say(self, text: str, thought: bool, path: str) -> None:
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _Run) or last.thought != thought:
            last = _Run(thought)
            self._parts.append(last)
        last.pieces.add(text, path)

    def _id(self, answer_id: str, position: int, given: str, name: str, arguments: str) -> str:
        return given or minted(answer_id, str(self.number), str(position), name, arguments)

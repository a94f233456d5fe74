"""One item of a Responses stream while it grows."""

from __future__ import annotations

from typing import Any, TypeAlias

from conformance.wires.openai_responses_facts import Note, ResponsesFact
from conformance.wires.openai_responses_items import CALL_TEXTS

LISTS = {"message": ("content",), "reasoning": ("content", "summary")}
"""The items that grow part by part, and the members that hold the parts."""

Ends: TypeAlias = "list[tuple[Any, str, ResponsesFact]]"
"""What was told whole: the value, where, and the fact it is when it disagrees with the deltas."""


class Slot:
    """One text of an item: the deltas of it, and what events of its own told of it whole."""

    __slots__ = ("annotations", "ends", "kind", "logprobs", "part", "pieces")

    def __init__(self) -> None:
        self.kind = ""
        self.pieces: list[str] = []
        self.ends: Ends = []
        self.part: dict[str, Any] = {}
        self.annotations: list[Any] = []
        self.logprobs: Any = None

    def tell_part(self, part: dict[str, Any], at: str, *, done: bool) -> None:
        """Take the content part as an event of its own tells it."""
        self.part = part
        if done:
            self.tell(part.get(text_key(part)), f"{at}/{text_key(part)}")

    def tell(self, text: Any, at: str) -> None:
        """Take the whole text."""
        self.ends.append((text, at, "done-disagrees"))

    def settle(self, told: Any, ends: Ends, note: Note) -> Any:
        """The text: what the deltas say, or without any what was told at the end; ``told`` if nothing was."""
        known = [end for end in (*self.ends, *ends) if isinstance(end[0], str)]
        if not self.pieces:
            if known and known[-1][0]:
                note("without-deltas", known[-1][1])
            return known[-1][0] if known else told
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        text = self.pieces[0]
        for end, at, disagrees in known:
            if end != text:
                note(disagrees, at, f"{len(text)} characters in deltas, {len(end)} here")
        return text


def text_key(part: dict[str, Any]) -> str:
    """The member of a content part that holds its text."""
    return "refusal" if part.get("type") == "refusal" else "text"


class Item:
    """An item: what was told of it whole, and its slots by member and index.

    ``order`` is where it stands among the others: its ``output_index``, or that of the item before it.
    """

    __slots__ = ("_last", "_slots", "added", "at", "done", "index", "order", "type")

    def __init__(self, told: dict[str, Any], index: int | None, order: int, at: str) -> None:
        self.type = told.get("type")
        self.added = told
        self.done: dict[str, Any] | None = None
        self.at = at
        self.index = index
        self.order = order
        self._slots: dict[str, dict[int, Slot]] = {}
        self._last: dict[str, int] = {}

    def slot(self, member: str, index: int | None, kind: str) -> Slot:
        """The slot of a member (``content``, ``summary``) at that index; without one, the last in use."""
        position = self._last.get(member, 0) if index is None else index
        self._last[member] = position
        slot = self._slots.setdefault(member, {}).setdefault(position, Slot())
        slot.kind = slot.kind or kind
        return slot

    def build(self, final: Any, at: str, note: Note) -> tuple[dict[str, Any], str]:
        """The item so far, and where it is; ``final`` is what the terminal event tells of it, at ``at``."""
        if final is not None and (not isinstance(final, dict) or final.get("type") != self.type):
            note("terminal-disagrees", at, f"an item of another type than {self.type}")
            final = None
        item = dict(self.done or final or self.added)
        if self.done is None and final is None:
            item.pop("encrypted_content", None)
        whole: list[tuple[dict[str, Any], str, ResponsesFact]] = []
        if self.done is not None:
            whole.append((self.done, self.at, "done-disagrees"))
        if final is not None:
            whole.append((final, at, "terminal-disagrees"))
        kind = self.type if isinstance(self.type, str) else ""
        for member in LISTS.get(kind, ()):
            parts = self._parts(member, item.get(member), whole, note)
            item |= {member: parts} if parts or member in item else {}
        if kind in CALL_TEXTS:
            member = CALL_TEXTS[kind]
            slot = self._slots.get(member, {}).get(0) or Slot()
            ends: Ends = [(value.get(member), f"{where}/{member}", name) for value, where, name in whole]
            settled = slot.settle(item.get(member), ends, note)
            if settled is not None:
                item[member] = settled
            self._compare(final, at, note)
        return item, self.at

    def _parts(
        self, member: str, told: Any, whole: list[tuple[dict[str, Any], str, ResponsesFact]], note: Note
    ) -> Any:
        slots = self._slots.get(member, {})
        if told is not None and not isinstance(told, list):
            return told
        entries: list[Any] = told or []
        indexes = sorted(slots)
        if indexes and entries and indexes[-1] >= len(entries):
            note("part-index-gap", f"{self.at}/{member}", f"index {indexes[-1]} of {len(entries)} parts")
            indexes = list(range(len(indexes)))
        by_position = dict(zip(indexes, (slots[i] for i in sorted(slots)), strict=True))
        out = []
        for i in sorted(by_position.keys() | set(range(len(entries)))):
            slot = by_position.get(i) or Slot()
            entry = entries[i] if i < len(entries) else slot.part
            if not isinstance(entry, dict) and not slot.pieces:
                out.append(entry)
                continue
            part = dict(entry) if isinstance(entry, dict) else dict(slot.part)
            if slot.kind and part.get("type") != slot.kind:
                part = {"type": slot.kind}
            key = text_key(part)
            ends: Ends = []
            for value, where, name in whole:
                parts = value.get(member)
                end = parts[i] if isinstance(parts, list) and i < len(parts) else None
                ends += [(end.get(key), f"{where}/{member}/{i}/{key}", name)] if isinstance(end, dict) else []
            settled = slot.settle(part.get(key), ends, note)
            if settled is not None:
                part[key] = settled
            for more, given in (("annotations", slot.annotations), ("logprobs", slot.logprobs)):
                if given and not part.get(more):
                    part[more] = given
            out.append(part)
        return out

    def _compare(self, final: dict[str, Any] | None, at: str, note: Note) -> None:
        told = self.done or self.added
        for key in ("call_id", "name"):
            if final is not None and key in told and final.get(key) != told[key]:
                note("terminal-disagrees", f"{at}/{key}", f"{told[key]}, then {final.get(key)}")

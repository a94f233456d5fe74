"""The calls of one streamed message, stitched together again and told as the reference tells them.

A call's first delta has index, id, type and name; the later ones have index and arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.profiles import calls
from conformance.profiles.calls import PARALLEL, Entry, Escaper
from conformance.profiles.ids import Taken
from conformance.profiles.profile import Asked
from conformance.profiles.reading import Reading


class _Slot:
    """One call while it grows; ``number`` is the index under which it is told, once it is."""

    __slots__ = ("escaper", "first", "given_id", "held", "name", "number", "place", "said")

    def __init__(self, place: int) -> None:
        self.place = place
        self.number: int | None = None
        self.given_id = ""
        self.name = ""
        self.first: Entry | None = None
        self.held: list[str] = []
        self.said = False
        self.escaper = Escaper()


class CallStream:
    """Takes the entries of ``delta.tool_calls`` and gives out those to tell instead."""

    def __init__(self, asked: Asked, reading: Reading, names: Mapping[str, str]) -> None:
        self._asked = asked
        self._reading = reading
        self._names = names
        self._slots: list[_Slot] = []
        self._at_index: dict[int, _Slot] = {}
        self._by_id: dict[tuple[int | None, str], _Slot] = {}
        self._ids = Taken()
        self._told = 0

    @property
    def told(self) -> int:
        """How many calls were told so far."""
        return self._told

    def feed(self, entries: Sequence[Any]) -> list[Any]:
        """The entries of one delta."""
        out: list[Any] = []
        for given in entries:
            if not isinstance(given, dict):
                continue
            function = given.get("function")
            if not isinstance(function, dict) and (given.get("type") == "custom" or "custom" in given):
                out.append(given)
                self._told = max(self._told, 1)
                continue
            out += self._take(given, function if isinstance(function, dict) else {})
        return out

    def finish(self, *, cut: bool) -> list[Entry]:
        """What is left to tell once the message is over: calls without arguments, calls of many calls."""
        out: list[Entry] = []
        for slot in self._slots:
            rest = "".join(slot.held)
            if slot.number is None and slot.first is not None and slot.name == PARALLEL:
                found = calls.expanded(slot.name, rest, self._asked) or [(slot.name, rest)]
                for number, (name, arguments) in enumerate(found):
                    given = slot.given_id if not number else ""
                    out += self._open(slot, slot.first, name, arguments, given, f"{slot.place}\0{number}")
            elif slot.number is not None and not slot.said and not cut:
                slot.said = True
                out.append(_piece(slot.number, "{}" if rest in calls.NO_ARGUMENTS else rest))
            elif slot.number is not None and rest:
                out.append(_piece(slot.number, rest))
        return out

    # ---------------------------------------------------------------------------------------- inside

    def _take(self, given: Entry, function: Entry) -> list[Entry]:
        slot = self._slot(given, function)
        name, piece = function.get("name"), calls.said(function.get("arguments"))
        if isinstance(given.get("id"), str) and given["id"] and not slot.given_id:
            slot.given_id = given["id"]
        piece = slot.escaper.feed(piece)
        if slot.number is not None:
            return self._more(slot, given, function, piece)
        if isinstance(name, str) and name:
            slot.name = calls.plain_name(name, self._names)
            slot.first = slot.first or given
        slot.held.append(piece)
        if slot.first is None or slot.name == PARALLEL or self._is_surplus():
            return []
        held, slot.held = "".join(slot.held), []
        if held.strip() and "null".startswith(held.strip()):
            slot.held, held = [held], ""  # the word null, or the beginning of it: no arguments, perhaps
        slot.said = bool(held)
        return self._open(slot, given, slot.name, held, slot.given_id, str(slot.place))

    def _more(self, slot: _Slot, given: Entry, function: Entry, piece: str) -> list[Entry]:
        assert slot.number is not None
        if not slot.said:
            piece = "".join((*slot.held, piece))
            if not piece.strip() or "null".startswith(piece.strip()):
                slot.held = [piece]
                # An empty piece says nothing, and is told where nothing else is wrong with it.
                return [given] if not piece and given == _piece(slot.number, "") else []
            slot.held, slot.said = [], True
        told = {k: v for k, v in given.items() if k not in ("id", "type", "function")}
        inner = {k: v for k, v in function.items() if k != "name"}
        told |= {"index": slot.number, "function": {**inner, "arguments": piece}}
        return [told] if piece else []

    def _open(
        self, slot: _Slot, given: Entry, name: str, arguments: str, given_id: str, place: str
    ) -> list[Entry]:
        call_id = calls.distinct(given_id, self._asked, f"{place}\0{name}", self._ids)
        slot.number, self._told = self._told, self._told + 1
        function = given.get("function") if isinstance(given.get("function"), dict) else {}
        told = {**given, "index": slot.number, "id": call_id, "type": given.get("type") or "function"}
        told["function"] = {**(function or {}), "name": name, "arguments": arguments}
        return [told]

    def _is_surplus(self) -> bool:
        one = self._reading.keeps_first and self._asked.request.parallel_tool_calls is False
        return one and self._told > 0

    def _slot(self, given: Entry, function: Entry) -> _Slot:
        """The call that a delta belongs to: by index; without one by id, else by name, else the last."""
        index = given.get("index")
        call_id = given.get("id") if isinstance(given.get("id"), str) else ""
        if not isinstance(index, int) or isinstance(index, bool):
            slot = self._by_id.get((None, call_id or "")) if call_id else None
            last = self._slots[-1] if self._slots else None
            if slot is None and not call_id and last is not None and not function.get("name"):
                slot = last
            index = None
        else:
            slot = self._at_index.get(index)
            other = call_id and slot is not None and slot.given_id and slot.given_id != call_id
            if other and self._reading.new_id_on_index == "another-call":
                slot = self._by_id.get((index, call_id or ""))
        if slot is None:
            slot = _Slot(len(self._slots))
            self._slots.append(slot)
        if index is not None:
            self._at_index[index] = slot
        if call_id:
            self._by_id.setdefault((index, call_id), slot)
        return slot


def _piece(index: int, arguments: str) -> Entry:
    return {"index": index, "function": {"arguments": arguments}}

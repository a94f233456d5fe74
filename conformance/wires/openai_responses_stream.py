"""A stream of Responses events, assembled from its deltas.

Reads OpenAI's events and Open Responses', which name reasoning ``response.reasoning.delta`` and end with
``[DONE]``; the spellings ``reasoning_part`` (Amazon Bedrock) and ``reasoning_summary`` (older documents) too.
Events without meaning for a turn are ignored, known or not.

Texts and arguments are what their deltas say, in the order of ``output_index``; what came at the end only is
taken from there. Everything else of an item is what its ``output_item.done`` says, or else the terminal
event; ``encrypted_content`` is final only there (conversion rule S5). Where both tell another text, a fact.
An item is known in the terminal event by its id, or without one by its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.types import Turn
from conformance.wires.body import parse
from conformance.wires.errors import error_in
from conformance.wires.facts import Ledger
from conformance.wires.openai_responses_answer import Head
from conformance.wires.openai_responses_facts import ResponsesFact
from conformance.wires.openai_responses_items import CALL_TEXTS
from conformance.wires.openai_responses_streamed import Item

_LIFECYCLE = {
    "response.created": "in_progress",
    "response.queued": "queued",
    "response.in_progress": "in_progress",
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
_ITEM = "response.output_item"
_TERMINAL = ("response.completed", "response.incomplete", "response.failed")

# what an event is about: the type of its item, the list its part is in and the part's type
_ABOUT: dict[str, tuple[str, str, str]] = {
    "response.output_text": ("message", "content", "output_text"),
    "response.output_text.annotation": ("message", "content", "output_text"),
    "response.refusal": ("message", "content", "refusal"),
    "response.content_part": ("", "content", ""),
    "response.reasoning_text": ("reasoning", "content", "reasoning_text"),
    "response.reasoning": ("reasoning", "content", "reasoning_text"),
    "response.reasoning_part": ("reasoning", "content", "reasoning_text"),
    "response.reasoning_summary_text": ("reasoning", "summary", "summary_text"),
    "response.reasoning_summary": ("reasoning", "summary", "summary_text"),
    "response.reasoning_summary_part": ("reasoning", "summary", "summary_text"),
    "response.function_call_arguments": ("function_call", "arguments", ""),
    "response.custom_tool_call_input": ("custom_tool_call", "input", ""),
}
_DONE_KEYS = {"refusal": "refusal", "arguments": "arguments", "input": "input"}


class Assembler:
    """One stream, event by event. Linear in its size; ``turns()`` costs what it returns.

    Event N of the fact paths (``/events/N/data/...``) is the N-th event fed, from 0.
    """

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._head = Head(self._note)
        self._events = 0
        self._done = False
        self._begun = False
        self._terminal: tuple[list[Any] | None, str] | None = None
        self._items: list[Item] = []
        self._at: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._stray: dict[tuple[int, str], Item] = {}

    def feed(self, event_data: str) -> None:
        """Take the data of the next event, ``[DONE]`` included. Never raises."""
        at, self._events = f"/events/{self._events}/data", self._events + 1
        if self._done:
            self._note("after-done", at)
        if event_data.strip() == "[DONE]":
            self._done = True
            return
        try:
            event = parse(event_data)
        except ValueError as error:
            self._note("not-json", at, str(error))
            return
        if not isinstance(event, dict):
            self._note("not-object", at, type(event).__name__)
            return
        told = error_in(event)
        kind = event.get("type")
        if told is not None:
            self._note("error-event", at, told.message)
        elif not isinstance(kind, str):
            self._note("event-without-type", at)
        if isinstance(kind, str):
            self._take(kind, event, at)

    def turns(self) -> tuple[Turn, ...]:
        """The turn so far; ``()`` before the response has begun."""
        if not self._begun:
            return ()
        found = Ledger()

        def note(name: ResponsesFact, path: str, detail: str = "") -> None:
            found.note(0, name, path, detail)

        items = sorted(self._items, key=lambda item: item.order)
        final, at = self._terminal or (None, "")
        if final is not None and len(final) > len(items):
            note("terminal-more-items" if items else "terminal-only", f"{at}/{len(items)}")
        told: list[tuple[Any, str]] = []
        for i, (item, n) in enumerate(zip(items, _ends(items, final or []), strict=True)):
            last = final[n] if final is not None and n is not None else None
            if final is not None and i >= len(final):
                note("terminal-missing-item", at, f"item {i}")
            told.append(item.build(last, f"{at}/{i if n is None else n}", note))
        more = (final or [])[len(items) :]
        told += [(entry, f"{at}/{i}") for i, entry in enumerate(more, len(items))]
        return (self._head.turn(told, self._ledger, found),)

    # ------------------------------------------------------------------------------------- absorbing

    def _note(self, name: ResponsesFact, path: str, detail: str = "") -> None:
        self._ledger.note(0, name, path, detail)

    def _take(self, kind: str, event: dict[str, Any], at: str) -> None:
        if kind in _LIFECYCLE:
            response = event.get("response")
            if isinstance(response, dict):
                self._take_lifecycle(kind, response, f"{at}/response")
            else:
                self._note("not-object", f"{at}/response", type(response).__name__)
            return
        subject, _, what = kind.rpartition(".")
        if subject != _ITEM and subject not in _ABOUT:
            return
        self._begun = True
        if self._terminal is not None:
            self._note("after-terminal", at, kind)
        if subject != _ITEM:
            self._take_piece(subject, what, event, at)
        elif isinstance(event.get("item"), dict):
            self._take_item(event, event["item"], at, done=what == "done")
        else:
            self._note("item-not-object", f"{at}/item", type(event.get("item")).__name__)

    def _take_lifecycle(self, kind: str, response: dict[str, Any], at: str) -> None:
        self._begun = True
        told, named = response.get("status"), _LIFECYCLE[kind]
        if kind not in _TERMINAL:
            self._head.absorb({**response, "status": named}, at)
            return
        if self._terminal is not None:
            self._note("terminal-twice", at, kind)
        if isinstance(told, str) and told != named:
            self._note("terminal-name", f"{at}/status", f"{told} in {kind}")
        over = {**response, "status": named} if told in ("in_progress", "queued", None) else response
        self._head.absorb(over, at)
        output = response.get("output")
        if "output" in response and not isinstance(output, list):
            self._note("output-not-list", f"{at}/output", type(output).__name__)
        self._terminal = (output if isinstance(output, list) else None, f"{at}/output")

    def _take_item(self, event: dict[str, Any], told: dict[str, Any], at: str, *, done: bool) -> None:
        index = self._index(event, at)
        item = self._at.get(index) if index is not None else self._by_id.get(_id(told.get("id")))
        if not done:
            if item is not None:
                self._note("item-added-twice", at)
            self._begin(index, told, f"{at}/item")
        else:
            known = self._by_id.get(_id(told.get("id")))
            if known is not None and (item is None or known.index == item.index):
                item = known
            if item is None or item.type != told.get("type"):
                self._note("item-of-other-type" if item else "item-not-added", at)
                item = self._begin(index, told, f"{at}/item")
            item.done, item.at = told, f"{at}/item"

    def _take_piece(self, subject: str, what: str, event: dict[str, Any], at: str) -> None:
        kind, where, part_kind = _ABOUT[subject]
        item = self._locate(kind, event, at)
        key = "summary_index" if where == "summary" else "content_index"
        position: int | None = 0
        if where not in CALL_TEXTS.values():
            position = _integer(event.get(key))
            if position is None:
                self._note("index-not-integer", f"{at}/{key}")
        slot = item.slot(where, position, part_kind)
        if subject.endswith("_part"):
            if isinstance(event.get("part"), dict):
                slot.tell_part(event["part"], f"{at}/part", done=what == "done")
        elif subject.endswith(".annotation"):
            slot.annotations.append(event.get("annotation"))
        elif what == "delta":
            delta = event.get("delta")
            if isinstance(delta, str):
                slot.pieces.append(delta)
            else:
                self._note("delta-not-string", f"{at}/delta", type(delta).__name__)
        elif what == "done":
            told = _DONE_KEYS.get(part_kind or where, "text")
            slot.tell(event.get(told), f"{at}/{told}")
            if event.get("logprobs"):
                slot.logprobs = event["logprobs"]

    # -------------------------------------------------------------------------------------- locating

    def _locate(self, kind: str, event: dict[str, Any], at: str) -> Item:
        """The item that an event is about: by its index, else by its id, else the last one."""
        index = self._index(event, at)
        by_id = self._by_id.get(_id(event.get("item_id")))
        if index is not None:
            item = self._at.get(index)
            if by_id is not None and (item is None or by_id.index == index):
                item = by_id
        else:
            item = by_id or (self._items[-1] if self._items else None)
        if item is None:
            self._note("item-not-added", at, kind)
            return self._begin(index, {"type": kind or "message", "role": "assistant"}, at)
        if kind and item.type != kind:
            stray = (item.order, kind)
            self._note("item-of-other-type", at, f"{kind} of {item.type}")
            if stray not in self._stray:
                self._stray[stray] = Item({"type": kind, "role": "assistant"}, item.index, item.order, at)
                self._items.append(self._stray[stray])
            return self._stray[stray]
        return item

    def _begin(self, index: int | None, told: dict[str, Any], at: str) -> Item:
        order = index if index is not None else (self._items[-1].order if self._items else 0)
        item = Item(told, index, order, at)
        self._items.append(item)
        if index is not None:
            self._at[index] = item
        if _id(told.get("id")):
            self._by_id[_id(told.get("id"))] = item
        return item

    def _index(self, event: dict[str, Any], at: str) -> int | None:
        index = _integer(event.get("output_index"))
        if index is None:
            self._note("index-not-integer", f"{at}/output_index")
        return index


def _ends(items: Sequence[Item], final: Sequence[Any]) -> list[int | None]:
    """For each item the place of what the terminal event tells of it: that with its id, else the same place.

    A place whose id is another item's is no item's without that id.
    """
    places: dict[str, int] = {}
    for n, entry in enumerate(final):
        if isinstance(entry, dict) and _id(entry.get("id")):
            places.setdefault(_id(entry.get("id")), n)
    ids = [_id((item.done or item.added).get("id")) for item in items]
    taken = {places[one] for one in ids if one in places}
    return [
        places[one] if one in places else i if i < len(final) and i not in taken else None
        for i, one in enumerate(ids)
    ]


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _id(value: Any) -> str:
    return value if isinstance(value, str) else ""

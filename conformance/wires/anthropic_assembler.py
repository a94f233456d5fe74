"""The events of a streamed Messages answer, one by one.

Blocks are told apart by ``index``, also where they overlap, and stand in the order in which they began, as in
the official SDK. An index that begins a second time begins a second block.
Source: anthropic SDK 2.14.0, ``lib/streaming/_messages.py`` (``accumulate_event``).
"""

from __future__ import annotations

from typing import Any

from conformance.types import Turn
from conformance.wires.anthropic_answer import Answer
from conformance.wires.anthropic_facts import FactName
from conformance.wires.anthropic_stream import Block, begun_by
from conformance.wires.body import compact, parse
from conformance.wires.errors import error_in


class Assembler:
    """One stream, event by event. Linear in its size; ``turns()`` costs what it returns.

    Event N of the fact paths (``/events/N/data/...``) is the N-th event fed, from 0.
    """

    __slots__ = ("_answer", "_at_index", "_events", "_last", "_started", "_stopped")

    def __init__(self) -> None:
        self._answer = Answer()
        self._at_index: dict[int, Block] = {}
        self._last: Block | None = None
        self._events = 0
        self._started = False
        self._stopped = False

    def feed(self, event_data: str) -> None:
        """Take the data of the next event. Never raises."""
        at, self._events = f"/events/{self._events}/data", self._events + 1
        if event_data.strip() == "[DONE]":
            self._note("done-marker", at)
            return
        try:
            event = parse(event_data)
        except ValueError as error:
            self._note("not-json", at, str(error))
            return
        if isinstance(event, dict):
            self._take(event, at)
        else:
            self._note("not-object", at, type(event).__name__)

    def turns(self) -> tuple[Turn, ...]:
        """The turn so far; ``()`` before anything was said."""
        return self._answer.turns()

    def _note(self, name: FactName, path: str, detail: str = "") -> None:
        self._answer.note(name, path, detail)

    def _take(self, event: dict[str, Any], at: str) -> None:
        kind = event.get("type")
        if kind == "ping":
            return
        if self._stopped:
            self._note("after-message-stop", at, kind if isinstance(kind, str) else "")
        error = error_in(event)
        if error is not None:
            self._note("error-event", f"{at}/error" if event.get("error") else at, error.message)
        elif kind == "message_start":
            self._start(event.get("message"), f"{at}/message")
        elif kind == "message_delta":
            self._finish(event, at)
        elif kind == "message_stop":
            self._stopped = True
        elif kind in ("content_block_start", "content_block_delta", "content_block_stop"):
            self._take_block(kind, event, at)
        else:
            self._note("event-unknown", f"{at}/type", kind if isinstance(kind, str) else compact(kind))

    def _start(self, message: Any, at: str) -> None:
        if self._started:
            self._note("message-start-twice", at)
        self._started = True
        if not isinstance(message, dict):
            self._note("message-not-object", at, type(message).__name__)
            return
        if message.get("stop_reason") is not None:
            self._note("stop-reason-at-start", f"{at}/stop_reason", compact(message["stop_reason"]))
        known = len(self._answer.blocks)
        self._answer.absorb(message, at)
        for index, block in enumerate(self._answer.blocks[known:]):
            self._at_index[index] = self._last = block

    def _finish(self, event: dict[str, Any], at: str) -> None:
        self._begin(at)
        delta = event.get("delta")
        if isinstance(delta, dict):
            self._answer.take_members(delta)
            self._answer.stop(delta.get("stop_reason"), f"{at}/delta/stop_reason")
        else:
            self._note("delta-not-object", f"{at}/delta", type(delta).__name__)
        self._answer.take_members(event)
        self._answer.take_usage(event.get("usage"), f"{at}/usage")

    def _begin(self, at: str) -> None:
        """Whatever comes first begins the answer."""
        if not self._started and not self._answer.begun:
            self._note("message-start-missing", at)
        self._answer.begun = True

    def _take_block(self, kind: str, event: dict[str, Any], at: str) -> None:
        self._begin(at)
        if self._answer.stop_reason is not None and kind != "content_block_stop":
            self._note("after-stop-reason", at)
        index = self._index(event, f"{at}/index")
        if kind == "content_block_start":
            start, path = event.get("content_block"), f"{at}/content_block"
            if not isinstance(start, dict):
                self._note("start-not-object", path, type(start).__name__)
                return
            if index is not None and index in self._at_index:
                self._note("index-repeated", f"{at}/index", str(index))
            self._add(Block(start, path), index)
            return
        block = self._last if index is None else self._at_index.get(index)
        if kind == "content_block_stop":
            if block is None:
                self._note("stop-without-start", f"{at}/index", compact(index))
            else:
                block.stopped = True
            return
        if block is None:
            self._note("delta-without-start", f"{at}/index", compact(index))
            begun = begun_by(event.get("delta"))
            if begun is None:
                return
            block = self._add(Block(begun, at), index)
        elif block.stopped:
            self._note("delta-after-block-stop", f"{at}/index", compact(index))
        block.take(event.get("delta"), f"{at}/delta", self._note)

    def _add(self, block: Block, index: int | None) -> Block:
        self._answer.blocks.append(block)
        self._last = block
        if index is not None:
            self._at_index[index] = block
        return block

    def _index(self, event: dict[str, Any], path: str) -> int | None:
        index = event.get("index")
        if index is None:
            self._note("index-missing", path)
        elif not isinstance(index, int) or isinstance(index, bool):
            self._note("index-not-integer", path, compact(index))
        else:
            return index
        return None

"""Pieces while they grow: content, reasoning and calls, as events and as a whole."""

from __future__ import annotations

from typing import TypeAlias

from conformance.dialects.parsed import Call, Piece
from conformance.types import Reasoning, Text

Event: TypeAlias = Text | Reasoning | Call
"""A stretch of content or of reasoning as it grows, or a whole call."""


class Growing:
    """Trims each run of text at both ends; sets content after the first run of it apart by a line break.

    White space is held until something follows it, so the events of a run add up to its trimmed text.
    """

    __slots__ = ("_chunks", "_events", "_space", "_spelling", "calls", "done", "said")

    def __init__(self) -> None:
        self.done: list[Piece] = []
        self.calls = 0
        self.said = False  # there is content
        self._events: list[Event] = []
        self._chunks: list[str] = []
        self._space: list[str] = []
        self._spelling: str | None = None

    def say(self, text: str, spelling: str | None = None) -> None:
        """More content, or (with its spelling) more reasoning."""
        if spelling != self._spelling:
            self.flush()
            self._spelling = spelling
        if not self._chunks:
            text = text.lstrip()
            if not text:
                return
            self._space = ["\n"] if spelling is None and self.said else []
        body = text.rstrip()
        if body:
            grown = "".join((*self._space, body))
            self._space = []
            self._chunks.append(grown)
            self._events.append(Text(grown) if spelling is None else Reasoning(grown, spelling))
            self.said = self.said or spelling is None
        self._space.append(text[len(body) :])

    def flush(self) -> None:
        """What grows is whole."""
        if self._chunks:
            whole = "".join(self._chunks)
            self.done.append(Text(whole) if self._spelling is None else Reasoning(whole, self._spelling))
        self._chunks, self._space = [], []

    def call(self, call: Call) -> None:
        """A whole call."""
        self.flush()
        self.calls += 1
        self.done.append(call)
        self._events.append(call)

    def take_events(self) -> tuple[Event, ...]:
        """The events since they were last taken."""
        events, self._events = tuple(self._events), []
        return events

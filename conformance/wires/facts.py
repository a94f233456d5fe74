"""The facts a decoder of Chat answers can state, and the list that keeps those of any wire."""

from __future__ import annotations

from typing import Literal

from conformance.types import Fact

FactName = Literal[
    # the body or the event
    "not-utf-8",  # the body is not UTF-8; it was read with U+FFFD
    "not-json",  # an event's data is not JSON
    "not-object",  # an event's data is JSON, but no object
    "error-body",  # an error beside the choices of a whole answer
    "error-event",  # an error inside a stream; the detail is its message
    "after-done",  # an event after [DONE]
    "id-not-string",
    "model-not-string",
    "usage-not-object",
    "usage-not-integer",
    # choices
    "choices-missing",
    "choices-not-list",
    "choice-not-object",
    "choice-missing-index",  # the position in the list stands in
    "choice-index-not-integer",  # the position in the list stands in
    "choice-repeated-index",  # twice in one whole answer; both are kept
    "too-many-choices",  # more than MAX_CHOICES; the rest is dropped
    "missing-message",  # a choice of a whole answer without message
    "missing-delta",  # a choice of a chunk without delta
    "message-for-delta",  # a chunk's choice has only a message: read as its delta
    "delta-for-message",  # a whole answer's choice has only a delta: read as its message
    "message-not-object",
    "delta-not-object",
    # finishing
    "finish-not-string",
    "finish-empty",  # "" instead of null: not taken as an end
    "finish-twice",  # the last one counts
    "after-finish",  # something said after finish_reason; it is kept
    # content
    "content-list",
    "content-object",  # kept as compact JSON
    "content-not-string",  # a number or boolean, kept as JSON
    "content-part-unknown",  # dropped
    "refusal-not-string",  # dropped
    "reasoning-both-spellings",  # the spelling seen first is kept
    "reasoning-malformed",  # dropped
    "snapshot-like",  # three or more pieces, each the whole so far and more; still concatenated
    # calls
    "tool-calls-not-list",
    "call-not-object",  # dropped
    "missing-index",
    "index-not-integer",
    "negative-index",
    "new-id-on-index",  # a new call
    "missing-id",
    "call-id-not-string",  # kept as JSON
    "id-late",  # not in the call's first delta
    "repeated-id",
    "missing-type",  # not in the call's first delta
    "type-null",
    "type-unknown",
    "missing-function",
    "missing-name",
    "name-not-string",
    "name-late",  # after arguments
    "name-in-pieces",  # concatenated
    "repeated-name",  # kept once
    "missing-arguments",
    "arguments-null",
    "arguments-object",  # kept as compact JSON
    "arguments-not-string",  # an array, number or boolean, kept as compact JSON
    "function-call-stub",  # the legacy function_call, empty; dropped
]

MAX_PER_FACT = 20
"""How many facts of one name are kept per choice (the first ones): some endpoints err in every chunk."""

_MAX_DETAIL = 200


class Ledger:
    """Facts in the order they were met, each of one choice or (``None``) of the whole answer."""

    __slots__ = ("_count", "_facts", "_met")

    def __init__(self) -> None:
        self._facts: dict[int | None, list[tuple[int, Fact]]] = {}
        self._met: dict[tuple[int | None, str], int] = {}
        self._count = 0

    def note(self, choice: int | None, name: str, path: str, detail: str = "") -> None:
        """Keep a fact, unless there are ``MAX_PER_FACT`` of its name; each wire has names of its own."""
        met = self._met.get((choice, name), 0)
        if met < MAX_PER_FACT:
            self._met[choice, name] = met + 1
            self._count += 1
            self._facts.setdefault(choice, []).append((self._count, Fact(name, path, detail[:_MAX_DETAIL])))

    def of(self, choice: int) -> tuple[Fact, ...]:
        """The facts of one choice and of the whole answer."""
        numbered = self._facts.get(None, []) + self._facts.get(choice, [])
        return tuple(fact for _, fact in sorted(numbered, key=lambda entry: entry[0]))

"""Chat answers, whole or in chunks, as turns.

One reader serves both forms. A whole answer is absorbed as if its ``message`` were one large delta, so
that both give the same ``Turn``; what differs is how calls are told apart (by position in a message,
by ``index`` in a stream) and where facts point.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.types import Turn, Usage
from conformance.wires.body import compact, parse
from conformance.wires.errors import error_in
from conformance.wires.facts import FactName, Ledger
from conformance.wires.openai_chat_choice import Choice

MAX_CHOICES = 128
"""Most choices kept of one answer: OpenAI's own limit for ``n`` (API reference, chat/create)."""

TOTALS = ("prompt_tokens", "completion_tokens", "total_tokens")
DETAILS = {
    "prompt_tokens_details": ("cached_tokens", "cache_write_tokens"),
    "completion_tokens_details": ("reasoning_tokens",),
}
"""Where a ``usage`` counts what (OpenAI API reference, chat/object)."""


class Answer:
    """A whole answer, or the chunks of one so far."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._indexes: set[int] = set()
        self._choices: dict[int, Choice] = {}
        self._id: str | None = None
        self._model: str | None = None
        self._usage: dict[str, int | None] | None = None

    def absorb(self, payload: dict[str, Any], at: str, *, whole: bool) -> None:
        """Take a whole answer's body, or one chunk. ``at`` is where it is (``/body``)."""
        error = error_in(payload)
        if error is not None:
            path = f"{at}/error" if payload.get("error") else at
            self.ledger.note(None, "error-body" if whole else "error-event", path, error.message)
        self._id = self._id or self._name(payload, "id", at)
        self._model = self._model or self._name(payload, "model", at)
        self._take_usage(payload.get("usage"), f"{at}/usage")
        choices = payload.get("choices")
        if choices is None:
            if error is None:
                self.ledger.note(None, "choices-missing", f"{at}/choices")
        elif not isinstance(choices, list):
            self.ledger.note(None, "choices-not-list", f"{at}/choices", type(choices).__name__)
        else:
            for i, choice in enumerate(choices):
                self._take_choice(choice, f"{at}/choices/{i}", i, whole=whole)

    def turns(self) -> tuple[Turn, ...]:
        """One turn per choice, in the order of their indexes (of the list, in a whole answer)."""
        usage = None if self._usage is None else Usage(**self._usage)
        turns = []
        for number, choice in sorted(self._choices.items()):
            parts, facts = choice.parts()
            facts = self.ledger.of(number) + facts
            reason, native = choice.finish_reason, choice.native_finish_reason
            native = None if native == reason else native
            turns.append(Turn(parts, reason, usage, self._id, self._model, facts, native))
        return tuple(turns)

    def _name(self, payload: dict[str, Any], key: str, at: str) -> str | None:
        value = payload.get(key)
        if value is not None and not isinstance(value, str):
            fact: FactName = "id-not-string" if key == "id" else "model-not-string"
            self.ledger.note(None, fact, f"{at}/{key}", compact(value))
            return None
        return value or None

    def _take_usage(self, usage: Any, at: str) -> None:
        """Later counts replace earlier ones; absent and null ones replace nothing."""
        if usage is None:
            return
        if not isinstance(usage, dict):
            self.ledger.note(None, "usage-not-object", at, type(usage).__name__)
            return
        counts = self._usage = self._usage or {}
        self._take_counts(usage, TOTALS, at, counts)
        for key, keys in DETAILS.items():
            details = usage.get(key)
            if isinstance(details, dict):
                self._take_counts(details, keys, f"{at}/{key}", counts)
            elif details is not None:
                self.ledger.note(None, "usage-not-object", f"{at}/{key}", type(details).__name__)

    def _take_counts(
        self, said: dict[str, Any], keys: Iterable[str], at: str, counts: dict[str, int | None]
    ) -> None:
        for key in keys:
            count = _integer(said.get(key))
            if count is not None:
                counts[key] = count
            elif said.get(key) is not None:
                self.ledger.note(None, "usage-not-integer", f"{at}/{key}", compact(said[key]))

    def _take_choice(self, entry: Any, at: str, position: int, *, whole: bool) -> None:
        if not isinstance(entry, dict):
            self.ledger.note(None, "choice-not-object", at, type(entry).__name__)
            return
        index = entry.get("index")
        given = _integer(index)
        number = position if whole or given is None else given
        choice = self._choices.get(number)
        if choice is None:
            if len(self._choices) == MAX_CHOICES:
                self.ledger.note(None, "too-many-choices", at, f"more than {MAX_CHOICES}")
                return
            choice = self._choices[number] = Choice(number, self.ledger)
        if index is None:
            choice.note("choice-missing-index", f"{at}/index")
        elif given is None:
            choice.note("choice-index-not-integer", f"{at}/index", compact(index))
        elif whole and given in self._indexes:
            choice.note("choice-repeated-index", f"{at}/index", str(index))
        else:
            self._indexes.add(given)
        error = error_in(entry)
        if error is not None:
            choice.note("error-body" if whole else "error-event", f"{at}/error", error.message)
        self._take_message(choice, entry, at, whole=whole)
        choice.finish(entry.get("finish_reason"), entry.get("native_finish_reason"), f"{at}/finish_reason")

    def _take_message(self, choice: Choice, entry: dict[str, Any], at: str, *, whole: bool) -> None:
        key, other = ("message", "delta") if whole else ("delta", "message")
        if entry.get(key) is None and isinstance(entry.get(other), dict):
            choice.note("delta-for-message" if whole else "message-for-delta", f"{at}/{other}")
            key = other
        message = entry.get(key)
        if isinstance(message, dict):
            choice.absorb(message, f"{at}/{key}", whole=key == "message")
        elif key in entry:
            choice.note("message-not-object" if whole else "delta-not-object", f"{at}/{key}")
        else:
            choice.note("missing-message" if whole else "missing-delta", f"{at}/{key}")


class Assembler:
    """One stream, event by event. Linear in its size; ``turns()`` costs what it returns.

    Event N of the fact paths (``/events/N/data/...``) is the N-th event fed, from 0.
    """

    __slots__ = ("_answer", "_done", "_events")

    def __init__(self) -> None:
        self._answer = Answer()
        self._done = False
        self._events = 0

    def feed(self, event_data: str) -> None:
        """Take the data of the next event, ``[DONE]`` included. Never raises."""
        at, self._events = f"/events/{self._events}/data", self._events + 1
        if self._done:
            self._answer.ledger.note(None, "after-done", at)
        if event_data.strip() == "[DONE]":
            self._done = True
            return
        try:
            payload = parse(event_data)
        except ValueError as error:
            self._answer.ledger.note(None, "not-json", at, str(error))
            return
        if isinstance(payload, dict):
            self._answer.absorb(payload, at, whole=False)
        else:
            self._answer.ledger.note(None, "not-object", at, type(payload).__name__)

    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, one per choice; ``()`` before the first choice."""
        return self._answer.turns()


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None

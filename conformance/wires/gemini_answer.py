"""Gemini answers, whole or streamed, as turns.

Every chunk of a stream is a whole response, so one reader serves both. ``usageMetadata`` of a later chunk
replaces that of an earlier one, count by count. A prompt that was blocked is one turn without parts.
"""

from __future__ import annotations

from typing import Any

from conformance.types import Turn
from conformance.wires.arguments import text_of
from conformance.wires.body import parse
from conformance.wires.errors import error_in
from conformance.wires.facts import Ledger
from conformance.wires.gemini_candidate import Candidate, GeminiFact
from conformance.wires.gemini_names import members
from conformance.wires.gemini_outcome import COUNTS, usage_of

MAX_CANDIDATES = 128
"""Most candidates kept of one answer; Gemini takes a ``candidateCount`` of 8 at most."""


class Answer:
    """A whole answer, or the chunks of one so far."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._candidates: dict[int, Candidate] = {}
        self._id = ""
        self._model = ""
        self._counts: dict[str, int] = {}
        self._blocked = ""

    def note(self, name: GeminiFact, path: str, detail: str = "") -> None:
        self.ledger.note(None, name, path, detail)

    def absorb(self, payload: Any, at: str, *, whole: bool) -> None:
        """Take a response, or one chunk. ``at`` is where it is (``/body``)."""
        if not isinstance(payload, dict):
            self.note("not-object", at, type(payload).__name__)
            return
        error = error_in(payload)
        if error is not None:
            self.note("error-body" if whole else "error-event", f"{at}/error", error.message)
        response = self._members(payload, at)
        self._id = self._id or self._name(response, "responseId", "id-not-string", at)
        self._model = self._model or self._name(response, "modelVersion", "model-not-string", at)
        self._take_usage(response.get("usageMetadata"), f"{at}/usageMetadata")
        feedback = response.get("promptFeedback")
        if isinstance(feedback, dict):
            reason = self._members(feedback, f"{at}/promptFeedback").get("blockReason")
            if isinstance(reason, str) and reason not in ("", "BLOCK_REASON_UNSPECIFIED"):
                self._blocked = reason
        candidates = response.get("candidates")
        if candidates is not None and not isinstance(candidates, list):
            self.note("candidates-not-list", f"{at}/candidates", type(candidates).__name__)
            return
        met: set[int] = set()
        for i, candidate in enumerate(candidates or ()):
            self._take_candidate(candidate, f"{at}/candidates/{i}", i, met)

    def turns(self) -> tuple[Turn, ...]:
        """One turn per candidate, in the order of their indexes."""
        usage, name, model = usage_of(self._counts), self._id or None, self._model or None
        turns = []
        for number, candidate in sorted(self._candidates.items()):
            parts, reason, native, facts = candidate.build(self._id)
            facts = self.ledger.of(number) + facts
            turns.append(Turn(parts, reason, usage, name, model, facts, native))
        if not turns and self._blocked:
            turns.append(Turn((), "content_filter", usage, name, model, self.ledger.of(0), self._blocked))
        return tuple(turns)

    def _members(self, value: dict[str, Any], at: str) -> dict[str, Any]:
        return members(value, at, self.note)

    def _name(self, response: dict[str, Any], key: str, fact: GeminiFact, at: str) -> str:
        value = response.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        self.note(fact, f"{at}/{key}", type(value).__name__)
        return ""

    def _take_usage(self, usage: Any, at: str) -> None:
        if usage is None:
            return
        if not isinstance(usage, dict):
            self.note("usage-not-object", at, type(usage).__name__)
            return
        usage = self._members(usage, at)
        for key in COUNTS:
            count = usage.get(key)
            if isinstance(count, int) and not isinstance(count, bool):
                self._counts[key] = count
            elif count is not None:
                self.note("usage-not-integer", f"{at}/{key}", text_of(count))

    def _take_candidate(self, entry: Any, at: str, position: int, met: set[int]) -> None:
        if not isinstance(entry, dict):
            self.note("candidate-not-object", at, type(entry).__name__)
            return
        entry = self._members(entry, at)
        index = entry.get("index")
        whole = isinstance(index, int) and not isinstance(index, bool)
        number: int = index if whole else position
        candidate = self._candidates.get(number)
        if candidate is None:
            if len(self._candidates) == MAX_CANDIDATES:
                self.note("too-many-candidates", at, f"more than {MAX_CANDIDATES}")
                return
            candidate = self._candidates[number] = Candidate(number, self.ledger)
        if index is not None and not whole:
            candidate.note("candidate-index-not-integer", f"{at}/index", text_of(index))
        if number in met:
            candidate.note("candidate-repeated-index", f"{at}/index", str(number))
        met.add(number)
        content = entry.get("content")
        if isinstance(content, dict):
            candidate.absorb(content, f"{at}/content", self._id)
        elif content is not None:
            candidate.note("content-not-object", f"{at}/content", type(content).__name__)
        candidate.finish(entry.get("finishReason"), f"{at}/finishReason")


class Assembler:
    """One stream, event by event. Linear in its size; ``turns()`` costs what it returns.

    Event N of the fact paths (``/events/N/data/...``) is the N-th event fed, from 0.
    """

    __slots__ = ("_answer", "_events")

    def __init__(self) -> None:
        self._answer = Answer()
        self._events = 0

    def feed(self, event_data: str) -> None:
        """Take the data of the next event. Never raises."""
        at, self._events = f"/events/{self._events}/data", self._events + 1
        if event_data.strip() == "[DONE]":
            self._answer.note("done-sentinel", at)
            return
        try:
            payload = parse(event_data)
        except ValueError as error:
            self._answer.note("not-json", at, str(error))
            return
        self._answer.absorb(payload, at, whole=False)

    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, one per candidate; ``()`` before the first."""
        return self._answer.turns()

"""Responses answers as turns: what a whole answer and the end of a stream read alike.

An answer is one turn: its items, in order, are the parts (conversion rule K14). What ``finish_reason`` its
``status`` becomes: ``completed`` is ``tool_calls`` where there is a call that the client answers, else
``stop``; ``incomplete`` is ``content_filter`` or ``length`` by its reason; anything else is no finish, and
``native_finish_reason`` says what it was (``failed``, ``cancelled``, ``queued``, not ``in_progress``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.types import ToolCall, Turn, Usage
from conformance.wires.body import compact
from conformance.wires.errors import error_in
from conformance.wires.facts import Ledger
from conformance.wires.openai_responses_facts import Note, ResponsesFact
from conformance.wires.openai_responses_items import Reader

REASONS = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}
"""``incomplete_details.reason``; ``max_tokens`` is an older word (an example of OpenAI's API reference)."""

UNFINISHED = ("failed", "cancelled", "queued")

TOTALS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "total_tokens": "total_tokens",
}

DETAILS = {
    "input_tokens_details": {"cached_tokens": "cached_tokens", "cache_write_tokens": "cache_write_tokens"},
    "output_tokens_details": {"reasoning_tokens": "reasoning_tokens"},
}


class Head:
    """What response objects say beside their output; in a stream there are several, and later ones count."""

    def __init__(self, note: Note) -> None:
        self.id: str | None = None
        self.model: str | None = None
        self.status: str | None = None
        self._note = note
        self._reason: str | None = None
        self._usage: dict[str, int] | None = None

    def absorb(self, response: dict[str, Any], at: str) -> None:
        """Take a response object."""
        given = self._string(response, "id", at)
        if given and self.id and given != self.id:
            self._note("id-changed", f"{at}/id", f"{self.id}, then {given}")
        self.id = self.id or given
        self.model = self.model or self._string(response, "model", at)
        told = response.get("status")
        if told is not None and not isinstance(told, str):
            self._note("status-unknown", f"{at}/status", compact(told))
            told = None
        self.status = told or self.status
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        self._reason = reason if isinstance(reason, str) and reason else None
        if self.status == "incomplete" and self._reason is None:
            self._note("incomplete-unexplained", f"{at}/incomplete_details")
        elif self.status not in ("completed", "incomplete", "in_progress", None, *UNFINISHED):
            self._note("status-unknown", f"{at}/status", self.status)
        self._take_usage(response.get("usage"), f"{at}/usage")

    def turn(self, items: Iterable[tuple[Any, str]], *ledgers: Ledger) -> Turn:
        """The turn of these items, each with where it is; facts stand in the order of the ledgers."""
        local = Ledger()

        def note(name: ResponsesFact, path: str, detail: str = "") -> None:
            local.note(0, name, path, detail)

        reader = Reader(note)
        for item, at in items:
            reader.read(item, at)
        calls = any(isinstance(part, ToolCall) for part in reader.parts)
        finish, native = self._finish(calls=calls)
        usage = None if self._usage is None else Usage(**self._usage)
        facts = tuple(fact for ledger in (*ledgers, local) for fact in ledger.of(0))
        return Turn(tuple(reader.parts), finish, usage, self.id, self.model, facts, native)

    def _finish(self, *, calls: bool) -> tuple[str | None, str | None]:
        if self.status == "completed":
            return ("tool_calls" if calls else "stop"), None
        if self.status == "incomplete":
            return REASONS.get(
                self._reason or "", "length"
            ), None if self._reason in REASONS else self._reason
        return None, None if self.status == "in_progress" else self.status

    def _string(self, response: dict[str, Any], key: str, at: str) -> str | None:
        value = response.get(key)
        if value is not None and not isinstance(value, str):
            name: ResponsesFact = "id-not-string" if key == "id" else "model-not-string"
            self._note(name, f"{at}/{key}", compact(value))
            return None
        return value or None

    def _take_usage(self, usage: Any, at: str) -> None:
        if usage is None:
            return
        if not isinstance(usage, dict):
            self._note("usage-not-object", at, type(usage).__name__)
            return
        counts = self._usage = self._usage or {}
        for name, key in TOTALS.items():
            self._count(counts, name, usage, key, at)
        for group, keys in DETAILS.items():
            details = usage.get(group)
            if isinstance(details, dict):
                for name, key in keys.items():
                    self._count(counts, name, details, key, f"{at}/{group}")
            elif details is not None:
                self._note("usage-not-object", f"{at}/{group}", type(details).__name__)

    def _count(self, counts: dict[str, int], name: str, told: dict[str, Any], key: str, at: str) -> None:
        value = told.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            counts[name] = value
        elif value is not None:
            self._note("usage-not-integer", f"{at}/{key}", compact(value))


def read_whole(body: dict[str, Any], ledger: Ledger) -> Turn | None:
    """The turn of a whole answer; ``None`` when the body is none."""

    def note(name: ResponsesFact, path: str, detail: str = "") -> None:
        ledger.note(0, name, path, detail)

    output = body.get("output")
    if not isinstance(output, list) and body.get("object") != "response":
        return None
    error = error_in(body)
    if error is not None:
        note("error-body", "/body/error", error.message)
    if output is None:
        note("output-missing", "/body/output")
    elif not isinstance(output, list):
        note("output-not-list", "/body/output", type(output).__name__)
    items = output if isinstance(output, list) else []
    head = Head(note)
    if body.get("status") is None and items and error is None:
        note("status-missing", "/body/status")
        body = {**body, "status": "completed"}
    head.absorb(body, "/body")
    return head.turn([(item, f"/body/output/{i}") for i, item in enumerate(items)], ledger)

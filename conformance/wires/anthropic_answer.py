"""Messages answers, whole or streamed, as turns.

One reader serves both: a stream's blocks are put together first and then read as a whole answer's are.
A call's arguments are the compact JSON of ``input``, or the pieces of a stream exactly as they came.

``finish_reason``: calls win over a normal end (F1); ``native_finish_reason`` is the ``stop_reason`` where
that says more than Chat's word (F2). ``usage`` adds the cached tokens to the prompt's, as Chat counts (U1); a
later count replaces an earlier one, and a null one replaces nothing (U5). Of the other members of an
answer, ``MEMBERS`` are kept; the rest (tiers, prices, server tool counts) is dropped.
"""

from __future__ import annotations

from typing import Any

from conformance.types import Part, Text, ToolCall, Turn, Usage
from conformance.wires.anthropic_blocks import MESSAGE
from conformance.wires.anthropic_facts import FactName
from conformance.wires.anthropic_media import WIRE
from conformance.wires.anthropic_stream import Block
from conformance.wires.body import compact
from conformance.wires.facts import Ledger

MEMBERS = (
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
    "diagnostics",
    "input_transformations",
)
"""What an answer says beside its content, and a turn keeps (``types/beta/beta_message.py``)."""

STOP_REASONS = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "model_context_window_exceeded": "length",
}
"""Chat's word for each ``stop_reason``; of those with one word, the first is the word's own."""

_COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def finish_reason(stop_reason: str | None, *, calls: bool) -> str | None:
    """Chat's word, given whether there are calls to make."""
    if stop_reason is None:
        return None
    said = STOP_REASONS.get(stop_reason, "stop")
    return said if said in ("length", "content_filter") else "tool_calls" if calls else "stop"


def stop_reason(finish: str | None) -> str | None:
    """The ``stop_reason`` that says Chat's word; ``None`` where none does."""
    return next((ours for ours, theirs in STOP_REASONS.items() if theirs == finish), None)


class Answer:
    """A whole answer, or one so far."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.begun = False
        self.blocks: list[Block] = []
        self.stop_reason: str | None = None
        self._id: str | None = None
        self._model: str | None = None
        self._members: dict[str, Any] = {}
        self._counts: dict[str, int] | None = None

    def note(self, name: FactName, path: str, detail: str = "") -> None:
        self.ledger.note(None, name, path, detail)

    def absorb(self, message: dict[str, Any], at: str) -> None:
        """Take a message: a whole answer, or what ``message_start`` says."""
        self.begun = True
        self._id = self._id or self._name(message, "id", at)
        self._model = self._model or self._name(message, "model", at)
        content = message.get("content")
        if isinstance(content, str):
            self.note("content-string", f"{at}/content")
            content = [{"type": "text", "text": content}] if content else []
        if content is None:
            self.note("content-missing", f"{at}/content")
        elif not isinstance(content, list):
            self.note("content-not-list", f"{at}/content", type(content).__name__)
        else:
            self.blocks += [Block(block, f"{at}/content/{i}") for i, block in enumerate(content)]
        self.take_members(message)
        self.take_usage(message.get("usage"), f"{at}/usage")
        self.stop(message.get("stop_reason"), f"{at}/stop_reason")

    def take_members(self, source: dict[str, Any]) -> None:
        """Keep what is said beside the content; what is null says nothing."""
        self._members |= {key: source[key] for key in MEMBERS if source.get(key) is not None}

    def stop(self, reason: Any, path: str) -> None:
        """Take a ``stop_reason``; the last one counts."""
        if reason is None:
            return
        if not isinstance(reason, str):
            self.note("stop-reason-not-string", path, compact(reason))
            return
        if reason not in STOP_REASONS:
            self.note("stop-reason-unknown", path, reason)
        self.stop_reason = reason

    def take_usage(self, usage: Any, at: str) -> None:
        """Take counts, cumulative ones."""
        if usage is None:
            return
        if not isinstance(usage, dict):
            self.note("usage-not-object", at, type(usage).__name__)
            return
        self._counts = self._counts or {}
        for key in _COUNTS:
            self._count(usage, key, f"{at}/{key}")
        details = usage.get("output_tokens_details")
        if isinstance(details, dict):
            self._count(details, "thinking_tokens", f"{at}/output_tokens_details/thinking_tokens")

    def turns(self) -> tuple[Turn, ...]:
        """The turn so far; none before anything was said."""
        if not self.begun:
            return ()
        moment = Ledger()

        def note(name: FactName, path: str, detail: str) -> None:
            moment.note(None, name, path, detail)

        parts: list[Part] = []
        calls: set[str] = set()
        for block in self.blocks:
            part = block.part(note)
            if isinstance(part, ToolCall):
                if part.id and part.id in calls:
                    note("repeated-id", f"{block.at}/id", part.id)
                calls.add(part.id)
            parts += [] if part is None else [part]
        if self._members:
            parts.append(Text("", {WIRE: {MESSAGE: dict(self._members)}}))
        finish = finish_reason(self.stop_reason, calls=bool(calls))
        turn = Turn(
            parts=tuple(parts),
            finish_reason=finish,
            usage=self._usage(),
            id=self._id,
            model=self._model,
            facts=self.ledger.of(0) + moment.of(0),
            native_finish_reason=None if stop_reason(finish) == self.stop_reason else self.stop_reason,
        )
        return (turn,)

    def _usage(self) -> Usage | None:
        if self._counts is None:
            return None
        given, said, cached, written = (self._counts.get(key) for key in _COUNTS)
        prompt = None if given is None else given + (cached or 0) + (written or 0)
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=said,
            total_tokens=None if prompt is None or said is None else prompt + said,
            cached_tokens=cached,
            cache_write_tokens=written,
            reasoning_tokens=self._counts.get("thinking_tokens"),
        )

    def _count(self, source: dict[str, Any], key: str, path: str) -> None:
        value = source.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            if self._counts is not None:
                self._counts[key] = value
        elif value is not None:
            self.note("usage-not-integer", path, compact(value))

    def _name(self, message: dict[str, Any], key: str, at: str) -> str | None:
        value = message.get(key)
        if value is not None and not isinstance(value, str):
            self.note("id-not-string" if key == "id" else "model-not-string", f"{at}/{key}", compact(value))
            return None
        return value or None

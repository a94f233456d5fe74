"""Views of messages: whole answers, and messages and their blocks however they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.anthropic.asked import Asked, asked_in, is_messages
from conformance.rules.anthropic.streams import MessageStream
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import UNDEFINED, Answered, Run, View, whole_answers

CUT_SHORT = ("max_tokens", "model_context_window_exceeded", "refusal", "pause_turn", "compaction")
"""Stop reasons of a message that did not come to the end its model meant: what it lacks proves nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Answered):
    """Every response to a Messages request, whatever its status."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return is_messages(reading)

    @property
    def asked(self) -> Asked | None:
        """The request it answers."""
        return asked_in(self.reading)


@dataclass(frozen=True, slots=True)
class Answer(View):
    """A 2xx answer to a Messages request that is not an event stream; ``value`` is its body as JSON.

    An error object under a 2xx status is no answer (``anth.error.status`` is for it).
    """

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in whole_answers(run, is_messages):
            if not hidden_error(reading):
                yield cls(reading, reading.body_at, reading.body.value, asked=asked_in(reading))


@dataclass(frozen=True, slots=True)
class Block(View):
    """A content block, from a whole answer or put together from a stream, with the request it answers.

    ``type`` is empty where it has none. ``settled``: its message came to the end that its model meant.
    """

    asked: Asked | None = None
    type: str = ""
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for message in run.views(Message):
            yield from message.blocks  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class WholeBlock(Block):
    """A content block as a whole answer has it (the events of a stream have rules of their own)."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for block in run.views(Block):
            if block.event is None:
                yield cls(block.reading, block.at, block.value, None, block.asked, block.type, block.settled)


@dataclass(frozen=True, slots=True)
class Message(View):
    """A message, whole or merged from a stream, with the request it answers.

    ``end`` has its ``stop_reason`` and ``stop_sequence``: the message itself, or the delta that brought them.
    ``usage`` has its counts, of a stream those at its end over those at its start. ``settled``: it came to
    the end that its model meant: no cut, no error, no cap.
    """

    asked: Asked | None = None
    blocks: tuple[Block, ...] = ()
    end: View | None = None
    usage: View | None = None
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            if isinstance(answer.value, dict):
                yield cls._whole(answer)
        for stream in run.views(MessageStream):
            if stream.begun is not None or stream.blocks:
                yield cls._merged(stream)

    @classmethod
    def _whole(cls, answer: Answer) -> Self:
        reading = answer.reading
        settled = reading.exchange.ending == "complete" and answer.get("stop_reason") not in CUT_SHORT
        content = answer.get("content")
        blocks = tuple(
            Block(reading, f"{answer.at}/content/{place}", value, None, answer.asked, _type(value), settled)
            for place, value in enumerate(content if isinstance(content, list) else ())
        )
        usage = answer.get("usage")
        counts = View(reading, f"{answer.at}/usage", usage) if isinstance(usage, dict) else None
        return cls(reading, answer.at, answer.value, None, answer.asked, blocks, answer, counts, settled)

    @classmethod
    def _merged(cls, stream: MessageStream) -> Self:
        change, begun = stream.last_change, stream.begun
        message = begun.get("message") if begun is not None else ABSENT
        at = f"{begun.at}/message" if begun is not None else stream.blocks[0].at
        start = View(stream.reading, at, message, (begun or stream.blocks[0]).event)
        end = (
            View(change.reading, f"{change.at}/delta", change.get("delta"), change.event) if change else None
        )
        if end is None and stream.resumed:
            end = start
        settled = stream.whole and end is not None and end.get("stop_reason") not in CUT_SHORT
        ready = start.get("content") if stream.resumed else ()
        blocks = (
            *(
                Block(
                    start.reading,
                    f"{at}/content/{n}",
                    value,
                    start.event,
                    stream.asked,
                    _type(value),
                    settled,
                )
                for n, value in enumerate(ready)
            ),
            *(
                Block(one.reading, one.at, one.value, one.event, stream.asked, one.type, settled)
                for one in stream.blocks
            ),
        )
        merged: dict[str, Any] = {
            **(message if isinstance(message, dict) else {}),
            "content": [block.value for block in blocks],
        }
        counts = _counts(stream)
        return cls(start.reading, at, merged, start.event, stream.asked, blocks, end, counts, settled)

    @property
    def stop_reason(self) -> str | None:
        """``stop_reason``, if it is a string."""
        reason = self.end.get("stop_reason") if self.end is not None else None
        return reason if isinstance(reason, str) else None

    @property
    def calls(self) -> tuple[Block, ...]:
        """The blocks that call a tool of the client's."""
        return tuple(block for block in self.blocks if block.type == "tool_use")

    def count(self, *path: str) -> int | None:
        """The count at a path of ``usage``, if it is one."""
        value = self.usage.get(*path) if self.usage is not None else None
        return value if type(value) is int and value >= 0 else None

    @property
    def input_total(self) -> int | None:
        """All tokens of the prompt: neither read from a cache nor written to it, and either of these."""
        fresh = self.count("input_tokens")
        if fresh is None:
            return None
        cached = (self.count(f"cache_{how}_input_tokens") for how in ("read", "creation"))
        return fresh + sum(count or 0 for count in cached)


@dataclass(frozen=True, slots=True)
class Refused(View):
    """The body of an error that is the endpoint's own: an object with an ``error`` object in it.

    Answers to what the published API does not define are left out: it says nothing of their bodies.
    """

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            body = reading.body.value
            own = isinstance(body, dict) and isinstance(body.get("error"), dict)
            known = reading.exchange.ending == "complete" and reading.exchange.probe not in UNDEFINED
            if reading.status >= 400 and own and known:
                yield cls(reading, reading.body_at, body)


def hidden_error(reading: Reading) -> bool:
    """Whether a 2xx body is an error object and not a message."""
    body = reading.body.value
    return isinstance(body, dict) and bool(body.get("error")) and "content" not in body


def _type(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _counts(stream: MessageStream) -> View | None:
    """The usage of a stream, at the last event that has some; members that it left out are the start's."""
    first = stream.begun.get("message", "usage") if stream.begun is not None else None
    last = next((one for one in reversed(stream.changes) if isinstance(one.get("usage"), dict)), None)
    begun = first if isinstance(first, dict) else {}
    if last is None:
        where = stream.begun
        return (
            View(where.reading, f"{where.at}/message/usage", begun, where.event) if where and begun else None
        )
    told = {name: count for name, count in last.get("usage").items() if count is not None}
    return View(last.reading, f"{last.at}/usage", {**begun, **told}, last.event)

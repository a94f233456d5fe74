"""A streamed response taken apart, once: its events, its output items, the parts of each.

Everything is indexed in one pass, so that rules see a stream of any length in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Self

from conformance.rules.reading import Reading
from conformance.rules.responses.asked import Asked, asked_in, is_responses
from conformance.rules.views import EventStream, Run, StreamEvent, View, times

CREATED, QUEUED, IN_PROGRESS = "response.created", "response.queued", "response.in_progress"
COMPLETED, INCOMPLETE, FAILED = "response.completed", "response.incomplete", "response.failed"
TERMINAL = (COMPLETED, INCOMPLETE, FAILED)
LIFECYCLE = (CREATED, QUEUED, IN_PROGRESS, *TERMINAL)
"""The types of events that carry the response object."""

ADDED, DONE = "response.output_item.added", "response.output_item.done"
PART_ADDED, PART_DONE = "response.content_part.added", "response.content_part.done"


class Spelling(NamedTuple):
    """How a text is streamed: the types of its pieces and of its end, and the end's member with all of it."""

    delta: str
    done: str
    whole: str


TEXT = Spelling("response.output_text.delta", "response.output_text.done", "text")
REFUSAL = Spelling("response.refusal.delta", "response.refusal.done", "refusal")
ARGUMENTS = Spelling(
    "response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"
)
INPUT = Spelling("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input")
SUMMARY = Spelling("response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text")
REASONING = Spelling("response.reasoning_text.delta", "response.reasoning_text.done", "text")
OPEN_REASONING = Spelling("response.reasoning.delta", "response.reasoning.done", "text")
"""Raw reasoning in the words of the Open Responses schema."""

FIRST_DAY = 1_740_787_200
"""1 March 2025, in Unix seconds: no response is older, so that an earlier time is no time at all."""

Buckets = Mapping[str, "tuple[Typed, ...]"]


@dataclass(frozen=True, slots=True)
class Typed(View):
    """Each event of a streamed response whose data is a JSON object with a ``type``."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(ResponseStream):
            yield from stream.events  # type: ignore[misc]

    @property
    def times(self) -> int:
        return times(self)

    @property
    def type(self) -> str:
        """The member ``type``."""
        return str(self.value["type"])

    @property
    def response(self) -> dict[str, Any] | None:
        """The response object of a lifecycle event, if it is one."""
        response = self.get("response")
        return response if isinstance(response, dict) else None

    @property
    def item(self) -> dict[str, Any] | None:
        """The item of an event that adds or ends one, if it is an object."""
        item = self.get("item")
        return item if isinstance(item, dict) else None

    def number(self, name: str) -> int | None:
        """The member of that name, if it is an integer."""
        value = self.get(name)
        return value if type(value) is int else None


@dataclass(frozen=True, slots=True)
class StreamedPart(View):
    """One part of a streamed item: of its content, or of its summary. ``at`` is where it began.

    ``finished``: the stream came to a completed or incomplete response, so that all of it is here.
    """

    kind: Literal["content", "summary"] = "content"
    index: int = 0
    item_type: str = ""
    events: tuple[Typed, ...] = ()
    named: Buckets = field(default_factory=dict)
    finished: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for slot in run.views(Slot):
            yield from slot.parts  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Slot(View):
    """One output item of a stream, by its ``output_index``. ``at`` is where it began.

    ``finished``: the stream came to a completed or incomplete response, so that all of it is here.
    """

    index: int = 0
    events: tuple[Typed, ...] = ()
    named: Buckets = field(default_factory=dict)
    parts: tuple[StreamedPart, ...] = ()
    finished: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(ResponseStream):
            yield from stream.slots  # type: ignore[misc]

    @property
    def added(self) -> Typed | None:
        """The event that added it, if it has an item."""
        return next((event for event in self.named.get(ADDED, ()) if event.item is not None), None)

    @property
    def done(self) -> Typed | None:
        """The event that ended it, if it has an item."""
        return next((event for event in self.named.get(DONE, ()) if event.item is not None), None)

    @property
    def item_type(self) -> str:
        """The item's type; empty where none was told."""
        return _type_of(self.added) or _type_of(self.done)


@dataclass(frozen=True, slots=True)
class ResponseStream(EventStream):
    """A streamed answer to a Responses request. ``error`` is the first error event."""

    events: tuple[Typed, ...] = ()
    slots: tuple[Slot, ...] = ()
    error: StreamEvent | None = None
    done: tuple[StreamEvent, ...] = ()
    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if reading.stream is not None and is_responses(reading):
                yield cls._read(reading)

    @classmethod
    def _read(cls, reading: Reading) -> Self:
        events = list(StreamEvent.within(reading))
        typed = tuple(
            Typed(reading, event.at, event.value, event.event)
            for event in events
            if isinstance(event.value, dict) and isinstance(event.value.get("type"), str)
        )
        finished = any(event.type in (COMPLETED, INCOMPLETE) for event in typed)
        slots: dict[int, list[Typed]] = {}
        for event in typed:
            index = event.number("output_index")
            if index is not None:
                slots.setdefault(index, []).append(event)
        return cls(
            reading,
            reading.body_at,
            events=typed,
            slots=tuple(_slot(index, several, finished) for index, several in slots.items()),
            error=next(filter(is_error, events), None),
            done=tuple(event for event in events if event.is_done),
            asked=asked_in(reading),
        )

    def made_before(self, moment: int) -> bool:
        """Whether the response says that it was made before a moment, in Unix seconds."""
        told = (event.get("response", "created_at") for event in self.events if event.response is not None)
        made = next(told, None)
        return isinstance(made, int | float) and FIRST_DAY <= made < moment

    @property
    def terminals(self) -> tuple[Typed, ...]:
        """The events that end the response."""
        return tuple(event for event in self.events if event.type in TERMINAL)

    @property
    def final(self) -> Typed | None:
        """The first event that ends the response and carries it."""
        return next((event for event in self.terminals if event.response is not None), None)


def is_error(event: View) -> bool:
    """Whether an event reports a failure: by its type, or as an error without one."""
    value = event.value
    if not isinstance(value, dict):
        return False
    return value.get("type") == "error" or ("type" not in value and bool(value.get("error")))


def joined(pieces: Sequence[Typed]) -> str | None:
    """What the deltas add up to; ``None`` where one of them is no string."""
    texts = [event.get("delta") for event in pieces]
    if not all(isinstance(text, str) for text in texts):
        return None
    # Events that are alike to the last byte are folded into one, which then stands for all of them.
    return "".join(text * event.times for text, event in zip(texts, pieces, strict=True))


def buckets(events: Sequence[Typed]) -> Buckets:
    """The events by type."""
    found: dict[str, list[Typed]] = {}
    for event in events:
        found.setdefault(event.type, []).append(event)
    return {name: tuple(several) for name, several in found.items()}


def _slot(index: int, events: list[Typed], finished: bool) -> Slot:
    first, named = events[0], buckets(events)
    slot = Slot(first.reading, first.at, first.value, first.event, index, tuple(events), named, (), finished)
    grouped: dict[tuple[Literal["content", "summary"], int], list[Typed]] = {}
    for event in events:
        content, summary = event.number("content_index"), event.number("summary_index")
        if content is not None:
            grouped.setdefault(("content", content), []).append(event)
        elif summary is not None:
            grouped.setdefault(("summary", summary), []).append(event)
    parts = tuple(
        StreamedPart(
            *(several[0].reading, several[0].at, several[0].value, several[0].event),
            kind=kind,
            index=number,
            item_type=slot.item_type,
            events=tuple(several),
            named=buckets(several),
            finished=finished,
        )
        for (kind, number), several in grouped.items()
    )
    return Slot(
        first.reading, first.at, first.value, first.event, index, tuple(events), named, parts, finished
    )


def _type_of(event: Typed | None) -> str:
    kind = event.item.get("type") if event is not None and event.item is not None else None
    return kind if isinstance(kind, str) else ""

"""A streamed message taken apart, once: its events, its blocks, and what they add up to.

Everything is indexed in one pass, so that rules see a stream of any length in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.rules.anthropic.asked import Asked, asked_in, is_messages
from conformance.rules.reading import Reading, read_json
from conformance.rules.views import EventStream, Run, StreamEvent, View, event_at

INPUT = ("tool_use", "server_tool_use", "mcp_tool_use")
"""The types of blocks whose input is streamed as JSON."""
JOINED = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The types of deltas that bring a text, and the name of that text in the delta and in the block."""


@dataclass(frozen=True, slots=True)
class MessageEvent(View):
    """An event of a streamed message, the end marker of other wires aside; ``value`` is its data as JSON.

    ``name`` is its SSE event field, ``type`` what its data says it is, or else its name.
    """

    name: str | None = None
    type: str = ""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(MessageStream):
            yield from stream.events  # type: ignore[misc]

    @property
    def slot(self) -> int | None:
        """The ``index`` of the block it is about, if that is an integer."""
        index = self.get("index")
        return index if type(index) is int else None

    @property
    def delta_type(self) -> str:
        """The ``type`` of its delta; empty where there is none."""
        return self.string("delta", "type")


@dataclass(frozen=True, slots=True)
class BlockStream(View):
    """One streamed block: ``value`` is what it adds up to, and it is where it began.

    ``stop`` is the event that ended it. ``partial`` is all of its ``partial_json``.
    """

    slot: int | None = None
    type: str = ""
    start: Any = None
    deltas: tuple[MessageEvent, ...] = ()
    stop: MessageEvent | None = None
    partial: str = ""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(MessageStream):
            yield from stream.blocks  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class MessageStream(EventStream):
    """A streamed answer to a Messages request.

    ``begun`` is its first ``message_start``, ``changes`` are its ``message_delta`` events, ``done`` the end
    markers of another wire, ``error`` the first event that tells of a failure.
    """

    events: tuple[MessageEvent, ...] = ()
    blocks: tuple[BlockStream, ...] = ()
    begun: MessageEvent | None = None
    changes: tuple[MessageEvent, ...] = ()
    stops: tuple[MessageEvent, ...] = ()
    error: MessageEvent | None = None
    done: tuple[StreamEvent, ...] = ()
    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if reading.stream is not None and is_messages(reading):
                yield cls._read(reading)

    @classmethod
    def _read(cls, reading: Reading) -> Self:
        events: list[MessageEvent] = []
        done: list[StreamEvent] = []
        blocks = _Blocks()
        for number, payload in reading.payloads.items():
            view = StreamEvent(reading, event_at(reading, number), payload.value, number)
            if view.is_done:
                done.append(view)
                continue
            told = view.get("type")
            name = view.raw.name
            event = MessageEvent(
                reading,
                view.at,
                payload.value,
                number,
                name,
                told if isinstance(told, str) else name or "",
            )
            events.append(event)
            blocks.add(event)
        return cls(
            reading,
            reading.body_at,
            events=tuple(events),
            blocks=tuple(block.view() for block in blocks.all),
            begun=next((event for event in events if event.type == "message_start"), None),
            changes=tuple(event for event in events if event.type == "message_delta"),
            stops=tuple(event for event in events if event.type == "message_stop"),
            error=next((event for event in events if is_error(event)), None),
            done=tuple(done),
            asked=asked_in(reading),
        )

    @property
    def resumed(self) -> bool:
        """Whether it goes on with what ran on the server: ``message_start`` has that already.

        So Anthropic answers the results of programmatic tool calls, perhaps with nothing but ``message_stop``
        to follow (vercel/ai, fixture anthropic-message-start-prepopulated-content).
        """
        if self.begun is None or not isinstance(self.begun.get("message", "container"), dict):
            return False
        content = self.begun.get("message", "content")
        return isinstance(content, list) and bool(content)

    @property
    def last_change(self) -> MessageEvent | None:
        """The last ``message_delta`` that says why the message stopped."""
        reasons = (one for one in reversed(self.changes) if one.get("delta", "stop_reason"))
        return next((one for one in reasons if isinstance(one.get("delta", "stop_reason"), str)), None)

    @property
    def whole(self) -> bool:
        """Whether the server brought it to its end: no error, no cut, nothing of our doing."""
        return self.ended and self.error is None


def is_error(event: MessageEvent) -> bool:
    """Whether an event tells of a failure: by its name, its type, or an ``error`` member."""
    return "error" in (event.name, event.type) or bool(
        isinstance(event.value, dict) and event.value.get("error")
    )


@dataclass(slots=True)
class _Block:
    """Collects what belongs to one block."""

    start: MessageEvent
    deltas: list[MessageEvent] = field(default_factory=list)
    stop: MessageEvent | None = None

    def view(self) -> BlockStream:
        start = self.start.get("content_block")
        block: dict[str, Any] = dict(start) if isinstance(start, dict) else {}
        texts: dict[str, list[str]] = {}
        partial: list[str] = []
        for delta in self.deltas:
            kind = delta.delta_type
            if kind == "input_json_delta":
                text = delta.get("delta", "partial_json")
                partial += [text] if isinstance(text, str) else []
            elif (name := JOINED.get(kind)) is not None:
                text = delta.get("delta", name)
                texts.setdefault(name, []).append(text if isinstance(text, str) else "")
        for name, pieces in texts.items():
            begun = block.get(name)
            # The SDK joins texts, and of several signatures keeps the last.
            if name == "signature":
                block[name] = pieces[-1]
            else:
                block[name] = (begun if isinstance(begun, str) else "") + "".join(pieces)
        joined = "".join(partial)
        if joined:
            block["input"] = read_json(joined).value
        told = block.get("type")
        return BlockStream(
            self.start.reading,
            f"{self.start.at}/content_block",
            block,
            self.start.event,
            self.start.slot,
            told if isinstance(told, str) else "",
            start,
            tuple(self.deltas),
            self.stop,
            joined,
        )


@dataclass(slots=True)
class _Blocks:
    """Collects the blocks of a stream; a delta without its start belongs to none."""

    all: list[_Block] = field(default_factory=list)
    by_slot: dict[int, _Block] = field(default_factory=dict)

    def add(self, event: MessageEvent) -> None:
        if event.type == "content_block_start":
            block = _Block(event)
            self.all.append(block)
            if event.slot is not None:
                self.by_slot[event.slot] = block
            return
        known = self.by_slot.get(event.slot) if event.slot is not None else None
        if known is None or known.stop is not None:
            return
        if event.type == "content_block_delta":
            known.deltas.append(event)
        elif event.type == "content_block_stop":
            known.stop = event

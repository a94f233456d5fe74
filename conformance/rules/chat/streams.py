"""A streamed chat completion taken apart, once: chunks, the deltas of each choice, the deltas of each call.

Everything is indexed in one pass, so that rules see a stream of any length in linear time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from conformance.rules.chat.asked import Asked, asked_in, is_chat
from conformance.rules.folding import Fold
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import EventStream, Run, StreamEvent, View, times


class Piece(NamedTuple):
    """A text that one event adds to the message, and that event's number."""

    event: int
    text: str


@dataclass(frozen=True, slots=True)
class Chunk(View):
    """One chunk: an event whose data is a JSON object and not an error. ``first`` of its stream or not."""

    first: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(ChatStream):
            yield from stream.chunks  # type: ignore[misc]

    @property
    def times(self) -> int:
        return times(self)

    @property
    def bookkeeping(self) -> bool:
        """A chunk without choices and id, as Azure sends first for its content filter."""
        return self.get("choices") == [] and not self.value.get("id")

    @property
    def usage(self) -> dict[str, Any] | None:
        """The ``usage`` object, if it is one."""
        usage = self.get("usage")
        return usage if isinstance(usage, dict) else None


@dataclass(frozen=True, slots=True)
class ToolDelta(View):
    """One entry of ``delta.tool_calls``; ``first`` of its call or not, ``custom`` if the call is."""

    first: bool = False
    custom: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for choice in run.views(ChoiceStream):
            for call in choice.calls:
                yield from call.deltas  # type: ignore[misc]

    @property
    def times(self) -> int:
        return times(self)

    @property
    def index(self) -> int | None:
        """Its ``index``, if that is an integer."""
        index = self.get("index")
        return index if type(index) is int else None

    def text(self, *path: str) -> str:
        """The string at a path; empty where there is none."""
        return self.string(*path)


@dataclass(frozen=True, slots=True)
class Delta(View):
    """One entry of a chunk's ``choices``: ``value`` has index, delta and finish_reason."""

    first: bool = False
    tools: tuple[ToolDelta, ...] = ()

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for choice in run.views(ChoiceStream):
            yield from choice.deltas  # type: ignore[misc]

    @property
    def times(self) -> int:
        return times(self)

    def text(self, name: str) -> str:
        """The string that the delta has under a name; empty where there is none."""
        return self.string("delta", name)

    @property
    def finish_reason(self) -> Any:
        """``finish_reason``, or ``None`` where it is null or absent."""
        return self.value.get("finish_reason") if isinstance(self.value, dict) else None

    @property
    def payload(self) -> str | None:
        """The name of the first member of the delta that adds to the message; ``None`` if nothing does."""
        return next((name for name in ("content", "refusal", "tool_calls") if self._has(name)), None)

    def _has(self, name: str) -> bool:
        value = self.get("delta", name)
        return isinstance(value, (str, list, dict)) and bool(value)


@dataclass(frozen=True, slots=True)
class CallStream(View):
    """One streamed call: its deltas, and as ``value`` what they add up to. ``at`` is where it began.

    ``slot`` is its index; ``None`` where none was sent. A new id at a known index begins a new call.
    """

    slot: int | None = None
    deltas: tuple[ToolDelta, ...] = ()
    arguments: tuple[Piece, ...] = ()

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for choice in run.views(ChoiceStream):
            yield from choice.calls  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class ChoiceStream(View):
    """One choice of a stream, ``value`` being the merged message, and the request it answers.

    ``settled``: the server brought the stream to its end (no error, no cut, nothing of our doing).
    ``deltas`` lack those that were folded into another one; ``pieces`` has all non-empty texts by member.
    """

    index: int = 0
    deltas: tuple[Delta, ...] = ()
    calls: tuple[CallStream, ...] = ()
    asked: Asked | None = None
    settled: bool = False
    pieces: Mapping[str, tuple[Piece, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for stream in run.views(ChatStream):
            yield from stream.choices  # type: ignore[misc]

    def said(self, name: str) -> tuple[Piece, ...]:
        """Every non-empty text that was streamed under a name, in order."""
        return self.pieces.get(name, ())

    def delta_at(self, event: int) -> Delta:
        """The delta of an event; for a folded one, the delta that it was folded into."""
        return next(d for d in reversed(self.deltas) if d.event is not None and d.event <= event)

    @property
    def finish_reason(self) -> Any:
        """The first finish reason that is not null; ``None`` where none came."""
        return next((d.finish_reason for d in self.deltas if d.finish_reason is not None), None)


@dataclass(frozen=True, slots=True)
class ChatStream(EventStream):
    """A streamed answer to a chat request. ``error`` is the first error event."""

    chunks: tuple[Chunk, ...] = ()
    choices: tuple[ChoiceStream, ...] = ()
    error: StreamEvent | None = None
    done: tuple[StreamEvent, ...] = ()
    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            if reading.stream is not None and is_chat(reading):
                yield cls._read(reading)

    @classmethod
    def _read(cls, reading: Reading) -> Self:
        events = list(StreamEvent.within(reading))
        errors = [event for event in events if is_error(event)]
        settled = reading.exchange.ending == "complete" and not errors
        asked = asked_in(reading)
        chunks: list[Chunk] = []
        choices: dict[int, _Choice] = {}
        for event in events:
            choice_list = event.get("choices")
            if not isinstance(event.value, dict) or (is_error(event) and not isinstance(choice_list, list)):
                continue
            fold = reading.folds.get(event.event) if event.event is not None else None
            chunks.append(Chunk(reading, event.at, event.value, event.event, not chunks))
            for place, entry in enumerate(choice_list if isinstance(choice_list, list) else ()):
                index = entry.get("index") if isinstance(entry, dict) else None
                number = index if type(index) is int else 0
                choice = choices.setdefault(number, _Choice(number))
                choice.add(View(reading, f"{event.at}/choices/{place}", entry, event.event), fold, place)
        return cls(
            reading,
            reading.body_at,
            chunks=tuple(chunks),
            choices=tuple(choice.view(asked, settled) for choice in choices.values()),
            error=errors[0] if errors else None,
            done=tuple(event for event in events if event.is_done),
            asked=asked,
        )

    @property
    def finished(self) -> bool:
        """True where completeness may be asked for: the server ended the stream, and not with an error."""
        return self.ended and self.error is None

    @property
    def opening(self) -> Chunk | None:
        """The first chunk that is no bookkeeping; ``None`` where there is none."""
        return next((chunk for chunk in self.chunks if not chunk.bookkeeping), None)

    @property
    def usages(self) -> tuple[Chunk, ...]:
        """The chunks that carry a usage object."""
        return tuple(chunk for chunk in self.chunks if chunk.usage is not None)


def is_error(event: StreamEvent) -> bool:
    """Whether an event reports a failure: by its name, or by a truthy ``error`` member."""
    return event.raw.name == "error" or (isinstance(event.value, dict) and bool(event.value.get("error")))


_JOINED = frozenset({"content", "refusal", "reasoning_content", "reasoning"})
_KEPT = frozenset({"role", "function_call", "audio"})


@dataclass(slots=True)
class _Call:
    slot: int | None
    id: str = ""
    custom: bool = False
    deltas: list[ToolDelta] = field(default_factory=list)
    arguments: list[Piece] = field(default_factory=list)

    def view(self) -> CallStream:
        first = self.deltas[0]
        kind = next((kind for d in self.deltas if (kind := d.text("type"))), None)
        body = "custom" if self.custom else "function"
        names: list[str] = []
        for delta in self.deltas:
            name = delta.text(body, "name")
            # Some servers repeat the name in every delta, some send it in pieces: this reads both.
            if name and name not in names[:1]:
                names.append(name)
        text = "input" if self.custom else "arguments"
        pieces = [delta.get(body, text) for delta in self.deltas]
        whole: Any = "".join(piece.text for piece in self.arguments)
        if self.custom:
            whole = "".join(piece for piece in pieces if isinstance(piece, str))
        odd = next((piece for piece in pieces if isinstance(piece, (dict, list))), None)
        merged = {
            "id": self.id,
            "type": kind,
            body: {"name": "".join(names), text: whole if odd is None else odd},
        }
        return CallStream(
            first.reading,
            first.at,
            merged,
            first.event,
            self.slot,
            tuple(self.deltas),
            tuple(self.arguments),
        )


@dataclass(slots=True)
class _Choice:
    """Collects what belongs to one choice."""

    index: int
    deltas: list[Delta] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    by_slot: dict[int, _Call] = field(default_factory=dict)
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    def add(self, entry: View, fold: Fold | None, position: int) -> None:
        """Add a delta and what was folded into it; ``position`` is its place among the chunk's choices."""
        tools: list[ToolDelta] = []
        calls: list[_Call] = []
        found = entry.get("delta", "tool_calls")
        for place, tool in enumerate(found if isinstance(found, list) else ()):
            at = f"{entry.at}/delta/tool_calls/{place}"
            delta = ToolDelta(entry.reading, at, tool, entry.event)
            call = self._call_of(delta)
            call.custom = call.custom or delta.text("type") == "custom" or delta.get("custom") is not ABSENT
            delta = ToolDelta(entry.reading, at, tool, entry.event, not call.deltas, call.custom)
            call.deltas.append(delta)
            if entry.event is not None and (text := delta.text("function", "arguments")):
                call.arguments.append(Piece(entry.event, text))
            tools.append(delta)
            calls.append(call)
        one = Delta(entry.reading, entry.at, entry.value, entry.event, not self.deltas, tuple(tools))
        self.deltas.append(one)
        self._read(one)
        for column, path in enumerate(fold.paths if fold else ()):
            if fold is None or path[:2] != ("choices", position):
                continue
            match path[3:]:
                case (str(name),):
                    pieces = self.pieces.setdefault(name, [])
                case ("tool_calls", int(place), *_):
                    pieces = calls[place].arguments
            pieces += [Piece(e, t[column]) for e, t in zip(fold.events, fold.texts, strict=True)]

    def _read(self, one: Delta) -> None:
        delta = one.get("delta")
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if name in _JOINED and isinstance(value, str):
                known = self.pieces.setdefault(name, [])
                if value and one.event is not None:
                    known.append(Piece(one.event, value))
            elif name in _KEPT and value:
                self.kept.setdefault(name, value)

    def _call_of(self, delta: ToolDelta) -> _Call:
        slot, given = delta.index, delta.text("id")
        if slot is not None:
            known = self.by_slot.get(slot)
        else:
            known = self.calls[-1] if self.calls else None
        if known is None or (given and known.id and given != known.id):
            known = _Call(slot)
            self.calls.append(known)
            if slot is not None:
                self.by_slot[slot] = known
        known.id = known.id or given
        return known

    def view(self, asked: Asked | None, settled: bool) -> ChoiceStream:
        calls = tuple(call.view() for call in self.calls)
        # Texts are joined, of anything else the first counts.
        texts = {name: "".join(piece.text for piece in pieces) for name, pieces in self.pieces.items()}
        merged = {"role": None, "content": None, "refusal": None, **self.kept, **texts}
        if calls:
            merged["tool_calls"] = [call.value for call in calls]
        first = self.deltas[0]
        return ChoiceStream(
            first.reading,
            f"{first.at}/delta",
            merged,
            first.event,
            self.index,
            tuple(self.deltas),
            calls,
            asked,
            settled,
            {name: tuple(pieces) for name, pieces in self.pieces.items()},
        )

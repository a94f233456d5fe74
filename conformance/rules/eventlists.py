"""Lists of a stream's events, changed for an example: events are found by their ``type``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from conformance.rules.examples import dumped, patched

Event: TypeAlias = dict[str, Any]


def at(events: Sequence[Event], type: str, place: int = 0) -> int:
    """Where the event of that type is, the first unless told otherwise."""
    return [number for number, event in enumerate(events) if event.get("type") == type][place]


def but(events: Sequence[Event], type: str, place: int = 0, **patch: Any) -> list[Event]:
    """The events, one of that type patched."""
    number = at(events, type, place)
    return [*events[:number], patched(events[number], patch), *events[number + 1 :]]


def but_in(events: Sequence[Event], type: str, member: str, place: int = 0, **patch: Any) -> list[Event]:
    """The events, an object in one of that type patched."""
    return but(events, type, place, **{member: patched(events[at(events, type, place)][member], patch)})


def without(events: Sequence[Event], type: str, place: int = 0) -> list[Event]:
    """The events without one of that type."""
    number = at(events, type, place)
    return [*events[:number], *events[number + 1 :]]


def moved(events: Sequence[Event], type: str, to: int, place: int = 0) -> list[Event]:
    """The events with one of that type elsewhere."""
    number = at(events, type, place)
    rest = without(events, type, place)
    return [*rest[:to], events[number], *rest[to:]]


def with_event(events: Sequence[Event], to: int, **event: Any) -> list[Event]:
    """The events with one more."""
    return [*events[:to], event, *events[to:]]


def framed(event: Event, named: bool) -> bytes:
    """An event as it is sent, perhaps named by its type."""
    name = f"event: {event.get('type')}\n".encode() if named else b""
    return name + b"data: " + dumped(event) + b"\n\n"

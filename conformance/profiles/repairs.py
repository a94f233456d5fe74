"""How answers are repaired: whole ones as documents, streams event by event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream: its data, and its name where the wire gives events names."""

    data: str
    name: str | None = None


class Repairer(Protocol):
    """Repairs one stream. What it has given out it never takes back."""

    def feed(self, frame: Frame) -> Sequence[Frame]:
        """Take the next event; the events that are certain by now come back."""

    def finish(self, *, whole: bool) -> Sequence[Frame]:
        """The events that are left. ``whole``: the stream ended by itself, nothing broke it off."""


class Plain:
    """Leaves every event as it is."""

    def feed(self, frame: Frame) -> Sequence[Frame]:
        return (frame,)

    def finish(self, *, whole: bool) -> Sequence[Frame]:  # noqa: ARG002
        return ()

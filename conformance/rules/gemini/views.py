"""Views of what an answer says: candidates and their parts, however they came, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.gemini.answers import Answer
from conformance.rules.gemini.asked import Asked
from conformance.rules.reading import ABSENT
from conformance.rules.views import Run, View


@dataclass(frozen=True, slots=True)
class Piece(View):
    """What one response has of a candidate, with the request; ``last`` of its candidate or not."""

    asked: Asked
    slot: int
    last: bool

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for candidate in run.views(Candidate):
            yield from candidate.pieces  # type: ignore[misc]

    @property
    def parts(self) -> list[Any]:
        """``content.parts``, or nothing where that is no array."""
        parts = self.get("content", "parts")
        return parts if isinstance(parts, list) else []

    @property
    def finish(self) -> Any:
        """``finishReason``; ``None`` where it is absent or null."""
        finish = self.get("finishReason")
        return None if finish is ABSENT else finish


@dataclass(frozen=True, slots=True)
class Part(View):
    """A part of a candidate as it was sent; ``value`` is an object."""

    asked: Asked
    settled: bool

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for candidate in run.views(Candidate):
            yield from candidate.parts  # type: ignore[misc]

    @property
    def is_thought(self) -> bool:
        """Whether it belongs to what the model thought."""
        return bool(self.value.get("thought"))

    @property
    def text(self) -> str:
        """``text``; empty where it has none."""
        text = self.get("text")
        return text if isinstance(text, str) else ""

    @property
    def call(self) -> Any:
        """``functionCall``, or ``ABSENT``."""
        return self.get("functionCall")


@dataclass(frozen=True, slots=True)
class Candidate(View):
    """A candidate, whole or put together from its pieces; ``value`` is that of its first piece.

    ``settled``: it came to the end that its model meant: no cut, no error, no cap, no filter.
    """

    asked: Asked
    pieces: tuple[Piece, ...]
    parts: tuple[Part, ...]
    complete: bool
    settled: bool

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            slots: dict[int, list[View]] = {}
            for response in answer.responses:
                for place, value in enumerate(response.candidates):
                    if isinstance(value, dict):
                        view = View(response.reading, f"{response.at}/candidates/{place}", value, response.event)
                        slots.setdefault(_slot(value, place), []).append(view)
            for slot, views in slots.items():
                yield cls._merged(answer, slot, views)

    @classmethod
    def _merged(cls, answer: Answer, slot: int, views: list[View]) -> Self:
        asked, last = answer.asked, views[-1]
        pieces = tuple(
            Piece(one.reading, one.at, one.value, one.event, asked, slot, one is last) for one in views
        )
        finish = next((piece.finish for piece in reversed(pieces) if piece.finish is not None), None)
        settled = answer.complete and finish in ("STOP", 1)
        parts = tuple(
            Part(piece.reading, f"{piece.at}/content/parts/{place}", value, piece.event, asked, settled)
            for piece in pieces
            for place, value in enumerate(piece.parts)
            if isinstance(value, dict)
        )
        first = views[0]
        return cls(
            first.reading, first.at, first.value, first.event, asked, pieces, parts, answer.complete, settled
        )

    @property
    def finish(self) -> Piece | None:
        """The last piece that says why it ended."""
        return next((piece for piece in reversed(self.pieces) if piece.finish is not None), None)

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(part.text for part in self.parts if not part.is_thought)

    @property
    def thoughts(self) -> str:
        """What it shows of its thoughts."""
        return "".join(part.text for part in self.parts if part.is_thought)

    @property
    def calls(self) -> tuple[Part, ...]:
        """The parts that call a function."""
        return tuple(part for part in self.parts if part.call is not ABSENT)

    @property
    def spoken(self) -> Part | None:
        """The first part with visible text."""
        return next((part for part in self.parts if part.text and not part.is_thought), None)


@dataclass(frozen=True, slots=True)
class Usage(View):
    """The counts of a response (``value`` is an object), with the request; ``last`` of its answer or not."""

    asked: Asked
    last: bool

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            counted = [one for one in answer.responses if isinstance(one.get("usageMetadata"), dict)]
            for one in counted:
                at, value = f"{one.at}/usageMetadata", one.get("usageMetadata")
                last = one is counted[-1] and answer.complete
                yield cls(one.reading, at, value, one.event, answer.asked, last)

    def count(self, name: str) -> int | None:
        """A count, if it is one."""
        value = self.get(name)
        return value if type(value) is int and value >= 0 else None


def _slot(value: dict[str, Any], place: int) -> int:
    """Which candidate it is of: its index, which ProtoJSON leaves out where it is 0."""
    index = value.get("index", 0)
    return index if type(index) is int else place

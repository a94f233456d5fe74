"""Views of what an answer says: candidates and their parts, however they came, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.gemini.answers import Answer
from conformance.rules.gemini.asked import NOTHING, Asked
from conformance.rules.reading import ABSENT
from conformance.rules.views import Run, View, lookup


@dataclass(frozen=True, slots=True)
class Piece(View):
    """What one response has of a candidate, with the request; ``last`` of its candidate or not."""

    asked: Asked = NOTHING
    slot: int = 0
    last: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for candidate in run.views(Candidate):
            yield from candidate.pieces  # type: ignore[misc]

    @property
    def parts(self) -> list[Any]:
        """``content.parts``, or nothing where that is no array."""
        return self.array("content", "parts")

    @property
    def finish(self) -> Any:
        """``finishReason``; ``None`` where it is absent or null."""
        finish = self.get("finishReason")
        return None if finish is ABSENT else finish


@dataclass(frozen=True, slots=True)
class Part(View):
    """A part of a candidate as it was sent; ``value`` is an object."""

    asked: Asked = NOTHING
    settled: bool = False

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
        return self.string("text")

    @property
    def call(self) -> Any:
        """``functionCall``, or ``ABSENT``."""
        return self.get("functionCall")


@dataclass(frozen=True, slots=True)
class Candidate(View):
    """A candidate, whole or put together from its pieces; ``value`` is that of its first piece.

    ``settled``: it came to the end that its model meant: no cut, no error, no cap, no filter.
    """

    asked: Asked = NOTHING
    pieces: tuple[Piece, ...] = ()
    parts: tuple[Part, ...] = ()
    complete: bool = False
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            slots: dict[int, list[View]] = {}
            for response in answer.responses:
                taken: set[int] = set()
                for place, value in enumerate(response.candidates):
                    if isinstance(value, dict):
                        at = f"{response.at}/candidates/{place}"
                        slot = _slot(value, place, taken)
                        slots.setdefault(slot, []).append(View(response.reading, at, value, response.event))
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
    """The counts of a response (``value`` is an object), with the request; ``last`` of its answer or not.

    ``earlier`` are the counts of the response before.
    """

    asked: Asked = NOTHING
    last: bool = False
    earlier: Any = ABSENT

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            counted = [one for one in answer.responses if isinstance(one.get("usageMetadata"), dict)]
            earlier: Any = ABSENT
            for one in counted:
                at, value = f"{one.at}/usageMetadata", one.get("usageMetadata")
                last = one is counted[-1] and answer.complete
                yield cls(one.reading, at, value, one.event, answer.asked, last, earlier)
                earlier = value

    def count(self, name: str) -> int | None:
        """A count, if it is one."""
        return _count(self.get(name))

    def before(self, name: str) -> int | None:
        """The same count in the response before, if it is one there."""
        return _count(lookup(self.earlier, (name,)))


def _slot(value: dict[str, Any], place: int, taken: set[int]) -> int:
    """Which candidate it is of: its index, which ProtoJSON leaves out where it is 0.

    One without an index of its own in its response is a candidate by itself.
    """
    index = value.get("index", 0)
    slot = index if type(index) is int and index >= 0 and index not in taken else -1 - place
    taken.add(slot)
    return slot


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None

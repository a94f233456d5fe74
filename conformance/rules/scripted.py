"""Answers to requests of which it is known what the model writes: only the scripted model does.

The text without tools comes before them and proves it. Where the model wrote something else once tools were
offered, a grammar of the server's bent it: nothing is said of what a parser made of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.dialects.case import ALONE, Case
from conformance.dialects.cases import CASES
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.views import Probe, Run, lookup
from conformance.types import Turn
from conformance.wires import wire
from conformance.wires.errors import ErrorInfo, error_of


def case_of(reading: Reading) -> Case | None:
    """The case that an exchange asks for with tools."""
    return CASES.get(reading.exchange.probe or "")


def led_astray(reading: Reading) -> bool:
    """Whether a grammar of the server's has to stop what the model writes, so that any text may come."""
    return reading.exchange.probe == "prose-written"


def keeps_markup(reading: Reading) -> bool:
    """Whether a right answer has raw markup in its text: there it is no call that a parser missed.

    Without tools that is so in all dialects, and markup may be special tokens.
    """
    if reading.exchange.probe == ALONE or led_astray(reading):
        return True
    case = case_of(reading)
    return case is not None and case.kind != "call"


def names(reading: Reading, name: str) -> bool:
    """Whether the script has the model call a tool of that name, offered or not."""
    case = case_of(reading)
    return case is not None and any(name == made for calls in case.lenient for made, _ in calls)


def only_thinks(reading: Reading) -> bool:
    """Whether the script may have the model say nothing beside its reasoning."""
    return reading.exchange.probe == ALONE or case_of(reading) is not None


@dataclass(frozen=True, slots=True)
class Told(Probe):
    """An answer, over any wire, and the ``turns`` that it says where it is whole: one for each choice."""

    turns: tuple[Turn, ...] = ()

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return reading.exchange.response is not None

    @property
    def failure(self) -> ErrorInfo | None:
        """The error that an answer of status 200 tells."""
        response = self.reading.exchange.response
        return error_of(response) if response is not None and self.reading.succeeded else None

    @property
    def silent(self) -> bool:
        """Whether it ended, told no error, and yet holds no turn."""
        whole = self.reading.succeeded and self.reading.exchange.ending == "complete"
        return whole and self.failure is None and not self.turns

    @property
    def declined(self) -> bool:
        """Whether the request was refused for what it says, or with an error behind status 200."""
        return self.turned_down or self.failure is not None


@dataclass(frozen=True, slots=True)
class Scripted(Told):
    """An answer, over any wire, to a request for a case with tools.

    ``alone``: what the text without tools said. ``fought``: a grammar bent the text.
    """

    alone: Turn | None = None
    fought: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        alone: Turn | None = None
        asked: dict[str, tuple[Turn | None, list[tuple[Reading, tuple[Turn, ...]]]]] = {}
        for reading in run.readings:
            probe = reading.exchange.probe or ""
            if reading.exchange.twin is not None:
                continue
            if probe == ALONE:
                alone = _single(turns_of(reading))
            elif probe in CASES and reading.exchange.response is not None:
                asked.setdefault(probe, (alone, []))[1].append((reading, turns_of(reading)))
        for probe, (written, several) in asked.items():
            fought = CASES[probe].bent(written, *(_single(turns) for _, turns in several))
            for reading, turns in several:
                at = f"/exchanges/{reading.index}/response"
                yield cls(reading, at, {"status": reading.status}, None, turns, written, fought)

    @property
    def case(self) -> Case:
        """What the model writes."""
        return CASES[self.reading.exchange.probe or ""]

    @property
    def turn(self) -> Turn | None:
        """What a whole answer says."""
        return _single(self.turns)

    @property
    def proven(self) -> Turn | None:
        """What it says, where tools were offered and the model is known to write the case's text without."""
        known = self.alone is not None and self.case.known(self.alone)
        return self.turn if known and lookup(self.reading.asked, ("tools",)) is not ABSENT else None

    @property
    def parsed(self) -> Turn | None:
        """What it says, where the model is known to have written just the case's text."""
        return None if self.fought else self.proven


def turns_of(reading: Reading) -> tuple[Turn, ...]:
    """The turns of a whole 2xx answer that tells no error."""
    exchange = reading.exchange
    if exchange.response is None or not reading.succeeded or exchange.ending != "complete":
        return ()
    return () if error_of(exchange.response) else wire(exchange.wire).decode(exchange.response)


def _single(turns: tuple[Turn, ...]) -> Turn | None:
    return turns[0] if len(turns) == 1 else None

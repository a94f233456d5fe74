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
from conformance.rules.views import Probe, Run, View, lookup
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
class Scripted(Probe):
    """An answer, over any wire, to a request for a case with tools.

    ``turn``: what a whole answer says. ``alone``: what the text without tools said. ``fought``: a grammar
    bent the text.
    """

    turn: Turn | None = None
    alone: Turn | None = None
    fought: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        alone: Turn | None = None
        asked: dict[str, tuple[Turn | None, list[tuple[Reading, Turn | None]]]] = {}
        for reading in run.readings:
            probe = reading.exchange.probe or ""
            if probe == ALONE:
                alone = _turn(reading)
            elif probe in CASES and reading.exchange.response is not None:
                asked.setdefault(probe, (alone, []))[1].append((reading, _turn(reading)))
        for probe, (written, several) in asked.items():
            fought = CASES[probe].bent(written, *(turn for _, turn in several))
            for reading, turn in several:
                at = f"/exchanges/{reading.index}/response"
                yield cls(reading, at, {"status": reading.status}, None, turn, written, fought)

    @property
    def case(self) -> Case:
        """What the model writes."""
        return CASES[self.reading.exchange.probe or ""]

    @property
    def proven(self) -> Turn | None:
        """What it says, where tools were offered and the model is known to write the case's text without."""
        known = self.alone is not None and self.case.known(self.alone)
        return self.turn if known and lookup(self.reading.asked, ("tools",)) is not ABSENT else None

    @property
    def parsed(self) -> Turn | None:
        """What it says, where the model is known to have written just the case's text."""
        return None if self.fought else self.proven

    @property
    def failure(self) -> ErrorInfo | None:
        """The error that an answer of status 200 tells."""
        response = self.reading.exchange.response
        return error_of(response) if response is not None and self.reading.succeeded else None

    @property
    def declined(self) -> bool:
        """Whether the request was refused for what it says, or with an error behind status 200."""
        return self.turned_down or self.failure is not None


@dataclass(frozen=True, slots=True)
class Twice(View):
    """The streamed answer to a request for a case, and the ``whole`` one before it."""

    streamed: Scripted | None = None
    whole: Scripted | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        before: Scripted | None = None
        for one in run.views(Scripted):
            if before is not None and before.case is one.case:
                yield cls(one.reading, one.at, None, None, one, before)
            before = one

    @property
    def turns(self) -> tuple[Turn, Turn] | None:
        """What the whole answer says and what the streamed one does, where the model wrote the same."""
        whole = self.whole.parsed if self.whole else None
        streamed = self.streamed.parsed if self.streamed else None
        return (whole, streamed) if whole is not None and streamed is not None else None


def _turn(reading: Reading) -> Turn | None:
    """The one turn of a whole 2xx answer that tells no error."""
    exchange = reading.exchange
    if exchange.response is None or not reading.succeeded or exchange.ending != "complete":
        return None
    turns = wire(exchange.wire).decode(exchange.response)
    return turns[0] if len(turns) == 1 and error_of(exchange.response) is None else None

"""What a policy is, and what an observer of one sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from conformance.policies.answers import Answer
from conformance.types import WIRES, WireName

INCONCLUSIVE = "inconclusive"

COMMON: Mapping[str, str] = {
    "refused": "the request is answered with an error",
    "hang": "nothing comes back within the endpoint's timeout",
    INCONCLUSIVE: "the model did not play along, or nothing was there to tell by",
}
"""Outcomes that any policy may have."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an observer saw: the outcome, the answer that shows it, and one line on it."""

    outcome: str
    answer: Answer
    detail: str

    @property
    def status(self) -> int | None:
        """The HTTP status of the refusal, where that is what was seen."""
        return self.answer.status if self.outcome in ("refused", "required") else None


Answers: TypeAlias = Mapping[str, Answer]
"""The answers of a scenario by step; those that tell nothing (quota, credentials) are left out."""


class CannotTell(Exception):
    """An aspect can't be told from the answers; the text says why."""


Observer: TypeAlias = Callable[[str, Answers], Seen]
"""What is seen of an aspect in the answers. Raises `CannotTell`."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a wire's own provider does, by aspect, and where that is said; the clean persona does the same."""

    wire: WireName
    provider: str
    outcomes: Mapping[str, str]
    source: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Something the reference leaves open.

    ``aspects`` are what is looked at, by name; ``wires`` says which aspects only some wires have.
    ``own_outcomes`` stand beside `COMMON`. ``evidence`` says what an outcome rests on.
    """

    id: str
    title: str
    evidence: str
    aspects: Mapping[str, str]
    own_outcomes: Mapping[str, str]
    reference: tuple[Reference, ...]
    observer: Observer
    wires: Mapping[str, tuple[WireName, ...]] = field(default_factory=dict)

    @property
    def outcomes(self) -> Mapping[str, str]:
        """What may be seen, and what it means."""
        return {**self.own_outcomes, **COMMON}

    def aspects_on(self, wire: WireName) -> tuple[str, ...]:
        """The aspects that the wire has."""
        return tuple(name for name in self.aspects if wire in self.wires.get(name, WIRES))


def needed(answers: Answers, step: str) -> Answer:
    """The answer of a step. Raises `CannotTell` where there is none."""
    found = answers.get(step)
    if found is None:
        raise CannotTell(f"{step}: not answered")
    return found


def not_answered(answer: Answer) -> Seen | None:
    """A refusal or a hang; ``None`` for an answer."""
    return None if answer.state == "answered" else Seen(answer.state, answer, answer.said)

"""What was graded, counted: by rule, by endpoint, by reason; with a few examples of each deviation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.grade.grading import EARLY, LEVELS, Fault, Graded, Grader, Outcome, fault_of
from conformance.grade.looked_at import looks_at
from conformance.grade.recorded import Unusable
from conformance.rules import Rule, rule_of
from conformance.types import ASPECTS, Aspect, Finding, Level, WireName

MAX_EXAMPLES = 3
NOT_KEPT = "not kept: "


class Sort(NamedTuple):
    """What exchanges have in common that are counted together."""

    outcome: Outcome
    reason: str
    endpoint: str
    provider: str
    wire: WireName | None
    format: str
    kept: frozenset[Aspect]
    looked_at: frozenset[str]
    whole: bool


class Place(NamedTuple):
    """A rule that does not hold at an endpoint, over a wire."""

    rule: str
    endpoint: str
    wire: WireName


@dataclass(frozen=True, slots=True)
class Example:
    """A finding, where it is, and what may be shown of its exchange."""

    file: str
    position: int
    model: str
    finding: Finding
    evidence: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Deviation:
    """A rule that does not hold at an endpoint: in how many exchanges, and in how many places of them.

    ``forgiven`` are the exchanges in which a declared quirk or the baseline explains it; ``level`` is the
    gravest that it was found at.
    """

    level: Level
    fault: Fault
    exchanges: int = 0
    forgiven: int = 0
    known: int = 0
    places: int = 0
    files: set[str] = field(default_factory=set)
    examples: list[Example] = field(default_factory=list)

    @property
    def open(self) -> int:
        """The exchanges in which nothing explains it."""
        return self.exchanges - self.forgiven - self.known


@dataclass(frozen=True, slots=True)
class Judged:
    """On how many exchanges a rule was judged, and on how many not, by reason."""

    exchanges: int
    not_gradable: Mapping[str, int]


def sort_of(graded: Graded) -> Sort:
    """What an exchange is counted as."""
    return Sort(
        graded.outcome,
        _kind(graded.reason),
        graded.endpoint,
        graded.provider,
        graded.wire,
        graded.format,
        graded.kept,
        graded.looked_at,
        graded.whole,
    )


@dataclass(slots=True)
class Tally:
    """Everything counted so far. Its size depends on rules, endpoints and formats, not on exchanges."""

    sorts: Counter[Sort] = field(default_factory=Counter)
    deviations: dict[Place, Deviation] = field(default_factory=dict)
    unreadable: list[Unusable] = field(default_factory=list)
    foreign: list[Unusable] = field(default_factory=list)
    files: int = 0

    def count(self, sorts: Mapping[Sort, int]) -> None:
        """Count exchanges, whatever was found in them."""
        self.sorts.update(sorts)

    def add(self, graded: Graded, evidence: Mapping[str, Any] | None) -> None:
        """Count what was found in an exchange; ``evidence`` is what may be shown of it."""
        told: dict[str, list[Finding]] = {}
        for finding in graded.findings:
            told.setdefault(finding.rule, []).append(finding)
        for rule, findings in told.items():
            if graded.wire is None:
                continue
            place = Place(rule, graded.endpoint, graded.wire)
            first = findings[0]
            one = self.deviations.setdefault(place, Deviation(first.level, fault_of(first)))
            one.exchanges += 1
            one.places += sum(1 + finding.more for finding in findings)
            one.forgiven += all(finding.quirk for finding in findings)
            one.known += not all(finding.quirk for finding in findings) and all(
                finding.quirk or finding.known for finding in findings
            )
            if len(one.files) <= MAX_EXAMPLES:
                one.files.add(graded.file)
            if len(one.examples) < MAX_EXAMPLES:
                one.examples.append(Example(graded.file, graded.position, graded.model, first, evidence))

    def refuse(self, unusable: Unusable) -> None:
        """Note what could not be read, or is no recording at all."""
        (self.foreign if unusable.foreign else self.unreadable).append(unusable)

    # ---------------------------------------------------------------------------------------- questions

    @property
    def outcomes(self) -> Mapping[Outcome, int]:
        """How many exchanges came out how."""
        found: dict[Outcome, int] = {"graded": 0, "not gradable": 0, "left alone": 0}
        for sort, number in self.sorts.items():
            found[sort.outcome] += number
        return found

    def reasons(self, outcome: Outcome) -> list[tuple[str, int]]:
        """Why exchanges came out so, the most frequent first."""
        found: Counter[str] = Counter()
        for sort, number in self.sorts.items():
            if sort.outcome == outcome and sort.reason:
                found[sort.reason] += number
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def endpoints(self) -> list[tuple[str, WireName, int, int]]:
        """Endpoint, wire, its exchanges, how many of them were graded; in alphabetical order."""
        found: dict[tuple[str, WireName], list[int]] = {}
        for sort, number in self.sorts.items():
            if sort.wire is not None:
                counts = found.setdefault((sort.endpoint, sort.wire), [0, 0])
                counts[0] += number
                counts[1] += number if sort.outcome == "graded" else 0
        return [(name, wire, *counts) for (name, wire), counts in sorted(found.items())]  # type: ignore[misc]

    def judged(self, grader: Grader) -> dict[Place, Judged]:
        """By rule and endpoint, on how many exchanges it was judged, and on how many it could not be.

        It was judged on those that hold what it looks at (`looked_at`), whether or not its condition is met
        there.
        """
        exchanges: Counter[Place] = Counter()
        missing: dict[Place, Counter[str]] = {}
        for sort, number in self.sorts.items():
            if sort.wire is None:
                continue
            for rule in grader.selected.get(sort.wire, ()):
                if looks_at(rule) not in sort.looked_at:
                    continue
                place = Place(rule.id, sort.endpoint, sort.wire)
                if reason := unjudged(rule, sort):
                    missing.setdefault(place, Counter())[reason] += number
                else:
                    exchanges[place] += number
        return {at: Judged(exchanges[at], dict(missing.get(at, {}))) for at in exchanges.keys() | missing}

    def by_rule(self) -> Iterator[tuple[str, list[tuple[Place, Deviation]]]]:
        """Each rule that does not hold somewhere, the gravest and most frequent first, with the endpoints."""
        found: dict[str, list[tuple[Place, Deviation]]] = {}
        for place, deviation in self.deviations.items():
            found.setdefault(place.rule, []).append((place, deviation))
        for rule in sorted(found, key=lambda rule: _rank(rule, [d for _, d in found[rule]])):
            yield rule, sorted(found[rule], key=lambda pair: (-pair[1].exchanges, pair[0]))

    def open_at(self, level: Level) -> int:
        """How many rules of a level or graver do not hold somewhere without a quirk or the baseline."""
        counted = LEVELS[: LEVELS.index(level) + 1]
        return len(
            {
                place.rule
                for place, deviation in self.deviations.items()
                if deviation.open and deviation.level in counted and rule_of(place.rule).subject != "model"
            }
        )


def by_rule_alone(judged: Mapping[Place, Judged]) -> dict[str, Judged]:
    """The same, at all endpoints and over all wires together."""
    exchanges: Counter[str] = Counter()
    missing: dict[str, Counter[str]] = {}
    for place, one in judged.items():
        exchanges[place.rule] += one.exchanges
        missing.setdefault(place.rule, Counter()).update(one.not_gradable)
    return {rule: Judged(exchanges[rule], dict(missing[rule])) for rule in missing}


def _kind(reason: str) -> str:
    """The reason as it is counted: what betrays that somebody wrote a recording differs each time."""
    kind, _, _ = reason.partition(": ")
    return kind if kind.endswith("by hand") else reason


def unjudged(rule: Rule, sort: Sort) -> str:
    """Why a rule is not judged on such exchanges, which hold what it looks at; empty where it is."""
    if lacks := rule.lacks(sort.kept):
        return not_kept(lacks)
    return EARLY if rule.needs_end and not sort.whole and rule.subject != "client" else ""


def _rank(rule: str, deviations: Sequence[Deviation]) -> tuple[int, int, str]:
    grave = min(LEVELS.index(one.level) for one in deviations)
    return grave, -sum(one.exchanges for one in deviations), rule


def not_kept(aspects: Iterable[Aspect]) -> str:
    """Why a rule could not be judged: what the recording did not keep."""
    lacking = set(aspects)
    return NOT_KEPT + ", ".join(aspect for aspect in ASPECTS if aspect in lacking)

"""``conformance field-notes``: what recordings show about real providers, and how many stand behind it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance.cli.days import made_on, sent_on
from conformance.cli.failing import clearly
from conformance.types import WireName

if TYPE_CHECKING:
    from conformance.grade.grading import Graded, Grader
    from conformance.grade.recorded import Recorded, Unusable
    from conformance.grade.tally import Sort

_HEAD = 64 * 1024  # bytes of a body in which the marks of a stream are looked for

At = tuple[str, str, str]
"""Rule, endpoint and wire."""


class Where(NamedTuple):
    """A provider's endpoints of one wire."""

    provider: str
    wire: WireName


@dataclass(slots=True)
class Sample:
    """What the graded exchanges of a provider over a wire are, beside their verdicts.

    ``alone`` are answers without their requests, which somebody keeps as fixtures; ``by_folder`` those whose
    provider nothing in the exchange tells. ``sorts`` counts those that tell their day, by day.
    """

    graded: int = 0
    streams: int = 0
    alone: int = 0
    by_folder: int = 0
    sources: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    fidelity: Counter[str] = field(default_factory=Counter)
    sorts: dict[str, Counter[Sort]] = field(default_factory=dict)

    @property
    def dated(self) -> int:
        """How many exchanges tell their day."""
        return sum(one.total() for one in self.sorts.values())


@dataclass(slots=True)
class Shown:
    """When a deviation showed: the days that are told, and how many exchanges do not tell theirs.

    ``later`` counts the exchanges after these days on which the rule was judged: there it holds.
    """

    days: list[str] = field(default_factory=list)
    undated: int = 0
    later: int = 0


@dataclass(slots=True)
class FieldNotes:
    """Everything that the page tells. ``summary`` is the counts of ``grade --json``; ``twins`` are graded
    exchanges whose answer has the bytes of one before.
    """

    summary: Mapping[str, Any]
    samples: Mapping[Where, Sample]
    shown: Mapping[At, Shown]
    sources: int
    twins: int


@dataclass(frozen=True, slots=True)
class _Note:
    day: str | None
    streamed: bool
    alone: bool
    body: bytes


@dataclass(slots=True)
class _Reader:
    """Notes what `Graded` does not tell while exchanges pass by on their way to the rules."""

    refused: list[Unusable] = field(default_factory=list)
    notes: dict[tuple[str, int], _Note] = field(default_factory=dict)

    def read(self, files: Sequence[Path]) -> Iterator[Recorded]:
        from conformance.grade.files import exchanges_of
        from conformance.grade.recorded import Recorded

        for file in files:
            for one in exchanges_of(file):
                if not isinstance(one, Recorded):
                    self.refused.append(one)
                    continue
                self.notes[one.file, one.position] = _note(one)
                yield one


def take_notes(folder: Path, grader: Grader) -> FieldNotes:
    """Grade all recordings below a folder, whose own folders are taken for their sources."""
    from conformance.grade.batches import units_of
    from conformance.grade.document import summary
    from conformance.grade.grading import foreign, grade
    from conformance.grade.recorded import Unusable
    from conformance.grade.tally import Tally, sort_of

    tally = Tally()
    samples: dict[Where, Sample] = {}
    shown: dict[At, Shown] = {}
    sources: set[str] = set()
    seen: set[bytes] = set()
    twins = 0
    for unit in units_of([folder]):
        if isinstance(unit, Unusable):
            tally.refuse(unit)
            continue
        reader = _Reader()
        sources |= {_source(str(file), folder) for file in unit}
        for graded in grade(reader.read(unit), grader):
            tally.count({sort_of(graded): 1})
            tally.add(graded, None)
            if graded.wire is None:
                continue
            note = reader.notes[graded.file, graded.position]
            if graded.outcome == "graded":
                twins += note.body in seen
                seen.add(note.body)
                _add(samples.setdefault(Where(graded.endpoint, graded.wire), Sample()), graded, note, folder)
            for rule in {finding.rule for finding in graded.findings}:
                _date(shown.setdefault((rule, graded.endpoint, graded.wire), Shown()), note.day)
        for refused in reader.refused:
            if (other := foreign(refused)) is not None:
                tally.count({sort_of(other): 1})
            else:
                tally.refuse(refused)
        tally.files += len(unit)
    for at, one in shown.items():
        one.later = _later(at, one, samples)
    return FieldNotes(summary(tally, grader, interrupted=False), samples, shown, len(sources), twins)


def _add(sample: Sample, graded: Graded, note: _Note, folder: Path) -> None:
    from conformance.grade.tally import sort_of

    sample.graded += 1
    sample.streams += note.streamed
    sample.alone += note.alone
    sample.by_folder += graded.told_by not in ("address", "headers", "answer")
    sample.sources.add(_source(graded.file, folder))
    sample.models.add(graded.model)
    sample.fidelity[graded.fidelity] += 1
    if note.day is not None:
        sample.sorts.setdefault(note.day, Counter())[sort_of(graded)] += 1


def _date(shown: Shown, day: str | None) -> None:
    if day is None:
        shown.undated += 1
    else:
        shown.days.append(day)


def _later(at: At, shown: Shown, samples: Mapping[Where, Sample]) -> int:
    """On how many exchanges a rule was judged that were recorded after the last in which it does not hold."""
    from conformance.grade.looked_at import looks_at
    from conformance.grade.tally import unjudged
    from conformance.rules import rule_of

    rule = rule_of(at[0])
    sample = next((one for where, one in samples.items() if where == at[1:]), None)
    if sample is None or not shown.days:
        return 0
    return sum(
        number
        for day, sorts in sample.sorts.items()
        for sort, number in sorts.items()
        if day > max(shown.days) and looks_at(rule) in sort.looked_at and not unjudged(rule, sort)
    )


def _source(file: str, folder: Path) -> str:
    return PurePath(file).relative_to(folder).parts[0]


def _note(recorded: Recorded) -> _Note:
    response = recorded.exchange.response
    alone = not (recorded.exchange.request.url or recorded.exchange.request.body)
    if response is None:
        return _Note(None, False, alone, b"")
    body = response.body
    streamed = body.startswith(b"[") or b"data:" in body[:_HEAD] or b"}\n{" in body[:_HEAD]
    day = sent_on(response) or (made_on(body) if "values" in recorded.kept else None)
    return _Note(day, streamed, alone, hashlib.sha256(body).digest())


@click.command("field-notes", hidden=True)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", default="docs/field-notes.md", show_default=True, type=click.Path(path_type=Path))
@clearly
def field_notes(folder: Path, out: Path) -> int:
    """Grade the recordings in FOLDER, a folder for each source in it, and write what they show."""
    out.write_text(fresh(folder), "utf-8")
    click.echo(f"{out}")
    return 0


def fresh(folder: Path) -> str:
    """The page under ``docs/``. What the quirks' catalogue has on a provider is told apart."""
    from conformance.cli.field_notes_page import page
    from conformance.grade.grading import Grader
    from conformance.quirks import catalogue

    grader = Grader(quirks=tuple(catalogue().values()), by_provider=True)
    return page(take_notes(folder, grader))

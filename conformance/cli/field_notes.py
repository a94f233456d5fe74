"""``conformance field-notes``: what recordings show about real providers, and how many stand behind it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance.cli.failing import clearly
from conformance.types import HttpResponse, WireName

if TYPE_CHECKING:
    from conformance.grade.grading import Graded, Grader
    from conformance.grade.recorded import Recorded, Unusable

FIRST_YEAR = 2022
"""A time before is none: recorders that scrub write 0."""

_CREATED = ("created", "created_at", "createTime")
"""Members that tell when an answer was made, on whatever wire; of a Responses stream in ``response``."""

_HEAD = 64 * 1024  # bytes of a body in which the time is looked for


class Where(NamedTuple):
    """A provider's endpoints of one wire."""

    provider: str
    wire: WireName


@dataclass(slots=True)
class Sample:
    """What the graded exchanges of a provider over a wire are, beside their verdicts."""

    graded: int = 0
    streams: int = 0
    sources: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    fidelity: Counter[str] = field(default_factory=Counter)
    days: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FieldNotes:
    """Everything that the page tells. ``summary`` is the counts of ``grade --json``; ``twins`` are graded
    exchanges whose answer has the bytes of one before.
    """

    summary: Mapping[str, Any]
    samples: Mapping[Where, Sample]
    sources: int
    twins: int


@dataclass(frozen=True, slots=True)
class _Note:
    day: str | None
    streamed: bool
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
            if graded.outcome == "graded" and graded.wire is not None:
                note = reader.notes[graded.file, graded.position]
                twins += note.body in seen
                seen.add(note.body)
                _add(samples.setdefault(Where(graded.endpoint, graded.wire), Sample()), graded, note, folder)
        for refused in reader.refused:
            if (other := foreign(refused)) is not None:
                tally.count({sort_of(other): 1})
            else:
                tally.refuse(refused)
        tally.files += len(unit)
    return FieldNotes(summary(tally, grader, interrupted=False), samples, len(sources), twins)


def _add(sample: Sample, graded: Graded, note: _Note, folder: Path) -> None:
    sample.graded += 1
    sample.streams += note.streamed
    sample.sources.add(_source(graded.file, folder))
    sample.models.add(graded.model)
    sample.fidelity[graded.fidelity] += 1
    if note.day is not None:
        sample.days.append(note.day)


def _source(file: str, folder: Path) -> str:
    return PurePath(file).relative_to(folder).parts[0]


def _note(recorded: Recorded) -> _Note:
    response = recorded.exchange.response
    if response is None:
        return _Note(None, False, b"")
    body = response.body
    streamed = body.startswith(b"[") or b"data:" in body[:_HEAD] or b"}\n{" in body[:_HEAD]
    day = _sent(response) or (_made(body) if "values" in recorded.kept else None)
    return _Note(day, streamed, hashlib.sha256(body).digest())


def _sent(response: HttpResponse) -> str | None:
    """The day on which an answer was sent, by its ``Date``."""
    try:
        return _day(parsedate_to_datetime(response.header("date") or ""))
    except (ValueError, OverflowError):
        return None


def _made(body: bytes) -> str | None:
    """The day on which an answer was made, by what it says itself."""
    for line in body[:_HEAD].splitlines() if b"data:" in body[:_HEAD] else (body,):
        try:
            value = json.loads(line.removeprefix(b"data:"))
        except (ValueError, RecursionError):
            continue
        value = value[0] if isinstance(value, list) and value else value
        value = value.get("response", value) if isinstance(value, dict) else {}
        times = [value.get(name) for name in _CREATED] if isinstance(value, dict) else []
        if (day := next(filter(None, map(_told, times)), None)) is not None:
            return day
    return None


def _told(time: Any) -> str | None:
    try:
        if isinstance(time, str):
            return _day(datetime.fromisoformat(time))
        return _day(datetime.fromtimestamp(time, UTC)) if type(time) in (int, float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _day(time: datetime) -> str | None:
    return time.date().isoformat() if time.year >= FIRST_YEAR else None


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

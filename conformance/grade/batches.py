"""All exchanges below some paths, graded: in this process or in several, in the same order."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.grade.files import exchanges_of, recordings
from conformance.grade.grading import Graded, Grader, foreign, grade
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.tally import Sort, sort_of
from conformance.types import Exchange

MAX_FILES = 64
"""Files of one folder that are graded together: no conversation leaves them, however many processes work."""

_BATCH = 256

Show = Callable[[Exchange], Mapping[str, Any]]
"""What may be shown of an exchange: redacted, capped."""


@dataclass(slots=True)
class Batch:
    """Some graded exchanges. ``entries`` are those of which something is to be said, ``sorts`` counts all.

    ``files`` is how many files ended with this batch. With an entry comes what may be shown of its exchange,
    for the first exchanges that break a rule.
    """

    entries: list[tuple[Graded, Mapping[str, Any] | None]] = field(default_factory=list)
    sorts: Counter[Sort] = field(default_factory=Counter)
    unusable: list[Unusable] = field(default_factory=list)
    files: int = 0


@dataclass(slots=True)
class Worker:
    """Grades units of files; remembers which deviations it has shown already."""

    grader: Grader
    show: Show
    _shown: set[tuple[str, str]] = field(default_factory=set)

    def batches(self, unit: Sequence[Path]) -> Iterator[Batch]:
        """The exchanges of some files of one folder."""
        refused: list[Unusable] = []
        batch = Batch()
        for graded in self._graded(unit, refused):
            batch.sorts[sort_of(graded)] += 1
            if graded.findings or graded.outcome != "graded":
                batch.entries.append((replace(graded, shown=None), self._evidence(graded)))
            if len(batch.entries) >= _BATCH:
                yield batch
                batch = Batch()
        batch.unusable, batch.files = refused, len(unit)
        yield batch

    def _graded(self, unit: Sequence[Path], refused: list[Unusable]) -> Iterator[Graded]:
        others: list[Graded] = []
        yield from grade(_usable(unit, refused, others), self.grader)
        yield from others

    def _evidence(self, graded: Graded) -> Mapping[str, Any] | None:
        fresh = {(finding.rule, graded.endpoint) for finding in graded.findings} - self._shown
        if not fresh or graded.shown is None:
            return None
        self._shown |= fresh
        return self.show(graded.shown)


def units_of(paths: Iterable[Path]) -> Iterator[tuple[Path, ...] | Unusable]:
    """The files at or below the paths, in runs of one folder."""
    for path in paths:
        for folder, found in groupby(recordings(path), lambda one: getattr(one, "parent", None)):
            files = list(found)
            if folder is None:
                yield from (one for one in files if isinstance(one, Unusable))
                continue
            named = [one for one in files if isinstance(one, Path)]
            yield from (tuple(named[at : at + MAX_FILES]) for at in range(0, len(named), MAX_FILES))


def graded_batches(
    units: Sequence[Sequence[Path]], grader: Grader, show: Show, processes: int = 1
) -> Iterator[Batch]:
    """What comes of all units, in their order.

    One process holds no more than what a conversation may still continue. Several hold the batches of the
    units that they are at.
    """
    if processes <= 1 or len(units) <= 1:
        worker = Worker(grader, show)
        for unit in units:
            yield from worker.batches(unit)
        return
    with multiprocessing.Pool(min(processes, len(units)), _start, (grader, show)) as pool:
        for batches in pool.imap(_work, units):
            yield from batches


_WORKER: list[Worker] = []


def _start(grader: Grader, show: Show) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked decides
    _WORKER[:] = [Worker(grader, show)]


def _work(unit: Sequence[Path]) -> list[Batch]:
    return list(_WORKER[0].batches(unit))


def _usable(unit: Sequence[Path], refused: list[Unusable], others: list[Graded]) -> Iterator[Recorded]:
    for path in unit:
        for one in exchanges_of(path):
            if isinstance(one, Recorded):
                yield one
            elif (other := foreign(one)) is not None:
                others.append(other)
            else:
                refused.append(one)

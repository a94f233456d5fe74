"""One pass over recordings: what comes of each exchange goes to the counts, the files, the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from conformance.engine.evidence import evidence
from conformance.grade.baseline import Baseline
from conformance.grade.batches import Batch, graded_batches, units_of
from conformance.grade.document import DocumentWriter
from conformance.grade.grading import Graded, Grader
from conformance.grade.recorded import Unusable
from conformance.grade.sarif import SarifLog
from conformance.grade.tally import Tally
from conformance.transport.redact import Redactor
from conformance.types import Exchange

_EVERY = 500
"""Where there is no terminal, a line is told after as many files."""


@dataclass(slots=True)
class GradedRun:
    """Where graded exchanges go, in one pass."""

    grader: Grader
    known: Baseline | None
    sarif: SarifLog | None
    document: DocumentWriter | None
    tally: Tally = field(default_factory=Tally)
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many exchanges of a file break a rule that counts and that no quirk explains."""

    def all(self, paths: Sequence[Path], processes: int, errors: Console, quiet: bool) -> bool:
        """Grade everything; True when that was interrupted."""
        units: list[tuple[Path, ...]] = []
        try:
            for unit in units_of(paths):
                if isinstance(unit, Unusable):
                    self.tally.refuse(unit)
                else:
                    units.append(unit)
            total = sum(map(len, units))
            with _progress(total, errors, quiet) as advance:
                for batch in graded_batches(units, self.grader, shown, processes):
                    self.take(batch)
                    advance(batch.files, self.tally)
        except KeyboardInterrupt:
            return True
        return False

    def take(self, batch: Batch) -> None:
        """Count a batch and pass it on."""
        self.tally.count(batch.sorts)
        self.tally.files += batch.files
        for unusable in batch.unusable:
            self.tally.refuse(unusable)
        for one, proof in batch.entries:
            graded = self.known.mark(one) if self.known is not None else one
            self._count(graded)
            self.tally.add(graded, proof)
            if self.sarif is not None:
                self.sarif.add(graded)
            if self.document is not None:
                self.document.exchange(graded)

    def _count(self, graded: Graded) -> None:
        counting = {f.rule for f in graded.findings if f.level != "MAY" and f.quirk is None}
        self.counted.update((graded.file, rule) for rule in counting)


def shown(exchange: Exchange) -> Mapping[str, Any]:
    """What reports may show of an exchange: redacted, capped."""
    return evidence((exchange,), Redactor(()), ("", ""))[0]


@contextmanager
def _progress(total: int, console: Console, quiet: bool) -> Iterator[Callable[[int, Tally], None]]:
    """A live bar on a terminal, a line now and then otherwise, nothing where it is to be quiet."""
    if quiet or not console.is_terminal:
        done = 0

        def tell(files: int, tally: Tally) -> None:
            nonlocal done
            before, done = done, done + files
            if not quiet and done // _EVERY > before // _EVERY:
                line = f"{done:,} of {total:,} files, {sum(tally.outcomes.values()):,} exchanges"
                console.print(line, markup=False, highlight=False)

        yield tell
        return
    with Progress(
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        console=console,
        transient=True,
    ) as bars:
        task = bars.add_task("grading", total=total, said="")

        def show(files: int, tally: Tally) -> None:
            bars.update(task, advance=files, said=f"{sum(tally.outcomes.values()):,} exchanges")

        yield show

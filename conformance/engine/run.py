"""One run from options to `Matrix`, with pytest as the engine."""

from __future__ import annotations

import contextlib
import datetime
import io
import json
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from conformance import __version__
from conformance.engine import exchange_log
from conformance.engine.acquire import OnCell
from conformance.engine.adapted import declared_quirks
from conformance.engine.errors import EngineError
from conformance.engine.options import Options, Selection, select
from conformance.engine.plugin import ACQUIRER, CELL_ATTRIBUTE, INTERRUPTED, NOTES_KEY, ON_CELL
from conformance.engine.sources import row_of, source_of
from conformance.judge import mark_stale, readings
from conformance.known import Known, apply_known
from conformance.report.jsonfile import cell_from_json
from conformance.types import JUDGED, Cell, Matrix, ScenarioRow


@dataclass(frozen=True, slots=True)
class Outcome:
    """The matrix of a run, and whether it was interrupted before its end."""

    matrix: Matrix
    interrupted: bool


class Recorder:
    """A pytest plugin object that gathers cells and notes from this process or from workers."""

    def __init__(self, on_cell: OnCell | None, interrupted: threading.Event) -> None:
        self.cells: dict[tuple[str, str], Cell] = {}
        self.notes: list[str] = []
        self.failures: list[str] = []
        self._on_cell = on_cell
        self._interrupted = interrupted
        self._distributed = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """In a single process cells are announced as they finish, not as pytest reports them."""
        config.stash[INTERRUPTED] = self._interrupted
        self._distributed = bool(getattr(config.option, "numprocesses", None))
        if self._on_cell is not None and not self._distributed:
            config.stash[ON_CELL] = self._on_cell

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the cell that a report carries."""
        text = getattr(report, CELL_ATTRIBUTE, None)
        if text is not None:
            self._take(cell_from_json(json.loads(text)))
        elif report.failed:
            self.failures.append(report.longreprtext)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the notes that a worker leaves when it ends."""
        self.notes += getattr(node, "workeroutput", {}).get(NOTES_KEY, [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Take what is finished and was not reported (after an interruption), and the notes."""
        acquirer = session.config.stash.get(ACQUIRER, None)
        if acquirer is not None:
            for cell in acquirer.finished():
                self.cells.setdefault((cell.endpoint, cell.scenario), cell)
            self.notes += acquirer.notes

    def _take(self, cell: Cell) -> None:
        self.cells[cell.endpoint, cell.scenario] = cell
        if self._distributed and self._on_cell is not None:
            self._on_cell(cell.endpoint, cell.scenario, cell.verdict)


def run(
    options: Options,
    *,
    workers: int = 0,
    known: Sequence[Known] = (),
    on_cell: OnCell | None = None,
    command: str = "conformance run",
) -> Outcome:
    """Run the selected scenarios against the selected endpoints.

    Raises `ConfigError` before anything is sent when a name or the file is wrong, and `EngineError` when
    pytest fails for another reason than findings.
    """
    selection = select(options)
    if options.exchanges is not None:
        exchange_log.begin(Path(options.exchanges))
    started = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    interrupted = threading.Event()
    recorder = Recorder(on_cell, interrupted)
    output = io.StringIO()
    arguments = [
        str(Path(options.config).resolve()),
        "-p", "conformance.engine.plugin",
        "-p", "no:cacheprovider",
        "-c", os.devnull,
        "--rootdir", str(Path(options.config).resolve().parent),
        "--disable-plugin-autoload",
        "--noconftest",
        "--capture=no",
        "--conformance-options", options.to_json(),
    ]  # fmt: skip
    if workers:
        arguments += ["-p", "xdist.plugin", "-n", str(workers)]
    with _no_pytest_environment(), _noting_interrupts(interrupted), contextlib.redirect_stdout(output):
        code = pytest.main(arguments, plugins=[recorder])
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        raise EngineError(output.getvalue())
    if recorder.failures and not interrupted.is_set():
        raise EngineError(recorder.failures[0])
    matrix = assemble(options, selection, recorder.cells, recorder.notes, known, started, command)
    return Outcome(matrix, interrupted=interrupted.is_set() or code == pytest.ExitCode.INTERRUPTED)


def assemble(
    options: Options,
    selection: Selection,
    cells: dict[tuple[str, str], Cell],
    notes: Sequence[str],
    known: Sequence[Known],
    started: datetime.datetime,
    command: str,
) -> Matrix:
    """The matrix of the cells, in the order of configuration and scenarios."""
    rows = [row_of(endpoint, source_of(endpoint, options)) for endpoint in selection.endpoints]
    gathered: list[Cell] = []
    remarks = list(notes)
    for endpoint in selection.endpoints:
        own = [cells[endpoint.name, s.id] for s in selection.scenarios if (endpoint.name, s.id) in cells]
        once = options.adapted or not endpoint.asks_both_ways
        shown = [q for q in declared_quirks(endpoint, options) if not (once and q.shows_asked_twice)]
        flagged, stale = mark_stale(own, shown)
        gathered += flagged
        remarks += stale
    marked, expired = apply_known(gathered, known, started.date())
    return Matrix(
        suite={
            "name": "llm-wire-conformance",
            "version": __version__,
            "generated": started.isoformat(),
            "command": command,
            "rulebook": options.rulebook,
        },
        endpoints=tuple(rows),
        scenarios=tuple(ScenarioRow(s.id, s.title, s.chapter) for s in selection.scenarios),
        cells=marked,
        notes=(*remarks, *readings(marked), *expired),
    )


def exit_code(outcome: Outcome, asked_by_name: Sequence[str], min_judged: float = 0.0) -> int:
    """What scripts can trust.

    0: no violation. 1: violations (not counting known ones). 3: something asked for could not be judged:
    an ``error`` cell, an endpoint named on the command line that did not run, nothing judged at all, or
    less than ``min_judged`` percent. 130: interrupted. 1 beats 3; 2 (usage) is raised elsewhere.
    """
    if outcome.interrupted:
        return 130
    cells = outcome.matrix.cells
    if any(cell.verdict == "violates" and "known" not in cell.flags for cell in cells):
        return 1
    not_run = {row.name for row in outcome.matrix.endpoints if row.status == "not-run"}
    judged = sum(cell.verdict in JUDGED for cell in cells)
    if (
        not judged
        or any(cell.verdict == "error" for cell in cells)
        or not_run.intersection(asked_by_name)
        or 100 * judged < min_judged * len(cells)
    ):
        return 3
    return 0


@contextlib.contextmanager
def _noting_interrupts(interrupted: threading.Event) -> Iterator[None]:
    """Set the event on Ctrl-C and SIGTERM, and interrupt. Only the main thread may handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _no_pytest_environment() -> Iterator[None]:
    """The caller's PYTEST_* variables are about their own tests, not about this run."""
    saved = {k: os.environ.pop(k) for k in list(os.environ) if k.startswith("PYTEST_")}
    try:
        yield
    finally:
        os.environ.update(saved)

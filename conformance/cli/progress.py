"""Progress while a run is under way: a live display on a terminal, plain lines otherwise."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from conformance.types import EndpointRow, VerdictName

BAD: frozenset[VerdictName] = frozenset({"violates", "error"})


class RunProgress:
    """Shows endpoints x scenarios as they finish; called from the engine's background thread."""

    def __init__(self, rows: Sequence[EndpointRow], scenarios: int, console: Console, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._lock = threading.Lock()
        self._total = {row.name: scenarios for row in rows if row.status == "run"}
        self._done = dict.fromkeys(self._total, 0)
        self._bad = dict.fromkeys(self._total, 0)
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> RunProgress:
        if not self._quiet and self._console.is_terminal:
            self._bars = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[said]}"),
                console=self._console,
                transient=True,
            )
            for name, total in self._total.items():
                self._tasks[name] = self._bars.add_task(name, total=total, said="")
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def on_cell(self, endpoint: str, _scenario: str, verdict: VerdictName) -> None:
        """Count a finished cell; when it was the endpoint's last, say so."""
        with self._lock:
            self._done[endpoint] += 1
            self._bad[endpoint] += verdict in BAD
            done, total, bad = self._done[endpoint], self._total[endpoint], self._bad[endpoint]
        said = f"{bad} bad" if bad else ""
        if self._bars is not None:
            self._bars.update(self._tasks[endpoint], completed=done, said=said)
        elif not self._quiet and done == total:
            line = f"{endpoint}: {done}/{total} scenarios" + (f", {said}" if said else "")
            self._console.print(line, markup=False, highlight=False)

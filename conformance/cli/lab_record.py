"""``conformance lab record``: a server recorded again, and what differs from the recording before."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.run import command_line

if TYPE_CHECKING:
    from conformance.config import Endpoint
    from conformance.engine.options import RunMode
    from conformance.engine.run import Outcome
    from conformance.lab import Running
    from conformance.types import Matrix


AGAIN = 3
"""How often what could not be judged is asked again."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What to record and where the recordings lie; ``check`` only compares."""

    config: Path
    cassettes: Path
    endpoints: tuple[str, ...]
    scenarios: tuple[str, ...]
    check: bool

    def of(self, server: Running) -> int:
        """Record a running server's rows, print the difference, keep the new recording unless checking.

        Returns the exit code: 1 where a check differs, 3 where a cell could not be judged, 130 where it was
        interrupted. A cell that could not be judged keeps its old recording.
        """
        from conformance.lab import keys_of, recipes, to_yaml
        from conformance.report.difference import difference
        from conformance.report.difference_text import to_text

        recipe = recipes()[server.name]
        rows = self._rows(server)
        folder = self.cassettes
        with tempfile.TemporaryDirectory() as scratch, _environ(keys_of(recipe)):
            config = Path(scratch) / "providers.yaml"
            config.write_text(to_yaml(rows), "utf-8")
            fresh = Path(scratch) / "cassettes"
            old = self._run(config, "replay", folder)
            new = self.complete(self._run(config, "record", fresh), config, fresh)
            found = difference(old.matrix, new.matrix)
            click.echo(to_text(found))
            unjudged = [cell for cell in new.matrix.cells if cell.verdict == "error"]
            for cell in unjudged:
                click.echo(f"{cell.endpoint}: {cell.scenario} could not be judged: {cell.reason}", err=True)
            if not self.check:
                kept = keep(new.matrix, fresh, folder)
                click.echo(f"{server.server}: {kept} cassettes written to {folder}")
            if new.interrupted or old.interrupted:
                return 130
        if self.check and (found.regressed("SHOULD") or found.of("fix") or found.of("lost")):
            return 1
        return 3 if unjudged else 0

    def _rows(self, server: Running) -> Sequence[Endpoint]:
        from conformance import config
        from conformance.lab import endpoints_of, recipes

        configured = config.load(self.config) if self.config.exists() else ()
        recipe = recipes()[server.name]
        ports = {**server.ports, server.name: server.port}
        rows = endpoints_of(recipe, configured, ports, server.dialect or None)
        known = [row.name for row in rows]
        for name in self.endpoints:
            if name not in known:
                raise config.ConfigError(f"--endpoint {name}: {server.name} has the rows {', '.join(known)}")
        return [row for row in rows if not self.endpoints or row.name in self.endpoints]

    def _run(
        self,
        config: Path,
        mode: RunMode,
        cassettes: Path,
        endpoints: tuple[str, ...] = (),
        scenarios: tuple[str, ...] | None = None,
    ) -> Outcome:
        from conformance.engine.options import Options
        from conformance.engine.run import run

        options = Options(
            config=str(config),
            mode=mode,
            endpoints=endpoints,
            scenarios=self.scenarios if scenarios is None else scenarios,
            cassettes=str(cassettes.resolve()),
        )
        return run(options, command=command_line())

    def complete(self, first: Outcome, config: Path, fresh: Path) -> Outcome:
        """Ask again what could not be judged: by chance a gateway meets connections that were closed."""
        outcome = first
        for _ in range(AGAIN):
            unjudged: dict[str, list[str]] = {}
            for cell in outcome.matrix.cells:
                if cell.verdict == "error":
                    unjudged.setdefault(cell.endpoint, []).append(cell.scenario)
            for endpoint, scenarios in unjudged.items():
                if outcome.interrupted:
                    return outcome
                click.echo(f"{endpoint}: asked again, as it could not be judged: {', '.join(scenarios)}")
                again = self._run(config, "record", fresh, (endpoint,), tuple(scenarios))
                outcome = _joined(outcome, again)
        # Asked alone a cell has no row beside it, and no others that show its quirks: the recording has all.
        return outcome if outcome is first else _joined(outcome, self._run(config, "replay", fresh))


def _joined(outcome: Outcome, again: Outcome) -> Outcome:
    """The outcome with those cells of another that could be judged."""
    judged = {(c.endpoint, c.scenario): c for c in again.matrix.cells if c.verdict != "error"}
    cells = tuple(judged.get((cell.endpoint, cell.scenario), cell) for cell in outcome.matrix.cells)
    interrupted = outcome.interrupted or again.interrupted
    return replace(outcome, matrix=replace(outcome.matrix, cells=cells), interrupted=interrupted)


def keep(matrix: Matrix, fresh: Path, folder: Path) -> int:
    """Put the fresh cassettes of the cells that were judged in the place of the old; how many."""
    kept = 0
    for cell in matrix.cells:
        source = fresh / cell.endpoint / f"{cell.scenario}.yaml"
        if cell.verdict == "error" or not source.is_file():
            continue
        target = folder / cell.endpoint / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.part")
        shutil.copyfile(source, unfinished)
        unfinished.replace(target)
        kept += 1
    return kept


@contextlib.contextmanager
def _environ(values: dict[str, str]) -> Iterator[None]:
    """Have these variables set for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

"""``conformance run``."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from conformance.cli.diff import read_matrix
from conformance.cli.failing import clearly
from conformance.cli.options import (
    CASSETTES,
    INTRUSIVE,
    KNOWN,
    MATRIX_AS_JSON,
    MIN_JUDGED,
    RULEBOOK,
    RULES,
    SCENARIOS,
    VERBOSE,
)

if TYPE_CHECKING:
    from conformance.types import Basis, Matrix, Rulebook

HELP = """Run the scenarios against the endpoints of providers.yaml and write the compatibility matrix.

By default nothing touches the network: endpoints with recordings are replayed from their cassettes, and the
embedded reference endpoint (a simulator) is run. --live asks the endpoints themselves, --record does the same
and keeps the answers as cassettes.

\b
Examples:
  conformance run
  conformance run --endpoint llamacpp --scenario 'tools.*' -v
  GROQ_API_KEY=... conformance run --record --endpoint groq
  conformance run --json | jq '.cells[] | select(.verdict == "violates")'
"""


@click.command(help=HELP)
@click.option("--config", "config", default="providers.yaml", show_default=True, help="Configuration file.")
@click.option(
    "--endpoint", "endpoints", multiple=True, metavar="NAME", help="Only this endpoint (repeatable)."
)
@SCENARIOS
@RULES
@click.option(
    "--replay", "mode", flag_value="replay", default="replay", help="Cassettes and simulator (default)."
)
@click.option("--live", "mode", flag_value="live", help="Ask the endpoints over the network.")
@click.option("--record", "mode", flag_value="record", help="Like --live, and keep the answers as cassettes.")
@click.option(
    "-n", "workers", type=click.IntRange(0), default=0, metavar="N", help="Spread endpoints over N processes."
)
@click.option("--out", default="reports/latest", show_default=True, metavar="DIR", help="Where reports go.")
@MATRIX_AS_JSON
@CASSETTES
@click.option(
    "--exchanges", default=None, metavar="FILE", help="Write every exchange, redacted, as a line of JSON."
)
@KNOWN
@click.option(
    "--baseline",
    default=None,
    metavar="FILE",
    help="A former matrix.json: tell what changed; exit 1 only for a MUST rule that held there.",
)
@RULEBOOK
@click.option(
    "--basis",
    "bases",
    multiple=True,
    type=click.Choice(["schema", "prose", "spec", "sdk", "derived", "convention"]),
    help="Only rules on this basis (repeatable).",
)
@MIN_JUDGED
@click.option(
    "--adapted",
    is_flag=True,
    help="Run every cell through its endpoint's profile, with retries and fallback.",
)
@INTRUSIVE
@click.option("--policies", is_flag=True, help="Show what policies were observed, aspect by aspect.")
@VERBOSE
@clearly
def run(
    config: str,
    endpoints: tuple[str, ...],
    scenarios: tuple[str, ...],
    rules: tuple[str, ...],
    mode: str,
    workers: int,
    out: str,
    as_json: bool,
    cassettes: str | None,
    exchanges: str | None,
    known: str | None,
    baseline: str | None,
    rulebook: str,
    bases: tuple[str, ...],
    min_judged: float,
    adapted: bool,
    intrusive: bool,
    policies: bool,
    verbose: int,
) -> int:
    from rich.console import Console

    from conformance.cli.progress import RunProgress
    from conformance.engine.options import Options, RunMode, select
    from conformance.engine.run import exit_code
    from conformance.engine.run import run as run_engine
    from conformance.engine.sources import row_of, source_of
    from conformance.known import load_known
    from conformance.report import write_all
    from conformance.report.difference import difference, narrowed
    from conformance.report.difference_text import to_text
    from conformance.report.jsonfile import to_document
    from conformance.report.terminal import print_matrix

    options = Options(
        config=config,
        mode=cast("RunMode", mode),
        endpoints=endpoints,
        scenarios=scenarios,
        rules=rules,
        bases=cast("tuple[Basis, ...]", bases),
        rulebook=cast("Rulebook", rulebook),
        intrusive=intrusive,
        cassettes=cassettes,
        exchanges=str(Path(exchanges).resolve()) if exchanges else None,
        adapted=adapted,
    )
    entries = load_known(Path(known)) if known else ()
    former = read_matrix(Path(baseline)) if baseline else None
    selection = select(options)
    folder = Path(out)
    prepare(folder)
    rows = [row_of(endpoint, source_of(endpoint, options)) for endpoint in selection.endpoints]
    errors = Console(stderr=True)
    with RunProgress(rows, len(selection.scenarios), errors, quiet=as_json) as progress:
        outcome = run_engine(
            options, workers=workers, known=entries, on_cell=progress.on_cell, command=command_line()
        )
    matrix = outcome.matrix
    write_all(matrix, folder)
    code = exit_code(outcome, endpoints, min_judged)
    console = errors if as_json else Console()
    with reader_may_leave():
        if as_json:
            click.echo(json.dumps(to_document(matrix), ensure_ascii=False, indent=1))
        print_matrix(matrix, console, verbose=bool(verbose), policies=policies)
        print_drill_down(matrix, console, verbose)
        console.print(f"written: {folder}/", markup=False, highlight=False)
        if former is not None:
            part = endpoints or scenarios
            changed = difference(narrowed(former, matrix) if part else former, matrix)
            console.print(f"\nSince {baseline}:\n{to_text(changed)}", markup=False, highlight=False)
            code = 1 if changed.regressed() else 0 if code == 1 else code
    return code


def prepare(folder: Path) -> None:
    """Make the folder that reports go to, before anything is sent. Raises `ConfigError`."""
    from conformance.config import ConfigError

    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"--out {folder}: can't be written to: {error.strerror}") from None


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """Printing into a pipe that closes (``| head``) ends the printing, never the verdict.

    rich exits with 1 there, which would mean violations.
    """
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # What is still buffered must not fail again when Python flushes it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_drill_down(matrix: Matrix, console: object, verbose: int) -> None:
    """With ``-v`` the exchanges of the cells that have findings, with ``-vv`` of all."""
    from rich.console import Console

    from conformance.report.terminal import print_cell

    assert isinstance(console, Console)
    for cell in matrix.cells:
        if verbose > 1 or (
            verbose and (cell.findings or cell.verdict in ("error", "inconclusive", "refused"))
        ):
            print_cell(matrix, cell.endpoint, cell.scenario, console)


def command_line() -> str:
    """How this command was called, without the path of the program."""
    return shlex.join(["conformance", *sys.argv[1:]])

"""``conformance grade``."""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from conformance.cli.failing import clearly
from conformance.cli.options import RULEBOOK
from conformance.types import WIRES

if TYPE_CHECKING:
    from conformance.cli.graded_run import GradedRun
    from conformance.grade.baseline import Baseline
    from conformance.grade.tally import Tally
    from conformance.quirks import Quirk
    from conformance.types import Level, Rulebook, WireName

_FEW = 3
_PATH = click.Path(path_type=Path)

HELP = """Judge recorded traffic: cassettes, HAR files, logs. No keys, no network.

PATH is a recording or a folder of recordings, in any of the formats that people have (vcrpy, Ruby and Go VCR,
HAR, JSONL of exchanges, event dumps, results of batches and more, gzipped or not): told by content, not by
name. Each exchange is recognised (wire, provider, model) and judged by the rules of its wire, as far as the
recording is evidence: a rule that needs what the recorder did not keep (headers, the stream's own lines, ids)
is not judged there. Of an error for quota, load or credentials only the form is judged.

\b
Examples:
  conformance grade tests/cassettes
  conformance grade logs/ --rule 'chat.stream.*' --level MUST -v
  conformance grade tests/cassettes --write-baseline conformance-baseline.json
  conformance grade tests/cassettes --baseline conformance-baseline.json --sarif conformance.sarif
  conformance grade gateway.jsonl.gz --endpoint my-gateway --json | jq '.deviations'

Findings are the endpoint's fault, but for rules client.*, which judge what a client sent: tool results that
answer no call, calls left unanswered, arguments or signed reasoning changed on their way back.

\b
Exit codes:
  0    nothing of --fail-on's level is broken that no quirk and no baseline explains
  1    something is
  2    usage or configuration error
  3    nothing could be judged, or a PATH could not be read
  130  interrupted; what was finished is told
"""


@click.command(help=HELP)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=_PATH)
@click.option("--rule", "rules", multiple=True, metavar="GLOB", help="Only rules like this (repeatable).")
@click.option(
    "--level",
    type=click.Choice(["MUST", "SHOULD", "MAY"]),
    default="MAY",
    help="Only rules of this level or graver.",
)
@RULEBOOK
@click.option(
    "--fail-on",
    type=click.Choice(["MUST", "SHOULD", "never"]),
    default="MUST",
    show_default=True,
    help="What makes the exit code 1.",
)
@click.option(
    "--quirks",
    "quirks",
    multiple=True,
    metavar="IDS",
    help="Quirks that are declared, comma-separated; all: whatever the catalogue has on the provider.",
)
@click.option(
    "--suggest-quirks",
    "suggest",
    default=None,
    metavar="FILE",
    type=_PATH,
    help="Write draft entries for deviations that repeat.",
)
@click.option(
    "--baseline",
    default=None,
    metavar="FILE",
    type=_PATH,
    help="Findings that are known: only new ones fail.",
)
@click.option(
    "--write-baseline",
    "write_to",
    default=None,
    metavar="FILE",
    type=_PATH,
    help="Write today's findings as the baseline.",
)
@click.option(
    "--wire", type=click.Choice(WIRES), default=None, help="All exchanges go over this wire [default: told]."
)
@click.option("--endpoint", default=None, metavar="NAME", help="All exchanges are with this endpoint.")
@click.option(
    "-n", "processes", type=click.IntRange(1), default=1, metavar="N", help="Spread files over N processes."
)
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout (conformance schema grading).")
@click.option(
    "--sarif",
    "sarif_to",
    default=None,
    metavar="FILE",
    type=_PATH,
    help="Findings for code hosts, as SARIF 2.1.0.",
)
@click.option(
    "--out",
    default=None,
    metavar="DIR",
    type=_PATH,
    help="The reports that run writes, endpoint x chapter of rules.",
)
@click.option("-v", "--verbose", count=True, help="More places of each deviation, MAY rules, every reason.")
@clearly
def grade(
    paths: tuple[Path, ...],
    rules: tuple[str, ...],
    level: str,
    rulebook: str,
    fail_on: str,
    quirks: tuple[str, ...],
    suggest: Path | None,
    baseline: Path | None,
    write_to: Path | None,
    wire: str | None,
    endpoint: str | None,
    processes: int,
    as_json: bool,
    sarif_to: Path | None,
    out: Path | None,
    verbose: int,
) -> int:
    from rich.console import Console

    from conformance import __version__
    from conformance.cli.graded import print_graded
    from conformance.cli.graded_run import GradedRun
    from conformance.cli.run import reader_may_leave
    from conformance.grade.baseline import load_baseline
    from conformance.grade.document import DocumentWriter
    from conformance.grade.grading import Grader
    from conformance.grade.sarif import SarifLog

    declared, by_provider = _quirks(quirks)
    grader = Grader(
        rules=_rules(rules),
        level=cast("Level", level),
        rulebook=cast("Rulebook", rulebook),
        quirks=declared,
        by_provider=by_provider,
        wire=cast("WireName | None", wire),
        endpoint=endpoint,
    )
    known = load_baseline(baseline) if baseline else None
    _writable([path for path in (suggest, write_to, sarif_to) if path is not None])
    errors = Console(stderr=True)
    console = errors if as_json else Console()
    suite = {"name": "conformance", "version": __version__, "rulebook": rulebook}
    with reader_may_leave():
        run = GradedRun(
            grader,
            known,
            SarifLog(__version__) if sarif_to else None,
            DocumentWriter(sys.stdout, suite) if as_json else None,
        )
        interrupted = run.all(paths, processes, errors, quiet=as_json)
        if run.document is not None:
            run.document.end(run.tally, grader, interrupted)
        notes = _notes(known, paths, interrupted)
        print_graded(run.tally, grader, console, verbose, notes)
        written = _write(
            run,
            suite,
            notes,
            suggest=suggest,
            baseline=write_to,
            sarif=sarif_to,
            out=out,
            interrupted=interrupted,
        )
        for path, but in written:
            console.print(f"written: {path}{f' ({but})' if but else ''}", markup=False, highlight=False)
    if interrupted:
        return 130
    return _exit_code(run.tally, fail_on, paths)


def _quirks(words: Sequence[str]) -> tuple[tuple[Quirk, ...], bool]:
    """The declared quirks, and whether they are those that the catalogue has on each provider."""
    from conformance.config import ConfigError, did_you_mean
    from conformance.quirks import catalogue

    known = catalogue()
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    if "all" in names:
        return tuple(known.values()), True
    for name in names:
        if name not in known:
            raise ConfigError(f"--quirks: no quirk {name}{did_you_mean(name, known)}")
    return tuple(known[name] for name in names), False


def _rules(patterns: Sequence[str]) -> frozenset[str] | None:
    from conformance.config import ConfigError, did_you_mean
    from conformance.rules import RULES

    if not patterns:
        return None
    found: set[str] = set()
    for pattern in patterns:
        named = {rule for rule in RULES if fnmatchcase(rule, pattern)}
        if not named:
            raise ConfigError(f"--rule: no rule is like {pattern}{did_you_mean(pattern, RULES)}")
        found |= named
    return frozenset(found)


def _writable(paths: Sequence[Path]) -> None:
    """Make the folders that files go to, before anything is graded. Raises `ConfigError`."""
    from conformance.config import ConfigError

    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            is_new = not path.exists()
            with path.open("a"):
                pass
            if is_new:  # an interrupted run leaves no empty one
                path.unlink()
        except OSError as error:
            raise ConfigError(f"{path}: can't be written to: {error.strerror}") from None


def _notes(known: Baseline | None, paths: Sequence[Path], interrupted: bool) -> tuple[str, ...]:
    notes = ["interrupted: only a part was graded, and no baseline is written"] if interrupted else []
    if known is not None and not interrupted:
        gone = [f"{file}: {rule} ({n} fewer)" for file, rule, n in known.gone(paths)]
        more = f" and {len(gone) - _FEW:,} more" if len(gone) > _FEW else ""
        told = f"the baseline knows more than was found: {', '.join(gone[:_FEW])}{more}"
        notes += [f"{told}; write it again (--write-baseline) to keep it tight"] if gone else []
    return tuple(notes)


def _write(
    run: GradedRun,
    suite: Mapping[str, Any],
    notes: tuple[str, ...],
    *,
    suggest: Path | None,
    baseline: Path | None,
    sarif: Path | None,
    out: Path | None,
    interrupted: bool,
) -> Iterator[tuple[Path, str]]:
    """Write what was asked for, and say what that was and what it lacks."""
    from conformance.cli.graded_matrix import matrix_of
    from conformance.cli.run import prepare
    from conformance.grade.baseline import relative, write_baseline
    from conformance.grade.drafts import drafts, drafts_text
    from conformance.report import write_all

    if suggest is not None:
        entries = drafts(run.tally, datetime.date.today())
        suggest.write_text(drafts_text(entries), encoding="utf-8", errors="backslashreplace")
        yield suggest, "" if entries else "no deviation repeats"
    if baseline is not None and not interrupted:  # what was not reached would count as new ever after
        folder = baseline.parent
        counts = Counter({(relative(file, folder), rule): n for (file, rule), n in run.counted.items()})
        write_baseline(baseline, counts)
        yield baseline, ""
    if sarif is not None and run.sarif is not None:
        run.sarif.write(sarif, interrupted)
        yield sarif, run.sarif.left_out
    if out is not None:
        prepare(out)
        write_all(matrix_of(run.tally, run.grader, suite, notes), out)
        yield out, ""


def _exit_code(tally: Tally, fail_on: str, paths: Sequence[Path]) -> int:
    if fail_on != "never" and tally.open_at(cast("Level", fail_on)):
        return 1
    named = {str(path) for path in paths}
    lost = any(one.file in named and one.position is None for one in tally.unreadable)
    return 3 if lost or not tally.outcomes["graded"] else 0

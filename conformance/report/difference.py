"""What changed between two matrices: what broke, what was mended, what can no longer be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from conformance.types import JUDGED, Cell, EndpointRow, Finding, Level, Matrix, VerdictName

Kind = Literal["regression", "fix", "forgiven", "lost", "regained", "new", "gone", "stale"]
KINDS: Mapping[Kind, str] = {
    "regression": "a rule holds no longer",
    "fix": "a rule holds again",
    "forgiven": "a rule holds as little as before, but a quirk or a known finding says so now",
    "lost": "it was judged, and is not any more",
    "regained": "it was not judged, and is now",
    "new": "it was not there before",
    "gone": "it is not there any more",
    "stale": "a declared quirk shows no longer",
}
"""The kinds of change, with their meanings, in the order in which they are told."""

_Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One change at one endpoint, in all the scenarios where it shows.

    ``rule`` and ``level`` are those of a rule that broke or was mended, ``got`` what it found, in the matrix
    where it is broken. Any other change has the verdicts ``before`` and ``after``, and the ``reason`` why it
    is not judged. Where whole rows or columns are new or gone, ``scenarios`` is empty, or ``endpoint`` is.
    """

    kind: Kind
    endpoint: str
    scenarios: tuple[str, ...] = ()
    rule: str = ""
    level: Level | None = None
    message: str = ""
    got: str = ""
    before: VerdictName | None = None
    after: VerdictName | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """All changes from ``old`` to ``new``, by kind; ``compared`` counts the cells judged in both."""

    old: Matrix
    new: Matrix
    changes: tuple[Change, ...]
    compared: int

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """The changes of one kind."""
        return tuple(change for change in self.changes if change.kind == kind)

    def regressed(self, level: Literal["MUST", "SHOULD"] = "MUST") -> bool:
        """Whether a rule of that level, or a stronger one, broke."""
        counting = ("MUST",) if level == "MUST" else ("MUST", "SHOULD")
        return any(change.level in counting for change in self.of("regression"))


def difference(old: Matrix, new: Matrix) -> Difference:
    """What changed from ``old`` to ``new``.

    A rule that broke in a cell that was judged in both is a regression, one that was mended is a fix;
    findings that a declared quirk or a known finding forgives don't count. Cells are the same where endpoint,
    scenario and mode are.
    """
    before = {_key(cell): cell for cell in old.cells}
    after = {_key(cell): cell for cell in new.cells}
    both = [(before[key], after[key]) for key in after if key in before]
    judged = [(a, b) for a, b in both if a.verdict in JUDGED and b.verdict in JUDGED]
    changes = [
        *_broken("regression", [(b, a) for a, b in judged]),
        *_broken("fix", judged),
        *_broken("forgiven", judged),
        *_verdicts("lost", both),
        *_verdicts("regained", both),
        *_rows("new", new, old),
        *_rows("gone", old, new),
        *_stale(both),
    ]
    order = list(KINDS)
    changes.sort(key=lambda change: (order.index(change.kind), change.level != "MUST"))
    return Difference(old, new, tuple(changes), len(judged))


def narrowed(matrix: Matrix, to: Matrix) -> Matrix:
    """The part of ``matrix`` whose rows and scenarios ``to`` has, to compare a run of a few with."""
    names, ids = {row.name for row in to.endpoints}, {row.id for row in to.scenarios}
    return replace(
        matrix,
        endpoints=tuple(row for row in matrix.endpoints if row.name in names),
        scenarios=tuple(row for row in matrix.scenarios if row.id in ids),
        cells=tuple(c for c in matrix.cells if c.endpoint in names and c.scenario in ids),
    )


def _key(cell: Cell) -> _Key:
    return cell.endpoint, cell.scenario, cell.mode


def _shown(cell: Cell) -> str:
    return cell.endpoint if cell.mode == "strict" else f"{cell.endpoint} ({cell.mode})"


def _counting(cell: Cell) -> dict[str, Finding]:
    """The first finding of each rule that counts against the endpoint."""
    found: dict[str, Finding] = {}
    for finding in cell.findings:
        if finding.level != "MAY" and finding.quirk is None and finding.known is None:
            found.setdefault(finding.rule, finding)
    return found


def _broken(kind: Kind, pairs: Iterable[tuple[Cell, Cell]]) -> Iterator[Change]:
    """Rules that count in the first cell of a pair and not in the second, by endpoint and rule."""
    gathered: dict[tuple[str, str], tuple[Finding, list[str]]] = {}
    for broken, whole in pairs:
        counting = _counting(whole)
        forgiven = {finding.rule for finding in whole.findings} - counting.keys()
        for rule, finding in _counting(broken).items():
            if rule in counting or (kind != "regression" and (rule in forgiven) is not (kind == "forgiven")):
                continue
            entry = gathered.setdefault((_shown(broken), rule), (finding, []))
            entry[1].append(broken.scenario)
    for (endpoint, rule), (finding, scenarios) in gathered.items():
        yield Change(kind, endpoint, tuple(scenarios), rule, finding.level, finding.message, finding.got)


def _verdicts(kind: Kind, both: list[tuple[Cell, Cell]]) -> Iterator[Change]:
    gathered: dict[tuple[str, VerdictName, VerdictName, str], list[str]] = {}
    for a, b in both:
        was, now = a.verdict in JUDGED, b.verdict in JUDGED
        if (was and not now) if kind == "lost" else (now and not was):
            key = (_shown(b), a.verdict, b.verdict, b.reason if kind == "lost" else a.reason)
            gathered.setdefault(key, []).append(b.scenario)
    for (endpoint, before, after, reason), scenarios in gathered.items():
        yield Change(kind, endpoint, tuple(scenarios), before=before, after=after, reason=reason)


def _rows(kind: Kind, there: Matrix, other: Matrix) -> Iterator[Change]:
    """Endpoints and scenarios that only ``there`` has; of an endpoint that is there, why it doesn't run."""
    known = {row.name for row in other.endpoints}
    for row in there.endpoints:
        if row.name not in known:
            yield Change(kind, row.name, reason=_described(row))
    ids = {row.id for row in other.scenarios}
    fresh = tuple(row.id for row in there.scenarios if row.id not in ids)
    if fresh:
        yield Change(kind, "", fresh)


def _described(row: EndpointRow) -> str:
    return row.reason if row.status == "not-run" else row.server or row.source


def _stale(both: list[tuple[Cell, Cell]]) -> Iterator[Change]:
    gathered: dict[str, list[str]] = {}
    for a, b in both:
        if "stale" in b.flags and "stale" not in a.flags:
            gathered.setdefault(_shown(b), []).append(b.scenario)
    for endpoint, scenarios in gathered.items():
        yield Change("stale", endpoint, tuple(scenarios))

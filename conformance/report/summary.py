"""Counts. A cell is *judged* when its verdict says something about the endpoint (`JUDGED`).

``total`` counts the cells of the matrix: an endpoint that was not run at all has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.types import JUDGED, VERDICTS, Cell, Level, Matrix, VerdictName


@dataclass(frozen=True, slots=True)
class Count:
    """Cells, counted; ``verdicts`` has all nine keys."""

    judged: int
    total: int
    verdicts: Mapping[VerdictName, int]


@dataclass(frozen=True, slots=True)
class RuleCount:
    """A rule that does not hold somewhere; ``level`` is the gravest it was found at."""

    rule: str
    level: Level
    cells: int
    endpoints: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole matrix counted; ``rules`` come worst first."""

    overall: Count
    endpoints: Mapping[str, Count]
    rules: tuple[RuleCount, ...]


def summarize(matrix: Matrix) -> Summary:
    """Count ``matrix``. Endpoints keep its order; rules are sorted by level, then cells, then id."""
    per_endpoint: dict[str, list[Cell]] = {row.name: [] for row in matrix.endpoints}
    for cell in matrix.cells:
        per_endpoint.setdefault(cell.endpoint, []).append(cell)
    return Summary(
        overall=count(matrix.cells),
        endpoints={name: count(cells) for name, cells in per_endpoint.items()},
        rules=_worst_rules(matrix.cells),
    )


def count(cells: Iterable[Cell]) -> Count:
    """Count ``cells`` by verdict."""
    verdicts = dict.fromkeys(VERDICTS, 0)
    for cell in cells:
        verdicts[cell.verdict] += 1
    return Count(sum(verdicts[name] for name in JUDGED), sum(verdicts.values()), verdicts)


def _worst_rules(cells: Iterable[Cell]) -> tuple[RuleCount, ...]:
    levels: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")
    gravest: dict[str, Level] = {}
    where: dict[str, set[tuple[str, str, str]]] = {}
    for cell in cells:
        for finding in cell.findings:
            known = gravest.get(finding.rule, finding.level)
            gravest[finding.rule] = min(known, finding.level, key=levels.index)
            where.setdefault(finding.rule, set()).add((cell.endpoint, cell.scenario, cell.mode))
    counted = (
        RuleCount(rule, gravest[rule], len(places), len({endpoint for endpoint, _, _ in places}))
        for rule, places in where.items()
    )
    return tuple(sorted(counted, key=lambda r: (levels.index(r.level), -r.cells, r.rule)))

"""What was observed of policies: a small matrix for each, of aspects by endpoints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from conformance.report.grid import Column, Grid
from conformance.report.page import Page
from conformance.types import Observation

ABOUT = "What endpoints do where the reference leaves room: observed, never failed"


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """One policy; ``rows`` are aspects with an observation per column, ``None`` where there is none."""

    policy: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Observation | None, ...]], ...]


def policy_tables(layout: Grid) -> tuple[PolicyTable, ...]:
    """The policies that were observed, in the order in which they come; columns without any are left out."""
    found: dict[str, dict[str, dict[Column, Observation]]] = {}
    for scenario in layout.measured:
        for column in layout.columns:
            cell = layout.cell(column, scenario)
            for one in cell.observations if cell is not None else ():
                found.setdefault(one.policy, {}).setdefault(one.aspect, {})[column] = one
    tables = []
    for policy, aspects in found.items():
        seen = {column for places in aspects.values() for column in places}
        columns = tuple(column for column in layout.columns if column in seen)
        rows = tuple((name, tuple(map(places.get, columns))) for name, places in aspects.items())
        tables.append(PolicyTable(policy, columns, rows))
    return tuple(tables)


def shown(observation: Observation) -> str:
    """The outcome, and the status of a refusal."""
    if observation.status is None:
        return observation.outcome
    return f"{observation.outcome} {observation.status}"


def label(column: Column) -> str:
    """The endpoint's name, and that it is simulated or adapted."""
    return column.endpoint.name + (f" ({', '.join(column.remarks)})" if column.remarks else "")


def print_policies(page: Page, layout: Grid, *, each: bool) -> None:
    """Print how often which outcome was observed; with ``each`` every aspect, with a piece of evidence."""
    tables = policy_tables(layout)
    if not tables:
        return
    page.title("Policies")
    hint = "conformance explain POLICY" if each else "--policies shows each; conformance explain POLICY"
    page.print(page.own(f"{ABOUT} ({hint})", "dim"))
    for table in tables:
        page.print(page.foreign(table.policy, "bold"), indent=2)
        if each:
            _aspects(page, table)
        else:
            _counts(page, table)


def _counts(page: Page, table: PolicyTable) -> None:
    alike: dict[str, list[str]] = {}
    for number, column in enumerate(table.columns):
        counted = Counter(one.outcome for _, row in table.rows if (one := row[number]) is not None)
        told = ", ".join(f"{times} {outcome}" for outcome, times in counted.most_common())
        alike.setdefault(told, []).append(label(column))
    rows = [
        (page.foreign(told), page.foreign(", ".join(names), "dim", 10_000)) for told, names in alike.items()
    ]
    page.rows(rows, indent=4)


def _aspects(page: Page, table: PolicyTable) -> None:
    for aspect, row in table.rows:
        alike: dict[str, list[tuple[Column, Observation]]] = {}
        for column, one in zip(table.columns, row, strict=True):
            if one is not None:
                alike.setdefault(shown(one), []).append((column, one))
        page.print(page.foreign(aspect), indent=4)
        for told, places in alike.items():
            names = ", ".join(label(column) for column, _ in places)
            page.rows(
                [
                    (page.foreign(told), page.foreign(names, limit=10_000)),
                    (page.own(""), page.foreign(places[0][1].detail, "dim")),
                ],
                indent=6,
            )

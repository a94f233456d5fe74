"""The matrix as a grid: which columns and rows a report shows, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.types import Cell, EndpointRow, Matrix, Mode, ScenarioRow

MEASURED = "policies"
"""The chapter of scenarios that observe and judge nothing: a verdict there only says that it worked."""


@dataclass(frozen=True, slots=True)
class Column:
    """One endpoint in one mode."""

    endpoint: EndpointRow
    mode: Mode

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must always stand beside the name: that it is simulated, that it is adapted."""
        simulated = ("simulated",) if self.endpoint.source == "simulator" else ()
        return simulated + (("adapted",) if self.mode == "adapted" else ())


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns by endpoint and mode, rows by chapter; ``idle`` are the endpoints that did not run.

    ``measured`` are the scenarios that observe policies, which are no rows.
    """

    columns: tuple[Column, ...]
    idle: tuple[EndpointRow, ...]
    chapters: tuple[tuple[str, tuple[ScenarioRow, ...]], ...]
    measured: tuple[ScenarioRow, ...]
    _cells: Mapping[tuple[str, str, Mode], Cell]

    def cell(self, column: Column, scenario: ScenarioRow) -> Cell | None:
        """The cell where the two meet, or ``None`` where the run left it out."""
        return self._cells.get((column.endpoint.name, scenario.id, column.mode))

    def walk(self) -> Iterator[Cell]:
        """The cells in reading order: row by row, left to right, those that observe policies last."""
        for _, scenarios in (*self.chapters, (MEASURED, self.measured)):
            for scenario in scenarios:
                for column in self.columns:
                    cell = self.cell(column, scenario)
                    if cell is not None:
                        yield cell


def grid(matrix: Matrix) -> Grid:
    """Lay ``matrix`` out. An endpoint has a column as soon as one cell of it is more than ``not-run``."""
    modes: dict[str, set[Mode]] = {}
    for cell in matrix.cells:
        if cell.verdict != "not-run":
            modes.setdefault(cell.endpoint, set()).add(cell.mode)
    columns: list[Column] = []
    idle: list[EndpointRow] = []
    for row in matrix.endpoints:
        if row.name not in modes and row.status == "not-run":
            idle.append(row)
        for mode in sorted(modes.get(row.name, {"strict"}), key=("strict", "adapted").index):
            if row not in idle:
                columns.append(Column(row, mode))
    chapters: dict[str, list[ScenarioRow]] = {}
    for scenario in matrix.scenarios:
        chapters.setdefault(scenario.chapter, []).append(scenario)
    measured = tuple(chapters.pop(MEASURED, ()))
    return Grid(
        columns=tuple(columns),
        idle=tuple(idle),
        chapters=tuple((name, tuple(rows)) for name, rows in chapters.items()),
        measured=measured,
        _cells={(cell.endpoint, cell.scenario, cell.mode): cell for cell in matrix.cells},
    )


def model(row: EndpointRow) -> str:
    """The model's name, and what our scripted model writes."""
    return f"{row.model} (our scripted model in {row.scripted})" if row.scripted else row.model


def source(row: EndpointRow) -> str:
    """Where an endpoint's answers came from, in words."""
    match row.source:
        case "simulator":
            return "simulated"
        case "cassette":
            return f"cassette of {row.recorded}" if row.recorded else "cassette"
        case "live":
            return "live"
        case "recording":
            return f"recordings of others: {row.reason}" if row.reason else "recordings of others"
        case "none":
            return "none"

"""The matrix in a terminal: symbols first, colour only beside them, the proof under each deviation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.console import Console
from rich.text import Text

from conformance.report.exchanges import print_cell
from conformance.report.findings import counting
from conformance.report.grid import Column, Grid, grid, model, source
from conformance.report.page import Page
from conformance.report.policies import print_policies
from conformance.report.summary import Count, count, summarize
from conformance.report.terminal_findings import (
    print_deviations,
    print_flags,
    print_information,
    print_reasons,
)
from conformance.report.verdicts import BY_GRAVITY, shown_flags
from conformance.types import Cell, EndpointRow, Matrix, ScenarioRow, VerdictName

__all__ = ["print_cell", "print_matrix", "print_tree"]

_PITCH = 3  # columns of text per endpoint: a mark, a star where there are flags, a space
_FEW = 3  # as many endpoints not run are told with their reasons
_MANY = 400  # lines of a grid above which a chapter is a line
_GRAVEST: tuple[VerdictName, ...] = (
    *(verdict for verdict in BY_GRAVITY if verdict not in ("unsupported", "not-run")),
    "unsupported",
    "not-run",
)


def print_matrix(matrix: Matrix, console: Console, verbose: bool = False, *, policies: bool = False) -> None:
    """Print the matrix, what deviates and why, what was not run, and the counts last.

    With ``verbose`` every place where a rule does not hold is shown with its excerpt, else one per rule,
    and every reason for which an endpoint was not run, else those of `_FEW` endpoints at most. A grid of
    more than `_MANY` lines needs it, too; else its lines are the chapters. ``policies`` shows what was
    observed aspect by aspect, else it is counted.
    """
    page, layout = Page(console), grid(matrix)
    _grid(page, layout, verbose)
    shown = list(layout.walk())
    print_flags(page, shown)
    print_deviations(page, shown, verbose, name_endpoints=True)
    print_reasons(page, shown, name_endpoints=True, verbose=verbose)
    print_information(page, shown, counted=True)
    print_policies(page, layout, each=policies)
    _notes(page, matrix.notes)
    _idle(page, layout.idle, verbose)
    _counts(page, matrix, layout)


def print_tree(matrix: Matrix, console: Console) -> None:
    """Print one tree of chapters and scenarios per endpoint, then what failed, grouped by rule."""
    page, layout = Page(console), grid(matrix)
    for column in layout.columns:
        cells = [cell for cell in layout.walk() if _of(column, cell)]
        _endpoint_head(page, column, cells)
        for chapter, scenarios in layout.chapters:
            branch = [(row, cell) for row in scenarios if (cell := layout.cell(column, row)) is not None]
            if branch:
                _branch(page, chapter, branch)
        print_flags(page, cells)
        print_deviations(page, cells, verbose=False, name_endpoints=False)
        print_reasons(page, cells, name_endpoints=False, verbose=True)
        print_information(page, cells, counted=False)
    print_policies(page, layout, each=True)
    _notes(page, matrix.notes)
    _idle(page, layout.idle, verbose=False)
    page.gap()
    page.print(*_verdict_line(page, summarize(matrix).overall))


def _of(column: Column, cell: Cell) -> bool:
    return (cell.endpoint, cell.mode) == (column.endpoint.name, column.mode)


# ----------------------------------------------------------------------------------------- the grid


_Lines: TypeAlias = Sequence[tuple[str, tuple[ScenarioRow, ...]]]
"""What a line is about, by its name: a scenario, or all those of a chapter."""


def _grid(page: Page, layout: Grid, verbose: bool) -> None:
    lines: _Lines = [(row.id, (row,)) for _, rows in layout.chapters for row in rows]
    left, per_block = _measures(page, layout, lines)
    blocks = -(-len(layout.columns) // per_block)
    short = not verbose and blocks * len(lines) > _MANY
    if short:
        lines = layout.chapters
        left, per_block = _measures(page, layout, lines)
    for start in range(0, len(layout.columns) if lines else 0, per_block):
        block = layout.columns[start : start + per_block]
        if start:
            page.gap()
        _stairs(page, block, left)
        for name, scenarios in lines:
            _row(page, layout, block, name, scenarios, left)
    if short:
        page.gap()
        page.print(page.own("A mark is the gravest of its chapter; -v shows every scenario.", "dim"))


def _measures(page: Page, layout: Grid, lines: _Lines) -> tuple[int, int]:
    """Where the first endpoint's column stands, and how many there are side by side.

    Wide enough for the names beside and above, if it can be.
    """
    names = [page.foreign(name).cell_len for name, _ in lines]
    most = page.width // 2
    per_block = max(1, (page.width - min(max(names, default=0), most) - 2) // _PITCH)
    stairs = [
        _label(page, column).cell_len - number % per_block * _PITCH
        for number, column in enumerate(layout.columns)
    ]
    left = min(max([*names, *stairs], default=0), most) + 2
    return left, max(1, (page.width - left) // _PITCH)


def _stairs(page: Page, block: Sequence[Column], left: int) -> None:
    """The endpoints' names, each on a line of its own that leads down to its column.

    Where name and remarks together do not fit, the remarks go below; a name that is too long itself is cut
    (the counts have it in full).
    """
    for position in reversed(range(len(block))):
        corner = left + position * _PITCH
        right = len(block) - position - 1
        label, below = _label(page, block[position]), Text()
        if label.cell_len > corner - 1:
            label, below = _short(page, block[position], corner - 1), _remarks(page, block[position])
        line = page.own("─" * max(0, corner - label.cell_len - 1) + "┐", "dim")
        page.print(label, Text(" " if label.cell_len < corner else ""), line, page.own("  │" * right, "dim"))
        if below:
            bars = page.own("│" + "  │" * right, "dim")
            page.print(below, Text(" " * max(1, corner - below.cell_len)), bars)


def _label(page: Page, column: Column) -> Text:
    return page.foreign(column.endpoint.name, "bold") + _remarks(page, column)


def _remarks(page: Page, column: Column) -> Text:
    return page.own(f" ({', '.join(column.remarks)})" if column.remarks else "", "italic")


def _short(page: Page, column: Column, width: int) -> Text:
    name, rest = page.foreign(column.endpoint.name, "bold"), page.own("…", "dim")
    if name.cell_len > width:
        name.truncate(max(1, width - rest.cell_len), overflow="crop")
        name += rest
    return name


def _row(
    page: Page,
    layout: Grid,
    block: Sequence[Column],
    name: str,
    scenarios: Sequence[ScenarioRow],
    left: int,
) -> None:
    shown = page.foreign(name)
    if shown.cell_len > left - 2:
        page.print(shown)
        shown = Text()
    line = [shown, Text(" " * (left - shown.cell_len))]
    for column in block:
        cells = [cell for row in scenarios if (cell := layout.cell(column, row)) is not None]
        gravest = min((cell.verdict for cell in cells), key=_GRAVEST.index, default=None)
        mark = Text(" ") if gravest is None else page.mark(gravest)
        star = "*" if any(shown_flags(cell) for cell in cells) else " "
        line += [mark, Text(star.ljust(_PITCH - 1))]
    page.print(*line)


# ----------------------------------------------------------------------------------------- the tree


def _endpoint_head(page: Page, column: Column, cells: Sequence[Cell]) -> None:
    row = column.endpoint
    facts = [row.server, f"model {model(row)}", row.wire, source(row)]
    page.gap()
    page.print(_label(page, column), page.own(" · "), page.foreign(" · ".join(f for f in facts if f)))
    page.print(*_verdict_line(page, count(cells)))


def _branch(page: Page, chapter: str, branch: Sequence[tuple[ScenarioRow, Cell]]) -> None:
    page.gap()
    page.print(page.foreign(chapter, "bold"))
    width = max(page.foreign(row.id).cell_len for row, _ in branch)
    for row, cell in branch:
        name = page.foreign(row.id)
        tries = f", {cell.attempts} attempts" if cell.attempts > 1 else ""
        star = Text("*" if shown_flags(cell) else " ")
        lead = page.mark(cell.verdict) + star + name + Text(" " * (width - name.cell_len + 2))
        title = page.foreign(row.title) + Text("  ") + page.own(f"{cell.elapsed_ms:.0f} ms{tries}", "dim")
        if 2 + lead.cell_len + title.cell_len <= page.width:
            page.print(lead, title, indent=2)
        else:
            page.print(page.mark(cell.verdict) + star + name, indent=2)
            page.print(title, indent=4)
        for rule in dict.fromkeys(finding.rule for finding in counting(cell)):
            page.print(page.foreign(rule, "dim"), indent=6)


# --------------------------------------------------------------------------------------- around it


def _notes(page: Page, notes: Iterable[str]) -> None:
    notes = list(notes)
    if notes:
        page.title("Notes")
    for note in notes:
        page.print(page.foreign(note), indent=2)


def _idle(page: Page, idle: Sequence[EndpointRow], verbose: bool) -> None:
    if not idle:
        return
    head = f"Not run: {len(idle)} {'endpoint' if len(idle) == 1 else 'endpoints'}"
    if verbose or len(idle) <= _FEW:
        page.title(head)
        page.rows(
            [(page.foreign(row.name), page.foreign(row.reason or "no reason given", "dim")) for row in idle],
            indent=2,
        )
    else:
        page.title(f"{head} (conformance list endpoints says why)")
        page.print(Text(", ").join(page.foreign(row.name) for row in idle), indent=2)


def _counts(page: Page, matrix: Matrix, layout: Grid) -> None:
    summary = summarize(matrix)
    page.gap()
    page.rows(
        (
            page.foreign(row.name, "bold"),
            Text.assemble(*_verdicts(page, summary.endpoints[row.name], words=False)),
            page.foreign(source(row), "dim"),
        )
        for row in dict.fromkeys(column.endpoint for column in layout.columns)
    )
    page.gap()
    page.print(*_verdict_line(page, summary.overall))


def _verdict_line(page: Page, counted: Count) -> list[Text]:
    head = page.own(f"judged {counted.judged} of {counted.total} cells: ", "bold")
    return [head, *(_verdicts(page, counted) or [page.own("nothing was run")])]


def _verdicts(page: Page, counted: Count, words: bool = True) -> list[Text]:
    pieces: list[Text] = []
    for verdict in BY_GRAVITY:
        if number := counted.verdicts[verdict]:
            separator = (", " if words else "  ") if pieces else ""
            pieces += [
                Text(f"{separator}{number} "),
                page.mark(verdict),
                Text(f" {verdict}" if words else ""),
            ]
    return pieces

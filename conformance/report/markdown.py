"""``matrix.md``: the matrix as a table that fits a README, with its deviations as numbered notes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.report.clean import clean_line
from conformance.report.findings import (
    Deviation,
    Reason,
    cells_of,
    counting,
    deviations,
    informational,
    reasons,
    speaks_by_reason,
)
from conformance.report.grid import Column, Grid, grid, model, source
from conformance.report.policies import ABOUT, PolicyTable, policy_tables
from conformance.report.policies import shown as outcome_of
from conformance.report.summary import Summary, summarize
from conformance.report.verdicts import BY_GRAVITY, MARKS, MEANINGS, shown_flags
from conformance.types import Cell, EndpointRow, Finding, Matrix


def write(matrix: Matrix, path: Path) -> None:
    """Write the report as UTF-8."""
    path.write_text(to_markdown(matrix), encoding="utf-8", newline="\n")


def to_markdown(matrix: Matrix) -> str:
    """The report as GitHub-flavoured Markdown. Text from outside can add no markup, link or HTML to it."""
    layout, summary = grid(matrix), summarize(matrix)
    shown = tuple(layout.walk())
    notes: tuple[Deviation | Reason, ...] = (*deviations(shown), *reasons(shown))
    sections = (
        ["# Compatibility matrix", "", _verdict_line(summary)],
        _table(layout, _numbers(notes)),
        _legend(shown),
        _notes(notes),
        _information(shown),
        _policies(policy_tables(layout)),
        _endpoints(layout, summary),
        _remarks(matrix.notes),
        _idle(layout.idle),
        _provenance(matrix),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


# ---------------------------------------------------------------------------------------- the table


def _verdict_line(summary: Summary) -> str:
    overall = summary.overall
    counts = [f"{overall.verdicts[v]} {v}" for v in BY_GRAVITY if overall.verdicts[v]]
    return f"**Judged {overall.judged} of {overall.total} cells**" + (
        f": {', '.join(counts)}." if counts else "."
    )


def _table(layout: Grid, numbers: _Numbers) -> list[str]:
    if not layout.columns:
        return ["No endpoint was run."]
    if not layout.chapters:
        return []
    head = ["Scenario", *(_heading(column) for column in layout.columns)]
    rows = [_row(head), _row(["---", *(":---:" for _ in layout.columns)])]
    for chapter, scenarios in layout.chapters:
        rows.append(_row([f"**{prose(chapter)}**", *("" for _ in layout.columns)]))
        for scenario in scenarios:
            cells = (layout.cell(column, scenario) for column in layout.columns)
            rows.append(_row([code(scenario.id), *(_verdict(cell, numbers) for cell in cells)]))
    return rows


def _heading(column: Column) -> str:
    return "<br>".join([prose(column.endpoint.name), *(f"*{remark}*" for remark in column.remarks)])


def _verdict(cell: Cell | None, numbers: _Numbers) -> str:
    if cell is None:
        return ""
    words = f"{MARKS[cell.verdict]} {cell.verdict}"
    if cell.verdict in ("violates", "error"):
        words = f"**{words}**"
    if flags := shown_flags(cell):
        words += f" *({', '.join(flags)})*"
    noted = sorted({numbers[key] for key in _keys(cell)})
    return words + (f" <sup>{' '.join(f'[{number}]' for number in noted)}</sup>" if noted else "")


def _legend(shown: Iterable[Cell]) -> list[str]:
    present = {cell.verdict for cell in shown}
    return (
        [" · ".join(f"{MARKS[v]} **{v}**: {MEANINGS[v]}" for v in BY_GRAVITY if v in present)]
        if present
        else []
    )


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


# ---------------------------------------------------------------------------------------- the notes

_Numbers = dict[tuple[str, ...], int]


def _numbers(notes: Iterable[Deviation | Reason]) -> _Numbers:
    return {_key(note): number for number, note in enumerate(notes, 1)}


def _key(note: Deviation | Reason) -> tuple[str, ...]:
    if isinstance(note, Deviation):
        return (note.rule, note.level, note.message)
    return (note.verdict, note.text)


def _keys(cell: Cell) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [(f.rule, f.level, f.message) for f in counting(cell)]
    return [*found, (cell.verdict, cell.reason)] if speaks_by_reason(cell) else found


def _notes(notes: tuple[Deviation | Reason, ...]) -> list[str]:
    if not notes:
        return []
    lines = ["## Deviations and remarks", ""]
    for number, note in enumerate(notes, 1):
        lines.extend(_deviation(number, note) if isinstance(note, Deviation) else _reason(number, note))
    return lines


def _information(shown: Iterable[Cell]) -> list[str]:
    told = informational(shown)
    if not told:
        return []
    return [
        "For information (MAY rules never count):",
        "",
        *(f"- {code(rule)}: {prose(message)} ({cells_of(cells)})" for rule, (message, cells) in told.items()),
    ]


def _deviation(number: int, note: Deviation) -> list[str]:
    cell, first = note.places[0]
    alike = all((f.wanted, f.got) == (first.wanted, first.got) for _, f in note.places)
    indent = " " * len(f"{number}. ")
    return [
        f"{number}. **{note.level}** {code(note.rule)} ({first.basis}): {prose(note.message)}",
        f"{indent}- wanted {code(first.wanted, limit=120)}, got {code(first.got, limit=120)}"
        + ("" if alike else f" (in {code(cell.scenario)} of {prose(cell.endpoint)}; others differ)"),
        *([f"{indent}- breaks: {prose(note.consequence)}"] if note.consequence else []),
        f"{indent}- {_places(note)}",
    ]


def _reason(number: int, note: Reason) -> list[str]:
    names = ", ".join(prose(name) for name in dict.fromkeys(cell.endpoint for cell in note.cells))
    return [f"{number}. **{note.verdict}**: {prose(note.text)} ({names})"]


def _places(note: Deviation) -> str:
    """The endpoints it shows at, each with what is declared or known about it there."""
    told: dict[str, list[str]] = {}
    for cell, finding in note.places:
        told.setdefault(cell.endpoint, []).extend(_explanations(finding))
    return "at " + ", ".join(
        prose(name) + (f" ({', '.join(dict.fromkeys(explained))})" if explained else "")
        for name, explained in told.items()
    )


def _explanations(finding: Finding) -> list[str]:
    quirk = [f"declared quirk {code(finding.quirk)}"] if finding.quirk is not None else []
    return quirk + ([f"known: {prose(finding.known)}"] if finding.known is not None else [])


# -------------------------------------------------------------------------------------- the policies


def _policies(tables: Sequence[PolicyTable]) -> list[str]:
    if not tables:
        return []
    return ["## Policies", "", f"{ABOUT}.", *(line for table in tables for line in _policy(table))]


def _policy(table: PolicyTable) -> list[str]:
    return [
        "",
        f"{code(table.policy)}:",
        "",
        _row(["Aspect", *map(_heading, table.columns)]),
        _row(["---", *(":---:" for _ in table.columns)]),
        *(
            _row([code(aspect), *("" if one is None else prose(outcome_of(one)) for one in row)])
            for aspect, row in table.rows
        ),
    ]


# ------------------------------------------------------------------------------------- the endpoints


def _endpoints(layout: Grid, summary: Summary) -> list[str]:
    rows = list(dict.fromkeys(column.endpoint for column in layout.columns))
    if not rows:
        return []
    head = ["Endpoint", "Server", "Model", "Wire", "Source", "Judged", "Declared quirks"]
    return [
        "## Endpoints",
        "",
        _row(head),
        _row("---" for _ in head),
        *(_endpoint(row, summary) for row in rows),
    ]


def _endpoint(row: EndpointRow, summary: Summary) -> str:
    counted = summary.endpoints[row.name]
    from_where = prose(source(row))
    return _row(
        [
            prose(row.name),
            prose(row.server or "unknown"),
            prose(model(row)),
            row.wire,
            f"*{from_where}*" if row.source == "simulator" else from_where,
            f"{counted.judged} of {counted.total}",
            ", ".join(code(quirk) for quirk in row.quirks) or "none",
        ]
    )


def _idle(idle: tuple[EndpointRow, ...]) -> list[str]:
    if not idle:
        return []
    noun = "endpoint" if len(idle) == 1 else "endpoints"
    return [
        f"<details>\n<summary>{len(idle)} {noun} not run</summary>",
        "",
        *(f"- {_item(row.name)}: {prose(row.reason or 'no reason given')}" for row in idle),
        "",
        "</details>",
    ]


def _remarks(notes: tuple[str, ...]) -> list[str]:
    return ["## Notes", "", *(f"- {_item(note)}" for note in notes)] if notes else []


def _provenance(matrix: Matrix) -> list[str]:
    named = {"name", "version"} & set(matrix.suite)
    maker = " ".join(_fact(matrix.suite[key]) for key in ("name", "version") if key in named)
    rest = [f"{prose(str(key))}: {_fact(value)}" for key, value in matrix.suite.items() if key not in named]
    facts = ([f"made by {maker}"] if maker else []) + rest
    return [f"Provenance: {' · '.join(facts)}"] if facts else []


def _fact(value: object) -> str:
    return prose(value if isinstance(value, str) else json.dumps(value, default=str))


# ----------------------------------------------------------------------------------------- escaping

# What GitHub turns into links and mentions by itself; code spans are the one place where it does not.
_LINKLIKE = re.compile(r"\S*(?:://|www\.|mailto:|xmpp:|@|#\d)\S*", re.IGNORECASE)
_SPECIAL = re.compile(r"[\\`*\[\]#~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"})


def prose(text: str, limit: int = 300) -> str:
    """Untrusted text for a line of prose or a table cell: every special character stands for itself."""
    shown, pieces, end = clean_line(text, limit).strip(), [], 0
    for match in _LINKLIKE.finditer(shown):
        pieces += [_escape(shown[end : match.start()]), code(match.group())]
        end = match.end()
    return "".join([*pieces, _escape(shown[end:])])


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text).translate(_HTML)


def _item(text: str) -> str:
    """Untrusted text at the start of a list item, where it could also begin a block."""
    return _BLOCK.sub(r"\1\\\2", prose(text))


def code(text: str, limit: int = 300, *, in_table: bool = True) -> str:
    """Untrusted text as a code span. A pipe would end a table's cell even there: it is shown as ``\\x7c``."""
    shown = clean_line(text, limit)
    if in_table:
        shown = shown.replace("|", "\\x7c")
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip(" ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else "*(empty)*"

"""``dialects.md``: servers x dialects x scenarios, for those who maintain a server's parsers.

Each column is a server with our scripted model in one dialect: what the model writes is known to the byte, so
what is made of it is the server's doing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.report.findings import Deviation, counting, deviations, speaks_by_reason
from conformance.report.grid import Column, Grid, grid
from conformance.report.markdown import code, prose
from conformance.report.verdicts import BY_GRAVITY, MARKS
from conformance.types import Cell, EndpointRow, Finding, Level, Matrix, VerdictName

HEAD = """\
# Parsers: servers and dialects

A *dialect* is a text-level format of tool calls: what models of a family write, and what a server reads
calls from. Here each server runs, unpatched, with our *scripted model* (docs/scripted-model.md), which writes
a given text token by token: a call of the dialect, well-formed, broken, quoted or cut. Every scenario asks
three times: without tools (that shows what the model writes), with tools, and with tools as a stream. What a
correct server makes of each text is said in docs/scenarios.md, chapter `parser`.

What the marks say:

"""
SAID: Mapping[VerdictName, str] = {
    "conforms": "calls, text, reasoning, finish reason and counts are what the text says, streamed or not",
    "violates": "a MUST rule does not hold",
    "warns": "only SHOULD rules do not hold",
    "quirk": "it deviates exactly as the quirk says that the note names (docs/quirks.md)",
    "inconclusive": "the model did not come to write the text: with tools in the request the server's "
    "grammar bent it into something else. That is no fault: no model can write it there, and nothing is "
    "known of the parser",
    "unsupported": "the dialect has no such text, or the server does not claim to read the dialect; the "
    "notes say which",
    "refused": "declined by an error that names the feature",
    "error": "the suite could not tell",
}
_ALONE = "script-alone"
"""The probe that shows what the model writes."""
_SHOWN = 300
"""Characters of a text or an answer; the cassette has all of it."""
_STARTED = re.compile(r" (?=--|[A-Z][A-Z0-9_]*=)")
"""Before what a server is started with: flags, variables."""
_EXCHANGE = re.compile(r"/exchanges/(\d+)")


def covers(matrix: Matrix) -> bool:
    """Whether the matrix has scripted models of several dialects."""
    return len({row.scripted for row in matrix.endpoints} - {None}) > 1


def write(matrix: Matrix, path: Path) -> None:
    """Write the page as UTF-8."""
    path.write_text(to_markdown(matrix), encoding="utf-8", newline="\n")


def to_markdown(matrix: Matrix) -> str:
    """The page: a table, its notes and its deviations per server. Text from outside can add no markup."""
    layout = grid(matrix)
    present = {cell.verdict for cell in layout.walk()}
    legend = [f"- {MARKS[v]} **{v}**: {SAID[v]}." for v in BY_GRAVITY if v in present and v in SAID]
    parts = [HEAD + "\n".join(legend)]
    for server, columns in _servers(layout.columns):
        parts += _server(server, columns, layout)
    if layout.idle:
        parts += [_idle(layout.idle)]
    return "\n\n".join(parts) + "\n"


def _servers(columns: Iterable[Column]) -> list[tuple[str, list[Column]]]:
    """The columns by server; its flags for a dialect come behind its name and version."""
    found: dict[str, list[Column]] = {}
    for column in columns:
        found.setdefault(_bare(column.endpoint), []).append(column)
    return list(found.items())


def _bare(row: EndpointRow) -> str:
    return _STARTED.split(row.server or row.name, maxsplit=1)[0]


def _flags(row: EndpointRow) -> str:
    return (row.server or "")[len(_bare(row)) :].strip()


def _server(server: str, columns: Sequence[Column], layout: Grid) -> Iterator[str]:
    cells = [
        cell
        for _, scenarios in layout.chapters
        for scenario in scenarios
        for column in columns
        if (cell := layout.cell(column, scenario)) is not None
    ]
    found = deviations(cells)
    numbers = {(one.rule, one.level, one.message): number for number, one in enumerate(found, 1)}
    yield f"## {prose(server)}"
    yield "\n".join(_table(columns, layout, numbers))
    if started := [c for c in columns if _flags(c.endpoint)]:
        yield "Started with:\n\n" + "\n".join(
            f"- {prose(c.endpoint.scripted or '')}: {code(_flags(c.endpoint))}" for c in started
        )
    if found:
        yield "### Deviations"
        yield "\n".join(line for number, one in enumerate(found, 1) for line in _deviation(number, one))
    if told := list(_reasons(cells)):
        yield "### Not judged"
        yield "\n".join(told)


def _table(
    columns: Sequence[Column], layout: Grid, numbers: Mapping[tuple[str, Level, str], int]
) -> Iterator[str]:
    names = [(c.endpoint.scripted or c.endpoint.name).replace("-", "-<br>") for c in columns]
    yield "| Scenario | " + " | ".join(names) + " |"
    yield "| --- |" + " :---: |" * len(columns)
    for _, scenarios in layout.chapters:
        for scenario in scenarios:
            marks = [_mark(layout.cell(column, scenario), numbers) for column in columns]
            yield f"| {code(scenario.id.partition('.')[2])} | " + " | ".join(marks) + " |"


def _mark(cell: Cell | None, numbers: Mapping[tuple[str, Level, str], int]) -> str:
    if cell is None:
        return ""
    noted = sorted({numbers[f.rule, f.level, f.message] for f in counting(cell)})
    return MARKS[cell.verdict] + (f"<sup>{' '.join(map(str, noted))}</sup>" if noted else "")


def _deviation(number: int, one: Deviation) -> Iterator[str]:
    """The rule, and for each column the first place with its bytes."""
    yield f"{number}. **{one.level}** {code(one.rule)}: {prose(one.message)}"
    if one.consequence:
        yield f"   Breaks: {prose(one.consequence)}."
    places: dict[str, list[tuple[Cell, Finding]]] = {}
    for cell, finding in one.places:
        places.setdefault(cell.endpoint, []).append((cell, finding))
    for endpoint, there in places.items():
        cell, finding = there[0]
        also = [c.scenario for c, _ in there[1:] if c.scenario != cell.scenario]
        quirk = f" (declared: {code(finding.quirk)})" if finding.quirk else ""
        yield f"   - {prose(endpoint)}, {code(f'{endpoint}/{cell.scenario}.yaml')}{quirk}"
        yield f"     - wanted {_excerpt(finding.wanted)}, got {_excerpt(finding.got)}"
        yield from (f"     - {line}" for line in _bytes(cell, finding))
        if also:
            yield f"     - also in {', '.join(map(code, dict.fromkeys(also)))}"


def _bytes(cell: Cell, finding: Finding) -> Iterator[str]:
    """What the model wrote, and what the server answered, as far as the evidence was kept."""
    if cell.evidence and cell.evidence[0].get("probe") == _ALONE and (text := _content(_body(cell, 0))):
        yield f"the model wrote {_excerpt(text)}"
    place = _EXCHANGE.match(finding.path)
    if place and (body := _body(cell, int(place[1]))):
        at = max(body.find('"choices"'), body.find('"error"'), 0) if body.startswith("{") else 0
        yield f"the answer: {_excerpt(body[at : at + _SHOWN])}"


def _excerpt(text: str) -> str:
    return code(text, _SHOWN, in_table=False)


def _body(cell: Cell, number: int) -> str:
    response = cell.evidence[number].get("response") if number < len(cell.evidence) else None
    body = response.get("body") if isinstance(response, Mapping) else None
    return body if isinstance(body, str) else ""


def _content(body: str) -> str:
    """The text of a whole answer, of the first choice."""
    try:
        answer: Any = json.loads(body)
        said = answer["choices"][0]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    texts = (said.get(key) for key in ("reasoning_content", "content")) if isinstance(said, dict) else ()
    return "".join(text for text in texts if isinstance(text, str))


def _reasons(cells: Iterable[Cell]) -> Iterator[str]:
    """Why cells were not judged: each reason with its cells."""
    told: dict[tuple[VerdictName, str], dict[str, list[str]]] = {}
    for cell in cells:
        if speaks_by_reason(cell):
            by_scenario = told.setdefault((cell.verdict, cell.reason), {})
            by_scenario.setdefault(cell.endpoint, []).append(cell.scenario.partition(".")[2])
    for (verdict, reason), places in told.items():
        yield f"- {MARKS[verdict]} **{verdict}**: {prose(reason)}"
        yield from (f"  - {prose(name)}: {', '.join(map(code, ids))}" for name, ids in places.items())


def _idle(idle: Sequence[EndpointRow]) -> str:
    rows = (
        f"- {prose(row.name)} ({prose(row.server or 'server unknown')}): {prose(row.reason)}" for row in idle
    )
    return "## Not claimed, or not recorded\n\n" + "\n".join(rows)

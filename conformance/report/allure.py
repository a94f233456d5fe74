"""An ``allure-results`` folder: one result per cell, its exchanges attached as JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import attr
from allure_commons.model2 import Attachment, Label, Link, Parameter, StatusDetails, TestResult

from conformance.report.clean import clean_line
from conformance.report.findings import plain
from conformance.report.grid import source
from conformance.report.jsonfile import cell_to_json
from conformance.report.verdicts import outcome
from conformance.types import Cell, EndpointRow, Matrix, ScenarioRow

# The prefix tells our files from those that others put into the same folder.
_PREFIX = "conformance-"


def write(matrix: Matrix, path: Path) -> None:
    """Write the results into the folder ``path``; our results of an earlier run go, other files stay.

    A cell's ``historyId`` depends on its endpoint, scenario and mode only, so that Allure shows its trend.
    """
    path.mkdir(parents=True, exist_ok=True)
    for pattern in ("-result.json", "-attachment.json"):
        for old in path.glob(f"{_PREFIX}*{pattern}"):
            old.unlink()
    rows = {row.name: row for row in matrix.endpoints}
    scenarios = {row.id: row for row in matrix.scenarios}
    suite, stop = str(matrix.suite.get("name", "conformance")), round(time.time() * 1000)
    for cell in matrix.cells:
        result = _result(cell, rows[cell.endpoint], scenarios[cell.scenario], suite, stop)
        if cell.evidence:
            source_name = f"{_PREFIX}{result.uuid}-attachment.json"
            _dump(path / source_name, cell_to_json(cell)["evidence"])
            result.attachments.append(Attachment("exchanges", source_name, "application/json"))
        _dump(
            path / f"{_PREFIX}{result.uuid}-result.json",
            attr.asdict(result, filter=lambda _, v: v or v is False),
        )


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")


def _result(cell: Cell, row: EndpointRow, scenario: ScenarioRow, suite: str, stop: int) -> TestResult:
    identity = str(uuid5(NAMESPACE_URL, json.dumps([cell.endpoint, cell.scenario, cell.mode])))
    endpoint, chapter = clean_line(cell.endpoint), clean_line(scenario.chapter)
    suffix = "" if cell.mode == "strict" else f" [{cell.mode}]"
    tags = dict.fromkeys([cell.verdict, *cell.flags])
    labels = {"epic": suite, "feature": endpoint, "story": chapter, "parentSuite": endpoint, "suite": chapter}
    parameters = {
        "endpoint": endpoint,
        "mode": cell.mode,
        "model": row.model,
        "wire": row.wire,
        "source": source(row),
    }
    links = dict.fromkeys(
        f.known for f in cell.findings if f.known and f.known.startswith(("https://", "http://"))
    )
    return TestResult(
        uuid=identity,
        historyId=identity,
        testCaseId=str(uuid5(NAMESPACE_URL, cell.scenario)),
        fullName=f"{endpoint} {clean_line(cell.scenario)}{suffix}",
        name=clean_line(cell.scenario) + suffix,
        description=clean_line(scenario.title),
        titlePath=[suite, endpoint, chapter],
        status=outcome(cell.verdict),
        statusDetails=_details(cell),
        stage="finished",
        start=stop - round(cell.elapsed_ms),
        stop=stop,
        labels=[Label(k, clean_line(v)) for k, v in labels.items()] + [Label("tag", tag) for tag in tags],
        parameters=[Parameter(k, clean_line(v)) for k, v in parameters.items()],
        links=[Link("issue", clean_line(url), clean_line(url)) for url in links],
    )


def _details(cell: Cell) -> StatusDetails:
    first = cell.findings[0].message if cell.findings else ""
    return StatusDetails(
        known=True if "known" in cell.flags else None,
        flaky=True if "flaky" in cell.flags else None,
        message=clean_line(f"{cell.verdict}: {cell.reason or first}".removesuffix(": ")),
        trace="\n".join(plain(finding) for finding in cell.findings),
    )

"""``junit.xml``: a test suite per endpoint, a test case per scenario."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from conformance.report.clean import clean_block, clean_line
from conformance.report.findings import plain
from conformance.report.grid import source
from conformance.report.verdicts import outcome
from conformance.types import Cell, EndpointRow, Matrix


def write(matrix: Matrix, path: Path) -> None:
    """Write the report in the form that pytest and most CI systems share.

    ``violates`` is a failure, ``error`` an error; ``not-run``, ``unsupported`` and ``inconclusive``
    are skipped; every other verdict passes, with what there is to say in ``system-out``.
    """
    root = ET.Element("testsuites")
    for row in matrix.endpoints:
        root.append(_suite(row, [cell for cell in matrix.cells if cell.endpoint == row.name]))
    _count(root, list(root.iter("testcase")))
    ET.indent(root)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _suite(row: EndpointRow, cells: list[Cell]) -> ET.Element:
    suite = ET.Element("testsuite", name=clean_line(row.name))
    facts = {
        "model": row.model,
        "wire": row.wire,
        "server": row.server,
        "source": source(row),
        "not-run": row.reason if row.status == "not-run" else None,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in facts.items():
        if value:
            ET.SubElement(properties, "property", name=name, value=clean_line(value))
    suite.extend(_case(cell) for cell in cells)
    _count(suite, suite.findall("testcase"))
    return suite


def _case(cell: Cell) -> ET.Element:
    mode = "" if cell.mode == "strict" else f"[{cell.mode}]"
    case = ET.Element(
        "testcase",
        classname=clean_line(cell.endpoint),
        name=clean_line(cell.scenario) + mode,
        time=f"{cell.elapsed_ms / 1000:.3f}",
    )
    told = "\n".join(plain(finding) for finding in cell.findings)
    message = clean_line(cell.reason or (cell.findings[0].message if cell.findings else cell.verdict))
    match outcome(cell.verdict):
        case "failed":
            ET.SubElement(case, "failure", type=cell.verdict, message=message).text = told
        case "broken":
            ET.SubElement(case, "error", type=cell.verdict, message=message).text = told
        case "skipped":
            ET.SubElement(case, "skipped", type=cell.verdict, message=f"{cell.verdict}: {message}")
        case "passed" if told or cell.verdict != "conforms" or cell.flags:
            flags = f" ({', '.join(cell.flags)})" if cell.flags else ""
            text = f"{cell.verdict}{flags}: {message}\n{told}"
            ET.SubElement(case, "system-out").text = clean_block(text).rstrip()
    return case


def _count(element: ET.Element, cases: list[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")

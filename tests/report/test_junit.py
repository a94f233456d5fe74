from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings

from conformance.report.junit import write
from conformance.types import VERDICTS, Cell, Matrix, VerdictName

from .examples import FINISH, one_endpoint, several_endpoints
from .strategies import matrices

CHILD: dict[VerdictName, str | None] = {
    "conforms": None,
    "warns": "system-out",
    "quirk": "system-out",
    "violates": "failure",
    "refused": "system-out",
    "inconclusive": "skipped",
    "unsupported": "skipped",
    "not-run": "skipped",
    "error": "error",
}


def written(matrix: Matrix) -> ET.Element:
    with tempfile.TemporaryDirectory() as folder:
        write(matrix, Path(folder) / "junit.xml")
        return ET.parse(Path(folder) / "junit.xml").getroot()


def case(cell: Cell) -> ET.Element:
    found = written(replace(one_endpoint(), cells=(cell,))).find("testsuite/testcase")
    assert found is not None
    return found


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_maps_to_one_outcome(verdict: VerdictName) -> None:
    children = [
        child.tag for child in case(Cell("llama-server", "chat.plain", "strict", verdict, reason="why"))
    ]
    assert children == ([] if CHILD[verdict] is None else [CHILD[verdict]])


def test_a_failure_carries_the_finding_and_its_proof() -> None:
    failure = case(Cell("llama-server", "stream.plain", "strict", "violates", findings=(FINISH,))).find(
        "failure"
    )
    assert failure is not None
    assert failure.get("message") == FINISH.message
    assert failure.text is not None
    assert all(text in failure.text for text in (FINISH.rule, FINISH.path, FINISH.wanted, FINISH.got))


def test_a_skipped_case_says_why() -> None:
    skipped = case(Cell("llama-server", "a", "strict", "inconclusive", reason="one call of two")).find(
        "skipped"
    )
    assert skipped is not None
    assert skipped.get("message") == "inconclusive: one call of two"


def test_suites_are_endpoints_and_cases_scenarios() -> None:
    root = written(several_endpoints())
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == [row.name for row in several_endpoints().endpoints]
    names = [c.get("name") for c in root.iterfind("testsuite[@name='deepseek-like']/testcase")]
    assert names[-1] == "tools.duplicate-names[adapted]"
    assert {c.get("classname") for c in root.iterfind("testsuite[@name='reference']/testcase")} == {
        "reference"
    }


def test_an_endpoint_not_run_is_an_empty_suite_with_its_reason() -> None:
    suite = written(several_endpoints()).find("testsuite[@name='groq']")
    assert suite is not None
    assert suite.get("tests") == "0"
    reason = suite.find("properties/property[@name='not-run']")
    assert reason is not None
    assert "GROQ_API_KEY" in reason.get("value", "")


@settings(deadline=None)
@given(matrices())
def test_any_matrix_gives_well_formed_xml_whose_counts_add_up(matrix: Matrix) -> None:
    root = written(matrix)
    cases = list(root.iter("testcase"))
    assert int(root.get("tests", "")) == len(cases) == len(matrix.cells)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        per_suite = [int(suite.get(attribute, "")) for suite in root]
        assert int(root.get(attribute, "")) == sum(per_suite) == sum(c.find(tag) is not None for c in cases)
    order = ("failure", "error", "skipped", "system-out")
    assert all(
        [order.index(child.tag) for child in c] == sorted(order.index(child.tag) for child in c)
        for c in cases
    )

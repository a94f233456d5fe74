"""The committed rows, replayed: nothing deviates that is not declared, and the page of what real servers
deviate in is right about each cell that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.cli.server_findings import ServerFinding, servers
from conformance.config import load
from conformance.engine.options import Options
from conformance.engine.run import run
from conformance.quirks import catalogue
from conformance.rules import RULES
from conformance.scenarios import SCENARIOS
from conformance.types import Cell, Matrix

CHECKOUT = Path(__file__).parents[2]
CONFIG = str(CHECKOUT / "providers.yaml")
FINDINGS = [(server, finding) for server in servers() for finding in server.findings]
TOLD = [(cell, finding) for _, finding in FINDINGS for cell in finding.cells]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    """Every committed row over every scenario."""
    return run(Options(CONFIG)).matrix


@pytest.fixture(scope="module")
def replayed(matrix: Matrix) -> Mapping[str, Cell]:
    """Every cell by its name."""
    return {f"{cell.endpoint}/{cell.scenario}": cell for cell in matrix.cells}


def test_nothing_deviates_undeclared_and_nothing_declared_is_stale(matrix: Matrix) -> None:
    asked = {row.name for row in matrix.endpoints if row.status != "not-run"}
    fine = ("conforms", "quirk", "refused", "inconclusive", "unsupported")
    wrong = {
        (cell.endpoint, cell.scenario): (cell.verdict, cell.reason)
        for cell in matrix.cells
        if cell.endpoint in asked and (cell.verdict not in fine or "stale" in cell.flags)
    }
    assert len(asked) >= 46
    assert wrong == {}


def test_the_reference_endpoint_is_never_inconclusive_and_holds_to_its_flavour(matrix: Matrix) -> None:
    cells = [cell for cell in matrix.cells if cell.endpoint.startswith("reference")]
    assert {cell.verdict for cell in cells} == {"conforms", "quirk", "refused", "unsupported"}
    notes = [note.split(" in ")[0] for note in matrix.notes if note.startswith("reference")]
    assert notes == [
        "reference-responses holds to the flavour openai",
        "reference-open-responses holds to the flavour open-responses",
    ]


@pytest.mark.parametrize(("cell", "finding"), TOLD, ids=lambda one: one if isinstance(one, str) else "")
def test_the_cell_tells_the_deviation(
    cell: str, finding: ServerFinding, replayed: Mapping[str, Cell]
) -> None:
    one = replayed[cell]
    told = {found.rule for found in one.findings if found.level != "MAY"}
    seen = {f"{observed.aspect}={observed.outcome}" for observed in one.observations}
    assert told & set(finding.rules) or finding.observed in seen, (sorted(told), sorted(seen), one.reason)


@pytest.mark.parametrize(("cell", "finding"), TOLD, ids=lambda one: one if isinstance(one, str) else "")
def test_what_is_told_in_the_cell_is_a_declared_quirk_of_its_endpoint(
    cell: str, finding: ServerFinding, replayed: Mapping[str, Cell]
) -> None:
    told = [found for found in replayed[cell].findings if found.rule in finding.rules]
    assert all(found.quirk in catalogue() for found in told), [found.message for found in told]


def test_every_row_rule_and_scenario_that_the_page_names_exists() -> None:
    rows = {endpoint.name for endpoint in load(Path(CONFIG))}
    assert {row for server in servers() for row in server.rows} <= rows
    assert {cell.partition("/")[0] for cell, _ in TOLD} <= rows
    assert {cell.partition("/")[2] for cell, _ in TOLD} <= set(SCENARIOS)
    assert {rule for _, finding in FINDINGS for rule in finding.rules} <= set(RULES)


def test_what_the_suite_does_not_see_says_why() -> None:
    assert all(finding.cells or finding.why_not for _, finding in FINDINGS)

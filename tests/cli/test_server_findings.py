"""The page of what real servers deviate in: each cell that it names tells the rule named."""

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
from conformance.types import Cell

CHECKOUT = Path(__file__).parents[2]
CONFIG = str(CHECKOUT / "providers.yaml")
FINDINGS = [(server, finding) for server in servers() for finding in server.findings]
TOLD = [(cell, finding) for _, finding in FINDINGS for cell in finding.cells]


@pytest.fixture(scope="module")
def replayed() -> Mapping[str, Cell]:
    """Every cell that the page names, by its name."""
    wanted: dict[str, set[str]] = {}
    for cell, _ in TOLD:
        row, _, scenario = cell.partition("/")
        wanted.setdefault(row, set()).add(scenario)
    found = {}
    for row, scenarios in wanted.items():
        outcome = run(Options(CONFIG, endpoints=(row,), scenarios=tuple(sorted(scenarios))))
        found |= {f"{cell.endpoint}/{cell.scenario}": cell for cell in outcome.matrix.cells}
    return found


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

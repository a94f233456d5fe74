"""What was observed of policies has a small matrix of its own, apart from the verdicts."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from conformance.report.grid import grid
from conformance.report.markdown import to_markdown
from conformance.report.policies import policy_tables
from conformance.report.terminal import print_matrix, print_tree
from conformance.types import Cell, Matrix, Observation, ScenarioRow
from tests.report.examples import several_endpoints

HISTORIES = ScenarioRow(
    "policies.malformed-histories", "Histories that are not as they should be", "policies"
)


def seen(aspect: str, outcome: str, status: int | None = None, detail: str = "") -> Observation:
    return Observation("malformed-histories", aspect, outcome, "/exchanges/1/response/body", detail, status)


def observed() -> Matrix:
    """Two endpoints that were observed, one that was not."""
    matrix = several_endpoints()
    told = {
        "reference": (
            seen("orphan-result", "refused", 400, "HTTP 400: orphan"),
            seen("wrong-id", "accepted"),
        ),
        "deepseek-like": (seen("orphan-result", "accepted"), seen("wrong-id", "accepted")),
    }
    cells = [
        Cell(endpoint, HISTORIES.id, "strict", "conforms", observations=observations)
        for endpoint, observations in told.items()
    ]
    cells.append(Cell("llama-server", HISTORIES.id, "strict", "not-run", reason="no cassette"))
    return replace(matrix, scenarios=(*matrix.scenarios, HISTORIES), cells=(*matrix.cells, *cells))


def printed(matrix: Matrix, *, policies: bool = False) -> str:
    out = io.StringIO()
    print_matrix(matrix, Console(file=out, width=120), policies=policies)
    return out.getvalue()


def test_a_policys_rows_are_aspects_and_its_columns_the_endpoints_that_were_observed() -> None:
    (table,) = policy_tables(grid(observed()))
    assert [column.endpoint.name for column in table.columns] == ["reference", "deepseek-like"]
    assert [(name, [one.outcome for one in row if one]) for name, row in table.rows] == [
        ("orphan-result", ["refused", "accepted"]),
        ("wrong-id", ["accepted", "accepted"]),
    ]


def test_a_scenario_that_measures_is_no_row_of_the_matrix_of_verdicts() -> None:
    layout = grid(observed())
    assert "policies" not in dict(layout.chapters)
    assert HISTORIES.id not in to_markdown(observed()).partition("## ")[0]
    assert HISTORIES in layout.measured
    assert [cell.scenario for cell in layout.walk()][-1] == HISTORIES.id


def test_the_markdown_report_has_a_table_per_policy() -> None:
    lines = to_markdown(observed()).splitlines()
    assert "## Policies" in lines
    start = lines.index("`malformed-histories`:")
    assert lines[start + 2 : start + 6] == [
        "| Aspect | reference<br>*simulated* | deepseek-like<br>*simulated* |",
        "| --- | :---: | :---: |",
        "| `orphan-result` | refused 400 | accepted |",
        "| `wrong-id` | accepted | accepted |",
    ]


def test_the_terminal_counts_outcomes_by_endpoint() -> None:
    text = printed(observed())
    assert "1 refused, 1 accepted  reference (simulated)" in text
    assert "2 accepted             deepseek-like (simulated)" in text
    assert "HTTP 400: orphan" not in text


def test_the_terminal_shows_each_aspect_with_its_evidence_on_demand() -> None:
    lines = [line.strip() for line in printed(observed(), policies=True).splitlines()]
    start = lines.index("orphan-result")
    assert lines[start + 1 : start + 3] == ["refused 400  reference (simulated)", "HTTP 400: orphan"]
    assert "accepted  reference (simulated), deepseek-like (simulated)" in lines


def test_the_report_on_one_endpoint_shows_each_aspect() -> None:
    out = io.StringIO()
    print_tree(observed(), Console(file=out, width=120))
    assert "refused 400  reference (simulated)" in out.getvalue()


def test_without_observations_nothing_is_said_of_policies() -> None:
    assert "Policies" not in printed(several_endpoints(), policies=True)
    assert "Policies" not in to_markdown(several_endpoints())


def test_a_run_of_nothing_but_policies_has_no_matrix_of_verdicts() -> None:
    alone = replace(
        observed(),
        scenarios=(HISTORIES,),
        cells=tuple(cell for cell in observed().cells if cell.scenario == HISTORIES.id),
    )
    assert printed(alone).lstrip().startswith("What else to know") or printed(alone).lstrip().startswith(
        "Policies"
    )
    assert "| Scenario |" not in to_markdown(alone)

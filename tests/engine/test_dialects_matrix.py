"""The second matrix: every recorded server in every dialect, replayed, is as its declared quirks say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.engine.options import Options
from conformance.engine.run import run
from conformance.lab import recipes
from conformance.report.dialects import to_markdown
from conformance.types import Matrix

ROOT = Path(__file__).parents[2]
CASSETTES = ROOT / "cassettes-dialects"
RULES = (
    "parser.*",
    "parity.*",
    "*-leak",
    "chat.response.tool-call-arguments-*",
    "chat.stream.tool-arguments-*",
    "chat.*.finish-*",
)
"""As in the Makefile."""
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    options = Options(
        config=str(ROOT / "dialects.yaml"),
        scenarios=("parser.*",),
        rules=RULES,
        cassettes=str(CASSETTES),
    )
    return run(options).matrix


def test_the_makefile_judges_the_same_rules() -> None:
    told = (ROOT / "Makefile").read_text("utf-8").partition("DIALECTS :=")[2].partition("--out")[0]
    assert tuple(part.split("'")[1] for part in told.split("--rule ")[1:]) == RULES


def test_nothing_deviates_undeclared_and_nothing_declared_is_stale(matrix: Matrix) -> None:
    wrong = {
        (cell.endpoint, cell.scenario): cell.verdict
        for cell in matrix.cells
        if cell.verdict in ("violates", "warns", "error", "refused") or "stale" in cell.flags
    }
    assert wrong == {}


def test_no_deviation_hides_beside_a_declared_one(matrix: Matrix) -> None:
    hidden = {
        (cell.endpoint, cell.scenario, finding.rule)
        for cell in matrix.cells
        for finding in cell.findings
        if finding.level != "MAY" and finding.quirk is None
    }
    assert hidden == set()


def test_every_dialect_of_a_recorded_server_has_a_row_with_cells_or_a_reason(matrix: Matrix) -> None:
    judged = Counter(c.endpoint for c in matrix.cells if c.verdict in ("conforms", "quirk"))
    for row in matrix.endpoints:
        assert judged[row.name] or row.reason.startswith("not supported: "), row.name
    there = {row.name for row in matrix.endpoints}
    assert {recipes()["llamacpp"].endpoint_in(name).name for name in recipes()["llamacpp"].dialects} <= there


def test_the_page_tells_of_every_server_and_of_what_it_does_not_claim(matrix: Matrix) -> None:
    page = to_markdown(matrix)
    assert f"## {recipes()['llamacpp'].server}" in page
    assert "llamacpp-react" in page


def test_the_recordings_are_small() -> None:
    sizes: Counter[str] = Counter()
    for path in CASSETTES.rglob("*.yaml"):
        sizes[path.parent.name] += path.stat().st_size
    assert max(sizes.values()) < MEGABYTE // 2
    assert sum(sizes.values()) < 15 * MEGABYTE

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from conformance.report.allure import write
from conformance.types import VERDICTS, Cell, Matrix, VerdictName

from .examples import FINISH, evidence, one_endpoint, several_endpoints
from .strategies import matrices

STATUS: dict[VerdictName, str] = {
    "conforms": "passed",
    "warns": "passed",
    "quirk": "passed",
    "violates": "failed",
    "refused": "passed",
    "inconclusive": "skipped",
    "unsupported": "skipped",
    "not-run": "skipped",
    "error": "broken",
}


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*-result.json"))]


def only(cell: Cell, folder: Path) -> dict[str, Any]:
    write(replace(one_endpoint(), cells=(cell,)), folder)
    (result,) = results(folder)
    return result


@pytest.mark.parametrize("verdict", VERDICTS)
def test_each_verdict_has_a_status(verdict: VerdictName, tmp_path: Path) -> None:
    assert only(Cell("llama-server", "chat.plain", "strict", verdict), tmp_path)["status"] == STATUS[verdict]


def test_labels_place_a_cell_by_suite_endpoint_and_chapter(tmp_path: Path) -> None:
    result = only(Cell("llama-server", "chat.plain", "strict", "conforms", flags=("old",)), tmp_path)
    labels = [(label["name"], label["value"]) for label in result["labels"]]
    assert {("epic", "conformance"), ("feature", "llama-server"), ("story", "chat")} <= set(labels)
    assert {("tag", "conforms"), ("tag", "old")} <= set(labels)
    assert result["titlePath"] == ["conformance", "llama-server", "chat"]


def test_the_findings_are_the_status_details(tmp_path: Path) -> None:
    known = replace(FINISH, known="https://example.org/issues/7")
    cell = Cell(
        "llama-server", "chat.plain", "strict", "violates", flags=("flaky", "known"), findings=(known,)
    )
    result = only(cell, tmp_path)
    details = result["statusDetails"]
    assert details["message"] == f"violates: {FINISH.message}"
    assert FINISH.path in details["trace"]
    assert (details["flaky"], details["known"]) == (True, True)
    assert [link["url"] for link in result["links"]] == ["https://example.org/issues/7"]


def test_the_exchanges_are_attached_as_json(tmp_path: Path) -> None:
    result = only(Cell("llama-server", "chat.plain", "strict", "conforms", evidence=(evidence(),)), tmp_path)
    (attachment,) = result["attachments"]
    assert attachment["type"] == "application/json"
    assert json.loads((tmp_path / attachment["source"]).read_text(encoding="utf-8")) == [evidence()]


def test_the_time_a_cell_took_is_its_duration(tmp_path: Path) -> None:
    result = only(Cell("llama-server", "chat.plain", "strict", "conforms", elapsed_ms=1234.4), tmp_path)
    assert result["stop"] - result["start"] == 1234


def test_the_history_id_depends_on_endpoint_scenario_and_mode_only(tmp_path: Path) -> None:
    before = Cell("llama-server", "chat.plain", "strict", "violates", findings=(FINISH,))
    after = Cell("llama-server", "chat.plain", "strict", "conforms")
    adapted = replace(after, mode="adapted")
    first, second, other = (only(cell, tmp_path)["historyId"] for cell in (before, after, adapted))
    assert first == second != other


def test_a_new_run_replaces_our_results_and_leaves_other_files(tmp_path: Path) -> None:
    foreign = tmp_path / "0d0f-result.json"
    foreign.write_text("{}")
    write(several_endpoints(), tmp_path)
    write(replace(one_endpoint(), cells=one_endpoint().cells[:1]), tmp_path)
    ours = [path.name for path in tmp_path.iterdir() if path != foreign]
    assert foreign.exists()
    assert len(ours) == 2


@settings(deadline=None)
@given(matrices())
def test_any_matrix_gives_one_result_per_cell(matrix: Matrix) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(matrix, Path(folder))
        found = results(Path(folder))
        assert len({result["historyId"] for result in found}) == len(found) == len(matrix.cells)
        sources = {attachment["source"] for result in found for attachment in result.get("attachments", ())}
        assert all((Path(folder) / source).is_file() for source in sources)

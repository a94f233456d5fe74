"""What changed between two matrices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import cli
from conformance.report.difference import Change, difference
from conformance.report.difference_text import to_json, to_markdown, to_text
from conformance.report.jsonfile import to_document
from conformance.types import Cell, EndpointRow, Finding, Level, Matrix, ScenarioRow, VerdictName

ROW = EndpointRow("acme", "openai-chat", "m", "http://h/v1", "live")


def broken(rule: str = "r.one", level: Level = "MUST", **members: Any) -> Finding:
    return Finding(rule, level, "schema", "/exchanges/0/response/body", "A rule.", "wanted", "got", **members)


def cell(verdict: VerdictName, *findings: Finding, **members: Any) -> Cell:
    return Cell("acme", members.pop("scenario", "s.a"), "strict", verdict, findings=findings, **members)


def matrix(*cells: Cell, rows: tuple[EndpointRow, ...] = (ROW,)) -> Matrix:
    names = dict.fromkeys(cell.scenario for cell in cells)
    suite = {
        "name": "llm-wire-conformance",
        "version": "1",
        "generated": "2026-01-01T00:00:00+00:00",
        "command": "c",
        "rulebook": "default",
    }
    return Matrix(suite, rows, tuple(ScenarioRow(name, "T", "s") for name in names), cells)


def kinds(old: Cell, new: Cell) -> list[str]:
    return [change.kind for change in difference(matrix(old), matrix(new)).changes]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (cell("conforms"), cell("conforms"), []),
        (cell("conforms"), cell("violates", broken()), ["regression"]),
        (cell("violates", broken()), cell("conforms"), ["fix"]),
        (cell("violates", broken()), cell("violates", broken()), []),
        (cell("violates", broken()), cell("violates", broken("r.two")), ["regression", "fix"]),
        (cell("violates", broken()), cell("quirk", broken(quirk="q")), ["forgiven"]),
        (cell("violates", broken()), cell("violates", broken(known="k")), ["forgiven"]),
        (cell("quirk", broken(quirk="q")), cell("violates", broken()), ["regression"]),
        (cell("conforms"), cell("conforms", broken(level="MAY")), []),
        (cell("conforms"), cell("error", reason="no route"), ["lost"]),
        (cell("not-run"), cell("violates", broken()), ["regained"]),
        (cell("quirk", broken(quirk="q")), cell("conforms", flags=("stale",)), ["stale"]),
    ],
)
def test_a_change_is_of_the_kind_that_it_is(old: Cell, new: Cell, told: list[str]) -> None:
    assert kinds(old, new) == told


def test_a_rule_that_broke_in_several_scenarios_is_one_change() -> None:
    names = ("s.a", "s.b")
    old = matrix(*(cell("conforms", scenario=name) for name in names))
    new = matrix(*(cell("violates", broken(), scenario=name) for name in names))
    (change,) = difference(old, new).changes
    assert (change.endpoint, change.rule, change.scenarios) == ("acme", "r.one", names)


def test_rows_and_scenarios_that_are_new_or_gone_are_told_once() -> None:
    other = replace(ROW, name="beta", server="beta 1.0")
    old, new = matrix(cell("conforms")), matrix(cell("conforms", scenario="s.b"), rows=(ROW, other))
    assert difference(old, new).changes == (
        Change("new", "beta", reason="beta 1.0"),
        Change("new", "", ("s.b",)),
        Change("gone", "", ("s.a",)),
    )


def test_strict_and_adapted_cells_are_not_compared_with_each_other() -> None:
    old = cell("conforms")
    assert kinds(old, replace(cell("violates", broken()), mode="adapted")) == []


@pytest.mark.parametrize(("level", "must", "should"), [("MUST", True, True), ("SHOULD", False, True)])
def test_the_level_decides_what_counts_as_regressed(level: Level, must: bool, should: bool) -> None:
    found = difference(matrix(cell("conforms")), matrix(cell("violates", broken(level=level))))
    assert (found.regressed("MUST"), found.regressed("SHOULD")) == (must, should)


def test_nothing_in_a_matrix_can_steer_a_terminal_or_a_page() -> None:
    nasty = replace(broken(), got="\x1b[31m|`", message="<script>[x](javascript:1)")
    found = difference(matrix(cell("conforms")), matrix(cell("violates", nasty)))
    assert "\x1b" not in to_text(found)
    page = to_markdown(found)
    assert "<script>" not in page
    assert "[x](" not in page
    json.dumps(to_json(found))


# ------------------------------------------------------------------------------------------- command


def diff(folder: Path, old: Matrix, new: Matrix, *options: str) -> Result:
    for name, value in (("old", old), ("new", new)):
        (folder / name).write_text(json.dumps(to_document(value)))
    return CliRunner().invoke(cli, ["diff", *options, str(folder / "old"), str(folder / "new")])


@pytest.mark.parametrize(
    ("level", "options", "code"),
    [
        ("MUST", (), 1),
        ("SHOULD", (), 0),
        ("SHOULD", ("--fail-on", "SHOULD"), 1),
        ("MUST", ("--fail-on", "never"), 0),
        ("MUST", ("--json",), 1),
        ("MUST", ("--markdown",), 1),
    ],
)
def test_the_exit_code_tells_of_a_regression(
    tmp_path: Path, level: Level, options: tuple[str, ...], code: int
) -> None:
    result = diff(tmp_path, matrix(cell("conforms")), matrix(cell("violates", broken(level=level))), *options)
    assert result.exit_code == code
    assert "r.one" in result.output


def test_a_file_that_is_no_matrix_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"cells": []}')
    result = CliRunner().invoke(cli, ["diff", str(tmp_path / "x"), str(tmp_path / "x")])
    assert result.exit_code == 2
    assert "not a conformance matrix" in result.stderr


def test_a_run_against_a_baseline_fails_only_for_what_held_there(tmp_path: Path) -> None:
    (tmp_path / "providers.yaml").write_text(
        "endpoints:\n  sim:\n    persona: moonshot\n    model: reference\n    scripted: true\n"
    )
    common = ["run", "--config", str(tmp_path / "providers.yaml"), "--scenario", "limits.schemas"]

    def run(out: str, *options: str) -> Result:
        return CliRunner().invoke(cli, [*common, "--out", str(tmp_path / out), *options])

    first = run("a")
    assert first.exit_code == 1
    again = run("b", "--baseline", str(tmp_path / "a" / "matrix.json"))
    assert again.exit_code == 0
    assert "nothing changed" in again.output
    clean = json.loads((tmp_path / "a" / "matrix.json").read_text())
    for one in clean["cells"]:
        one["findings"], one["verdict"] = [], "conforms"
    (tmp_path / "clean.json").write_text(json.dumps(clean))
    worse = run("c", "--baseline", str(tmp_path / "clean.json"))
    assert worse.exit_code == 1
    assert "regression" in worse.output

"""Policies on the command line: listed, explained, shown by a run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs

from conformance.policies import POLICIES
from conformance.report.jsonfile import schema
from tests.cli.support import conformance
from tests.engine.support import configure


def test_policies_are_listed_with_what_each_provider_does(tmp_path: Path) -> None:
    rows = json.loads(conformance("list", "policies", "--json", cwd=tmp_path).stdout)
    assert [row["id"] for row in rows] == list(POLICIES)
    assert all(len(row["reference"]) == 5 and row["aspects"] and row["outcomes"] for row in rows)


def test_a_policy_is_explained_with_aspects_outcomes_and_sources(tmp_path: Path) -> None:
    text = conformance("explain", "reasoning-echo", cwd=tmp_path).stdout
    assert text.startswith("policy reasoning-echo: ")
    for said in ("policies.reasoning-fields", "thinking-block", "required", "source: Gemini API guide"):
        assert said in text


def test_a_run_shows_what_was_observed_counted_or_each_and_fails_for_none_of_it(tmp_path: Path) -> None:
    row = {"persona": "deepseek", "model": "reference", "scripted": True}
    configure(tmp_path, e=row)
    words = ("run", "--scenario", "policies.duplicate-tool-names", "--out", "out")
    counted = conformance(*words, cwd=tmp_path)
    assert (counted.returncode, "2 refused" in counted.stdout) == (0, True)
    each = conformance(*words, "--policies", cwd=tmp_path).stdout
    assert "HTTP 400: invalid_request_error: Tool names must be unique." in each
    matrix = json.loads((tmp_path / "out" / "matrix.json").read_text("utf-8"))
    jsonschema_rs.validate(schema(), matrix)
    ((first, _),) = (cell["observations"] for cell in matrix["cells"])
    assert (first["aspect"], first["outcome"], first["status"]) == ("identical", "refused", 400)

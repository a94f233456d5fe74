"""Policies in a run: recorded and replayed, skipped where nothing was recorded, left out in dialects."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.engine.run import exit_code
from conformance.simulator import PERSONAS
from tests.engine.support import at, cells, configure, go, served

ALL = ["policies.*"]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", PERSONAS["reference"].key)


def test_a_recording_is_observed_as_what_was_recorded(tmp_path: Path) -> None:
    with served(PERSONAS["deepseek"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "deepseek"))
        recorded = cells(go(config, ALL, mode="record"))
    replayed = cells(go(config, ALL))
    assert {name: cell.observations for name, cell in replayed.items()} == {
        name: cell.observations for name, cell in recorded.items()
    }
    assert sum(len(cell.observations) for cell in replayed.values()) == 34


def test_a_recorded_endpoint_that_was_never_asked_is_not_run_and_nothing_is_amiss(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference"))
        go(config, ["chat.plain"], mode="record")
    outcome = go(config, ["chat.plain", *ALL])
    cell = cells(outcome)["policies.tool-choice"]
    assert (cell.verdict, cell.observations) == ("not-run", ())
    assert cell.reason == "no cassette; record it: " + (
        f"conformance run --config {config} --record --endpoint e"
    )
    assert exit_code(outcome, ["e"]) == 0


def test_a_policy_is_not_asked_of_a_dialect(tmp_path: Path) -> None:
    row = {"persona": "hermes-text", "dialect": "hermes", "model": "reference", "scripted": True}
    outcome = go(configure(tmp_path, e=row), ALL)
    assert {cell.verdict for cell in outcome.matrix.cells} == {"unsupported"}

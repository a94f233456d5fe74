"""Bugs of the past: the suite tells each in the old release and no longer in the fixed one."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.cli.replays import HISTORY, Replay, history, rows
from conformance.engine.options import Options
from conformance.engine.run import run
from conformance.rules import RULES
from conformance.transport import tape
from conformance.types import Cell

REPLAYS = history().replays
by_id = pytest.mark.parametrize("replay", REPLAYS, ids=lambda replay: replay.id)


def judged(replay: Replay) -> tuple[Cell, Cell]:
    """The cells of the old and of the fixed release."""
    options = Options(
        config=str(HISTORY / "providers.yaml"),
        endpoints=(replay.old, replay.fixed),
        scenarios=(replay.scenario,),
    )
    cells = {cell.endpoint: cell for cell in run(options).matrix.cells}
    return cells[replay.old], cells[replay.fixed]


@by_id
def test_the_old_release_fails_and_the_fixed_one_passes(replay: Replay) -> None:
    old, fixed = judged(replay)
    assert old.verdict in {"violates", "warns"}, old.reason
    assert set(replay.rules) <= {finding.rule for finding in old.findings}
    assert fixed.verdict in {"conforms", "warns", "violates"}, fixed.reason
    assert not set(replay.rules) & {finding.rule for finding in fixed.findings}
    assert (fixed.verdict == "conforms") is replay.clean


@by_id
def test_what_tells_it_counts(replay: Replay) -> None:
    assert {RULES[rule].level for rule in replay.rules} <= {"MUST", "SHOULD"}


@by_id
@pytest.mark.parametrize("end", ["old", "fixed"])
def test_a_recording_says_of_which_release_it_is(replay: Replay, end: str) -> None:
    row = rows()[getattr(replay, end)]
    metadata = tape.load(HISTORY / "cassettes" / row.name / f"{replay.scenario}.yaml").metadata
    assert metadata["server"] == row.server


def test_each_release_can_be_installed_again() -> None:
    versions = {
        name: version for one in history().programs.values() for name, version in one.versions.items()
    }
    for replay in REPLAYS:
        for name in (replay.old, replay.fixed):
            assert any(name == row or name.startswith(f"{row}-") for row in versions), name
    for name, version in versions.items():
        assert version in (rows()[name].server or "")


def test_no_recording_is_left_over() -> None:
    needed = {(name, replay.scenario) for replay in REPLAYS for name in (replay.old, replay.fixed)}
    lying = {(path.parent.name, path.stem) for path in (HISTORY / "cassettes").rglob("*.yaml")}
    assert lying == needed


def test_a_case_is_told_once() -> None:
    assert max(Counter(replay.id for replay in REPLAYS).values()) == 1

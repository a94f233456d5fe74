"""When the suite itself fails, the cell says so: nothing is lost and nothing passes in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.engine import acquire
from conformance.engine.run import exit_code
from tests.engine.support import cells, configure, go

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}


@pytest.mark.parametrize(("adapted", "mode"), [(False, "strict"), (True, "adapted")])
def test_a_cell_in_which_our_own_code_fails_is_an_error_and_its_neighbours_are_judged(
    adapted: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = acquire.judge

    def failing(endpoint: str, scenario: Any, *more: Any, **named: Any) -> Any:
        if scenario.id == "chat.plain":
            raise RuntimeError("out of order")
        return honest(endpoint, scenario, *more, **named)

    monkeypatch.setattr(acquire, "judge", failing)
    outcome = go(configure(tmp_path, e=REFERENCE), ["chat.plain", "chat.multi-turn"], adapted=adapted)
    assert {n: (c.verdict, c.mode) for n, c in cells(outcome).items()} == {
        "chat.plain": ("error", mode),
        "chat.multi-turn": ("conforms", mode),
    }
    assert "RuntimeError: out of order" in cells(outcome)["chat.plain"].reason
    assert exit_code(outcome, []) == 3


@pytest.mark.parametrize(("adapted", "mode"), [(False, "strict"), (True, "adapted")])
def test_an_endpoint_that_cannot_be_set_up_has_error_cells_only(
    adapted: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise ImportError("no module for that")

    monkeypatch.setattr(acquire, "LiveTransport", failing)
    outcome = go(configure(tmp_path, e=REFERENCE), ["chat.plain", "chat.multi-turn"], adapted=adapted)
    assert [(c.verdict, c.mode) for c in outcome.matrix.cells] == [("error", mode), ("error", mode)]
    assert "ImportError: no module for that" in outcome.matrix.cells[0].reason

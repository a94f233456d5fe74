"""The lab's scripted models: built when their sources change, and the same one as before where that is so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.lab import LabError, model


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the builder (which takes half a minute) writes, how often it ran, and what the sources are."""
    state: dict[str, Any] = {"writes": "one", "runs": 0, "sources": "a"}

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--out") + 1])
        folder.mkdir(exist_ok=True)
        (folder / "model.gguf").write_text(state["writes"])
        state["runs"] += 1
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(model, "_digest", lambda dialect: f"{dialect} of {state['sources']}")
    return state


def build(folder: Path, dialect: str = "hermes") -> str:
    return model.build(folder, dialect, lambda _line: None)


def test_a_model_of_the_same_sources_is_not_built_again(tmp_path: Path, builder: dict[str, Any]) -> None:
    assert build(tmp_path / "model") == build(tmp_path / "model")
    assert builder["runs"] == 1


def test_other_sources_that_say_the_same_are_the_same_model(tmp_path: Path, builder: dict[str, Any]) -> None:
    first = build(tmp_path / "model")
    for builder["sources"] in "bc":
        assert build(tmp_path / "model") == first
    assert builder["runs"] == 3


def test_other_sources_that_say_something_else_are_another_model(
    tmp_path: Path, builder: dict[str, Any]
) -> None:
    first = build(tmp_path / "model")
    builder.update(sources="b", writes="two")
    assert build(tmp_path / "model") != first


def test_a_stamp_of_an_earlier_lab_names_the_model(tmp_path: Path, builder: dict[str, Any]) -> None:
    first = build(tmp_path / "model")
    (tmp_path / "model" / "sources.sha256").write_text(first)
    assert build(tmp_path / "model") == first
    assert builder["runs"] == 1


def test_models_of_two_dialects_are_two(tmp_path: Path, builder: dict[str, Any]) -> None:
    assert build(tmp_path / "a", "hermes") != build(tmp_path / "b", "kimi-k2")


def test_scripts_that_became_several_models_are_an_error(
    tmp_path: Path, builder: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], 0, "", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(LabError, match="several models"):
        build(tmp_path / "model")

"""Which Python and Node are taken, and what is said where the machine has none that fits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conformance.lab import Unavailable, environments, recipes
from conformance.lab.environments import STAMP, clean_environment, interpreter, is_installed, node, why_not
from conformance.lab.recipe import PythonEnvironment


def test_this_python_is_taken_where_it_fits() -> None:
    assert interpreter(PythonEnvironment(minimum="3.11")) == Path(sys.executable)


def test_no_python_that_is_too_old_or_too_new_is_taken() -> None:
    with pytest.raises(Unavailable, match=r"needs Python 3\.90 or newer, older than 3\.91"):
        interpreter(PythonEnvironment(minimum="3.90", below="3.91"))


def test_another_python_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "python3.90"
    other.write_text("#!/bin/sh\necho 3.90\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert interpreter(PythonEnvironment(minimum="3.90")) == other


def test_a_python_on_the_path_that_does_not_run_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python3.90"
    broken.write_text("#!/bin/sh\necho 3.90\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable):
        interpreter(PythonEnvironment(minimum="3.90", below="3.91"))


def test_a_machine_without_node_is_told_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"needs Node\.js 20 or newer"):
        node(20)
    assert why_not(recipes()["portkey"], tmp_path / "env") == (
        "needs Node.js 20 or newer with npm; there is none on the PATH"
    )


def test_a_node_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v18.4.0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"node is 18\.4\.0"):
        node(20)


def test_a_disk_that_is_too_small_is_a_reason(tmp_path: Path) -> None:
    recipe = recipes()["llamacpp"].model_copy(update={"disk_mb": 10**9})
    assert "needs 2000000000 MB while it is installed" in str(why_not(recipe, tmp_path / "env"))


def test_an_environment_of_another_lock_counts_as_not_installed(tmp_path: Path) -> None:
    for stamp in ("", "[]", json.dumps({"digest": "of another lock"})):
        (tmp_path / STAMP).write_text(stamp)
        assert not is_installed(recipes()["llamacpp"], tmp_path)


def test_what_a_compiler_is_told_belongs_to_what_is_installed(tmp_path: Path) -> None:
    recipe = recipes()["llama-cpp-python"]
    assert recipe.python is not None
    (tmp_path / STAMP).write_text(json.dumps({"digest": environments._digest(recipe)}))
    assert is_installed(recipe, tmp_path)
    unoptimised = recipe.python.model_copy(update={"build": {"CMAKE_ARGS": "-DCMAKE_CXX_FLAGS_RELEASE=-O0"}})
    assert not is_installed(recipe.model_copy(update={"python": unoptimised}), tmp_path)


def test_what_is_built_in_needs_no_installation(tmp_path: Path) -> None:
    assert is_installed(recipes()["simulator"], tmp_path / "nowhere")


def test_a_foreign_program_is_not_led_to_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    given = clean_environment({"HOME": "/run"})
    assert "PYTHONPATH" not in given
    assert given["HOME"] == "/run"

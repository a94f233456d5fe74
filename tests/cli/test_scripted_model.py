"""``conformance scripted-model``."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import cli

TEXTS = {"hello": "Hello there.", "call": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'}


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    file = tmp_path / "texts.json"
    file.write_text(json.dumps(TEXTS))
    return file


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", os.environ.get("OPENBLAS_NUM_THREADS", "1"))


def build(*words: object) -> Result:
    return CliRunner().invoke(cli, ["scripted-model", "build", *map(str, words)])


def index(out: Path) -> dict[str, dict[str, Any]]:
    return dict(json.loads((out / "scripts.json").read_text("utf-8")))


def test_it_builds_from_a_file(scripts: Path, tmp_path: Path) -> None:
    result = build("--scripts", scripts, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 scripts of hermes" in result.stdout
    assert "every script reproduced" in result.stdout
    assert {name: row["text"] for name, row in index(tmp_path / "out").items()} == TEXTS
    assert {"model.gguf", "model.safetensors", "config.json"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_without_a_file_it_builds_the_ideal_turns_of_all_scenarios(tmp_path: Path) -> None:
    from conformance.scenarios import scripts

    result = build("--out", tmp_path / "out", "--format", "gguf")
    assert result.exit_code == 0
    rows = index(tmp_path / "out")
    assert list(rows) == list(scripts())
    assert rows["tools.single-call/0"]["message"]["tool_calls"]


@pytest.mark.parametrize(
    "words",
    [
        ("--dialect", "qwen3"),
        ("--dialect", "harmony"),
        ("--tokens", "text"),
        ("--split", "char"),
        ("--split", "whole", "--tokens", "text"),
        ("--split", "random:42", "--ctx", "1024"),
        ("--format", "safetensors"),
    ],
)
def test_every_setting_says_the_same(words: tuple[str, ...], scripts: Path, tmp_path: Path) -> None:
    assert build("--scripts", scripts, "--out", tmp_path / "out", *words).exit_code == 0
    assert {name: row["text"] for name, row in index(tmp_path / "out").items()} == TEXTS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dialect", "hermess"), "no dialect hermess; did you mean hermes?"),
        (("--split", "chars"), "split 'chars': wanted char, whole or random:SEED"),
        (("--ctx", "10"), "--ctx"),
        (("--scripts", "nowhere.json"), "nowhere.json"),
        (("--format", "onnx"), "--format"),
    ],
)
def test_a_mistake_ends_with_exit_code_2_and_a_line_that_names_it(
    words: tuple[str, ...], message: str, scripts: Path, tmp_path: Path
) -> None:
    result = build("--scripts", scripts, "--out", tmp_path / "out", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_text_that_can_not_become_a_script_is_named(tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps({"fine": "Hello.", "odd one": "Hello."}))
    result = build("--scripts", tmp_path / "texts.json", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "script name 'odd one'" in result.stderr


def test_a_missing_package_is_named_with_the_extra_that_brings_it(scripts: Path, tmp_path: Path) -> None:
    code = (
        "import importlib.util as u, sys; find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'gguf' else find(name, *more)\n"
        "from conformance.cli import main\n"
        "main()"
    )
    words = ["scripted-model", "build", "--scripts", str(scripts), "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "needs gguf: pip install 'llm-wire-conformance[scripted-model]'" in done.stderr


def test_the_page_about_it_shows_commands_that_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "scripted-model.md"
    lines = [line for block in page.read_text("utf-8").split("```")[1::2] for line in block.splitlines()]
    monkeypatch.chdir(tmp_path)
    built = 0
    for line in lines:
        if line.startswith("printf "):
            subprocess.run(["sh", "-c", line], check=True)
        if line.startswith("conformance scripted-model build "):
            result = CliRunner().invoke(cli, shlex.split(line)[1:])
            assert (result.exit_code, result.stderr) == (0, "")
            built += 1
    assert built == 3
    assert set(index(tmp_path / "scripted")) == {"hello", "weather"}

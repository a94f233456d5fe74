"""Every example of docs/adapter-testing.md does what the page says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.scenarios import scripts
from conformance.simulator import Simulator, running
from conformance.simulator.choosing import choose
from conformance.simulator.faults import FAULTS_BY_NAME
from conformance.simulator.script import load_script
from tests.cli.support import ROOT, clean_environment

PAGE = (ROOT / "docs" / "adapter-testing.md").read_text("utf-8")
ORIGIN = "http://127.0.0.1:8089"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILES = {found[1]: text for _, text in FENCE.findall(PAGE) if (found := re.match(r"(?:#|//) (\S+)\n", text))}


def examples(language: str) -> list[str]:
    return [text for found, text in FENCE.findall(PAGE) if found == language]


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with running(Simulator(choose(), scripts(), gap_s=0)) as simulator:
        yield simulator.origin


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=clean_environment(), capture_output=True, text=True, timeout=240, check=False
    )


def test_every_example_is_in_a_language_that_is_run_here() -> None:
    assert {language for language, _ in FENCE.findall(PAGE)} == {"python", "sh", "js", "yaml"}
    assert all(re.match(r"# \S+\.py\n", text) for text in examples("python"))


def test_the_pytest_examples_pass(tmp_path: Path) -> None:
    for name, text in FILES.items():
        if name.startswith(("conftest", "test_")):
            (tmp_path / name).write_text(text)
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    tests = sum(text.count("\ndef test_") for text in FILES.values())
    assert f"{tests} passed" in done.stdout


def test_options_are_taken_from_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(FILES["conftest.py"] + FILES["options/conftest.py"])
    (tmp_path / "test_it.py").write_text(
        "def test_it(conformance_simulator):\n"
        "    import httpx\n"
        "    personas = httpx.get(conformance_simulator.control_url + '/personas').json()['personas']\n"
        "    (one,) = personas\n"
        "    assert one['quirks'] == ['duplicate-tool-names-rejected']\n"
        "    assert one['models'] == ['gpt-*']\n"
    )
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_example_without_pytest_tells_what_was_asked(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(FILES["plain.py"])
    done = run(sys.executable, "plain.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1. POST /p/reference/v1/chat/completions -> 200, answered improvised\n"


def test_the_script_is_one(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text(FILES["turns.yaml"])
    assert len(load_script(tmp_path / "turns.yaml", tuple(FAULTS_BY_NAME)).turns) == 6


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
def test_the_calls_with_curl_bring_what_they_should(origin: str, tmp_path: Path) -> None:
    start, calls = examples("sh")
    assert start.startswith("conformance serve")
    done = run("sh", "-e", "-c", calls.replace(ORIGIN, origin), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"status":"ok"' in done.stdout
    assert "502 Bad Gateway" in done.stdout
    assert '"action":"fault: html-502"' in done.stdout
    assert done.stdout.endswith('{"run":"t1"}')


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here")
def test_the_test_in_node_passes(origin: str, tmp_path: Path) -> None:
    (script,) = examples("js")
    (tmp_path / "adapter.test.mjs").write_text(script.replace(ORIGIN, origin))
    done = run("node", "adapter.test.mjs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

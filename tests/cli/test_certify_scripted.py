"""``certify`` where the scripted model is served, and as a step of ``git bisect``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from conformance.simulator import PERSONAS
from tests.cli.support import conformance
from tests.engine.support import served

CALL = ("--scenario", "tools.single-call")
KEY = {"KEY": PERSONAS["reference"].key}


def test_certify_judges_a_scripted_model_by_the_dialect_it_was_built_in(tmp_path: Path) -> None:
    with served(PERSONAS["reference"]) as simulator:
        done = conformance(
            "certify", simulator.base_url("reference"), "--model", "reference", "--key-env", "KEY",
            "--scripted", "--dialect", "qwen3-coder", "--server", "my build --parser=x", "--out", "cert",
            "--scenario", "parser.two-calls", "--scenario", "parser.arguments-first",
            cwd=tmp_path, env=KEY,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    (row,) = yaml.safe_load((tmp_path / "cert" / "providers.yaml").read_text())["endpoints"].values()
    assert (row["scripted"], "dialect" in row, row["attempts"]) == ("qwen3-coder", False, 1)
    assert "my build --parser=x" in done.stdout
    assert "our scripted model in qwen3-coder" in done.stdout.replace("\n", " ")
    assert "no model of qwen3-coder writes this" in done.stdout.replace("\n", " ")


def test_certify_fails_on_a_should_where_it_is_told_to(tmp_path: Path) -> None:
    words = ("certify", "simulator:llama.cpp", "--model", "m", "--scenario", "stream.usage")
    rule = ("--rule", "chat.stream.usage-null-elsewhere")
    assert conformance(*words, *rule, cwd=tmp_path).returncode == 0
    assert conformance(*words, *rule, "--fail-on-warns", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(("words", "requests"), [((), 2), (("--no-parity",), 1)])
def test_certify_asks_a_scripted_model_both_ways_unless_told_not_to(
    tmp_path: Path, words: tuple[str, ...], requests: int
) -> None:
    with served(PERSONAS["reference"]) as simulator:
        done = conformance(
            "certify", simulator.base_url("reference"), "--model", "reference", "--key-env", "KEY",
            "--scripted", "--scenario", "chat.plain", "--json", *words, cwd=tmp_path, env=KEY,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["requests"] == requests


def test_a_persona_is_asked_both_ways_on_request(tmp_path: Path) -> None:
    words = ("certify", "simulator:google-gemini", "--model", "reference", "--json", *CALL)
    (once,) = json.loads(conformance(*words, cwd=tmp_path).stdout)["cells"]
    (twice,) = json.loads(conformance(*words, "--parity", cwd=tmp_path).stdout)["cells"]
    assert (once["requests"], twice["requests"]) == (1, 2)
    assert "parity.finish" in {finding["rule"] for finding in twice["findings"]}


def test_parity_of_a_model_that_may_say_something_else_is_an_error(tmp_path: Path) -> None:
    done = conformance("certify", "http://127.0.0.1:9/v1", "--model", "m", "--parity", cwd=tmp_path)
    assert done.returncode == 2
    assert "add --scripted where it is served" in done.stderr

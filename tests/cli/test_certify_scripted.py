"""``certify`` where the scripted model is served, and as a step of ``git bisect``."""

from __future__ import annotations

from pathlib import Path

import yaml

from conformance.simulator import PERSONAS
from tests.cli.support import conformance
from tests.engine.support import served

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

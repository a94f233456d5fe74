"""``run --exchanges`` and ``schema exchange``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs

from conformance.grade.jsonl import exchange_schema

from .support import conformance

CONFIG = "endpoints:\n  e: {persona: reference, model: reference, scripted: true}\n"


def test_a_run_writes_lines_that_follow_the_schema_which_schema_prints(tmp_path: Path) -> None:
    (tmp_path / "providers.yaml").write_text(CONFIG)
    done = conformance("run", "--scenario", "chat.plain", "--exchanges", "x.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    schema = json.loads(conformance("schema", "exchange", cwd=tmp_path).stdout)
    assert schema == exchange_schema()
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert [(line["endpoint"], line["scenario"]) for line in lines] == [("e", "chat.plain")]
    for line in lines:
        jsonschema_rs.validate(schema, line)


def test_a_file_that_cannot_be_written_is_a_mistake_of_usage(tmp_path: Path) -> None:
    (tmp_path / "providers.yaml").write_text(CONFIG)
    done = conformance("run", "--exchanges", "providers.yaml/x", cwd=tmp_path)
    assert done.returncode == 2
    assert "--exchanges" in done.stderr

"""All files below some paths, in this process or in several: the same in the same order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.grade import batches
from conformance.grade.batches import Batch, graded_batches, units_of
from conformance.grade.grading import Grader
from conformance.grade.jsonl import to_line
from conformance.rules.examples import answer
from conformance.types import Exchange

ODD = answer(choice={"finish_reason": "eos"})
FINE = answer()


def shown(exchange: Exchange) -> Mapping[str, Any]:
    return {"url": exchange.request.url}


def write(path: Path, *exchanges: Exchange) -> Path:
    """A file of exchanges, one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(to_line(one)) + "\n" for one in exchanges))
    return path


def everything(folder: Path, processes: int = 1) -> list[Batch]:
    units = [unit for unit in units_of([folder]) if isinstance(unit, tuple)]
    return list(graded_batches(units, Grader(), shown, processes))


def told(found: list[Batch]) -> list[tuple[str, int, str, list[str]]]:
    return [
        (Path(one.file).name, one.position, one.outcome, [finding.rule for finding in one.findings])
        for batch in found
        for one, _ in batch.entries
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        write(tmp_path / name / "one.jsonl", *FINE, *ODD)
        write(tmp_path / name / "two.jsonl", *FINE)
        (tmp_path / name / "broken.jsonl").write_bytes(b'{"request": {"url": \xff}, "response"')
    return tmp_path


def test_what_deserves_a_word_comes_as_an_entry_and_everything_is_counted(folder: Path) -> None:
    found = everything(folder)
    assert told(found) == [("one.jsonl", 1, "graded", ["chat.response.finish-reason-enum"])] * 3
    assert sum((batch.sorts for batch in found), Counter()).total() == 9
    assert sum(batch.files for batch in found) == 9


def test_several_processes_say_the_same_in_the_same_order(folder: Path) -> None:
    assert told(everything(folder, processes=2)) == told(everything(folder))


def test_what_may_be_shown_comes_with_the_first_exchange_that_breaks_a_rule(folder: Path) -> None:
    proofs = [proof for batch in everything(folder) for _, proof in batch.entries]
    assert proofs == [{"url": ODD[0].request.url}, None, None]


def test_a_unit_is_of_one_folder_and_of_so_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_FILES", 2)
    for name in ("a/1", "a/2", "a/3", "b/1"):
        write(tmp_path / f"{name}.jsonl", *FINE)
    units = [
        [path.relative_to(tmp_path).as_posix() for path in unit]
        for unit in units_of([tmp_path])
        if isinstance(unit, tuple)
    ]
    assert units == [["a/1.jsonl", "a/2.jsonl"], ["a/3.jsonl"], ["b/1.jsonl"]]


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(folder: Path) -> None:
    refused = [Path(one.file).name for batch in everything(folder) for one in batch.unusable]
    assert refused == ["broken.jsonl"] * 3


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    (batch,) = everything(tmp_path / "nothing")
    assert [one.reason for one in batch.unusable] == ["No such file or directory"]

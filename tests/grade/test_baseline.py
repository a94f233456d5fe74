"""A committed baseline: what is known does not fail, what is new does, what is gone is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.config import ConfigError
from conformance.grade.baseline import KNOWN, load_baseline, relative, write_baseline
from conformance.grade.grading import Graded
from conformance.rules.examples import answer

from .recordings import graded

RULE = "chat.response.finish-reason-enum"


def odd(file: Path) -> Graded:
    (one,) = graded(answer(choice={"finish_reason": "eos"}))
    return replace(one, file=str(file))


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    write_baseline(path, Counter({("cassettes/a.yaml", RULE): 2}))
    return path


def known(path: Path, *exchanges: Graded) -> list[str | None]:
    marks = load_baseline(path)
    return [finding.known for one in exchanges for finding in marks.mark(one).findings]


def test_a_rule_is_known_in_a_file_as_often_as_the_baseline_says(baseline: Path, tmp_path: Path) -> None:
    here, there = odd(tmp_path / "cassettes" / "a.yaml"), odd(tmp_path / "cassettes" / "b.yaml")
    assert known(baseline, here, there, here, here) == [KNOWN, None, KNOWN, None]


def test_where_a_finding_stands_in_its_file_makes_no_difference(baseline: Path, tmp_path: Path) -> None:
    moved = replace(odd(tmp_path / "cassettes" / "a.yaml"), position=17)
    assert known(baseline, moved) == [KNOWN]


def test_what_no_longer_shows_is_told(baseline: Path, tmp_path: Path) -> None:
    marks = load_baseline(baseline)
    marks.mark(odd(tmp_path / "cassettes" / "a.yaml"))
    assert list(marks.gone([tmp_path])) == [("cassettes/a.yaml", RULE, 1)]


@pytest.mark.parametrize(
    ("graded", "is_told"),
    [
        (".", True),
        ("cassettes", True),
        ("cassettes/a.yaml", True),
        ("..", True),
        ("cassettes/b.yaml", False),
        ("other", False),
        ("../other", False),
    ],
)
def test_of_files_that_were_not_graded_nothing_is_told(
    baseline: Path, tmp_path: Path, graded: str, is_told: bool
) -> None:
    assert bool(list(load_baseline(baseline).gone([tmp_path / graded]))) is is_told


def test_it_is_written_sorted_one_entry_a_line(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, Counter({("b", "r"): 1, ("a", "s"): 2, ("a", "r"): 1}))
    lines = [line.strip().rstrip(",") for line in path.read_text().splitlines() if '"file"' in line]
    assert lines == [
        '{"file": "a", "rule": "r", "exchanges": 1}',
        '{"file": "a", "rule": "s", "exchanges": 2}',
        '{"file": "b", "rule": "r", "exchanges": 1}',
    ]


def test_an_empty_one_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, Counter())
    assert known(path, odd(tmp_path / "a.yaml")) == [None]


def test_files_are_named_from_the_folder_of_the_baseline(tmp_path: Path) -> None:
    assert relative(str(tmp_path / "x" / "a.yaml"), tmp_path / "base") == "../x/a.yaml"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "no baseline"),
        ("{", "no baseline"),
        ('{"findings": []}', "version 1 is wanted"),
        ('{"baseline": 1, "findings": [{"file": "a"}]}', "'rule'"),
        ('{"baseline": 1, "findings": {"a": 1}}', "no baseline"),
    ],
)
def test_what_is_no_baseline_is_refused_with_its_name(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="baseline.json.*" + complaint):
        load_baseline(path)


def test_one_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--write-baseline"):
        load_baseline(tmp_path / "none.json")

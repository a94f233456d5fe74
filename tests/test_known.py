"""Known findings: silenced exactly, reviewed by date, never an improvement."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from conformance.known import Known, KnownError, apply_known, load_known
from conformance.types import Cell, Finding, Level, VerdictName

TODAY = datetime.date(2026, 11, 29)


def finding(rule: str, level: Level = "MUST") -> Finding:
    return Finding(rule, level, "schema", "/exchanges/0/response", "m", "w", "g")


def cell(*findings: Finding, verdict: VerdictName = "violates") -> Cell:
    return Cell("e", "tools.a", "strict", verdict, findings=findings)


def entry(rule: str = "r1", review_by: str = "2027-01-01", scenario: str = "tools.a") -> Known:
    return Known(
        endpoint="e",
        rule=rule,
        scenario=scenario,
        link="https://t/1",
        review_by=datetime.date.fromisoformat(review_by),
    )


def test_a_known_finding_is_marked_and_its_cell_flagged_but_the_verdict_stays() -> None:
    (marked,), notes = apply_known([cell(finding("r1"))], [entry()], TODAY)
    assert (marked.verdict, marked.flags, marked.findings[0].known) == ("violates", ("known",), "https://t/1")
    assert notes == ()


def test_a_second_violation_that_is_not_known_keeps_the_cell_failing() -> None:
    (marked,), _ = apply_known([cell(finding("r1"), finding("r2"))], [entry()], TODAY)
    assert marked.flags == ()


def test_an_expired_entry_silences_nothing_and_is_reported() -> None:
    (marked,), notes = apply_known([cell(finding("r1"))], [entry(review_by="2026-11-28")], TODAY)
    assert marked.flags == ()
    assert notes == ("known finding expired on 2026-11-28: e x tools.a: r1 (https://t/1)",)


def test_an_entry_that_no_longer_shows_is_reported() -> None:
    _, notes = apply_known([cell(verdict="conforms")], [entry()], TODAY)
    assert notes == ("known finding no longer shows: e x tools.a: r1 (https://t/1)",)


@pytest.mark.parametrize("verdict", ["error", "inconclusive", "not-run"])
def test_an_entry_of_a_cell_that_was_not_judged_is_not_called_gone(verdict: VerdictName) -> None:
    assert apply_known([cell(verdict=verdict)], [entry()], TODAY)[1] == ()


def test_an_entry_for_another_scenario_silences_nothing() -> None:
    (marked,), _ = apply_known([cell(finding("r1"))], [entry(scenario="tools.b")], TODAY)
    assert marked.flags == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{a: 1}", "a list of entries is wanted"),
        ("- {endpoint: e}", "known.yaml:1: entry 0: rule: Field required"),
        (
            "# filed\n- {endpoint: e, rule: r, scenario: s,\n   link: l, review_by: soon}",
            ":3: entry 0: review_by",
        ),
        ("- {endpoint: e, rule: r, scenario: s, link: l, review_by: 2027-01-01, x: 1}", "entry 0: x"),
        ("[", "not YAML"),
    ],
)
def test_a_bad_file_is_refused_naming_entry_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(text)
    with pytest.raises(KnownError, match=said):
        load_known(path)


def test_a_missing_file_is_refused_and_an_empty_one_is_no_entries(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="no such file"):
        load_known(tmp_path / "known.yaml")
    (tmp_path / "known.yaml").write_text("# nothing yet\n")
    assert load_known(tmp_path / "known.yaml") == ()

"""Every check of other suites is ours too, or the survey says why not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from conformance.cli.peers import PeerCheck, survey
from conformance.quirks import catalogue
from conformance.rules import RULES
from conformance.scenarios import SCENARIOS

RESEARCH = Path(__file__).parents[3] / "shared" / "catalogue" / "peer-checks.md"
CHECKS = survey().checks


def test_every_number_occurs_once_and_in_order() -> None:
    numbers = [str(number) for number in range(1, 191)]
    numbers.insert(numbers.index("84") + 1, "84b")
    assert [check.number for check in CHECKS] == numbers


@pytest.mark.skipif(not RESEARCH.is_file(), reason="the research (../shared/catalogue) is not here")
def test_the_numbers_are_those_of_the_research() -> None:
    section = RESEARCH.read_text("utf-8").partition("\n## 2.")[2].partition("\n### 2.23")[0]
    numbers = re.findall(r"(?:^|[;\]] +)(\d+b?)\. ", section, re.MULTILINE)
    assert Counter(numbers) == Counter(check.number for check in CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.number)
def test_a_check_is_ours_or_there_is_a_reason(check: PeerCheck) -> None:
    assert check.ours or check.why_not
    assert len(set(check.ours)) == len(check.ours)
    assert set(check.ours) <= {*RULES, *SCENARIOS, *catalogue()}
    assert set(check.who) <= {*survey().peers, "all"}


def test_every_suite_checks_something() -> None:
    assert set(survey().peers) <= {who for check in CHECKS for who in check.who}

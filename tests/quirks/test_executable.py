"""Every quirk that is simulated shows in its scenarios, is forgiven where declared, and nothing else is."""

from __future__ import annotations

import pytest

from conformance.judge import Judgement, judge_attempt
from conformance.quirks import Quirk, catalogue
from conformance.types import Attempt

from .conftest import ALL_SCENARIOS, CLEAN, Play

SHOWN = [
    (quirk, scenario)
    for quirk in catalogue().values()
    if quirk.simulated
    for scenario in dict.fromkeys(name for shows in quirk.shows for name in shows.scenarios)
    if "*" not in scenario
]
"""Each simulated quirk with each scenario that it names. A glob only says where it may show as well."""

EACH = pytest.mark.parametrize(("quirk", "scenario"), SHOWN, ids=[f"{q.id}-{s}" for q, s in SHOWN])


def judged(scenario: str, attempt: Attempt, *declared: Quirk) -> Judgement:
    return judge_attempt(ALL_SCENARIOS[scenario], attempt, declared)


@EACH
def test_a_declared_quirk_is_forgiven_and_nothing_else_is_wrong(
    quirk: Quirk, scenario: str, play: Play
) -> None:
    judgement = judged(scenario, play(scenario, quirk.id, quirk.wire), quirk)
    assert judgement.verdict == "quirk", judgement
    assert [f for f in judgement.findings if f.quirk is None and f.level != "MAY"] == []


@EACH
def test_an_undeclared_quirk_is_held_against_the_endpoint(quirk: Quirk, scenario: str, play: Play) -> None:
    judgement = judged(scenario, play(scenario, quirk.id, quirk.wire))
    levels = {finding.level for finding in judgement.findings}
    wanted = "violates" if "MUST" in levels else "warns" if "SHOULD" in levels else "conforms"
    assert levels
    assert judgement.verdict == wanted, judgement


@EACH
def test_a_quirk_does_not_show_at_the_reference(quirk: Quirk, scenario: str, play: Play) -> None:
    judgement = judged(scenario, play(scenario, CLEAN, quirk.wire), quirk)
    assert [finding for finding in judgement.findings if finding.quirk == quirk.id] == []
    assert judgement.verdict == "conforms", judgement

"""The catalogue of quirks is valid and points at things that exist."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from pydantic import ValidationError

from conformance.quirks import Quirk, catalogue
from conformance.quirks.catalogue import Shows
from conformance.rules import RULES
from conformance.scenarios import SCENARIOS
from conformance.scenarios.quirks import QUIRK_SCENARIOS
from conformance.simulator.personas import behaviour_of
from conformance.types import Finding

QUIRKS = list(catalogue().values())


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda q: q.id)
def test_a_quirk_shows_by_rules_and_scenarios_that_exist(quirk: Quirk) -> None:
    for shows in quirk.shows:
        assert set(shows.rules) <= set(RULES)
        for pattern in shows.scenarios:
            assert any(fnmatchcase(scenario, pattern) for scenario in {**SCENARIOS, **QUIRK_SCENARIOS}), (
                pattern
            )


@pytest.mark.parametrize("quirk", [q for q in QUIRKS if q.breaks], ids=lambda q: q.id)
def test_a_quirk_breaks_off_scenarios_that_exist_and_that_rules_judge(quirk: Quirk) -> None:
    for pattern in quirk.breaks:
        named = [one for one in SCENARIOS.values() if fnmatchcase(one.id, pattern)]
        assert named, pattern
        assert not any(one.policy for one in named), pattern


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda q: q.id)
def test_a_quirk_is_simulated_by_behaviours_that_exist(quirk: Quirk) -> None:
    for act in quirk.simulate:
        assert behaviour_of(act).name


def finding(
    rule: str = "r", got: str = "400: Tool names must be unique.", path: str = "/exchanges/0"
) -> Finding:
    return Finding(rule, "MUST", "schema", path, "m", "w", got)


@pytest.mark.parametrize(
    ("shows", "scenario", "explained"),
    [
        (Shows(rules=("r",), scenarios=("tools.a",)), "tools.a", True),
        (Shows(rules=("r",), scenarios=("tools.*",)), "tools.a", True),
        (Shows(rules=("r",), scenarios=("stream.*",)), "tools.a", False),
        (Shows(rules=("other",), scenarios=("tools.a",)), "tools.a", False),
        (Shows(rules=("r",), scenarios=("tools.a",), got="UNIQUE"), "tools.a", True),
        (Shows(rules=("r",), scenarios=("tools.a",), got="too long"), "tools.a", False),
        (Shows(rules=("r",), scenarios=("tools.a",), path="exchanges/0$"), "tools.a", True),
        (Shows(rules=("r",), scenarios=("tools.a",), path="exchanges/1"), "tools.a", False),
    ],
)
def test_a_quirk_explains_exactly_its_own_findings(shows: Shows, scenario: str, explained: bool) -> None:
    assert shows.explains(scenario, finding()) is explained


BREAKING = {
    **QUIRKS[0].model_dump(),
    "shows": (),
    "undetected": None,
    "breaks": ("tools.a", "stream.*"),
}


@pytest.mark.parametrize(
    ("scenario", "breaks_off", "expected"),
    [("tools.a", True, True), ("stream.a", True, False), ("tools.b", False, False)],
)
def test_what_a_quirk_breaks_is_named_or_matched_and_expected_where_it_is_named(
    scenario: str, breaks_off: bool, expected: bool
) -> None:
    quirk = Quirk.model_validate(BREAKING)
    assert (quirk.breaks_off(scenario), quirk.expected_in(scenario)) == (breaks_off, expected)


def test_a_quirk_that_breaks_an_answer_off_is_detected_and_gives_no_reason_why_not() -> None:
    assert Quirk.model_validate(BREAKING).detected
    assert not Quirk.model_validate({**BREAKING, "breaks": ()}).detected
    with pytest.raises(ValidationError, match="undetected: it is done"):
        Quirk.model_validate({**BREAKING, "undetected": "It can't be seen."})

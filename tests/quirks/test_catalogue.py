"""The catalogue of quirks is valid and points at things that exist."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

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

"""What a quirk breaks, its provider's profile mends: the adapted run against the persona conforms."""

from __future__ import annotations

import pytest

from conformance.judge import judge_attempt
from conformance.profiles import PROFILES, Profile
from conformance.quirks import Quirk, catalogue

from .conftest import ALL_SCENARIOS, Play

MENDED = [
    (profile, quirk, scenario)
    for profile in PROFILES.values()
    for quirk in map(catalogue().__getitem__, profile.works_around)
    if quirk.simulated and (set(quirk.providers) & {*profile.providers, "several"})
    for scenario in dict.fromkeys(name for shows in quirk.shows for name in shows.scenarios)
    if "*" not in scenario
]
"""Each profile with each quirk of its providers that it works around, in each scenario where that shows."""


@pytest.mark.parametrize(
    ("profile", "quirk", "scenario"), MENDED, ids=[f"{p.name}-{q.id}-{s}" for p, q, s in MENDED]
)
def test_through_its_profile_a_quirky_persona_conforms(
    profile: Profile, quirk: Quirk, scenario: str, play: Play
) -> None:
    attempt = play(scenario, quirk.id, quirk.wire, profile)
    judgement = judge_attempt(ALL_SCENARIOS[scenario], attempt)
    assert judgement.verdict == "conforms", judgement

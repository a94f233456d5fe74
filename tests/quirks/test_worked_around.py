"""What a quirk breaks, its provider's profile mends: the adapted run against the persona conforms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.judge import judge_attempt
from conformance.profiles import PROFILES, Profile, profile_of
from conformance.quirks import Quirk, catalogue

from .conftest import ALL_SCENARIOS, MODEL, Play

BY_MODEL: dict[tuple[str, str], str] = {}
"""A model that the profile knows to have the quirk, where not everything at the provider has it."""

UNMENDED: dict[tuple[str, str], tuple[str, str]] = {}
"""A quirk in a scenario: the verdict that is left when all that can be done is done, and why."""


def through(quirk: Quirk) -> list[Profile]:
    """The profiles that a quirk is met through: those of its providers; for providers without a
    profile the one for unknown endpoints, or who else works around it.
    """
    able = [made for made in PROFILES.values() if quirk.id in made.works_around]
    own = [profile_of(provider) or PROFILES["compatible"] for provider in quirk.providers]
    return [made for made in able if made in own] or able


def mended() -> Iterator[tuple[Profile, Quirk, str]]:
    for quirk in catalogue().values():
        if quirk.simulated:
            named = dict.fromkeys(name for shows in quirk.shows for name in shows.scenarios)
            for made in through(quirk):
                yield from ((made, quirk, scenario) for scenario in named if "*" not in scenario)


MENDED = list(mended())
"""Each quirk with each profile of its providers that works around it, in each scenario where it shows."""


@pytest.mark.parametrize(
    ("profile", "quirk", "scenario"), MENDED, ids=[f"{p.name}-{q.id}-{s}" for p, q, s in MENDED]
)
def test_through_its_profile_a_quirky_persona_conforms(
    profile: Profile, quirk: Quirk, scenario: str, play: Play
) -> None:
    model = BY_MODEL.get((profile.name, quirk.id), MODEL)
    attempt = play(scenario, quirk.id, quirk.wire, profile, model)
    judgement = judge_attempt(ALL_SCENARIOS[scenario], attempt)
    expected, _ = UNMENDED.get((quirk.id, scenario), ("conforms", ""))
    assert judgement.verdict == expected, judgement

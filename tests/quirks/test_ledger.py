"""The ledger: nothing is left undone without a reason."""

from __future__ import annotations

import pytest

from conformance.profiles import PROFILES
from conformance.quirks import Quirk, catalogue
from conformance.quirks.families import families

QUIRKS = list(catalogue().values())
AROUND = {quirk for profile in PROFILES.values() for quirk in profile.works_around}

EACH = pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.id)


@EACH
def test_a_quirk_is_simulated_or_says_why_not(quirk: Quirk) -> None:
    assert quirk.simulated or quirk.unsimulated


@EACH
def test_a_quirk_is_detected_in_a_scenario_or_says_why_not(quirk: Quirk) -> None:
    assert quirk.detected or quirk.undetected or not quirk.simulated


@EACH
def test_a_quirk_is_worked_around_or_says_why_not(quirk: Quirk) -> None:
    assert (quirk.id in AROUND) is not bool(quirk.no_workaround)


def test_profiles_work_around_quirks_that_exist() -> None:
    assert set(catalogue()) >= AROUND


def test_every_quirk_is_had_by_a_family_with_a_persona_or_only_by_asking() -> None:
    named = {provider for quirk in QUIRKS for provider in quirk.had_by}
    without = named - families().keys()
    small = {name for name in without if sum(name in quirk.had_by for quirk in QUIRKS) > 2}
    assert small == set()


def test_a_family_has_something_to_show() -> None:
    assert [family.name for family in families().values() if not family.quirks] == []

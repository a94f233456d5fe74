"""Profiles as data: what each is for, and which quirks it declares to work around."""

from __future__ import annotations

import re

import pytest

from conformance.profiles import PROFILES, Profile, profile, profile_of
from conformance.quirks import catalogue

_CITED = re.compile(r"Works\s+around\s+quirk\s+`([a-z0-9-]+)`")


def cited(chosen: Profile) -> set[str]:
    """The quirks that the docstrings of a profile's hooks name, those it inherits among them."""
    docs = [
        getattr(member, "__doc__", None) or ""
        for family in type(chosen).__mro__
        for member in (family, *vars(family).values())
    ]
    return {quirk for doc in docs for quirk in _CITED.findall(doc)}


@pytest.mark.parametrize("name", PROFILES)
def test_every_declared_workaround_is_cited_by_a_hook(name: str) -> None:
    chosen = profile(name)
    assert set(chosen.works_around) <= cited(chosen)
    assert len(set(chosen.works_around)) == len(chosen.works_around)


@pytest.mark.parametrize("name", PROFILES)
def test_every_workaround_that_a_family_cites_itself_is_declared(name: str) -> None:
    own = [vars(type(profile(name)))]
    docs = [getattr(m, "__doc__", None) or "" for members in own for m in members.values()]
    assert {quirk for doc in docs for quirk in _CITED.findall(doc)} <= set(profile(name).works_around)


def test_every_declared_workaround_is_of_a_quirk_that_there_is() -> None:
    assert {quirk for chosen in PROFILES.values() for quirk in chosen.works_around} <= catalogue().keys()


def test_the_reference_works_around_nothing() -> None:
    assert PROFILES["reference"].works_around == ()


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("deepseek", "deepseek"),
        ("google-vertex", "google-gemini"),
        ("bytedance", "bytedance"),
        ("modelscope", "alibaba"),
        ("qwen-portal", "qwen-portal"),
    ],
)
def test_a_provider_of_the_catalogue_leads_to_its_profile(provider: str, name: str) -> None:
    found = profile_of(provider)
    assert found is not None
    assert found.name == name


def test_an_unknown_name_is_told_with_what_comes_close() -> None:
    assert profile_of("nobody") is None
    with pytest.raises(LookupError, match="did you mean deepseek"):
        profile("deepsek")

"""What a quirk breaks, its provider's profile mends: the adapted run against the persona conforms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.judge import judge_attempt
from conformance.profiles import PROFILES, Profile, profile_of
from conformance.quirks import Quirk, catalogue
from conformance.types import VerdictName

from .conftest import ALL_SCENARIOS, BY_MODEL, MODEL, Play

IMAGES = ("chat.image", "tools.image-result", "tools.computer-use")
BLIND = "the server has no model that sees; what is mended is that the client is told so, and at once"
ENDLESS = "where the reasoning ends can't be known; asked again it is the same here"
UNMENDED: dict[str, tuple[tuple[str, ...], VerdictName, str]] = {
    "groq-tool-use-failed": (("tools.cut-call",), "warns", "no usage comes with an error"),
    "llamacpp-anthropic-media-500": (
        (*IMAGES, "anthropic.computer-use", "anthropic.result-forms"),
        "refused",
        BLIND,
    ),
    "llamacpp-media-500": (IMAGES, "refused", BLIND),
    "llamacpp-responses-media-500": (IMAGES, "refused", BLIND),
    "responses-null-text": (
        ("chat.plain",),
        "inconclusive",
        "null is read as an empty text: what did not come can't be made up",
    ),
    "think-tag-unterminated": (("reasoning.stream", "reasoning.effort"), "warns", ENDLESS),
}
"""Quirks of which something is left in some scenarios: the verdict then, and why it can't be otherwise."""


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
    scenarios, left, why = UNMENDED.get(quirk.id, ((), "conforms", ""))
    assert judgement.verdict == (left if scenario in scenarios else "conforms"), (judgement, why)

"""The simulator's personas have the policies that are written down for their providers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.policies import POLICIES, Policy
from conformance.types import WIRES, WireName
from tests.engine.support import configure, go

REFERENCE = {"persona": "reference", "model": "reference", "scripted": True}
DEEPSEEK = {**REFERENCE, "persona": "deepseek"}

Observed = Mapping[tuple[str, str], Mapping[str, str]]
"""Outcomes by aspect, by endpoint and policy."""


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder = tmp_path_factory.mktemp("reference")
    rows = {wire: {**REFERENCE, "wire": wire, "unsupported": ["auth"]} for wire in WIRES}
    found: dict[tuple[str, str], dict[str, str]] = {}
    for cell in go(configure(folder, deepseek=DEEPSEEK, **rows), ["policies.*"]).matrix.cells:
        for one in cell.observations:
            found.setdefault((cell.endpoint, one.policy), {})[one.aspect] = one.outcome
    return found


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.id)
def test_the_clean_persona_does_what_the_wires_own_provider_does(
    observed: Observed, policy: Policy, wire: WireName
) -> None:
    (reference,) = (one for one in policy.reference if one.wire == wire)
    seen = observed[wire, policy.id]
    assert {aspect: seen[aspect] for aspect in reference.outcomes} == reference.outcomes
    assert set(seen) == set(policy.aspects_on(wire))


@pytest.mark.parametrize(
    ("policy", "outcomes"),
    [
        ("duplicate-tool-names", {"identical": "refused", "different": "refused"}),
        ("reasoning-echo", {"reasoning_content": "required", "reasoning": "ignored", "thinking": "ignored"}),
    ],
)
def test_the_persona_of_deepseek_wants_reasoning_back_and_refuses_duplicates(
    observed: Observed, policy: str, outcomes: Mapping[str, str]
) -> None:
    seen = observed["deepseek", policy]
    assert {aspect: seen[aspect] for aspect in outcomes} == outcomes


@pytest.mark.parametrize("policy", ["malformed-histories", "empty-content"])
def test_an_endpoint_that_wants_reasoning_back_is_told_apart_from_one_that_refuses_histories(
    observed: Observed, policy: str
) -> None:
    assert observed["deepseek", policy] == observed["openai-chat", policy]

"""The policies are written down whole, and the scenarios ask for all of them."""

from __future__ import annotations

import pytest

from conformance.policies import POLICIES, Policy
from conformance.scenarios import SCENARIOS
from conformance.scenarios.base import asks_of
from conformance.types import WIRES, Exchange, HttpRequest, HttpResponse, Reply

EVERY = pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.id)


def steps(name: str) -> set[str]:
    """The names of a scenario's steps, as its probes tell them, when every answer is the ideal one."""
    scenario = SCENARIOS[name]
    found: set[str] = set()
    script, turns = scenario.script(), iter(scenario.ideal)
    exchange = Exchange(HttpRequest("POST", "", (), b""), HttpResponse(200, (), b""), "complete", "ollama")
    step = next(script)
    try:
        while True:
            (ask,) = asks_of(step)
            owner, _, said = (ask.probe or "").partition("/")
            assert owner == f"policy:{scenario.policy}"
            found.add(said)
            step = script.send(Reply(exchange, next(turns)))
    except StopIteration:
        return found


@EVERY
def test_a_policy_names_every_wires_provider_and_a_source(policy: Policy) -> None:
    assert {one.wire for one in policy.reference} == set(WIRES)
    assert all(one.source and one.provider for one in policy.reference)


@EVERY
def test_what_providers_do_is_said_in_the_policys_own_words(policy: Policy) -> None:
    for one in policy.reference:
        assert set(one.outcomes) <= set(policy.aspects_on(one.wire))
        assert set(one.outcomes.values()) <= set(policy.outcomes)


def test_the_chapter_of_policies_measures_them_all_and_no_other_scenario_does() -> None:
    measuring = [scenario for scenario in SCENARIOS.values() if scenario.policy]
    assert {scenario.policy for scenario in measuring} == set(POLICIES)
    assert {scenario.chapter for scenario in measuring} == {"policies"}
    assert len([s for s in SCENARIOS.values() if s.chapter == "policies"]) == len(measuring)


@pytest.mark.parametrize("name", [name for name, scenario in SCENARIOS.items() if scenario.policy])
def test_every_aspect_has_a_step_of_its_own(name: str) -> None:
    policy = POLICIES[SCENARIOS[name].policy]
    if name == "policies.reasoning-blocks":
        assert steps(name) == {"asked", "without", "as-it-came", "unsealed", "altered"}
    else:
        aspects = {a for wire in SCENARIOS[name].wires for a in policy.aspects_on(wire)}
        assert steps(name) - {"control", "without", "unbound", "idle", "first", "second"} == aspects

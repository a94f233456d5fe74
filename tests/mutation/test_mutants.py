"""Every rule bites: an endpoint that is honest but for one thing breaks the rule about it, and no other."""

from __future__ import annotations

import pytest

from conformance.engine.drive import inexpressible
from conformance.rules import RULES, check
from conformance.scenarios import SCENARIOS
from conformance.simulator import Persona
from conformance.simulator.mutants import MUTANTS, Mutant
from conformance.types import WIRES, WireName
from conformance.wires import wire

from .conftest import CLEAN, SPOKEN, UNCHANGED, Run, exchanges_of

NOT_YET: dict[str, str] = {}
"""Rules without a mutant, each with the reason. To stay empty."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_breaks_its_rule_and_only_what_must_break_with_it(mutant: Mutant, run: Run) -> None:
    findings = check(exchanges_of(mutant, run))
    assert {finding.rule for finding in findings} == {mutant.rule, *mutant.also}, findings


SAID = [
    (scenario, name)
    for name in WIRES
    for scenario in SCENARIOS
    if name in SPOKEN and inexpressible(SCENARIOS[scenario], wire(name)) is None
]
"""Every scenario over every wire that can say it."""


@pytest.mark.parametrize(("scenario", "over"), SAID)
@pytest.mark.parametrize("persona", [CLEAN, UNCHANGED], ids=lambda persona: persona.name)
def test_who_lies_about_nothing_breaks_no_rule(
    persona: Persona, scenario: str, over: WireName, run: Run
) -> None:
    assert check(run(scenario, persona.name, over)) == ()


def test_every_rule_has_a_mutant(capsys: pytest.CaptureFixture[str]) -> None:
    broken_by_servers = {rule.id for rule in RULES.values() if rule.subject != "client"}
    covered = broken_by_servers & {mutant.rule for mutant in MUTANTS}
    with capsys.disabled():
        print(f"\nmutation score: {len(covered)} of {len(broken_by_servers)} rules, {len(MUTANTS)} mutants")
    assert broken_by_servers - covered == NOT_YET.keys()


def test_mutants_know_their_rules_and_have_names_of_their_own() -> None:
    named = {rule for mutant in MUTANTS for rule in (mutant.rule, *mutant.also)}
    assert named <= RULES.keys()
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


SEVERAL = [mutant for mutant in MUTANTS if mutant.also or mutant.because]


@pytest.mark.parametrize("mutant", SEVERAL, ids=lambda mutant: mutant.name)
def test_a_mutant_that_breaks_several_rules_says_why(mutant: Mutant) -> None:
    assert mutant.also
    assert mutant.because
    assert mutant.rule not in mutant.also

"""What a rule needs of a recording: whatever else gets lost, it says the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from conformance.rules import RULES, Rule, check
from conformance.rules.across import PREFIX
from conformance.rules.views import Run
from conformance.types import ASPECTS, Aspect, Exchange

from .losses import GOES_WITH, LOSSES

JUDGED = [rule for rule in RULES.values() if not rule.id.startswith(PREFIX)]
"""Rules that compare the answers over several wires are not for recordings."""


def says(rule: Rule, exchanges: Iterable[Exchange]) -> bool:
    """Whether the rule does not hold somewhere."""
    return next(rule.violations(Run.read(tuple(exchanges))), None) is not None


def after(loss: Callable[[Exchange], Exchange], exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    return tuple(loss(exchange) for exchange in exchanges)


@pytest.mark.parametrize("aspect", ASPECTS)
def test_a_rule_says_the_same_whatever_is_lost_that_it_does_not_need(aspect: Aspect) -> None:
    lost = {aspect} | GOES_WITH.get(aspect, frozenset())
    changed = [
        rule.id
        for rule in JUDGED
        if lost.isdisjoint(rule.needs)
        for loss in LOSSES[aspect]
        if not says(rule, after(loss, rule.violating)) or says(rule, after(loss, rule.conforming))
    ]
    assert changed == []


@pytest.mark.parametrize("aspect", ASPECTS)
def test_each_aspect_is_needed_by_some_rules_whose_word_it_changes(aspect: Aspect) -> None:
    needing = [rule for rule in JUDGED if aspect in rule.needs]
    assert any(
        not says(rule, after(loss, rule.violating)) or says(rule, after(loss, rule.conforming))
        for rule in needing
        for loss in LOSSES[aspect]
    )


@pytest.mark.parametrize(
    ("id", "needs"),
    [
        ("sse.known-fields-only", {"presence", "framing"}),
        ("sse.content-type", {"presence", "framing", "headers"}),
        ("sse.incremental-delivery", {"presence", "framing", "arrival"}),
        ("chat.response.no-duplicate-keys", {"presence", "spelling"}),
        ("chat.response.created-unix-seconds", {"presence", "values"}),
        ("chat.response.tool-choice-none", {"presence", "request"}),
        ("err.error-object", {"presence", "status"}),
        ("err.unknown-model-404", {"presence", "request", "status", "purpose"}),
        ("chat.request.accepted", {"presence", "request", "status", "purpose"}),
    ],
)
def test_what_a_rule_needs_follows_from_its_id_its_view_and_what_it_says_itself(
    id: str, needs: set[Aspect]
) -> None:
    assert RULES[id].needs == needs


def test_a_rule_that_lacks_something_is_not_judged() -> None:
    rule = RULES["chat.response.no-duplicate-keys"]
    assert [finding.rule for finding in check(rule.violating)] == [rule.id]
    assert check(rule.violating, kept=frozenset(ASPECTS) - {"spelling"}) == ()
    assert rule.lacks(frozenset({"presence"})) == {"spelling"}

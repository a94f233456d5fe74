"""Where published readings of a wire disagree, only the one that an endpoint follows counts."""

from __future__ import annotations

import pytest

from conformance.rules import RULES, check
from conformance.rules.check import judged
from conformance.rules.eventlists import but
from conformance.rules.examples import Exchanges, conversation
from conformance.rules.examples import answer as chat_answer
from conformance.rules.flavours import flavour_of
from conformance.rules.reading import ABSENT
from conformance.rules.responses.examples import (
    DONE_MARKER,
    answer,
    failing,
    message,
    open_responses,
    open_run,
    reasoning,
    stream,
    told,
)
from conformance.rules.views import Run
from conformance.types import Flavour

THOUGHT = told(reasoning("Greet."), message())
LEAN = told(store=ABSENT, service_tier=ABSENT)
"""A response with what OpenAI's schema demands, and no more."""


def rules_broken(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


@pytest.mark.parametrize(
    ("exchanges", "flavour"),
    [
        pytest.param(answer(), None, id="a whole answer that has all members of both"),
        pytest.param(answer(store=ABSENT), "openai", id="a whole answer without what only one demands"),
        pytest.param(stream(), "openai", id="a stream without the marker"),
        pytest.param(stream(THOUGHT), "openai", id="reasoning in OpenAI's words"),
        pytest.param(stream(end=DONE_MARKER), "open-responses", id="a stream with the marker"),
        pytest.param(open_responses(THOUGHT), "open-responses", id="reasoning in Open Responses' words"),
        pytest.param(stream(LEAN, end=DONE_MARKER), "openai", id="the marker, and members for one only"),
        pytest.param(open_responses(THOUGHT, named=False), None, id="neither wholly"),
        pytest.param(answer(metadata=ABSENT), None, id="a member missing that both demand"),
        pytest.param(chat_answer(), None, id="a wire of one reading"),
        pytest.param((), None, id="nothing at all"),
    ],
)
def test_the_reading_that_exchanges_hold_to(exchanges: Exchanges, flavour: Flavour | None) -> None:
    assert flavour_of(exchanges) == flavour


def test_who_follows_one_reading_is_not_held_to_another() -> None:
    assert rules_broken(stream(LEAN)) == set()
    assert rules_broken(open_responses(THOUGHT)) == set()


def test_all_exchanges_of_a_run_say_together_which_reading_it_is() -> None:
    assert rules_broken(answer(store=ABSENT)) == set()
    assert rules_broken(open_run(answer(store=ABSENT))) == {"resp.response.required-keys-open-responses"}


def test_who_holds_to_none_is_held_to_the_nearest() -> None:
    unnamed = conversation(stream(LEAN), stream(failing({"error": "It broke."})))
    assert rules_broken(unnamed) == {"resp.stream.error-event-openai"}


def test_who_is_equally_near_to_two_is_told_what_is_missing_for_each() -> None:
    assert rules_broken(answer(metadata=ABSENT)) == {
        "resp.response.required-keys-openai",
        "resp.response.required-keys-open-responses",
    }


@pytest.mark.parametrize(
    ("published", "found"),
    [
        (None, {"resp.response.required-keys-openai", "resp.response.required-keys-open-responses"}),
        ("openai", {"resp.response.required-keys-openai"}),
        ("open-responses", {"resp.response.required-keys-open-responses"}),
    ],
)
def test_who_is_known_to_follow_a_reading_is_held_to_it_alone(
    published: Flavour | None, found: set[str]
) -> None:
    run = Run.read(answer(metadata=ABSENT))
    assert {finding.rule for finding in judged(run, flavour=published)} == found


def test_a_known_reading_counts_although_another_is_nearer() -> None:
    run = Run.read(open_responses(THOUGHT))
    assert {finding.rule for finding in judged(run, flavour="openai")} == {
        "resp.stream.done-sentinel-openai",
        "resp.stream.reasoning-events-openai",
    }


def test_a_warning_of_the_reading_that_is_followed_stays() -> None:
    assert rules_broken(stream(LEAN, end=DONE_MARKER)) == {"resp.stream.done-sentinel-openai"}


def test_what_only_the_literal_rulebook_demands_counts_only_there() -> None:
    bare = open_responses(but(THOUGHT, "response.output_text.delta", logprobs=ABSENT))
    assert flavour_of(bare) == flavour_of(bare, "literal") == "open-responses"
    without = stream(but(LEAN, "response.output_text.delta", logprobs=ABSENT))
    assert flavour_of(without) == "openai"
    assert flavour_of(without, "literal") is None


def test_it_does_not_matter_which_rules_are_asked_for() -> None:
    (open_rule,) = [RULES["resp.stream.done-sentinel-open-responses"]]
    assert check(stream(), rules=[open_rule]) == ()
    assert [finding.flavour for finding in check(open_rule.violating, rules=[open_rule])] == [
        "open-responses"
    ]


def test_a_finding_names_the_reading_it_belongs_to_if_there_are_several() -> None:
    (finding,) = check(stream(LEAN, end=DONE_MARKER))
    assert finding.flavour == "openai"
    assert [finding.flavour for finding in check(stream(told(usage=None)))] == [None]


def test_rules_of_a_reading_are_of_one_wire_that_has_several() -> None:
    flavoured = [rule for rule in RULES.values() if rule.flavour is not None]
    assert {rule.wires for rule in flavoured} == {("openai-responses",)}
    assert {rule.flavour for rule in flavoured} == {"openai", "open-responses"}

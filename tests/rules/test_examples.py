"""Every rule's examples show what it says, and clean traffic breaks no rule."""

from __future__ import annotations

import pytest

from conformance.rules import RULES, Rule, check, examples_text
from conformance.rules.examples import (
    Exchanges,
    answer,
    call,
    conversation,
    error,
    models,
    opened,
    piece,
    start,
    stream,
    tool,
    tool_piece,
    tool_stream,
)

EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES.values()]

CLEAN = {
    "answer": answer(),
    "answer with calls": answer(calls=[call(), call(id="call_2")]),
    "stream": stream(),
    "stream with calls": tool_stream(
        opened(0), tool_piece(0, '{"city":"Oslo"}'), opened(1, arguments='{"city":"Lima"}')
    ),
    "stream of two choices": stream(
        start(),
        piece(choice={"index": 1}, role="assistant", content=""),
        piece(content="Hello."),
        piece(choice={"index": 1}, content="Hi."),
        piece("stop", choice={"index": 1}),
        piece("stop"),
        asked={"n": 2},
    ),
    "error": error(),
    "models": models(),
    "conversation": conversation(answer(), stream(), models())[1:],
    "offered tools not used": answer(asked={"tools": [tool()]}),
}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_violating_example_breaks_the_rule_and_only_what_it_says_it_also_breaks(rule: Rule) -> None:
    assert {finding.rule for finding in check(rule.violating)} == {rule.id, *rule.also}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_conforming_example_breaks_no_rule(rule: Rule) -> None:
    assert check(rule.conforming) == ()


@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_clean_traffic_breaks_no_rule_under_either_rulebook(exchanges: Exchanges) -> None:
    assert check(exchanges) == ()
    assert check(exchanges, rulebook="literal") == ()


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_violating_example_points_into_the_exchange_in_short_printable_words(rule: Rule) -> None:
    for finding in check(rule.violating, rules=[rule]):
        assert finding.path.startswith("/exchanges/")
        assert finding.wanted
        assert finding.got
        assert finding.wanted.isprintable()
        assert finding.got.isprintable()
        assert len(finding.wanted) <= 200
        assert len(finding.got) <= 200
        assert finding.message.startswith(rule.requirement)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_carries_what_explaining_it_takes(rule: Rule) -> None:
    assert rule.requirement.endswith(".")
    assert rule.reason
    assert rule.source
    assert all(rule.source)
    assert rule.consequence


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_the_examples_read_as_text_with_the_status_line_the_body_and_the_proof(rule: Rule) -> None:
    violating, conforming = examples_text(rule)
    assert "< HTTP " in violating
    assert "\nat /exchanges/" in violating
    assert "< HTTP " in conforming
    assert violating != conforming
    assert all(line.isprintable() for line in (violating + conforming).split("\n"))


def test_what_the_request_is_about_is_shown_before_its_messages() -> None:
    violating, _ = examples_text(RULES["chat.response.tool-choice-named"])
    assert violating.startswith('> POST /chat/completions {"tool_choice":')

"""On which exchanges of a run a rule was judged: those that hold what it looks at, and not one more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from conformance.grade.grading import Grader
from conformance.grade.tally import Judged, Place, Tally, sort_of
from conformance.rules import RULES
from conformance.rules.examples import answer, error
from conformance.types import Exchange, HttpRequest

from .recordings import exchange, graded

CHAT = "https://h/v1/chat/completions"
RESPONSES = "https://h/v1/responses"
QUESTION = {"role": "user", "content": "Hi"}
SAID = {"role": "assistant", "content": "Hello."}
RESULT = {"role": "tool", "tool_call_id": "call_9", "content": "18 degrees"}
NONE = Judged(0, {})


def judged(rule: str, exchanges: Iterable[Exchange]) -> int:
    """On how many of the exchanges of one file a rule was judged."""
    tally, grader = Tally(), Grader()
    for one in graded(exchanges):
        tally.count({sort_of(one): 1})
    found = tally.judged(grader)
    wires = RULES[rule].wires
    return sum(found.get(Place(rule, "unknown", wire), NONE).exchanges for wire in wires)


ANSWERED = answer(asked={"messages": [QUESTION]})
LATER = answer(asked={"messages": [QUESTION, SAID, QUESTION]}, id="chatcmpl-2")
REFUSED = error(400)


@pytest.mark.parametrize(
    ("rule", "exchanges", "times"),
    [
        pytest.param("chat.response.id-nonempty-string", [*ANSWERED, *REFUSED], 1, id="no answer, no id"),
        pytest.param("err.error-object", [*ANSWERED, *REFUSED], 1, id="no error, no shape of one"),
        pytest.param("chat.response.id-unique", ANSWERED, 0, id="one answer is unlike no other"),
        pytest.param("chat.response.id-unique", [*ANSWERED, *LATER], 2, id="two are compared"),
        pytest.param("chat.response.finish-length-at-cap", [*ANSWERED, *REFUSED], 1, id="a rule over a run"),
        pytest.param("client.answers-go-back-unchanged", LATER, 0, id="what came before is not here"),
        pytest.param("client.answers-go-back-unchanged", [*ANSWERED, *LATER], 1, id="it is here"),
        pytest.param("chat.response.seed-repeats", [*ANSWERED, *LATER], 0, id="nobody knows the purpose"),
    ],
)
def test_a_rule_counts_the_exchanges_that_hold_what_it_looks_at(
    rule: str, exchanges: Iterable[Exchange], times: int
) -> None:
    assert judged(rule, exchanges) == times


def test_a_probe_rule_counts_the_exchanges_of_its_probe() -> None:
    rule = next(
        rule for rule in RULES.values() if rule.probe == "unknown-model" and "openai-chat" in rule.wires
    )
    probe, other = (replace(rule.conforming[0], probe=name) for name in ("unknown-model", "unknown-route"))
    assert judged(rule.id, [probe]) == 1
    assert judged(rule.id, [other]) == 0


def test_a_rule_of_a_reading_that_nobody_follows_counts_nothing() -> None:
    flavoured = next(rule for rule in RULES.values() if rule.flavour == "open-responses")
    openai = next(rule for rule in RULES.values() if rule.flavour == "openai")
    assert judged(flavoured.id, flavoured.conforming) >= 1
    assert judged(flavoured.id, openai.conforming) == 0


@pytest.mark.parametrize(("status", "times"), [(401, 1), (429, 1), (500, 1), (503, 0), (404, 0)])
def test_of_an_answer_that_is_no_evidence_only_the_form_of_its_error_counts(status: int, times: int) -> None:
    said = {"error": {"message": "no"}} if status != 404 else {"detail": "Not Found"}
    one = exchange(CHAT, {"messages": [QUESTION]}, said, status=status)
    assert judged("err.error-object", [one]) == times
    assert judged("err.request-id-header", [one]) == 0


def test_the_clients_rules_count_whatever_the_answer_was() -> None:
    turned_away = exchange(CHAT, {"messages": [QUESTION, RESULT]}, b"slow down", status=429)
    assert judged("client.results-answer-calls", [turned_away]) == 1


def test_no_rule_counts_an_exchange_of_another_wire() -> None:
    asked = HttpRequest("POST", RESPONSES, (), b"{}")
    assert judged("chat.response.choices-array", [replace(ANSWERED[0], request=asked)]) == 0

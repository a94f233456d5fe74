"""``check``: findings with places, times and levels, few of a kind, in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from conformance.rules import check, rule_of
from conformance.rules.examples import Exchanges, answer, call, conversation, piece, start, stream, tool
from conformance.types import Finding

LEAK = answer(asked={"tools": [tool()]}, message={"content": '[TOOL_CALLS][{"name":"get_weather"}]'})


def findings(rule: str, exchanges: Exchanges) -> tuple[Finding, ...]:
    return check(exchanges, rules=[rule_of(rule)])


def test_a_finding_points_into_the_body_and_says_what_was_wanted_and_got() -> None:
    (finding,) = findings("chat.response.id-nonempty-string", conversation(answer(), answer(id=12)))
    assert finding.path == "/exchanges/1/response/body/id"
    assert (finding.wanted, finding.got) == ("a non-empty string", "12")
    assert (finding.level, finding.basis) == ("MUST", "schema")
    assert finding.event is None


def test_a_finding_says_what_breaks() -> None:
    (finding,) = findings(
        "chat.response.tool-call-function-object", answer(calls=[{"id": "call_1", "type": "function"}])
    )
    assert finding.consequence == "call.function.name raises AttributeError"


def test_a_finding_in_a_stream_has_its_event_and_the_millisecond_it_arrived() -> None:
    (exchange,) = stream(start(), piece(content="Hello."), piece("eos"))
    assert exchange.response is not None
    body = exchange.response.body
    cut = body.index(b'"eos"') - 10
    response = replace(exchange.response, parts=((5.0, cut), (25.0, len(body) - cut)))
    (finding,) = findings("chat.stream.finish-reason-enum", (replace(exchange, response=response),))
    assert finding.path == "/exchanges/0/response/events/2/data/choices/0/finish_reason"
    assert (finding.event, finding.ms) == (2, 25.0)


def test_without_arrival_times_the_millisecond_is_unknown() -> None:
    (exchange,) = stream(start(), piece("eos"))
    assert exchange.response is not None
    bare = replace(exchange, response=replace(exchange.response, parts=()))
    (finding,) = findings("chat.stream.finish-reason-enum", (bare,))
    assert (finding.event, finding.ms) == (1, None)


def test_repetitions_in_one_exchange_collapse_and_the_last_says_how_many_more() -> None:
    many = stream(start(), *(piece(role="assistant", content="x") for _ in range(9)), piece("stop"))
    found = findings("chat.stream.role-once", conversation(many, many))
    assert [f.path.split("/")[2] for f in found] == ["0", "0", "0", "1", "1", "1"]
    assert [f.more for f in found[:3]] == [0, 0, 6]
    assert "more in" not in found[0].message


def test_findings_come_in_the_order_of_the_exchanges() -> None:
    run = conversation(answer(model=None, id="a"), answer(object="x", id="b"), answer(model=None, id="c"))
    assert [f.path.split("/")[2] for f in check(run)] == ["0", "1", "2"]


@pytest.mark.parametrize(("rulebook", "level"), [("default", "SHOULD"), ("literal", "MUST")])
def test_the_literal_rulebook_reads_to_the_letter(
    rulebook: Literal["default", "literal"], level: Literal["SHOULD", "MUST"]
) -> None:
    (finding,) = check(LEAK, rulebook=rulebook)
    assert (finding.rule, finding.level) == ("chat.response.no-call-markup-leak", level)


def test_values_are_shown_escaped_and_capped() -> None:
    (long,) = findings("chat.response.object-literal", answer(object="x" * 5000))
    assert len(long.got) == 200
    (odd,) = findings("chat.response.object-literal", answer(object="\x1b[2J\u202e"))
    assert odd.got.isprintable()
    assert "\\u202e" in odd.got


def test_a_finding_on_a_call_points_at_the_call() -> None:
    (finding,) = findings("chat.response.tool-call-id-unique", answer(calls=[call(id="a"), call(id="a")]))
    assert finding.path == "/exchanges/0/response/body/choices/0/message/tool_calls/1/id"


def test_only_the_rules_that_are_asked_for_are_applied() -> None:
    assert check(answer(id=12), rules=[rule_of("chat.response.object-literal")]) == ()


def test_an_exchange_without_a_response_is_nobodys_fault() -> None:
    (exchange,) = answer()
    assert check((replace(exchange, response=None, ending="cut"),)) == ()
    assert check(()) == ()

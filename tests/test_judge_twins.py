"""What an answer to the same request, asked the other way, has to do with the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.judge import Strictness, judge_attempt, worth_keeping
from conformance.quirks import Quirk
from conformance.rules import examples as ex
from conformance.types import Attempt, Exchange, Text, Turn, Twin, VerdictName
from tests.judging import CLEAN, MISSING_ID, a_quirk, a_scenario, broken, cell_of, nobody, refusing


def twinned(
    exchanges: tuple[Exchange, ...], twin: tuple[Exchange, ...], *, of: int = 0, says: str = "Hello."
) -> Attempt:
    (one,) = twin
    marked = replace(one, twin=Twin(of, streams=True, script=Turn((Text(says),), "stop")))
    return Attempt(exchanges, twins=(marked,))


OTHER_WORDS = ex.stream(ex.start(), ex.piece(content="Hallo."), ex.piece("stop"))


@pytest.mark.parametrize(
    ("twin", "quirks", "verdict", "found"),
    [
        (ex.stream(), [], "conforms", []),
        (OTHER_WORDS, [], "violates", ["parity.text"]),
        (OTHER_WORDS, [a_quirk("parity.text")], "quirk", ["parity.text"]),
        (OTHER_WORDS, [a_quirk("parity.text", scenarios=("stream.*",))], "violates", ["parity.text"]),
        # that one path alone declines a feature is no refusal of the feature
        (refusing(400, "m does not support tools"), [], "warns", ["parity.outcome"]),
        # what can't be held against the endpoint can't here either, and is said
        (refusing(503), [], "error", []),
        (nobody("timeout", "late"), [], "error", []),
        (broken("cut", OTHER_WORDS), [], "error", []),
    ],
)
def test_a_twin_is_judged_by_what_differs_and_by_nothing_else(
    twin: tuple[Exchange, ...], quirks: list[Quirk], verdict: VerdictName, found: list[str]
) -> None:
    judgement = judge_attempt(a_scenario(), twinned(CLEAN, twin), quirks)
    assert (judgement.verdict, [one.rule for one in judgement.findings]) == (verdict, found)


def test_a_feature_declined_on_both_paths_is_refused() -> None:
    declines = refusing(400, "m does not support tools")
    assert judge_attempt(a_scenario(), twinned(declines, declines)).verdict == "refused"


def test_a_twin_is_no_exchange_of_the_script() -> None:
    """Rules on answers and conversations don't see it: they judge the script's own answers."""
    unnamed = ex.stream(
        *({**one, "id": ""} for one in (ex.start(), ex.piece(content="Hello."), ex.piece("stop")))
    )
    assert judge_attempt(a_scenario(), twinned(CLEAN, unnamed)).verdict == "conforms"


@pytest.mark.parametrize("policy", ["", "tool-choice"])
def test_nothing_is_compared_with_an_answer_that_says_nothing(policy: str) -> None:
    judgement = judge_attempt(replace(a_scenario(), policy=policy), twinned(refusing(503), ex.stream()))
    assert (judgement.verdict, judgement.findings) == ("error", ())


UNREACHED = "Message: fetch failed Cause: SocketError: other side closed Name: TypeError"


@pytest.mark.parametrize("policy", ["", "tool-choice"])
def test_a_gateway_that_did_not_reach_its_server_is_not_compared(policy: str) -> None:
    twin = twinned(CLEAN, refusing(500, UNREACHED))
    judgement = judge_attempt(replace(a_scenario(), policy=policy), twin)
    assert (judgement.verdict, judgement.findings) == ("error", ())
    assert "a gateway could not reach the server" in judgement.reason
    assert not worth_keeping(a_scenario(), [twin])


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Overloaded", "type": "overloaded_error"},
        {"message": "Rate limit reached, try again later.", "type": "requests"},
        {"message": "Connection closed.", "type": "api_error"},
    ],
    ids=lambda error: error["message"],
)
def test_what_a_stream_tells_of_load_is_no_difference(error: dict[str, str]) -> None:
    twin = twinned(CLEAN, ex.stream(ex.start(), {"error": error}, done=b""))
    judgement = judge_attempt(a_scenario(), twin)
    assert (judgement.verdict, judgement.findings) == ("error", ())
    assert not worth_keeping(a_scenario(), [twin])


def test_a_stream_that_tells_of_a_failure_is_one() -> None:
    error = {"message": "Can't read the call.", "type": "server_error"}
    judgement = judge_attempt(a_scenario(), twinned(CLEAN, ex.stream(ex.start(), {"error": error}, done=b"")))
    assert [one.rule for one in judgement.findings] == ["parity.outcome"]


def test_the_cost_of_a_cell_counts_twins() -> None:
    assert cell_of(a_scenario(), [twinned(CLEAN, ex.stream())]).requests == 2


def test_what_measures_a_policy_is_judged_by_its_two_paths_alone() -> None:
    measured = replace(a_scenario("policies.tool-choice"), policy="tool-choice")
    one = judge_attempt(measured, twinned(MISSING_ID, ex.stream(), says="Hi."))
    other = judge_attempt(measured, twinned(CLEAN, OTHER_WORDS))
    assert [finding.rule for finding in one.findings] == []
    assert [finding.rule for finding in other.findings] == ["parity.text"]
    assert other.verdict == "violates"


@pytest.mark.parametrize("rule", ["parity.text", "chat.response.id-present"])
def test_selected_rules_select_those_on_both_paths_too(rule: str) -> None:
    only = Strictness(rules=frozenset({rule}))
    judgement = judge_attempt(a_scenario(), twinned(CLEAN, OTHER_WORDS), strictness=only)
    assert judgement.verdict == ("violates" if rule == "parity.text" else "conforms")


def test_a_recording_whose_twin_was_turned_away_is_not_kept() -> None:
    assert worth_keeping(a_scenario(), [twinned(CLEAN, ex.stream())])
    assert not worth_keeping(a_scenario(), [twinned(CLEAN, refusing(429))])

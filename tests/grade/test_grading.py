"""Rules judge a recording as far as it is evidence; what it is none for is said, and never found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.grading import EARLY, REBUILT, Grader, fault_of
from conformance.grade.recorded import KEPT
from conformance.grade.tally import Place, Tally, sort_of
from conformance.quirks import Quirk, catalogue
from conformance.rules import RULES
from conformance.rules.examples import answer, call, error, piece, start, stream, tool
from conformance.rules.reading import ABSENT
from conformance.types import Exchange, Failure

from .recordings import EVENT_HEADERS, exchange, graded, rules_of, streamed, without_url

CHAT = "https://api.example.com/v1/chat/completions"


def one(exchanges: tuple[Exchange, ...], **more: Any) -> Any:
    (found,) = graded(exchanges, **more)
    return found


# ------------------------------------------------------------------------------------------- what is judged


def test_a_recording_is_judged_by_the_rules_of_its_wire() -> None:
    found = one(answer(choice={"finish_reason": "eos"}))
    assert (found.outcome, found.wire) == ("graded", "openai-chat")
    assert rules_of(found) == {"chat.response.finish-reason-enum"}


def test_a_path_begins_at_the_exchange() -> None:
    _, second = graded((*answer(), *answer(choice={"finish_reason": "eos"}, id="chatcmpl-2")))
    assert [finding.path for finding in second.findings] == ["/response/body/choices/0/finish_reason"]


def test_what_is_no_traffic_of_a_wire_is_left_alone() -> None:
    found = one((exchange("https://h/v1/embeddings", {}, {}),))
    assert (found.outcome, found.reason, found.findings) == ("left alone", "embeddings", ())


def test_a_client_may_have_sent_a_bad_request_so_its_refusal_is_no_violation() -> None:
    assert one(error(400, expect="answer")).findings == ()


def test_the_form_of_a_refusal_counts() -> None:
    flat = exchange(CHAT, {"messages": []}, {"error": "no"}, status=400)
    assert "err.error-object" in rules_of(one((flat,)))


# --------------------------------------------------------------------------------------- what is no evidence


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ({"status": 401, "answer": b""}, "HTTP 401: the credentials were refused"),
        ({"status": 403, "answer": b"<html>"}, "HTTP 403: the credentials are not allowed to do this"),
        ({"status": 429, "answer": b"slow down"}, "HTTP 429: the rate limit or quota is spent"),
        ({"status": 503, "answer": {"detail": "no"}}, "HTTP 503: the endpoint is overloaded or down"),
        ({"status": 404, "answer": {"detail": "no"}}, "HTTP 404: nothing answers there"),
        ({"status": 500, "answer": b""}, "HTTP 500: the server failed"),
        ({"status": 503, "answer": b"<html>"}, "HTTP 503: the endpoint is overloaded or down"),
        ({"status": 404, "answer": b"<html>"}, "HTTP 404: nothing answers there"),
        ({"status": 302, "answer": b""}, "HTTP 302: a redirect, and no answer"),
        ({"status": 200, "answer": b""}, "the recorder left the body empty"),
        ({"status": 200, "answer": b'{"id": "chatc'}, "the recorder's JSON breaks off"),
        (
            {"status": 200, "answer": b": keep-alive\n\n", "headers": EVENT_HEADERS},
            "the recorder left no event of the stream",
        ),
    ],
)
def test_an_answer_that_says_nothing_of_the_wire_is_not_gradable(response: Any, reason: str) -> None:
    found = one((exchange(CHAT, {"messages": []}, **response),))
    assert (found.outcome, found.reason, found.findings) == ("not gradable", reason, ())


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_of_an_error_that_says_nothing_of_the_request_only_the_form_is_judged(status: int) -> None:
    found = one((exchange(CHAT, {"messages": []}, status=status, answer={"detail": "no"}),))
    assert found.outcome == "graded"
    assert found.reason.endswith(": only the error's form was judged")
    assert "err.error-object" in {finding.rule for finding in found.findings}
    assert all(finding.path.startswith("/response") for finding in found.findings)


def test_no_answer_at_all_is_not_gradable() -> None:
    lost = replace(answer()[0], response=None, failure=Failure("timeout", "nothing came"))
    assert one((lost,)).reason == "nothing came"


def test_an_error_without_its_status_is_not_gradable() -> None:
    found = one(
        (exchange("", None, {"error": {"message": "no"}, "object": "error", "choices": []}),),
        fidelity="reformatted",
    )
    assert (found.outcome, found.reason) == (
        "not gradable",
        "an error, and the recorder did not keep its status",
    )


def test_of_a_stream_that_nobody_ended_nothing_is_said_of_its_end() -> None:
    """Its reader may have left: most recorders don't tell."""
    left = stream(start(), piece(content="Hel"), done=b"")[0]
    found = one((left,))
    assert (found.outcome, found.reason, found.findings) == ("graded", EARLY, ())


def test_a_stream_that_its_server_ended_has_to_end_well() -> None:
    unmarked = stream(start(), piece(content="Hello."), piece("stop"), done=b"")[0]
    assert rules_of(one((unmarked,))) == {"sse.done-sentinel"}


NUMBERED: list[Any] = [{"type": "response.created", "sequence_number": n, "response": {}} for n in (0, 1, 5)]


@pytest.mark.parametrize(("fidelity", "outcome"), [("event-data", "not gradable"), ("wire", "graded")])
def test_events_taken_out_by_hand_make_a_fixture_no_evidence(fidelity: Any, outcome: str) -> None:
    found = one((exchange("", None, streamed(*NUMBERED), headers=EVENT_HEADERS),), fidelity=fidelity)
    assert found.outcome == outcome


# ------------------------------------------------------------------------------------------------- fidelity


BROKEN: dict[str, tuple[Exchange, ...]] = {
    "request": answer(calls=[call(name="other")], asked={"tools": [tool()]}),
    "headers": answer(headers={"content-type": "text/html"}),
    "spelling": RULES["chat.response.no-duplicate-keys"].violating,
    "values": answer(created=1_764_448_000_123),
    "framing": RULES["sse.done-sentinel"].violating,
    "presence": answer(choice={"finish_reason": None}),
    "status": RULES["err.status-not-200"].violating,
}
"""Something that is broken, by what a recording must have kept to be evidence for it."""


@pytest.mark.parametrize("aspect", BROKEN)
def test_a_rule_is_judged_only_where_all_that_it_needs_was_kept(aspect: Any) -> None:
    full = KEPT["wire-chunks"]
    broken = [finding.rule for finding in one(BROKEN[aspect], kept=full).findings]
    needing = [rule for rule in broken if aspect in RULES[rule].needs]
    assert needing
    assert not set(needing) & rules_of(one(BROKEN[aspect], kept=full - {aspect}))


def test_an_answer_without_its_request_is_judged_for_what_it_is() -> None:
    alone = without_url(answer(choice={"finish_reason": "eos"}, calls=[call()])[0])
    found = one((alone,), fidelity="reformatted")
    assert (found.wire, found.outcome) == ("openai-chat", "graded")
    assert "chat.response.finish-reason-enum" in rules_of(found)
    assert "chat.response.no-tools-no-calls" not in rules_of(found)


def test_a_dump_of_a_client_library_is_no_evidence_of_anything() -> None:
    found = one(answer(choice={"finish_reason": "eos"}, created=0), fidelity="sdk-dump")
    assert (found.outcome, found.reason, found.findings) == ("not gradable", REBUILT, ())


def test_what_could_not_be_judged_is_counted_with_its_reason() -> None:
    tally, grader = Tally(), Grader()
    tally.count({sort_of(one(answer(), fidelity="parsed")): 3})
    judged = tally.judged(grader)
    spelling = judged[Place("chat.response.no-duplicate-keys", "unknown", "openai-chat")]
    envelope = judged[Place("chat.response.required-keys", "unknown", "openai-chat")]
    assert (spelling.exchanges, spelling.not_gradable) == (0, {"not kept: spelling": 3})
    assert (envelope.exchanges, envelope.not_gradable) == (3, {})


# ------------------------------------------------------------------------------------------- conversations


def chat(*messages: Any, **more: Any) -> tuple[Exchange, ...]:
    return answer(asked={"messages": list(messages), "tools": [tool()]}, expect="either", **more)


QUESTION = {"role": "user", "content": "Weather in Oslo?"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [call(arguments='{"city":"Rome"}')]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}


def test_rules_of_conversations_see_both_sides_and_say_whose_fault_it_is() -> None:
    first, second = graded(
        (*chat(QUESTION, calls=[call()]), *chat(QUESTION, CALLED, RESULT, id="chatcmpl-2"))
    )
    assert (first.turn, second.turn) == (0, 1)
    (finding,) = second.findings
    assert (finding.rule, fault_of(finding)) == ("client.answers-go-back-unchanged", "client")
    assert finding.path == "/request/body/messages"


def test_what_the_client_did_counts_even_where_the_answer_says_nothing() -> None:
    (refused,) = graded((exchange(CHAT, {"messages": [QUESTION, RESULT]}, b"slow down", status=429),))
    assert (refused.outcome, rules_of(refused)) == ("not gradable", {"client.results-answer-calls"})


def test_two_answers_of_one_conversation_do_not_share_an_id() -> None:
    said = {"role": "assistant", "content": "Hello."}
    asked = {"messages": [QUESTION]}
    later = {"messages": [QUESTION, said, QUESTION]}
    _, second = graded((*answer(asked=asked, id="same"), *answer(asked=later, id="same")))
    assert rules_of(second) == {"chat.response.id-unique"}


def test_exchanges_that_have_nothing_to_do_with_one_another_are_not_compared() -> None:
    found = graded((*answer(id="same"), *answer(id="same")))
    assert [rules_of(each) for each in found] == [set(), set()]


# --------------------------------------------------------------------------------------- how it is judged


def test_rules_and_levels_can_be_chosen() -> None:
    broken = answer(choice={"finish_reason": "eos", "delta": {}})
    both = {"chat.response.finish-reason-enum", "chat.response.choice-no-delta"}
    assert rules_of(one(broken)) == both
    assert rules_of(one(broken, grader=Grader(level="MUST"))) == {"chat.response.finish-reason-enum"}
    chosen = Grader(rules=frozenset({"chat.response.choice-no-delta"}))
    assert rules_of(one(broken, grader=chosen)) == {"chat.response.choice-no-delta"}


@pytest.mark.parametrize(("rulebook", "level"), [("default", "MAY"), ("literal", "MUST")])
def test_the_literal_rulebook_reads_the_schema_to_the_letter(rulebook: Any, level: str) -> None:
    found = one(answer(choice={"logprobs": ABSENT}), grader=Grader(rulebook=rulebook))
    assert [(finding.rule, finding.level) for finding in found.findings] == [
        ("chat.response.logprobs-key", level)
    ]


def quirk(**more: Any) -> Quirk:
    any_of_them = next(iter(catalogue().values()))
    shows = {"rules": ["chat.response.finish-reason-enum"], "scenarios": ["tools.*"], "got": "eos"}
    known = any_of_them.model_dump() | {"undetected": None}
    return Quirk.model_validate(known | {"shows": [shows]} | more)


def test_a_declared_quirk_explains_what_it_makes_show_in_recordings_too() -> None:
    grader = Grader(quirks=(quirk(id="says-eos"),))
    assert [f.quirk for f in one(answer(choice={"finish_reason": "eos"}), grader=grader).findings] == [
        "says-eos"
    ]
    assert [f.quirk for f in one(answer(choice={"finish_reason": "end"}), grader=grader).findings] == [None]


@pytest.mark.parametrize(("provider", "explained"), [("unknown", ["says-eos"]), ("another", [None])])
def test_quirks_may_be_those_that_the_catalogue_has_on_the_provider(provider: str, explained: Any) -> None:
    grader = Grader(quirks=(quirk(id="says-eos", providers=[provider]),), by_provider=True)
    found = one(answer(choice={"finish_reason": "eos"}), grader=grader)
    assert [finding.quirk for finding in found.findings] == explained


ON_DEMAND = answer(service_tier="on_demand")
LISTED = exchange(CHAT, {"messages": []}, [{"error": {"code": 400, "message": "no"}}], status=400)


@pytest.mark.parametrize(
    ("endpoint", "exchanges", "quirk_id"),
    [
        ("simulated:groq", ON_DEMAND, "nonstandard-service-tier-created"),
        ("simulated:deepseek", ON_DEMAND, None),
        ("simulated:no-family", ON_DEMAND, None),
        ("groq", ON_DEMAND, None),
        ("simulated:gemini-front", (LISTED,), "gemini-error-body-array"),
        ("simulated:reference", (LISTED,), None),
    ],
)
def test_a_persona_of_the_simulator_has_the_quirks_of_whom_it_plays(
    endpoint: str, exchanges: tuple[Exchange, ...], quirk_id: str | None
) -> None:
    grader = Grader(quirks=tuple(catalogue().values()), by_provider=True)
    (finding,) = one(exchanges, grader=grader, endpoint=endpoint).findings
    assert finding.quirk == quirk_id


def test_wire_and_endpoint_can_be_said() -> None:
    odd = exchange("https://h/ask", {"messages": []}, {"id": "x"})
    found = one((odd,), grader=Grader(wire="openai-chat", endpoint="mine"))
    assert (found.wire, found.endpoint, found.provider) == ("openai-chat", "mine", "unknown")
    assert "chat.response.required-keys" in rules_of(found)


def test_what_the_recording_itself_says_is_believed() -> None:
    found = one(answer(), wire="openai-chat", endpoint="row-of-mine")
    assert found.endpoint == "row-of-mine"


def test_a_recording_that_names_its_probe_is_judged_by_the_rules_of_the_probe() -> None:
    rule = RULES["err.unknown-model-404"]
    assert "err.unknown-model-404" in rules_of(one(rule.violating))
    assert "err.unknown-model-404" not in rules_of(one(tuple(replace(e, probe=None) for e in rule.violating)))


def test_no_secret_leaves_with_a_finding() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    found = one(answer(choice={"finish_reason": key}))
    assert all(key not in finding.got for finding in found.findings)
    assert found.findings


@given(
    asked=st.binary(max_size=200),
    said=st.binary(max_size=300),
    status=st.integers(100, 599),
    events=st.booleans(),
)
def test_no_bytes_make_it_raise(asked: bytes, said: bytes, status: int, events: bool) -> None:
    headers = EVENT_HEADERS if events else ()
    hostile = exchange(CHAT, asked, said, status=status, headers=headers)
    assert len(graded((hostile, hostile))) == 2

"""Observers are pure functions of exchanges: whatever came back, each aspect has one outcome."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.policies import POLICIES, hangs, observe
from conformance.types import WIRES, Ending, Exchange, Failure, HttpRequest, HttpResponse, WireName

REQUEST = HttpRequest("POST", "", (), b"{}")
JSON_HEADERS = (("content-type", "application/json"),)


def exchange(
    step: str,
    body: Any = None,
    *,
    policy: str = "tool-choice",
    status: int = 200,
    ending: Ending = "complete",
) -> Exchange:
    """An exchange over Chat; ``body`` is the JSON of the answer."""
    response = HttpResponse(status, JSON_HEADERS, json.dumps(body).encode())
    return Exchange(REQUEST, response, ending, "openai-chat", probe=f"policy:{policy}/{step}")


def said(text: str = "Good day.", tool: str = "", tokens: int | None = None) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool:
        function = {"name": tool, "arguments": "{}"}
        message["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens}}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **usage}


def outcome(policy: str, aspect: str, *exchanges: Exchange, **more: Any) -> str:
    (one,) = (o for o in observe(POLICIES[policy], exchanges, **more) if o.aspect == aspect)
    return one.outcome


PROBES = sorted({f"policy:{p.id}/{step}" for p in POLICIES.values() for step in p.aspects}) + [
    f"policy:{policy}/{step}"
    for policy, names in {
        "reasoning-echo": "without as-it-came unsealed altered",
        "duplicate-tool-names": "first second",
        "malformed-histories": "control",
        "tool-choice": "unbound idle",
        "empty-content": "control",
    }.items()
    for step in names.split()
]
documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.just(said(tool="get_time", tokens=9)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "error", "usage", "content", "output"]), inner
        )
    ),
    max_leaves=8,
).map(lambda value: json.dumps(value).encode())
answers = st.builds(
    HttpResponse,
    status=st.sampled_from([200, 200, 200, 201, 302, 400, 404, 500]),
    headers=st.sampled_from([(), JSON_HEADERS, (("content-type", "text/event-stream"),)]),
    body=st.binary(max_size=40) | documents,
)


@st.composite
def exchanges_of(draw: st.DrawFn) -> tuple[WireName, list[Exchange]]:
    wire = draw(st.sampled_from(WIRES))
    made = []
    for probe in draw(st.lists(st.sampled_from([*PROBES, "other"]), min_size=1, max_size=12)):
        failed = draw(st.none() | st.just(Failure("timeout", "no answer")))
        ending: Ending = draw(st.sampled_from(["complete", "cut", "stalled"]))
        response = None if failed else draw(answers)
        made.append(Exchange(REQUEST, response, ending, wire, failed, probe=probe))
    return wire, made


@given(exchanges_of(), st.sets(st.integers(0, 12)))
def test_any_answers_give_one_outcome_of_the_policys_words_per_aspect(
    made: tuple[WireName, list[Exchange]], lost: set[int]
) -> None:
    wire, exchanges = made
    for policy in POLICIES.values():
        found = observe(policy, exchanges, lost=lost, reason="why not")
        assert tuple(one.aspect for one in found) == policy.aspects_on(wire)
        assert {one.outcome for one in found} <= set(policy.outcomes)
        assert all("\n" not in one.detail and len(one.detail) < 1000 for one in found)
        assert all(int(one.path.split("/")[2]) < len(exchanges) for one in found)


def test_without_exchanges_nothing_is_observed() -> None:
    assert observe(POLICIES["tool-choice"], []) == ()


def test_an_answer_that_tells_nothing_of_the_endpoint_is_left_out() -> None:
    answers = exchange("unbound", said(tool="get_weather")), exchange("none", said(tool="get_weather"))
    assert outcome("tool-choice", "none", *answers) == "ignored"
    assert outcome("tool-choice", "none", *answers, lost={1}) == "inconclusive"


def test_why_a_scenario_ended_early_is_told_of_what_it_left_open() -> None:
    found = observe(POLICIES["tool-choice"], [exchange("unbound", said())], reason="the model did not sing")
    assert {one.detail for one in found} == {"the model did not sing"}


def test_a_refusal_carries_its_status_and_its_words() -> None:
    error = {"error": {"message": "No such choice.", "code": "bad_choice", "type": "invalid"}}
    exchanges = [exchange("unbound", said()), exchange("required", error, status=422)]
    (one,) = (o for o in observe(POLICIES["tool-choice"], exchanges) if o.aspect == "required")
    assert (one.outcome, one.status, one.path) == ("refused", 422, "/exchanges/1/response/status")
    assert one.detail == "HTTP 422: bad_choice: No such choice."


@pytest.mark.parametrize(
    ("tokens", "seen"), [(100, "ignored"), (103, "ignored"), (104, "used"), (None, "inconclusive")]
)
def test_reasoning_was_read_where_the_prompt_costs_more(tokens: int | None, seen: str) -> None:
    exchanges = (
        exchange("without", said(tokens=100), policy="reasoning-echo"),
        exchange("reasoning_content", said(tokens=tokens), policy="reasoning-echo"),
    )
    assert outcome("reasoning-echo", "reasoning_content", *exchanges) == seen


def test_a_word_that_the_model_says_without_the_reasoning_proves_nothing() -> None:
    exchanges = (
        exchange("without", said("CURLEW, perhaps?", tokens=100), policy="reasoning-echo"),
        exchange("reasoning_content", said("CURLEW.", tokens=100), policy="reasoning-echo"),
    )
    assert outcome("reasoning-echo", "reasoning_content", *exchanges) == "ignored"


@pytest.mark.parametrize("told", [{"finish_reason": "length"}, {"finish_reason": "stop"}])
def test_an_answer_that_was_cut_at_its_cap_does_not_tell_whether_a_call_was_forced(
    told: dict[str, str],
) -> None:
    document = said("Good day. Good day.")
    document["choices"][0] |= told
    document["usage"] = {"completion_tokens": 1024}
    cut = exchange("required", document)
    cut = replace(cut, request=replace(cut.request, body=b'{"max_tokens": 1024}'))
    assert outcome("tool-choice", "required", exchange("idle", said()), cut) == "inconclusive"


def test_definitions_that_cost_about_the_same_are_not_told_apart_by_tokens() -> None:
    counts = {"first": 100, "second": 104, "different": 100}
    exchanges = [
        exchange(step, said(tokens=tokens), policy="duplicate-tool-names") for step, tokens in counts.items()
    ]
    assert outcome("duplicate-tool-names", "different", *exchanges) == "inconclusive"


def test_a_stalled_answer_is_a_hang_and_a_broken_one_is_none() -> None:
    late = Exchange(REQUEST, None, "complete", "gemini", Failure("timeout", ""))
    others = [exchange("none", said())]
    assert hangs(exchange("none", said(), ending="stalled"), others)
    assert not hangs(exchange("none", said(), ending="cut"), others)
    assert hangs(late, others)
    assert not hangs(late, [late])
    assert not hangs(Exchange(REQUEST, None, "complete", "gemini", Failure("connect", "")), others)

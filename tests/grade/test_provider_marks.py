"""A provider is held to the reading it publishes, and not to what a person wrote in its name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.grading import Graded, Grader
from conformance.grade.provider_marks import published_reading
from conformance.rules.reading import ABSENT
from conformance.rules.responses.examples import answer, response, told
from conformance.types import Exchange, Flavour

from .recordings import exchange, graded, rules_of, streamed, without_url

OWN_ID = "resp_0465b6d1ae1f97c500699f88318ee481a3b627f7fcb4875152"
OPENAI, OTHER = "packages/openai/fixtures/one.json", "packages/acme/fixtures/one.json"
LEAN: dict[str, Any] = {"id": OWN_ID, "presence_penalty": ABSENT}
"""A response with what OpenAI's schema demands, and without what only Open Responses' does."""
WORDS = " ".join(["word"] * 40)


def one(exchanges: tuple[Exchange, ...], grader: Grader | None = None, **more: Any) -> Graded:
    (found,) = graded(exchanges, grader, **{"fidelity": "reformatted", "file": OPENAI, **more})
    return found


def alone(**members: Any) -> tuple[Exchange, ...]:
    """A response without anything of its request."""
    return tuple(without_url(each) for each in answer(**members))


# --------------------------------------------------------------------------------------------------- readings


@pytest.mark.parametrize(
    ("providers", "reading"),
    [
        (["openai"], "openai"),
        (["azure", "openai", "llama.cpp"], "openai"),
        (["openai", "mistralrs"], None),
        (["mistralrs"], None),
        (["unknown"], None),
        ([], None),
    ],
)
def test_the_reading_that_providers_publish(providers: list[str], reading: Flavour | None) -> None:
    assert published_reading(providers) == reading


@pytest.mark.parametrize(
    ("url", "flavours"),
    [
        ("https://api.openai.com/v1/responses", {"openai"}),
        ("https://one.openai.azure.com/openai/v1/responses", {"openai"}),
        ("https://api.example.com/v1/responses", {"openai", "open-responses"}),
    ],
)
def test_who_is_recognised_is_held_to_its_own_reading_alone(url: str, flavours: set[Flavour]) -> None:
    bare: dict[str, Any] = {
        "id": OWN_ID,
        "object": "response",
        "status": "completed",
        "output": [],
        "usage": None,
    }
    found = one((exchange(url, {"input": "Hi"}, bare),), fidelity="wire", file=OTHER)
    assert {finding.flavour for finding in found.findings if finding.flavour} == flavours


# ------------------------------------------------------------------------------------------------ cut by hand

MISSING: dict[str, Any] = dict.fromkeys(("error", "instructions", "tools"), ABSENT)
CUT = "cut down by hand: members are missing that openai always sends"


def test_a_response_of_openais_that_lacks_what_it_always_sends_is_no_evidence() -> None:
    found = one(alone(**LEAN, **MISSING))
    assert (found.outcome, found.reason, found.findings) == ("not gradable", CUT, ())


def test_so_is_a_stream_of_such_responses() -> None:
    short = {"id": OWN_ID, "output": [], "status": "in_progress"}
    events = [event | ({"response": short} if "response" in event else {}) for event in told()]
    assert one((exchange("", None, streamed(*events)),), fidelity="event-data").reason == CUT


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"file": OTHER}, id="in nobody's folder"),
        pytest.param({"fidelity": "parsed"}, id="with its head"),
        pytest.param({"grader": Grader(endpoint="mine")}, id="of an endpoint that is told"),
    ],
)
def test_what_may_be_an_endpoints_own_doing_is_found(more: dict[str, Any]) -> None:
    found = one(alone(**LEAN, **MISSING), **more)
    assert (found.outcome, "resp.response.required-keys-openai" in rules_of(found)) == ("graded", True)


def test_an_address_proves_who_left_the_members_out() -> None:
    members = response(id=OWN_ID)
    for name in MISSING:
        del members[name]
    sent = exchange("https://api.openai.com/v1/responses", {"input": "Hi"}, members)
    assert rules_of(one((sent,), fidelity="wire")) == {"resp.response.required-keys-openai"}


def test_one_member_may_be_a_providers_fault() -> None:
    assert rules_of(one(alone(**LEAN, tools=ABSENT))) == {"resp.response.required-keys-openai"}


def test_a_whole_response_is_evidence() -> None:
    assert one(alone(id=OWN_ID)).outcome == "graded"


# -------------------------------------------------------------------------------------------- counted by hand


def counted(asked: Any, tokens: Any, **more: Any) -> Graded:
    usage = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": 1}
    response = {"id": "resp_REDACTED_1", "object": "response", "output": [], "usage": usage}
    sent = exchange("/v1/responses", asked, response)
    return one((sent,), **{"fidelity": "scrubbed", "file": "cassettes/openai_compatible/one.yaml", **more})


def message(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": "input_text", "text": text}]}


@pytest.mark.parametrize(
    "asked",
    [
        {"input": WORDS},
        {"input": [message(WORDS)]},
        {"input": [{"role": "system", "content": WORDS}]},
        {"input": "Hi", "instructions": WORDS},
        {"input": [message("word " * 20), message("word " * 20)]},
    ],
)
def test_fewer_tokens_than_words_were_counted_by_nobody(asked: Any) -> None:
    found = counted(asked, 12)
    assert found.outcome == "not gradable"
    assert found.reason.startswith("put together by hand: it counts 12 tokens of a request of 4")


@pytest.mark.parametrize(
    ("asked", "tokens"),
    [
        pytest.param({"input": WORDS}, 40, id="a token a word"),
        pytest.param({"input": WORDS}, 0, id="nothing counted"),
        pytest.param({"input": WORDS}, -9, id="a count that is none"),
        pytest.param({"input": WORDS}, None, id="no count"),
        pytest.param({"input": WORDS, "truncation": "auto"}, 12, id="the server may leave some of it out"),
        pytest.param(
            {"input": [message(WORDS, "assistant")]}, 12, id="the model's own words may be left out"
        ),
        pytest.param({"input": [{"type": "reasoning", "summary": [WORDS]}]}, 12, id="and its reasoning"),
        pytest.param({"input": [message("A" * 4000)]}, 12, id="a picture is no word"),
        pytest.param({"input": [None, {"role": "user", "content": [None, {"text": 1}]}]}, 12, id="no texts"),
        pytest.param([WORDS], 12, id="no request"),
    ],
)
def test_other_counts_may_be_right(asked: Any, tokens: Any) -> None:
    assert counted(asked, tokens).outcome == "graded"


def test_who_counts_otherwise_is_left_alone() -> None:
    assert counted({"input": WORDS}, 12, file="cassettes/mistralrs/one.yaml").outcome == "graded"


# ---------------------------------------------------------------------------------------------- hostile input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)
MEMBERS = st.dictionaries(st.sampled_from(["id", "output", "usage", "response", "error"]), JSON)


@given(
    asked=st.dictionaries(st.sampled_from(["input", "instructions", "truncation"]), JSON),
    told=MEMBERS,
    events=st.lists(st.fixed_dictionaries({"type": st.just("response.created"), "response": JSON | MEMBERS})),
    fidelity=st.sampled_from(["reformatted", "event-data", "scrubbed", "wire"]),
)
def test_no_answer_makes_it_raise(asked: Any, told: Any, events: Any, fidelity: Any) -> None:
    whole, piecewise = exchange("/v1/responses", asked, told), exchange("", None, streamed(*events))
    assert len(graded((whole, piecewise), fidelity=fidelity, file=OPENAI)) == 2

"""What surrounds the deltas of a stream: names, times, indexes, counts, and Azure's bookkeeping chunk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.examples import (
    CREATED,
    USAGE,
    Exchanges,
    answer,
    chunk,
    conversation,
    opened,
    piece,
    start,
    stream,
    tool,
    tool_stream,
)
from conformance.types import Ending, Finding

ID, TIME, MODEL = (
    "chat.response.id-nonempty-string",
    "chat.response.created-unix-seconds",
    "chat.response.model-nonempty-string",
)
NEEDS_CALLS = "chat.response.finish-tool-calls-needs-calls"
INDEX = "chat.stream.choice-index-zero-based"
NONZERO = "chat.response.usage-nonzero"
AZURE_FIRST = chunk(id="", object="", created=0, model="", prompt_filter_results=[])
SAID = (start(), piece(content="Hel"), piece(content="lo."), piece("stop"))
ZERO = dict.fromkeys(USAGE, 0)
COUNTING = {"stream_options": {"include_usage": True}}


def found(exchanges: Exchanges) -> list[tuple[str, int | None]]:
    return [(finding.rule, finding.event) for finding in check(exchanges) if finding.level != "MAY"]


@pytest.mark.parametrize(
    ("rule", "member", "value"),
    [
        (ID, "id", ""),
        (ID, "id", 7),
        (ID, "id", ["chatcmpl-1"]),
        (TIME, "created", str(CREATED)),
        (TIME, "created", CREATED + 0.5),
        (TIME, "created", CREATED * 1000),
        (TIME, "created", 0),
        (TIME, "created", True),
        (MODEL, "model", ""),
        (MODEL, "model", 7),
    ],
)
def test_a_wrong_value_is_told_once_for_a_whole_stream_and_once_for_a_single_chunk(
    rule: str, member: str, value: Any
) -> None:
    assert found(stream(*(one | {member: value} for one in SAID))) == [(rule, 0)]
    rules = {name for name, _ in found(stream(*SAID[:2], SAID[2] | {member: value}, SAID[3]))}
    # Milliseconds are an integer all the same, and another one than before.
    assert rules - {"chat.stream.created-constant"} == {rule}


def test_a_value_that_goes_wrong_again_is_told_again() -> None:
    wrong = SAID[1] | {"id": ""}
    assert found(stream(SAID[0], wrong, wrong, SAID[2], wrong, SAID[3])) == [(ID, 1), (ID, 4)]


def test_null_is_a_missing_member() -> None:
    assert found(stream(SAID[0], SAID[1] | {"id": None}, *SAID[2:])) == [
        ("chat.stream.chunk-required-keys", 1)
    ]


def test_the_bookkeeping_chunk_that_azure_sends_first_has_no_name_and_no_time() -> None:
    assert found(stream(AZURE_FIRST, *SAID)) == []


def test_a_chunk_with_a_choice_is_no_bookkeeping() -> None:
    first = SAID[0] | {"id": "", "created": 0, "model": ""}
    assert {rule for rule, _ in found(stream(first, *SAID[1:]))} == {ID, TIME, MODEL}


def test_what_follows_the_bookkeeping_chunk_is_held_to_the_time_of_the_request() -> None:
    (late,) = stream(AZURE_FIRST, *SAID)
    assert found((replace(late, started=CREATED + 200_000.0),)) == [("chat.response.created-plausible", 1)]


def test_ids_behind_bookkeeping_chunks_are_compared_between_answers() -> None:
    headers = {"x-request-id": "req_2"}
    twice = conversation(stream(AZURE_FIRST, *SAID), stream(AZURE_FIRST, *SAID, headers=headers))
    assert found(twice) == [("chat.response.id-unique", 1)]


# ------------------------------------------------------------------------------------------- the index


@pytest.mark.parametrize("index", ["0", None, 0.0, False, [0]])
def test_an_index_that_is_no_integer_is_found(index: Any) -> None:
    ended = piece("stop", choice={"index": index})
    assert found(stream(*SAID[:3], ended)) == [(INDEX, 3)]


def test_an_absent_index_is_another_rules() -> None:
    ended = chunk(choices=[{"delta": {}, "finish_reason": "stop"}])
    assert found(stream(*SAID[:3], ended)) == [("chat.stream.choice-required-keys", 3)]


# -------------------------------------------------------------------------------------- the finish reason


def test_a_stream_that_finishes_with_tool_calls_has_streamed_some() -> None:
    assert found(tool_stream(piece(content="Let me see."))) == [(NEEDS_CALLS, 2)]
    assert found(tool_stream(opened(arguments='{"city":"Oslo"}'))) == []


def test_calls_of_one_choice_are_none_of_another() -> None:
    other: dict[str, Any] = {"index": 1}
    streamed = tool_stream(
        opened(arguments='{"city":"Oslo"}'),
        piece(choice=other, role="assistant", content="Let me see."),
        piece("tool_calls", choice=other),
        asked={"n": 2},
    )
    assert found(streamed) == [(NEEDS_CALLS, 3)]


def test_whole_answers_are_held_to_it_too() -> None:
    assert found(answer(asked={"tools": [tool()]}, choice={"finish_reason": "tool_calls"})) == [
        (NEEDS_CALLS, None)
    ]


# --------------------------------------------------------------------------------------------- counts


def counted(*chunks: Any, **usage: int) -> Exchanges:
    said = [one | {"usage": None} for one in chunks]
    return stream(*said, chunk(usage=ZERO | usage), asked=COUNTING)


def test_a_streamed_text_was_not_for_nothing() -> None:
    (prompt, completion) = check(counted(*SAID))
    assert (prompt.rule, completion.rule) == (NONZERO, NONZERO)
    assert _member(prompt) == "prompt_tokens"
    assert _member(completion) == "completion_tokens"


def test_of_several_usages_the_last_counts() -> None:
    growing = [one | {"usage": ZERO} for one in SAID]
    rules = {rule for rule, _ in found(stream(*growing, chunk(usage=USAGE), asked=COUNTING))}
    assert rules == {"chat.stream.usage-null-elsewhere"}


@pytest.mark.parametrize("ending", ["closed-by-us", "stalled"])
def test_a_stream_that_did_not_end_may_have_counted_nothing_yet(ending: Ending) -> None:
    begun = [one | {"usage": ZERO} for one in SAID[:2]]
    assert NONZERO not in dict(found(stream(*begun, done=b"", ending=ending, asked=COUNTING)))


def test_an_answer_without_a_word_may_have_cost_nothing() -> None:
    rules = {rule for rule, _ in found(counted(start(), piece(refusal="No."), piece("stop")))}
    assert NONZERO not in rules


def _member(finding: Finding) -> str:
    return finding.path.rpartition("/")[2]

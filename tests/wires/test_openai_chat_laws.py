"""What holds for every answer and every body."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.transport.sse import Decoder
from conformance.types import Turn
from conformance.wires.openai_chat import Assembler

from .answers import SSE_TYPE, WIRE, answers, assemble, events, response, sse, whole

chances = st.integers(0, 2**32).map(random.Random)

_ANSWER_KEYS = "choices index message delta finish_reason usage error detail"
_MESSAGE_KEYS = "content refusal reasoning reasoning_content reasoning_details tool_calls function_call"
_CALL_KEYS = "id type function custom name arguments text"
_KEYS = st.sampled_from(f"{_ANSWER_KEYS} {_MESSAGE_KEYS} {_CALL_KEYS}".split())
odd_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 2), st.floats(), st.sampled_from(["", "a", "function"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=30,
)
odd_answers = st.builds(
    lambda choices, rest: {**rest, "choices": choices}, st.lists(odd_json), st.dictionaries(_KEYS, odd_json)
)
odd_messages = st.dictionaries(_KEYS, odd_json, max_size=8)


def without_facts(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(replace(turn, facts=()) for turn in turns)


@given(answers)
def test_a_whole_answer_decodes_to_the_turns_it_says_without_facts(turns: tuple[Turn, ...]) -> None:
    assert WIRE.decode(response(whole(turns))) == turns


@given(answers, chances)
def test_a_stream_gives_the_same_turns_as_the_whole_answer(
    turns: tuple[Turn, ...], chance: random.Random
) -> None:
    streamed = WIRE.decode(response(sse(events(turns, chance)), headers=SSE_TYPE))
    assert without_facts(streamed) == turns
    assert {fact.name for turn in streamed for fact in turn.facts} <= {"snapshot-like"}


@given(answers, chances)
def test_any_split_of_the_bytes_gives_the_same_turns(turns: tuple[Turn, ...], chance: random.Random) -> None:
    body = sse(events(turns, chance))
    decoder, assembler, at = Decoder(), Assembler(), 0
    while at < len(body):
        size = chance.randint(1, 40)
        for event in decoder.feed(body[at : at + size]):
            assembler.feed(event.data)
        at += size
    assert assembler.turns() == WIRE.decode(response(body))


@given(answers, chances)
def test_a_stream_can_be_read_at_any_event_without_disturbing_the_rest(
    turns: tuple[Turn, ...], chance: random.Random
) -> None:
    assembler, datas = Assembler(), events(turns, chance)
    for data in datas:
        assembler.feed(data)
        for soon, final in zip(assembler.turns(), turns, strict=False):
            if len(turns) == 1:
                assert final.text.startswith(soon.text)
                assert all(
                    b.arguments.startswith(a.arguments) for a, b in zip(soon.calls, final.calls, strict=False)
                )
    assert assembler.turns() == assemble(datas)


@given(st.binary(), st.sampled_from([200, 400]), st.booleans())
def test_no_bytes_make_a_decoder_raise(body: bytes, status: int, stream: bool) -> None:
    answer = response(body, status, SSE_TYPE if stream else ())
    assert isinstance(WIRE.decode(answer), tuple)
    assert (WIRE.error_of(answer) is not None) or status == 200


@given(odd_answers)
def test_no_json_makes_a_decoder_raise_in_either_form(body: dict[str, Any]) -> None:
    text = json.dumps(body)
    WIRE.decode(response(text))
    WIRE.error_of(response(text, 400))
    assemble([text, text, "[DONE]", text])


@given(odd_messages)
def test_an_odd_message_reads_the_same_whole_or_as_one_delta(message: dict[str, Any]) -> None:
    message.pop("tool_calls", None)  # told apart by position in a message, by index in a stream
    message.pop("reasoning_details", None)
    choice = {"index": 0, "finish_reason": "stop"}
    (one,) = WIRE.decode(response({"choices": [choice | {"message": message}]}))
    (other,) = assemble([{"choices": [choice | {"delta": message}]}])
    assert one.parts == other.parts
    assert [fact.name for fact in one.facts] == [fact.name for fact in other.facts]


@given(answers, chances, st.data())
def test_a_stream_cut_anywhere_still_decodes(
    turns: tuple[Turn, ...], chance: random.Random, data: st.DataObject
) -> None:
    body = sse(events(turns, chance))
    cut = body[: data.draw(st.integers(0, len(body)))]
    for turn in WIRE.decode(response(cut, headers=SSE_TYPE)):
        assert {fact.name for fact in turn.facts} <= {"snapshot-like"}

"""What holds for every Ollama request, answer and body."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.types import Loss, Message, Request, Text, ToolCall, Turn
from conformance.wires.body import parse
from conformance.wires.ollama_answer import OllamaFact

from . import ollama_kit as kit
from .gemini_kit import arguments, words
from .ollama_kit import NDJSON, WIRE, ndjson, response

chances = st.integers(0, 2**32).map(random.Random)


def sent(body: dict[str, Any]) -> dict[str, Any]:
    """A body as the endpoint reads it."""
    value = parse(json.dumps(body))
    assert isinstance(value, dict)
    return value


def without_facts(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(replace(turn, facts=()) for turn in turns)


@given(kit.requests())
def test_a_canonical_request_comes_back_as_it_was_without_a_loss(request_: Request) -> None:
    losses: list[Loss] = []
    body = WIRE.encode(request_, model="m", losses=losses)
    assert WIRE.decode_request(sent(body)) == request_
    assert losses == []


@given(kit.turns())
def test_a_canonical_turn_comes_back_as_it_was_without_a_loss_or_fact(turn: Turn) -> None:
    losses: list[Loss] = []
    body = WIRE.encode_turns([turn], model="m", losses=losses)
    assert WIRE.decode(response(body)) == (turn,)
    assert losses == []


@given(kit.turns(), chances)
def test_a_stream_gives_the_same_turn_as_the_whole_answer(turn: Turn, chance: random.Random) -> None:
    body = WIRE.encode_turns([turn], model="m", losses=[])
    streamed = WIRE.decode(response(ndjson(kit.lines(body, chance)), headers=NDJSON))
    assert without_facts(streamed) == (turn,)
    assert {fact.name for fact in streamed[0].facts} <= {"snapshot-like"}


@given(kit.turns(), chances, st.data())
def test_a_stream_cut_anywhere_still_decodes(turn: Turn, chance: random.Random, data: st.DataObject) -> None:
    body = ndjson(kit.lines(WIRE.encode_turns([turn], model="m", losses=[]), chance))
    cut = body[: data.draw(st.integers(0, len(body)))]
    for found in WIRE.decode(response(cut, headers=NDJSON)):
        assert {fact.name for fact in found.facts} <= {"snapshot-like"}


@given(st.binary(), st.sampled_from([200, 400]), st.booleans())
def test_no_bytes_make_a_decoder_raise(body: bytes, status: int, stream: bool) -> None:
    answer = response(body, status, NDJSON if stream else ())
    assert isinstance(WIRE.decode(answer), tuple)
    assert (WIRE.error_of(answer) is not None) or status == 200


_WORDS = (
    "model created_at message role content thinking images tool_calls function name arguments "
    "id index done done_reason prompt_eval_count eval_count error tool_name tool_call_id "
    "options format think stream tools"
)
_KEYS = st.sampled_from(_WORDS.split())
odd_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.floats(),
        st.sampled_from(["", "a", "assistant", "tool", "stop", "json"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=40,
)
odd_messages = st.builds(
    lambda role, rest: {**rest, "role": role},
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.dictionaries(_KEYS, odd_json, max_size=4),
)
NAMES = set(OllamaFact.__args__)  # type: ignore[attr-defined]


odd_lines = st.builds(
    lambda message, rest: {**rest, "message": message},
    odd_messages,
    st.dictionaries(_KEYS, odd_json, max_size=4),
)


@given(st.one_of(odd_json, odd_lines))
def test_no_json_makes_a_decoder_raise_in_any_form(body: Any) -> None:
    text = json.dumps(body)
    for turns in (
        WIRE.decode(response(text.encode())),
        WIRE.decode(response(ndjson([text, "", f"data: {text}", text]), headers=NDJSON)),
    ):
        assert {fact.name for turn in turns for fact in turn.facts} <= NAMES
    WIRE.error_of(response(ndjson([text, text])))


@given(st.lists(odd_messages, max_size=4), st.dictionaries(_KEYS, odd_json, max_size=4))
def test_an_odd_request_is_read(messages: list[Any], rest: dict[str, Any]) -> None:
    body = {**rest, "messages": messages}
    again = WIRE.encode(WIRE.decode_request(body), model="m", losses=[])
    assert len(again["messages"]) == len(messages)  # type: ignore[arg-type]


@given(odd_json)
def test_other_messages_are_refused(messages: Any) -> None:
    sound = isinstance(messages, list) and all(isinstance(item, dict) for item in messages)
    assume(not sound)
    with pytest.raises(ValueError, match="messages"):
        WIRE.decode_request({"messages": messages})


anything = st.one_of(words, arguments, st.sampled_from(["", "null", "[]", '"x"', "{", '{"a":NaN}']))


@given(st.lists(st.tuples(kit.tool_names, anything), max_size=4), st.permutations(range(4)), st.data())
def test_results_keep_their_pairing_or_say_that_it_is_lost(
    calls: list[tuple[str, str]], order: list[int], data: st.DataObject
) -> None:
    parts = tuple(ToolCall(f"c{i}", name, said) for i, (name, said) in enumerate(calls))
    given_ = [i for i in order if i < len(calls) and data.draw(st.booleans())]
    results = [Message("tool", (Text(f"result {i}"),), f"c{i}") for i in given_]
    losses: list[Loss] = []
    body = WIRE.encode(Request((Message("assistant", parts), *results)), model="m", losses=losses)
    first, *rest = WIRE.decode_request(sent(body)).messages
    back: dict[str, int] = {
        call.id: i for i, call in enumerate(p for p in first.parts if isinstance(p, ToolCall))
    }
    found = {m.tool_call_id: "".join(p.text for p in m.parts if isinstance(p, Text)) for m in rest}
    kept = found == {name: f"result {back[name or '']}" for name in found}
    assert kept == (not any("which of the calls" in loss.what for loss in losses))


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda n: b'{"message":' + b"[" * n, 100_000),
        (lambda n: b'{"message":{"role":"assistant","content":"a"}}\n' * n, 10_000),
        (lambda n: b"\n" * n, 100_000),
        (lambda n: b'{"error' + b"\n" * n, 50_000),
        (lambda n: b'{"message":{"role":"assistant","tool_calls":[' + b"{}," * n + b"{}]}}", 20_000),
    ],
)
def test_large_and_hostile_bodies_are_read(make: Callable[[int], bytes], size: int) -> None:
    assert isinstance(WIRE.decode(response(make(size), headers=NDJSON)), tuple)
    WIRE.error_of(response(make(size)))

"""What holds for every Gemini request, answer and body."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.transport.sse import Decoder
from conformance.types import Loss, Message, Request, Text, ToolCall, Turn
from conformance.wires.body import parse
from conformance.wires.gemini_candidate import GeminiFact

from . import gemini_kit as kit
from .gemini_kit import SSE, STREAM_PATH, WIRE, chunks, response, sse

chances = st.integers(0, 2**32).map(random.Random)


def sent(body: dict[str, Any]) -> dict[str, Any]:
    """A body as the endpoint reads it."""
    value = parse(json.dumps(body))
    assert isinstance(value, dict)
    return value


def without_facts(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(replace(turn, facts=()) for turn in turns)


@given(kit.requests())
def test_a_canonical_request_comes_back_as_it_was(request_: Request) -> None:
    losses: list[Loss] = []
    body = WIRE.encode(request_, model="m", losses=losses)
    path = WIRE.path("m", request_.stream)
    assert WIRE.decode_request(sent(body), path=path) == request_
    assert all(loss.what.startswith("renamed") for loss in losses)


@given(kit.turns())
def test_canonical_turns_come_back_as_they_were(turns: tuple[Turn, ...]) -> None:
    losses: list[Loss] = []
    body = WIRE.encode_turns(turns, model="m", losses=losses)
    decoded = WIRE.decode(response(body))
    assert without_facts(decoded) == turns
    assert {fact.name for turn in decoded for fact in turn.facts} <= {"part-carried"}
    assert all(loss.what.startswith("renamed") for loss in losses)


@given(kit.turns(), chances)
def test_a_stream_gives_the_same_turns_as_the_whole_answer(
    turns: tuple[Turn, ...], chance: random.Random
) -> None:
    body = WIRE.encode_turns(turns, model="m", losses=[])
    pieces = chunks(body, chance)
    streamed = WIRE.decode(response(sse(json.dumps(piece) for piece in pieces), headers=SSE))
    assert without_facts(streamed) == without_facts(WIRE.decode(response(body)))
    assert without_facts(WIRE.decode(response(pieces))) == without_facts(streamed)
    assert {fact.name for turn in streamed for fact in turn.facts} <= {"snapshot-like", "part-carried"}


@given(kit.turns(), chances)
def test_any_split_of_the_bytes_gives_the_same_turns(turns: tuple[Turn, ...], chance: random.Random) -> None:
    data = sse(json.dumps(piece) for piece in chunks(WIRE.encode_turns(turns, model="m", losses=[]), chance))
    decoder, assembler, at = Decoder(), WIRE.assembler(), 0
    while at < len(data):
        size = chance.randint(1, 60)
        for event in decoder.feed(data[at : at + size]):
            assembler.feed(event.data)
        at += size
    assert assembler.turns() == WIRE.decode(response(data, headers=SSE))


@given(kit.turns(), chances, st.data())
def test_a_stream_cut_anywhere_still_decodes(
    turns: tuple[Turn, ...], chance: random.Random, data: st.DataObject
) -> None:
    pieces = chunks(WIRE.encode_turns(turns, model="m", losses=[]), chance)
    body = sse(json.dumps(piece) for piece in pieces)
    cut = body[: data.draw(st.integers(0, len(body)))]
    for turn in WIRE.decode(response(cut, headers=SSE)):
        assert {fact.name for fact in turn.facts} <= {"snapshot-like", "part-carried"}


@given(st.binary(), st.sampled_from([200, 400]), st.booleans())
def test_no_bytes_make_a_decoder_raise(body: bytes, status: int, stream: bool) -> None:
    answer = response(body, status, SSE if stream else ())
    assert isinstance(WIRE.decode(answer), tuple)
    assert (WIRE.error_of(answer) is not None) or status == 200


_WORDS = (
    "candidates content parts role index finishReason finish_reason promptFeedback blockReason "
    "usageMetadata promptTokenCount modelVersion responseId text thought thoughtSignature "
    "thought_signature inlineData fileData mimeType data fileUri displayName functionCall "
    "function_call functionResponse name args id partialArgs jsonPath stringValue numberValue "
    "willContinue response output error executableCode"
)
_KEYS = st.sampled_from(_WORDS.split())
odd_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.floats(),
        st.sampled_from(["", "a", "model", "user", "STOP", "$.a", "$.a[0]", "$['b']"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=40,
)
odd_parts = st.lists(st.dictionaries(_KEYS, odd_json, max_size=4), max_size=5)
odd_answers = st.builds(
    lambda parts, rest, candidate: {"candidates": [{"content": {"parts": parts}} | candidate], **rest},
    odd_parts,
    st.dictionaries(_KEYS, odd_json, max_size=3),
    st.dictionaries(_KEYS, odd_json, max_size=3),
)
NAMES = set(GeminiFact.__args__)  # type: ignore[attr-defined]


@given(st.one_of(odd_answers, odd_json))
def test_no_json_makes_a_decoder_raise_in_any_form(body: Any) -> None:
    text = json.dumps(body).encode()
    for turns in (
        WIRE.decode(response(text)),
        WIRE.decode(response(b"[" + text + b"," + text + b"]")),
        kit.assemble([text.decode(), "[DONE]", text.decode()]),
    ):
        assert {fact.name for turn in turns for fact in turn.facts} <= NAMES
    WIRE.error_of(response(b"[" + text + b"," + text + b"]"))


@given(odd_parts, st.dictionaries(_KEYS, odd_json, max_size=4))
def test_an_odd_request_is_read_or_refused_by_its_messages(parts: list[Any], rest: dict[str, Any]) -> None:
    body = {"contents": [{"role": "user", "parts": parts}, {"role": "model", "parts": parts}], **rest}
    again = WIRE.encode(WIRE.decode_request(body, path=STREAM_PATH), model="m", losses=[])
    assert isinstance(again["contents"], list)


@given(odd_json)
def test_other_contents_are_refused(contents: Any) -> None:
    sound = isinstance(contents, list) and all(isinstance(item, dict) for item in contents)
    assume(not sound)
    with pytest.raises(ValueError, match="contents"):
        WIRE.decode_request({"contents": contents})


anything = st.one_of(kit.words, kit.arguments, st.sampled_from(["", "null", "[]", '"x"', "{", '{"a":NaN}']))


@given(st.lists(st.tuples(kit.names, anything), max_size=4), st.lists(st.text(max_size=10), max_size=6))
def test_any_arguments_and_results_encode_and_decode(calls: list[tuple[str, str]], texts: list[str]) -> None:
    parts = tuple(ToolCall(f"c{i}", name, said) for i, (name, said) in enumerate(calls))
    messages = [Message.user("hi"), Message("assistant", parts)]
    messages += [Message("tool", (Text(text),), f"c{i}") for i, text in enumerate(texts)]
    body = WIRE.encode(Request(tuple(messages)), model="m", losses=[])
    back = WIRE.decode_request(sent(body))
    assert [call.name for m in back.messages for call in m.parts if isinstance(call, ToolCall)] == [
        name for name, _ in calls
    ]
    results = [m for m in back.messages if m.role == "tool"]
    assert {m.tool_call_id: "".join(p.text for p in m.parts if isinstance(p, Text)) for m in results} == {
        f"c{i}": text for i, text in enumerate(texts)
    }


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda n: b'{"candidates":' + b"[" * n, 100_000),
        (
            lambda n: b'{"candidates":[{"content":{"parts":[' + b'{"text":"a"},' * n + b'{"text":""}]}}]}',
            20_000,
        ),
        (lambda n: sse(['{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}'] * n), 5_000),
        (lambda n: b'{"candidates":[' + b"{}," * n + b"{}]}", 20_000),
        (lambda n: b'{"' + b"a_" * n + b'":1}', 100_000),
    ],
)
def test_large_and_hostile_bodies_are_read(make: Callable[[int], bytes], size: int) -> None:
    assert isinstance(WIRE.decode(response(make(size))), tuple)

"""What holds for every Messages answer."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from conformance.transport.sse import Decoder
from conformance.types import Loss, ToolCall, Turn

from .anthropic_answers import SSE_TYPE, WIRE, assemble, compact, events, response, sse, turns, whole

chances = st.integers(0, 2**32).map(random.Random)


def with_values(turn: Turn) -> Turn:
    """The turn with arguments as compact JSON: a stream keeps the spelling, a whole answer has none."""
    parts = tuple(
        replace(p, arguments=compact(json.loads(p.arguments))) if isinstance(p, ToolCall) else p
        for p in turn.parts
    )
    return replace(turn, parts=parts)


@given(turns())
def test_a_whole_answer_decodes_to_the_turn_it_says_without_facts(turn: Turn) -> None:
    assert WIRE.decode(response(whole(turn))) == (turn,)


@given(turns())
def test_a_turn_survives_encoding_without_loss(turn: Turn) -> None:
    losses: list[Loss] = []
    body = WIRE.encode_turns([turn], model="m", losses=losses)
    assert losses == []
    assert WIRE.decode(response(body)) == (turn,)


@given(turns(), chances, st.booleans())
def test_a_stream_gives_the_same_turn_as_the_whole_answer(
    turn: Turn, chance: random.Random, overlapping: bool
) -> None:
    assert with_values(assemble(events(whole(turn), chance, overlapping=overlapping))) == turn


@given(turns(), chances)
def test_any_split_of_the_bytes_gives_the_same_turn(turn: Turn, chance: random.Random) -> None:
    body = sse(events(whole(turn), chance))
    decoder, assembler, at = Decoder(), WIRE.assembler(), 0
    while at < len(body):
        size = chance.randint(1, 40)
        for event in decoder.feed(body[at : at + size]):
            assembler.feed(event.data)
        at += size
    assert assembler.turns() == WIRE.decode(response(body, SSE_TYPE))


@given(turns(), chances)
def test_a_stream_cut_anywhere_is_survived(turn: Turn, chance: random.Random) -> None:
    body = sse(events(whole(turn), chance))
    for cut in WIRE.decode(response(body[: chance.randint(0, len(body))], SSE_TYPE)):
        assert len(cut.parts) <= len(turn.parts)

"""Laws of the Messages rules: a stream is read as the whole answer is, and nothing makes judging hang."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.rules import check
from conformance.rules.anthropic.examples import (
    answer,
    stream,
    text,
    thinking,
    told,
    tool,
    tool_use,
)
from conformance.rules.anthropic.views import Message
from conformance.rules.examples import Exchanges
from conformance.rules.views import Run

from .test_real_traffic import soon

ANY_INPUT = {"tools": [tool(input_schema={"type": "object"})]}

words = st.text(min_size=1, max_size=20).filter(lambda some: not some.isspace())
values = st.recursive(st.none() | st.booleans() | st.integers() | words, st.lists, max_leaves=4)
inputs = st.dictionaries(st.text(max_size=6), values, max_size=3)
blocks = st.lists(
    words.map(text)
    | words.map(thinking)
    | inputs.map(lambda given: tool_use(input=given))
    | st.just({"type": "redacted_thinking", "data": "EmwKAhgB"}),
    min_size=1,
    max_size=5,
)


def merged(exchanges: Exchanges) -> list[Any]:
    (one,) = Run.read(exchanges).views(Message)
    return [block.value for block in one.blocks]


@given(blocks)
def test_a_streamed_message_is_read_as_the_whole_one(several: list[dict[str, Any]]) -> None:
    assert merged(stream(told(*several))) == merged(answer(*several)) == several


@given(blocks)
def test_whatever_a_clean_message_says_breaks_no_rule_of_streams(several: list[dict[str, Any]]) -> None:
    for number, block in enumerate(several):
        block |= {"id": f"toolu_{number}"} if block["type"] == "tool_use" else {}
    found = check(stream(told(*several), asked=ANY_INPUT))
    assert {f.rule for f in found if f.level != "MAY" and f.rule.startswith("anth.")} == set()


MANY = 20_000


@pytest.mark.parametrize(
    "event",
    [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_start", "message": {}},
        {"type": "content_block_stop", "index": 7},
    ],
    ids=lambda event: event["type"],
)
def test_no_stream_makes_judging_hang(event: dict[str, Any]) -> None:
    with soon(30):
        assert check(stream([*told()[:3], *[event] * MANY, *told()[-3:]])) is not None


def test_no_answer_makes_judging_hang() -> None:
    calls = [tool_use(1) for _ in range(MANY)]
    huge = json.dumps({"content": calls, "stop_reason": "tool_use"}).encode()
    with soon(30):
        assert check(answer(raw=huge))

"""A stream taken apart: which delta belongs to which call, what they add up to, and how long that takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.chat.streams import CallStream, ChatStream, ChoiceStream, ToolDelta
from conformance.rules.chat.views import Message
from conformance.rules.examples import (
    Exchanges,
    answer,
    call,
    chunk,
    opened,
    piece,
    start,
    stream,
    tool,
    tool_piece,
    tool_stream,
)
from conformance.rules.reading import ABSENT
from conformance.rules.views import Run


def calls(*pieces: Any) -> list[tuple[Any, Any, Any]]:
    run = Run.read(tool_stream(*pieces))
    return [
        (one.get("id"), one.get("function", "name"), one.get("function", "arguments"))
        for one in run.views(CallStream)
    ]


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        pytest.param(
            [opened(0), tool_piece(0, '{"a":'), tool_piece(0, "1}")],
            [("call_0", "get_weather", '{"a":1}')],
            id="fragments of one call are joined",
        ),
        pytest.param(
            [opened(0), opened(1), tool_piece(1, "{}"), tool_piece(0, "[]")],
            [("call_0", "get_weather", "[]"), ("call_1", "get_weather", "{}")],
            id="the index tells interleaved calls apart",
        ),
        pytest.param(
            [opened(0, id="a", arguments="{}"), opened(0, id="b", arguments="[]")],
            [("a", "get_weather", "{}"), ("b", "get_weather", "[]")],
            id="a new id at a known index is a new call",
        ),
        pytest.param(
            [opened(ABSENT, id="a", arguments="{}"), opened(ABSENT, id="b", arguments="[]")],
            [("a", "get_weather", "{}"), ("b", "get_weather", "[]")],
            id="without an index the id tells calls apart",
        ),
        pytest.param(
            [opened(0, id="a"), tool_piece(0, "{}", id="a"), tool_piece(0, "", id="")],
            [("a", "get_weather", "{}")],
            id="a repeated or empty id is the same call",
        ),
        pytest.param(
            [opened(0, name="get_"), tool_piece(0, "{}", name="weather")],
            [("call_0", "get_weather", "{}")],
            id="a name in pieces is joined",
        ),
        pytest.param(
            [opened(0), tool_piece(0, "{}", name="get_weather")],
            [("call_0", "get_weather", "{}")],
            id="a repeated name is not",
        ),
        pytest.param(
            [opened(0, arguments={"a": 1})],
            [("call_0", "get_weather", {"a": 1})],
            id="arguments that are an object stay one",
        ),
        pytest.param(
            [piece(tool_calls=[5, None])], [("", "", "")], id="what is no object is a nameless call"
        ),
    ],
)
def test_deltas_are_put_together(pieces: Sequence[Any], found: list[tuple[Any, Any, Any]]) -> None:
    assert calls(*pieces) == found


def test_a_delta_knows_whether_it_is_the_first_of_its_call() -> None:
    run = Run.read(tool_stream(opened(0), tool_piece(0, "{"), opened(1), tool_piece(0, "}")))
    assert [(one.index, one.first) for one in run.views(ToolDelta)] == [
        (0, True),
        (0, False),
        (0, False),
        (1, True),
    ]


def test_a_merged_message_stands_where_its_choice_began() -> None:
    (message,) = Run.read(stream(start(), piece(content="Hel"), piece(content="lo."), piece("stop"))).views(
        Message
    )
    assert message.at == "/exchanges/0/response/events/0/data/choices/0/delta"
    assert (message.event, message.content, message.finish_reason) == (0, "Hello.", "stop")


def test_choices_are_kept_apart_by_index() -> None:
    other: dict[str, Any] = {"index": 1}
    run = Run.read(
        stream(start(), piece(choice=other, content="B"), piece(content="A"), piece("stop"), asked={"n": 2})
    )
    assert [(c.index, c.value["content"], c.finish_reason) for c in run.views(ChoiceStream)] == [
        (0, "A", "stop"),
        (1, "B", None),
    ]


def test_an_error_event_is_no_chunk_and_unsettles_the_stream() -> None:
    failed = stream(start(), b'data: {"error":{"message":"No."}}\n\n', done=b"")
    (one,) = Run.read(failed).views(ChatStream)
    assert len(one.chunks) == 1
    assert one.error is not None
    assert not one.finished


def test_a_stream_and_a_whole_answer_of_the_same_turn_are_judged_alike() -> None:
    wrong = '{"town":"Oslo"}'
    whole = answer(calls=[call(arguments=wrong)])
    streamed = tool_stream(opened(0), tool_piece(0, wrong))
    assert [f.rule for f in check(whole)] == [f.rule for f in check(streamed)]


def long_stream(length: int) -> Exchanges:
    pieces = [tool_piece(0, "1,") for _ in range(length // 2)]
    texts = [piece(content="word ") for _ in range(length // 2)]
    return stream(
        start(),
        *texts,
        opened(0, arguments="["),
        *pieces,
        tool_piece(0, "1]"),
        piece("tool_calls"),
        chunk(),
        asked={"tools": [tool(parameters={})]},
    )


def test_judging_a_long_stream_takes_time_in_proportion_to_its_length() -> None:
    short, long = long_stream(1_000), long_stream(10_000)
    check(short)

    def seconds(exchanges: Exchanges) -> float:
        began = time.process_time()
        check(exchanges)
        return time.process_time() - began

    quick = min(seconds(short) for _ in range(3))
    slow = min(seconds(long) for _ in range(3))
    assert slow < 40 * quick  # ten times the chunks; a quadratic rule takes a hundred times as long

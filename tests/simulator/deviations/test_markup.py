"""What careless readers of Hermes' markup make of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.simulator.deviations import DEVIATIONS
from conformance.simulator.request import read_chat_request
from conformance.types import Part, Text, ToolCall, Turn

BARE = '<tool_call>\n{"name": "f", "arguments": {"a": b}}\n</tool_call>'


def read(behaviour: str, *parts: Part, stream: bool = False, reason: str = "stop", **options: Any) -> Turn:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": stream}
    request = read_chat_request(body, "m")
    return DEVIATIONS[behaviour](**options).turn(request, Turn(parts, finish_reason=reason))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (BARE, (ToolCall("", "f", '{"a": b}'),)),
        ("Look.\n" + BARE, (Text("Look.\n"), ToolCall("", "f", '{"a": b}'))),
        ('<tool_call>{"name": "f"}</tool_call>', (ToolCall("", "f", ""),)),
        ('<tool_call>{"name": "f", "arguments": {"a": "b', (ToolCall("", "f", '{"a": "b'),)),
        (
            '<tool_call>{"arguments": {"a": 1}, "name": "f"}</tool_call>',
            (ToolCall("", "f", '{"a": 1}, "name": "f"'),),
        ),
    ],
)
def test_what_follows_the_marker_is_searched_for_a_call(text: str, parts: tuple[Part, ...]) -> None:
    assert read("markup-searched", Text(text)) == Turn(parts, finish_reason="tool_calls")


def test_what_follows_a_marker_without_a_name_is_lost() -> None:
    assert read("markup-searched", Text("The <tool_call> tag.")) == Turn((Text("The "),), "stop")
    assert read("markup-searched", Text("<tool_call>")) == Turn((), "stop")


@pytest.mark.parametrize("behaviour", ["markup-searched", "markup-vanishes"])
@pytest.mark.parametrize("parts", [(Text("No tag."),), (Text(BARE), ToolCall("c", "f", "{}")), ()])
def test_a_turn_without_markup_or_with_calls_stays(behaviour: str, parts: tuple[Part, ...]) -> None:
    assert read(behaviour, *parts) == Turn(parts, "stop")


HALVED = ToolCall("c", "f", '{"a": "x </tool_call> y"}')


def test_an_end_marker_in_an_argument_cuts_a_streamed_call() -> None:
    parts = (Text("Look."), HALVED, ToolCall("d", "g", "{}"))
    turn = read("calls-cut-at-marker", *parts, stream=True, reason="tool_calls")
    assert turn == Turn(
        (Text("Look."), ToolCall("c", "f", '{"a": "x'), ToolCall("d", "g", "{}")), "tool_calls"
    )


def test_an_end_marker_in_an_argument_makes_a_whole_call_text() -> None:
    turn = read("calls-cut-at-marker", HALVED, reason="tool_calls")
    written = '<tool_call>\n{"name": "f", "arguments": {"a": "x </tool_call> y"}}\n</tool_call>'
    assert turn == Turn((Text(written),), "stop")


def test_other_calls_are_not_cut() -> None:
    call = ToolCall("c", "f", "{}")
    assert read("calls-cut-at-marker", call, reason="tool_calls") == Turn((call,), "tool_calls")


def test_calls_are_written_out_behind_the_text_where_that_is_so() -> None:
    call = ToolCall("c", "f", "{}")
    assert read("calls-written-out", Text("A"), call, reason="tool_calls") == Turn(
        (Text('A<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'),), "stop"
    )
    when = [{"at": "/tools"}]
    assert read("calls-written-out", call, reason="tool_calls", when=when) == Turn((call,), "tool_calls")


def test_markup_and_all_behind_it_vanishes() -> None:
    assert read("markup-vanishes", Text("Look.\n" + BARE + "End.")) == Turn((Text("Look.\n"),), "stop")


def test_text_behind_the_first_call_is_lost() -> None:
    one, two = ToolCall("c", "f", "{}"), ToolCall("d", "g", "{}")
    turn = read("text-behind-calls-lost", Text("A"), one, Text("B"), two, Text("C"), reason="tool_calls")
    assert turn == Turn((Text("A"), one, two), "tool_calls")

"""What breaks at a stream whose tool calls break a rule."""

from __future__ import annotations

from typing import Any

from conformance.rules.examples import Exchanges, patched, piece, start, stream
from conformance.rules.reading import ABSENT

from .claims import STRICT_TOOL, Claim, Raised, call, chunks, events, helper, itself, message

ARGUMENTS = '{"city":"Oslo"}'


def delta(index: Any, arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A chunk with one delta of a tool call."""
    return piece(tool_calls=[patched({}, {"index": index, "function": {"arguments": arguments}, **more})])


def opened(index: Any, arguments: Any = "") -> dict[str, Any]:
    """A chunk with the first delta of a tool call."""
    function = {"name": "get_weather", "arguments": arguments}
    return delta(index, id=f"call_{index}", type="function", function=function)


def calling(*chunks: Any) -> Exchanges:
    """A stream of tool calls."""
    return stream(start(), *chunks, piece("tool_calls"))


def called(chunks: list[Any]) -> list[Any]:
    return [one for chunk in chunks for one in chunk.choices[0].delta.tool_calls]


def of_calls(fired: list[Any]) -> list[tuple[str, int]]:
    """The events about tool calls."""
    return [(one.type.rpartition(".")[2], one.index) for one in fired if one.type.startswith("tool_calls")]


CALLS = (
    Claim(
        "chat.stream.tool-index-present",
        "openai-python's helper raises TypeError at a first delta and RuntimeError at a later one",
        helper(itself),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.tool-index-present",
        "openai-python's helper raises TypeError at a first delta and RuntimeError at a later one",
        helper(itself),
        Raised("RuntimeError", "Expected list delta entry to have an `index` key"),
        calling(opened(0), delta(ABSENT, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        "openai-python's helper raises TypeError at null or a fraction",
        helper(itself),
        Raised("TypeError", "not an integer; None"),
        calling(opened(None, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        "openai-python's helper raises TypeError at null or a fraction",
        helper(itself),
        Raised("TypeError", "not an integer; 0.5"),
        calling(opened(0.5, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        'takes "0" for 0',
        helper(lambda done: call(done).function.arguments),
        ARGUMENTS,
    ),
    Claim(
        "chat.stream.tool-index-contiguous",
        "openai-python's helper raises IndexError for a first index of 1",
        helper(itself),
        Raised("IndexError"),
    ),
    Claim(
        "chat.stream.tool-index-contiguous",
        "and for 0 then 2",
        helper(itself),
        Raised("IndexError"),
        calling(opened(0, ARGUMENTS), opened(2, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-distinct",
        'openai-python merges the two calls into one: id "call_acall_b"',
        helper(lambda done: [one.id for one in message(done).tool_calls]),
        ["call_acall_b"],
    ),
    Claim(
        "chat.stream.tool-first-has-type",
        "openai-python's helper fires no events for the call's arguments",
        events(of_calls),
        [],
    ),
    Claim(
        "chat.stream.tool-id-once",
        'openai-python concatenates string members: id "call_acall_a"',
        helper(lambda done: call(done).id),
        "call_acall_a",
    ),
    Claim(
        "chat.stream.tool-name-once",
        'concatenate: name "get_weatherget_weather"',
        helper(lambda done: call(done).function.name),
        "get_weatherget_weather",
    ),
    Claim(
        "chat.stream.tool-type-never-nulled",
        "openai-python overwrites the type and its helper raises AssertionError",
        helper(itself),
        Raised("AssertionError"),
    ),
    Claim(
        "chat.stream.tool-function-present",
        "openai-python's helper raises AssertionError",
        helper(itself),
        Raised("AssertionError"),
    ),
    Claim(
        "chat.stream.tool-arguments-string",
        "openai-python's helper hands out the dict as arguments",
        helper(lambda done: call(done).function.arguments),
        {"city": "Oslo"},
    ),
    Claim(
        "chat.stream.tool-arguments-string",
        "or drops it where a string came before",
        helper(lambda done: call(done).function.arguments),
        "",
        calling(opened(0), delta(0, {"city": "Oslo"})),
    ),
    Claim(
        "chat.stream.tool-arguments-concat-json",
        "with strict tools openai-python's helper raises ValueError",
        helper(itself, tools=[STRICT_TOOL]),
        Raised("ValueError"),
    ),
    Claim(
        "chat.stream.tool-no-return-to-earlier-index",
        "openai-python fires the done event of a call as soon as another index appears",
        events(of_calls),
        [("delta", 0), ("delta", 1), ("done", 0), ("delta", 0), ("done", 1)],
    ),
    Claim(
        "chat.stream.tool-calls-not-null",
        "clients that iterate over the member crash",
        chunks(called),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.tool-calls-not-null",
        "openai-python tolerates null",
        helper(lambda done: len(message(done).tool_calls)),
        1,
    ),
)

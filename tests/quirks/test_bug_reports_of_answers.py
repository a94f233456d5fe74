"""Public bug reports of answers: how the product judges and reads each, see bug_reports.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from conformance.rules import check
from conformance.types import Exchange, HttpRequest, HttpResponse, ToolCall, Turn
from conformance.wires import wire

from .bug_reports import CALL, USER, chat, tool

ASKED = chat(USER, stream=True, tools=[tool("alpha"), tool("beta")])


def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1764000000,
        "model": "m",
        "choices": [choice],
    }


def piece(name: str | None = None, arguments: Any = None, **members: Any) -> dict[str, Any]:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"tool_calls": [{**members, "function": function}]}


def stream(*chunks: Any, done: bool = True) -> Exchange:
    lines = [f"data: {json.dumps(data)}\n\n" for data in chunks]
    return _exchange(ASKED, "".join(lines) + ("data: [DONE]\n\n" if done else ""), "text/event-stream")


def answer(message: Mapping[str, Any], finish: str, *more: Any, **asked: Any) -> Exchange:
    said = {"role": "assistant", "content": None, "refusal": None}
    messages = [(message, finish), *more]
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1764000000,
        "model": "m",
        "choices": [
            {"index": n, "message": {**said, **m}, "finish_reason": f, "logprobs": None}
            for n, (m, f) in enumerate(messages)
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return _exchange({**ASKED, "stream": False, **asked}, json.dumps(body), "application/json")


def _exchange(asked: Any, body: str, media_type: str) -> Exchange:
    request = HttpRequest("POST", "http://h/v1/chat/completions", (), json.dumps(asked).encode())
    response = HttpResponse(200, (("content-type", media_type),), body.encode())
    return Exchange(request, response, "complete", "openai-chat")


def turns(exchange: Exchange) -> tuple[Turn, ...]:
    assert exchange.response is not None
    return wire("openai-chat").decode(exchange.response)


OPENING = chunk({"role": "assistant", "content": None})
END = chunk({}, "tool_calls")
FIRST = {"index": 0, "id": "c1", "type": "function"}

STREAMS: list[tuple[str, Exchange, set[str], list[tuple[str, str]]]] = [
    (
        "openai-python 2806",
        stream(OPENING, chunk(piece("alpha", "{}", id="c1", type="function"), "stop")),
        {"chat.stream.tool-index-present", "chat.stream.finish-tool-calls"},
        [("alpha", "{}")],
    ),
    (
        "litellm PR 37792",
        stream(
            OPENING,
            chunk(piece("alpha", {"x": 1}, index=0, id="c1")),
            chunk(piece("beta", {"y": 2}, index=0, id="c2"), "stop"),
        ),
        {
            "chat.stream.tool-index-distinct",
            "chat.stream.tool-arguments-string",
            "chat.stream.finish-tool-calls",
            "chat.stream.tool-first-has-type",
        },
        [("alpha", '{"x":1}'), ("beta", '{"y":2}')],
    ),
    (
        "hermes-agent 8089",
        stream(OPENING, chunk(piece("alpha", '{"a":', **FIRST)), chunk(piece("alpha", "1}", index=0)), END),
        {"chat.stream.tool-name-once"},
        [("alpha", '{"a":1}')],
    ),
    (
        "vercel/ai 5885",
        stream(
            OPENING,
            chunk(piece(None, "{", **FIRST)),
            chunk(piece("alpha", index=0)),
            chunk(piece(None, "}", index=0)),
            END,
        ),
        {"chat.stream.tool-first-has-name"},
        [("alpha", "{}")],
    ),
    (
        "vllm PR 38640",
        stream(
            OPENING,
            chunk(piece("alpha", "{", **FIRST)),
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": None,
                            "type": None,
                            "function": {"name": None, "arguments": "}"},
                        }
                    ]
                }
            ),
            END,
        ),
        {"chat.stream.tool-type-never-nulled"},
        [("alpha", "{}")],
    ),
    (
        "vllm 44098",
        stream(
            OPENING, chunk(piece("alpha", "{", **FIRST)), chunk(piece("alpha", "}", **FIRST), "tool_calls")
        ),
        {"chat.stream.tool-id-once", "chat.stream.tool-name-once"},
        [("alpha", "{}")],
    ),
    (
        "gcli2api 403",
        stream(
            OPENING,
            chunk({"reasoning_content": "r"}, "stop"),
            chunk({"content": "x"}),
            chunk({}, "stop"),
        ),
        {"chat.stream.nothing-after-finish", "chat.stream.finish-reason-once"},
        [],
    ),
    (
        "opencodex 1170",
        stream(OPENING, chunk({"content": "a"}), chunk({}, "stop"), done=False),
        {"sse.done-sentinel"},
        [],
    ),
    (
        "nanobot PR 1555",
        answer({"content": "text"}, "tool_calls", ({"tool_calls": [CALL]}, "tool_calls")),
        {"chat.response.choices-count-n", "chat.response.finish-tool-calls-needs-calls"},
        [("alpha", "{}")],
    ),
]


@pytest.mark.parametrize(
    ("exchange", "broken", "called"), [row[1:] for row in STREAMS], ids=[row[0] for row in STREAMS]
)
def test_an_answer_is_judged_and_read_all_the_same(
    exchange: Exchange, broken: set[str], called: list[tuple[str, str]]
) -> None:
    assert {f.rule for f in check([exchange]) if f.level != "MAY"} == broken
    calls = [part for turn in turns(exchange) for part in turn.parts if isinstance(part, ToolCall)]
    assert [(call.name, call.arguments) for call in calls] == called


def test_azures_first_chunk_without_choices_is_no_fault_of_the_stream() -> None:
    """mentat 429: legal for Azure; a client that takes choices[0] breaks."""
    filtered = {"id": "", "model": "", "created": 0, "object": "", "choices": [], "prompt_filter_results": []}
    exchange = stream(filtered, OPENING, chunk({"content": "a"}), chunk({}, "stop"))
    assert [f.rule for f in check([exchange]) if f.level != "MAY"] == []
    assert turns(exchange)[0].text == "a"


MARKUP = (
    '<|DSML|tool_calls><|DSML|invoke name="alpha"><|DSML|parameter name="p" string="true">x'
    "</|DSML|parameter></|DSML|invoke></|DSML|tool_calls>"
)


@pytest.mark.parametrize(
    "markup",
    [
        MARKUP,
        MARKUP.replace("tool_calls", "function_calls"),
        MARKUP.replace("<|DSML|tool_calls>", "").replace("</|DSML|tool_calls>", ""),
        MARKUP.partition("</")[0],
        MARKUP.replace("|", "\uff5c"),
    ],
    ids=["as reported", "function_calls", "no wrapper", "unterminated", "fullwidth bars"],
)
def test_markup_that_leaks_is_told_with_the_call_in_it(markup: str) -> None:
    """sglang 40236: the call is not dispatched, its markup is the content."""
    found = [f for f in check([answer({"content": f"ok {markup}"}, "stop")]) if f.level != "MAY"]
    assert {f.rule for f in found} == {"chat.response.no-call-markup-leak"}
    assert any("alpha" in f.got for f in found)


def test_a_named_choice_that_ends_with_stop_is_what_the_reference_does() -> None:
    """vllm PR 25054: OpenAI itself says stop beside the calls of a named choice."""
    named = {"type": "function", "function": {"name": "alpha"}}
    exchange = answer({"tool_calls": [CALL]}, "stop", tool_choice=named)
    assert [f for f in check([exchange]) if f.level != "MAY"] == []

"""What each family's streams get wrong, before and after; nothing depends on where a stream is split."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.profiles import PROFILES, Asked, profile, repaired
from conformance.profiles.frames import Reader
from conformance.types import HttpResponse, NamedChoice, Request

from .support import (
    END,
    EVENTS_TYPE,
    HELLO,
    NAMED_LATE,
    ONE,
    START,
    STOP,
    WHOLE_CALL,
    WITH_ALPHA,
    chunk,
    deltas,
    framed,
    read,
    reasons,
    streamed,
    told_calls,
)

ENDINGS: dict[str, tuple[list[Any], list[Any]]] = {
    "gemini-stream-finish-stop": ([chunk(WHOLE_CALL), STOP], [None, None, "tool_calls"]),
    "stream-finish-on-every-chunk": (
        [chunk({"content": "a"}, "stop"), chunk({"content": "b"}, "stop")],
        [None, None, "stop"],
    ),
    "finish-split-from-call-chunk": (
        [chunk(WHOLE_CALL), chunk({"content": "."}, "stop")],
        [None, None, "tool_calls"],
    ),
    "stream-metadata-repeated-final": ([chunk(WHOLE_CALL, "tool_calls")], [None, None, "tool_calls"]),
    "finish-reason-foreign-vocabulary": ([chunk({"content": "a"}), chunk({}, "STOP")], [None, None, "stop"]),
    "finish-reason-integer": ([chunk({"content": "a"}), chunk({}, 24)], [None, None, "stop"]),
    "vllm-finish-tool-calls-empty": ([chunk({"content": "a"}), END], [None, None, "stop"]),
}


@pytest.mark.parametrize("quirk", ENDINGS)
def test_an_answer_says_once_and_last_why_it_ended(quirk: str) -> None:
    chunks, wanted = ENDINGS[quirk]
    assert reasons(streamed("compatible", [START, *chunks, "[DONE]"])) == wanted


def test_the_stop_of_a_named_choice_is_the_references_own() -> None:
    named = Request(WITH_ALPHA.messages, tools=WITH_ALPHA.tools, tool_choice=NamedChoice("alpha"))
    assert reasons(streamed("compatible", [START, chunk(WHOLE_CALL), STOP, "[DONE]"], named))[-1] == "stop"


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
EARLIER = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
COUNTED = Request(HELLO.messages, stream=True, include_usage=True)
EVERY = [START, chunk({"content": "a"}, usage=EARLIER), chunk({}, "stop", usage=USAGE), "[DONE]"]


def test_usage_in_every_chunk_is_told_once_in_a_chunk_of_its_own() -> None:
    events = streamed("compatible", EVERY, COUNTED)
    assert [e.get("usage") for e in events[:-1]] == [None, None, None, USAGE]
    assert (events[-2]["choices"], events[-1]) == ([], "[DONE]")


def test_usage_that_nobody_asked_for_is_left_out() -> None:
    assert not [e for e in streamed("compatible", EVERY, HELLO)[:-1] if "usage" in e]


def test_usage_that_came_twice_is_told_once() -> None:
    totals = {**START, "choices": [], "usage": USAGE}
    events = streamed("compatible", [START, STOP, {**totals, "usage": EARLIER}, totals, "[DONE]"], COUNTED)
    assert [e["usage"] for e in events[:-1] if e.get("usage")] == [USAGE]


SHAPES: dict[str, tuple[str, list[Any], list[Any]]] = {
    "stream-role-missing": ("llama.cpp", [chunk({"content": "a"})], [{"role": "assistant", "content": "a"}]),
    "stream-role-empty-string": (
        "compatible",
        [chunk({"role": "", "content": "a"})],
        [{"role": "assistant", "content": "a"}],
    ),
    "azure-empty-choices-first-chunk": (
        "azure",
        [{**START, "id": "", "choices": [], "prompt_filter_results": []}, START],
        [{"role": "assistant", "content": ""}],
    ),
    "azure-chunk-without-delta": (
        "azure",
        [START, {**START, "choices": [{"index": 0, "finish_reason": None}]}],
        [{"role": "assistant", "content": ""}, {}],
    ),
    "content-as-block-list": (
        "mistral",
        [
            START,
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            chunk({"content": [{"type": "text", "text": "hi"}]}),
        ],
        [
            {"role": "assistant", "content": ""},
            {"content": None, "reasoning_content": "hm"},
            {"content": "hi"},
        ],
    ),
    "perplexity-cumulative-message": (
        "perplexity",
        [START, {**chunk({"content": "a"}), "choices": [
            {"index": 0, "delta": {"content": "a"}, "message": {"content": "a"}, "finish_reason": None}]}],
        [{"role": "assistant", "content": ""}, {"content": "a"}],
    ),
    "openrouter-reasoning-details-index": (
        "openrouter",
        [
            START,
            chunk({"reasoning_details": [{"index": 0, "type": "reasoning.text", "text": "hm"}]}),
            chunk({"reasoning_details": [{"index": 0, "type": "reasoning.encrypted", "data": "x"}]}),
        ],
        [
            {"role": "assistant", "content": ""},
            {"reasoning_details": [{"index": 0, "type": "reasoning.text", "text": "hm"}]},
            {"reasoning_details": [{"index": 1, "type": "reasoning.encrypted", "data": "x"}]},
        ],
    ),
    "stream-custom-event-tool-generating": (
        "compatible",
        [START, chunk({"tool_call_generating": True}), chunk({"content": "a"})],
        [{"role": "assistant", "content": ""}, {"content": "a"}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("quirk", SHAPES)
def test_chunks_have_the_references_shape(quirk: str) -> None:
    name, chunks, wanted = SHAPES[quirk]
    events = streamed(name, [*chunks, STOP, "[DONE]"], HELLO)
    assert deltas(events)[:-1] == wanted
    assert not [e for e in events if isinstance(e, dict) and "message" in e["choices"][0]]


def test_all_chunks_bear_the_first_ones_id() -> None:
    events = streamed(
        "compatible", [START, chunk({"content": "a"}, id="y"), chunk({}, "stop", id="z"), "[DONE]"]
    )
    assert {event["id"] for event in events[:-1]} == {"x"}


def test_pieces_of_one_choice_are_one_choice() -> None:
    second = {**chunk(WHOLE_CALL, "tool_calls")}
    second["choices"][0]["index"] = 1
    events = streamed("github-copilot", [START, chunk({"content": "Well."}, "stop"), second, "[DONE]"])
    assert {e["choices"][0]["index"] for e in events[:-1]} == {0}
    assert (told_calls(events), reasons(events)[-1]) == (ONE, "tool_calls")


PLAIN = [START, chunk({"content": "a"}), STOP, "[DONE]"]
FRAMING = {
    "sse-comment-keepalive": b": PROCESSING\n\n" + framed(PLAIN),
    "sse-no-space-after-colon": framed(PLAIN).replace(b"data: ", b"data:"),
    "sse-payload-on-next-line": framed(PLAIN).replace(b"data: ", b"data:\n "),
    "sse-bare-data-heartbeat": b"data:\n\n" + framed(PLAIN),
    "sse-done-missing": framed(PLAIN[:-1]),
    "an end without its blank line": framed(PLAIN)[:-2],
}


@pytest.mark.parametrize("quirk", FRAMING)
def test_framing_is_plain_in_the_end(quirk: str) -> None:
    assert streamed("compatible", FRAMING[quirk]) == PLAIN


def test_a_stream_that_broke_off_is_not_made_whole() -> None:
    assert streamed("compatible", framed([START, chunk({"content": "a"})]), whole=False) == [
        START,
        chunk({"content": "a"}),
    ]


def test_a_stream_without_a_finish_gets_no_end_marker() -> None:
    assert streamed("compatible", framed([START, chunk({"content": "a"})]))[-1] != "[DONE]"


def test_an_error_amid_a_stream_is_in_openais_form() -> None:
    frame = {"error": {"code": 502, "message": "gone"}, "choices": [{"delta": {}, "finish_reason": "error"}]}
    events = streamed("openrouter", [START, chunk({"content": "a"}), frame])
    error = {"message": "gone", "type": "invalid_request_error", "param": None, "code": "502"}
    assert events[-1] == {"error": error}


HERMES = '<tool_call>\n{"name": "alpha", "arguments": {"a": "b"}}\n</tool_call>'
DSML = (
    '<|DSML|tool_calls><|DSML|invoke name="alpha"><|DSML|parameter name="a" string="true">b'
    "</|DSML|parameter></|DSML|invoke></|DSML|tool_calls>"
)


def spelt(text: str, size: int = 5) -> list[Any]:
    """A stream that says a text in small pieces."""
    return [
        START,
        *(chunk({"content": text[i : i + size]}) for i in range(0, len(text), size)),
        STOP,
        "[DONE]",
    ]


@pytest.mark.parametrize("markup", [HERMES, DSML], ids=["text-leaked-tool-call-xml", "deepseek-dsml-leak"])
@pytest.mark.parametrize("before", ["", "I look. "])
def test_calls_that_leaked_into_the_text_are_calls(markup: str, before: str) -> None:
    events = streamed("sglang", spelt(before + markup))
    assert [(name, json.loads(arguments)) for _, name, arguments in told_calls(events)] == [
        ("alpha", {"a": "b"})
    ]
    assert "".join(d.get("content") or "" for d in deltas(events)).strip() == before.strip()
    assert reasons(events)[-1] == "tool_calls"


@pytest.mark.parametrize(
    "text",
    [
        "Write <tool_call> around it.",
        f"```\n{HERMES}\n```",
        "a < b",
        'Say "<tool_call>".',
        "Action: none",
        "[1, 2]",
    ],
)
def test_text_that_only_looks_like_markup_passes_as_it_came(text: str) -> None:
    stream = spelt(text)
    assert streamed("sglang", stream) == stream


def test_calls_of_tools_that_were_not_offered_stay_text() -> None:
    stream = spelt(HERMES)
    assert streamed("sglang", stream, HELLO) == stream


@pytest.mark.parametrize(
    ("name", "text", "reasoning", "content"),
    [
        ("minimax", "<think>plan</think>done", "plan", "done"),
        ("nvidia", "<Thought>plan", "plan", ""),
        ("vllm", "analysisWe need it.assistantfinalfour", "We need it.", "four"),
    ],
    ids=["minimax-reasoning-inline-unless-split", "think-tag-unterminated", "harmony-channels-in-content"],
)
def test_reasoning_in_the_text_is_reasoning(name: str, text: str, reasoning: str, content: str) -> None:
    told = deltas(streamed(name, spelt(text), HELLO))
    assert "".join(d.get("reasoning_content") or "" for d in told) == reasoning
    assert "".join(d.get("content") or "" for d in told) == content


LIVELY = framed(
    [
        START,
        chunk({"content": "Ærø 😀 "}, usage=EARLIER),
        *map(chunk, NAMED_LATE),
        *(chunk({"content": HERMES[i : i + 7]}) for i in range(0, len(HERMES), 7)),
        chunk({}, "STOP", usage=USAGE),
        "[DONE]",
    ]
).replace(b"data: ", b"data:\n ", 3)


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, len(LIVELY)), max_size=12))
def test_any_split_of_a_stream_is_repaired_alike(name: str, cuts: list[int]) -> None:
    def told(places: list[int]) -> list[Any]:
        reader, repairer = Reader(), profile(name).repair_stream(Asked(COUNTED_ALPHA))
        edges = [0, *sorted(places), len(LIVELY)]
        frames = [f for a, b in pairwise(edges) for f in reader.feed(LIVELY[a:b])]
        out = [f for frame in (*frames, *reader.finish(whole=True)) for f in repairer.feed(frame)]
        return [*out, *repairer.finish(whole=True)]

    assert told(cuts) == told([])


COUNTED_ALPHA = Request(WITH_ALPHA.messages, tools=WITH_ALPHA.tools, stream=True, include_usage=True)


def test_what_is_repaired_arrives_when_what_it_is_made_of_did() -> None:
    body = framed([START, chunk({"content": "a"}), chunk({}, "STOP"), "[DONE]"])
    sizes = [len(framed([START])), len(framed([chunk({"content": "a"})]))]
    parts = ((1.0, sizes[0]), (2.0, sizes[1]), (3.0, len(body) - sum(sizes)))
    response = HttpResponse(200, EVENTS_TYPE, body, parts)
    out = repaired(profile("compatible"), response, Asked(HELLO))
    assert [ms for ms, _ in out.parts] == [1.0, 2.0, 3.0]
    assert sum(size for _, size in out.parts) == len(out.body)
    assert read(out.body)[-1] == "[DONE]"

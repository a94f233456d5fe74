"""Mutants of streamed messages.

The honest stream of a text is: message_start, ping, the block's start, its deltas, its stop, message_delta,
message_stop.
"""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.anthropic_edits import (
    added,
    at,
    ends_in,
    gone,
    message,
    moved,
    named,
    of_type,
    over,
)
from conformance.simulator.mutants.edits import drop, event, events, put
from conformance.simulator.mutants.mutant import Answer

PLAIN = "stream.plain"
CALLS = "stream.parallel-calls"
CALL = "stream.arguments"
THOUGHT = "reasoning.stream"
START, PING, FIRST = 0, 1, 3
LAST, CHANGE = -1, -2
BEGUN, DELTA, STOP = "content_block_start", "content_block_delta", "content_block_stop"
JSON_DELTA = {"type": DELTA, "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}


def _as_whole(answer: Answer) -> None:
    """One whole answer to a client that asked for a stream."""
    if answer.events is not None:
        answer.become(200, message())


def _as_stream(answer: Answer) -> None:
    """An answer in events that nobody asked to have streamed."""
    whole = answer.body
    if answer.status >= 300 or answer.events is not None:
        return
    answer.headers["content-type"] = "text/event-stream"
    answer.named = True
    opened = whole | {"content": [], "stop_reason": None, "stop_sequence": None}
    answer.events = [{"type": "message_start", "message": opened}]
    for index, block in enumerate(whole["content"]):
        said = {"type": "text_delta", "text": block["text"]}
        answer.events += [
            {"type": BEGUN, "index": index, "content_block": block | {"text": ""}},
            {"type": DELTA, "index": index, "delta": said},
            {"type": STOP, "index": index},
        ]
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": whole["stop_sequence"]}
    answer.events += [
        {"type": "message_delta", "delta": ended, "usage": whole["usage"]},
        {"type": "message_stop"},
    ]


def _one_index(given: list[Any]) -> None:
    for document in given:
        if document.get("index"):
            document["index"] = 0


def _from_one(given: list[Any]) -> None:
    for document in given:
        if "index" in document:
            document["index"] += 1


def _overlapping(given: list[Any]) -> None:
    stop = given.pop(at(given, STOP))
    given.insert(at(given, BEGUN, 1) + 1, stop)


def _unsigned(given: list[Any]) -> None:
    del given[_signature(given)]


def _empty_signature(given: list[Any]) -> None:
    given[_signature(given)]["delta"]["signature"] = ""


def _signature(given: list[Any]) -> int:
    return next(n for n, one in enumerate(given) if one.get("delta", {}).get("type") == "signature_delta")


def _half_a_call(given: list[Any]) -> None:
    del given[at(given, STOP) - 1]


STREAM = (
    over("anth.stream.is-sse-when-asked", PLAIN, _as_whole),
    over("anth.stream.is-sse-when-asked", "chat.plain", _as_stream, "unasked"),
    over("anth.stream.event-field-required", PLAIN, named(FIRST, None)),
    over("anth.stream.event-matches-type", PLAIN, named(LAST, "end")),
    over("anth.stream.message-start-first", PLAIN, moved("message_start", FIRST)),
    over("anth.stream.message-start-first", PLAIN, events(lambda given: given.clear()), "empty"),
    over(
        "anth.stream.message-start-first",
        PLAIN,
        events(lambda given: given.insert(PING, given[START])),
        "twice",
    ),
    over("anth.stream.message-start-shape", PLAIN, event(START, put("message", value=None))),
    over("anth.stream.message-start-shape", PLAIN, event(START, put("message", "id", value="")), "id"),
    over("anth.stream.message-start-shape", PLAIN, event(START, drop("message", "role")), "role"),
    over(
        "anth.stream.message-start-shape",
        PLAIN,
        event(START, put("message", "content", value=None)),
        "content",
    ),
    over("anth.stream.message-start-shape", PLAIN, event(START, drop("message", "usage")), "usage"),
    over(
        "anth.stream.stop-reason-null-at-start",
        PLAIN,
        event(START, put("message", "stop_reason", value="end_turn")),
    ),
    over("anth.stream.ping-anywhere", PLAIN, named(PING, "ping", drop("type"))),
    over("anth.stream.no-done-sentinel", PLAIN, events(lambda given: given.append("[DONE]"))),
    over(
        "anth.stream.error-event",
        PLAIN,
        ends_in(b'event: failure\ndata: {"type":"error","error":{"type":"api_error","message":"Oh."}}\n\n'),
    ),
    over(
        "anth.stream.error-event",
        PLAIN,
        ends_in(b'event: error\ndata: {"error":{"type":"api_error","message":"Oh."}}\n\n'),
        "type",
    ),
    over(
        "anth.stream.error-event",
        PLAIN,
        ends_in(b'event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n'),
        "message",
    ),
)

STREAM_END = (
    over("anth.stream.message-delta-present", PLAIN, gone("message_delta")),
    over("anth.stream.message-delta-usage", PLAIN, event(CHANGE, put("usage", value={}))),
    over("anth.stream.usage-cumulative", PLAIN, event(CHANGE, put("usage", "output_tokens", value=0))),
    over("anth.stream.message-delta-after-blocks", PLAIN, moved("message_delta", -2)),
    over("anth.stream.message-stop-last", PLAIN, gone("message_stop")),
    over("anth.stream.message-stop-last", PLAIN, moved("message_stop", CHANGE + 1), "early"),
)

STREAM_BLOCKS = (
    over("anth.stream.block-order", PLAIN, moved(DELTA, 2)),
    over("anth.stream.block-order", PLAIN, gone(STOP), "open"),
    over(
        "anth.stream.block-order",
        CALLS,
        events(_one_index),
        "again",
        also=("anth.stream.index-contiguous",),
        because="an index that two blocks have is missing for one of them",
    ),
    over("anth.stream.blocks-sequential", CALLS, events(_overlapping)),
    over("anth.stream.index-contiguous", PLAIN, events(_from_one)),
    over("anth.stream.index-contiguous", PLAIN, event(FIRST, drop("index")), "none"),
    over("anth.stream.block-start-zero-values", PLAIN, of_type(BEGUN, drop("content_block", "text"))),
    over(
        "anth.stream.block-start-zero-values",
        PLAIN,
        of_type(BEGUN, put("content_block", value=None)),
        "null",
    ),
    over("anth.stream.block-start-empty", PLAIN, of_type(BEGUN, put("content_block", "text", value="Oh. "))),
    over("anth.stream.tool-start-identity", CALL, of_type(BEGUN, drop("content_block", "id"))),
    over("anth.stream.delta-type-matches-block", PLAIN, added(FIRST, JSON_DELTA)),
    over("anth.stream.text-delta-string", PLAIN, event(FIRST, put("delta", "text", value=None))),
    over("anth.stream.partial-json-string", CALL, of_type(DELTA, put("delta", "partial_json", value=None))),
    over("anth.stream.partial-json-concat", CALL, events(_half_a_call)),
    over("anth.stream.thinking-signature", THOUGHT, events(_unsigned)),
    over("anth.stream.thinking-signature", THOUGHT, events(_empty_signature), "empty"),
)

ANTHROPIC_STREAM = (*STREAM, *STREAM_END, *STREAM_BLOCKS)

"""Mutants of streams of text: chunks, choices, deltas, the end, usage.

The honest stream is: the role, the pieces of the text, the finishing chunk, perhaps usage, ``[DONE]``.
"""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import (
    DELTA,
    all_of,
    drop,
    each,
    event,
    events,
    put,
    rewrite,
)
from conformance.simulator.mutants.mutant import Answer, Mutant

PLAIN = "stream.plain"
TOTALS = "stream.usage"
ROLE, FIRST, SECOND, LAST_TEXT, FINISH = 0, 1, 2, -3, -2
ERROR = {"error": {"message": "No memory.", "type": "server_error", "param": None, "code": None}}


def _as_whole(answer: Answer) -> None:
    """One whole answer to a client that asked for a stream."""
    if answer.events is None:
        return
    text = "".join(e["choices"][0]["delta"].get("content") or "" for e in answer.events[:-1])
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    whole = {**answer.events[FIRST], "object": "chat.completion", "choices": [choice], "usage": usage}
    answer.become(200, whole)


def _snapshots(given: list[Any]) -> None:
    text = ""
    for document in given:
        delta = document["choices"][0]["delta"] if isinstance(document, dict) else {}
        if delta.get("content"):
            text = delta["content"] = text + delta["content"]


def _one_choice_more(given: list[Any]) -> None:
    for document in (given[ROLE], given[FIRST], given[FINISH]):
        given.insert(-1, document | {"choices": [document["choices"][0] | {"index": 1}]})


def _ten_days_ago_behind_bookkeeping(given: list[Any]) -> None:
    for document in given[:-1]:
        document["created"] -= 864_000
    given.insert(0, {"id": "", "object": "", "created": 0, "model": "", "choices": []})


STREAM = (
    Mutant("chat.stream.is-sse-when-asked", PLAIN, _as_whole),
    Mutant("chat.stream.chunk-required-keys", PLAIN, event(FIRST, drop("created"))),
    Mutant("chat.stream.object-literal", PLAIN, event(FIRST, put("object", value="chat.completion"))),
    Mutant("chat.stream.id-constant", PLAIN, event(FIRST, put("id", value="chatcmpl-other"))),
    Mutant("chat.stream.created-constant", PLAIN, event(FIRST, rewrite("created", by=lambda time: time - 1))),
    Mutant("chat.stream.choices-array", PLAIN, event(FIRST, put("choices", value={}))),
    Mutant("chat.stream.choice-required-keys", PLAIN, event(FIRST, drop("choices", 0, "finish_reason"))),
    Mutant("chat.stream.delta-object", PLAIN, event(FINISH, put(*DELTA, value=None))),
    Mutant(
        "chat.stream.choice-index-zero-based",
        PLAIN,
        each(put("choices", 0, "index", value=1)),
        also=("chat.stream.choice-index-range",),
        because="with n = 1 there is no index but 0",
    ),
    Mutant(
        "chat.stream.choice-index-zero-based",
        PLAIN,
        each(put("choices", 0, "index", value="0")),
        variant="text",
    ),
    Mutant(
        "chat.stream.choice-index-zero-based",
        PLAIN,
        event(FINISH, put("choices", 0, "index", value=None)),
        variant="null",
    ),
    Mutant("chat.response.id-nonempty-string", PLAIN, all_of(put("id", value="")), variant="stream"),
    Mutant("chat.response.id-nonempty-string", PLAIN, event(FIRST, put("id", value=7)), variant="chunk"),
    Mutant(
        "chat.response.created-unix-seconds",
        PLAIN,
        all_of(rewrite("created", by=lambda seconds: seconds + 0.5)),
        variant="stream",
    ),
    Mutant(
        "chat.response.created-unix-seconds",
        PLAIN,
        event(FIRST, rewrite("created", by=str)),
        variant="chunk",
    ),
    Mutant("chat.response.model-nonempty-string", PLAIN, all_of(put("model", value=7)), variant="stream"),
    Mutant(
        "chat.response.model-nonempty-string", PLAIN, event(FIRST, put("model", value="")), variant="chunk"
    ),
    Mutant(
        "chat.response.created-plausible",
        PLAIN,
        events(_ten_days_ago_behind_bookkeeping),
        variant="stream",
    ),
    Mutant(
        "chat.stream.choice-index-range",
        PLAIN,
        events(_one_choice_more),
    ),
    Mutant("chat.stream.first-delta-role", PLAIN, event(ROLE, drop(*DELTA, "role"))),
    Mutant("chat.stream.role-once", PLAIN, event(FIRST, put(*DELTA, "role", value="assistant"))),
    Mutant("chat.stream.content-string-or-null", PLAIN, event(FIRST, put(*DELTA, "content", value=7))),
    Mutant("chat.stream.content-is-fragment", PLAIN, events(_snapshots)),
)


STREAM_END = (
    Mutant(
        "chat.stream.nothing-after-finish",
        PLAIN,
        events(lambda given: given.insert(-1, given.pop(LAST_TEXT))),
    ),
    Mutant("chat.stream.finish-before-done", PLAIN, events(lambda given: given.pop(FINISH) and None)),
    Mutant(
        "chat.stream.finish-reason-null-until-end",
        PLAIN,
        event(FIRST, put("choices", 0, "finish_reason", value="")),
    ),
    Mutant("chat.stream.finish-reason-once", PLAIN, events(lambda given: given.insert(-1, given[FINISH]))),
    Mutant(
        "chat.stream.finish-reason-enum",
        PLAIN,
        event(FINISH, put("choices", 0, "finish_reason", value="eos")),
    ),
    Mutant(
        "chat.response.finish-tool-calls-needs-calls",
        PLAIN,
        event(FINISH, put("choices", 0, "finish_reason", value="tool_calls")),
        variant="stream",
    ),
    Mutant("chat.stream.finish-chunk-empty-delta", PLAIN, event(FINISH, put(*DELTA, "content", value="!"))),
    Mutant(
        "chat.stream.error-object",
        PLAIN,
        events(lambda given: _end(given, b'event: error\ndata: {"message":"No memory."}\n\n')),
    ),
    Mutant("chat.stream.answered-to-the-end", PLAIN, events(lambda given: _end(given, ERROR))),
    Mutant("chat.stream.error-ends-stream", PLAIN, events(lambda given: given.insert(SECOND, ERROR))),
)


def _end(given: list[Any], last: Any) -> None:
    given[SECOND:] = [last]


STREAM_USAGE = (
    Mutant(
        "chat.stream.usage-absent-unless-asked",
        PLAIN,
        event(FINISH, put("usage", value={"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18})),
    ),
    Mutant("chat.stream.usage-chunk-present", TOTALS, events(lambda given: given.pop(-2) and None)),
    Mutant(
        "chat.stream.usage-chunk-choices-empty",
        TOTALS,
        events(lambda given: _totals_on_finish(given)),
    ),
    Mutant("chat.stream.usage-chunk-last", TOTALS, events(lambda given: given.insert(-1, given.pop(-3)))),
    Mutant(
        "chat.stream.usage-null-elsewhere",
        TOTALS,
        event(FIRST, put("usage", value={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10})),
    ),
    Mutant(
        "chat.stream.usage-sum",
        TOTALS,
        event(-2, rewrite("usage", "total_tokens", by=lambda total: total + 1)),
    ),
    Mutant(
        "chat.response.usage-nonzero",
        TOTALS,
        event(
            -2,
            put("usage", value={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        ),
        variant="stream",
    ),
)


def _totals_on_finish(given: list[Any]) -> None:
    totals = given.pop(-2)
    given[-2]["usage"] = totals["usage"]

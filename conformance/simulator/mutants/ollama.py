"""Mutants of Ollama's answers, whole and line by line, and of what it makes of requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.simulator.mutants.edits import (
    Edit,
    Step,
    body,
    drop,
    event,
    events,
    failed,
    header,
    only,
    put,
    raw,
    refusal,
    rewrite,
    to,
    via,
)
from conformance.simulator.mutants.mutant import Answer, Change, Mutant
from conformance.simulator.mutants.response import MARKUP

PLAIN, STREAM, CALLING = "chat.plain", "stream.plain", "tools.single-call"
BAD, KEY, REQUESTS, LIST = "errors.malformed-json", "errors.bad-key", "ollama.bad-requests", "ollama.models"
ROUND, ECHO, PAIRS = "tools.result-round-trip", "reasoning.echo", "history.tool-results"
THINK = "ollama.think"
MESSAGE: tuple[Step, ...] = ("message",)
TEXT: tuple[Step, ...] = (*MESSAGE, "content")
FUNCTION: tuple[Step, ...] = (*MESSAGE, "tool_calls", 0, "function")
JSON_TYPE = "application/json; charset=utf-8"
A_CALL = {"id": "call_1", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Paris"}}}

mutant = partial(Mutant, wire="ollama")
"""A mutant of this wire."""


def says(text: str) -> Edit:
    """The answer is this text."""
    return put(*TEXT, value=text)


def asking(picks: Callable[[dict[str, Any]], bool]) -> Callable[[Answer], bool]:
    """Answers to the requests whose document this picks."""
    return lambda answer: picks(answer.asked)


def refused(answer: Answer) -> None:
    """A request is refused although it is valid."""
    if answer.status < 300:
        answer.become(400, {"error": "no"}, JSON_TYPE)


def crashed(answer: Answer) -> None:
    """The server fails."""
    answer.become(500, {"error": "the server failed"}, JSON_TYPE)


def accepted(answer: Answer) -> None:
    """A request is answered although it is not valid."""
    if answer.status >= 400:
        counts = {"total_duration": 9, "prompt_eval_count": 9, "eval_count": 2}
        head = {"model": "reference", "created_at": "2026-01-31T12:00:00Z"}
        message = {"role": "assistant", "content": "Fine."}
        ending = {"done": True, "done_reason": "stop", **counts}
        answer.become(200, {**head, "message": message, **ending}, JSON_TYPE)


def _answered(answer: Answer) -> bool:
    return answer.status < 300


def _failure_under_200(answer: Answer) -> None:
    answer.body = {"error": "no"}


def _as_one(answer: Answer) -> None:
    """A stream as one whole answer."""
    if answer.events is not None:
        text = "".join(line["message"]["content"] for line in answer.events)
        whole = {**answer.events[-1], "message": {"role": "assistant", "content": text}}
        answer.become(200, whole, JSON_TYPE)


def _growing(given: list[Any]) -> None:
    """Each line has the whole text so far."""
    text = ""
    for line in given[:-1]:
        text += line["message"]["content"]
        line["message"]["content"] = text


def _separated(given: list[Any]) -> None:
    """A line holds U+2028 as it is."""
    given[0]["message"]["content"] += "\u2028"
    given[0] = json.dumps(given[0], ensure_ascii=False).encode() + b"\n"


def _in_two(given: list[Any]) -> None:
    """The second line's call is one more piece of the first's."""
    first, second = (line["message"]["tool_calls"][0] for line in given[:2])
    second["id"] = first["id"]


def _breaks(error: Any) -> Change:
    return events(lambda given: given.__setitem__(-1, {"error": error}))


def _goes_on(given: list[Any]) -> None:
    given.insert(1, {"error": "It broke."})


def _other(document: Any) -> None:
    document["models"][0] |= {"name": "other", "model": "other"}


def _listed(change: Change) -> Change:
    return only(via("GET", "/api/tags"), change)


def _shown(change: Change) -> Change:
    return only(asking(lambda asked: asked == {"model": "reference"}), change)


def _found(answer: Answer) -> None:
    if answer.request.url.endswith("/api/show"):
        answer.status, answer.body = 200, {"details": {}, "capabilities": ["completion"]}


OLLAMA_ENVELOPE = (
    mutant("oll.request.accepted", PLAIN, refused),
    mutant("oll.response.content-type-json", PLAIN, header("content-type", "text/plain", where=_answered)),
    mutant("oll.response.json-object", PLAIN, raw(lambda text: text + b"\n{}")),
    mutant("oll.response.json-object", PLAIN, raw(lambda _: b"[]"), variant="array"),
    mutant("oll.response.keys", PLAIN, body(drop("created_at"))),
    mutant("oll.response.keys", PLAIN, body(put("model", value=7)), variant="type"),
    mutant("oll.response.created-at-rfc3339", PLAIN, body(put("created_at", value=1_764_448_000))),
    mutant("oll.response.message-role", PLAIN, body(put(*MESSAGE, "role", value="model"))),
    mutant("oll.response.message-role", PLAIN, body(put(*TEXT, value=["Hello."])), variant="content"),
    mutant("oll.response.done", PLAIN, body(put("done", value=False))),
    mutant("oll.response.done-reason", PLAIN, body(put("done_reason", value="tool_calls"))),
    mutant("oll.response.counts", PLAIN, body(drop("eval_count"))),
    mutant("oll.response.counts", PLAIN, body(rewrite("eval_count", by=float)), variant="fraction"),
    mutant("oll.response.num-predict-respected", "parameters.max-tokens", body(put("eval_count", value=40))),
    mutant(
        "oll.response.done-reason-at-cap", "parameters.max-tokens", body(put("done_reason", value="stop"))
    ),
)

OLLAMA_STREAM = (
    mutant("oll.stream.default-true", "ollama.default-stream", _as_one),
    mutant("oll.stream.ndjson", STREAM, header("content-type", "application/json", where=_answered)),
    mutant("oll.stream.ndjson", STREAM, events(lambda given: given.insert(1, b"\n")), variant="blank"),
    mutant("oll.stream.done-last", STREAM, event(0, put("done", value=True))),
    mutant("oll.stream.done-last", STREAM, event(-1, put("done", value=False)), variant="never"),
    mutant("oll.stream.done-last", STREAM, events(lambda given: given.clear()), variant="empty"),
    mutant("oll.stream.line-separators-escaped", STREAM, events(_separated)),
    mutant("oll.stream.content-fragments", STREAM, events(_growing)),
    mutant("oll.stream.tool-call-whole", "stream.parallel-calls", events(_in_two)),
    mutant("oll.stream.error-line", STREAM, _breaks({"message": "It broke."})),
    mutant("oll.stream.error-line", STREAM, events(_goes_on), variant="goes-on"),
)

OLLAMA_MESSAGES = (
    mutant("oll.response.tool-call-shape", CALLING, body(put(*MESSAGE, "tool_calls", value={}))),
    mutant("oll.response.tool-call-shape", CALLING, body(put(*FUNCTION, "name", value="")), variant="name"),
    mutant(
        "oll.response.tool-arguments-object", CALLING, body(rewrite(*FUNCTION, "arguments", by=json.dumps))
    ),
    mutant("oll.response.tool-call-declared", CALLING, body(put(*FUNCTION, "name", value="get_forecast"))),
    mutant("oll.response.no-tools-no-calls", PLAIN, body(put(*MESSAGE, "tool_calls", value=[A_CALL]))),
    mutant(
        "oll.response.tool-arguments-schema",
        CALLING,
        body(put(*FUNCTION, "arguments", value={"town": "Paris"})),
    ),
    mutant("oll.response.no-call-markup-leak", "tools.not-needed", body(says(MARKUP))),
    mutant(
        "oll.response.thinking-separate",
        PLAIN,
        body(rewrite(*TEXT, by=lambda text: f"<think>Hm.</think>{text}")),
    ),
    mutant(
        "oll.response.thinking-separate",
        PLAIN,
        body(put(*MESSAGE, "thinking", value=["Hm."])),
        variant="type",
    ),
    mutant(
        "oll.response.think-false",
        THINK,
        only(to(f"{THINK}/3"), body(put(*MESSAGE, "thinking", value="Hm."))),
    ),
    mutant("oll.response.format-schema", "structured.json-schema", body(says('{"town": "Athens"}'))),
    mutant(
        "oll.response.format-schema",
        "structured.json-object",
        body(rewrite(*TEXT, by=lambda text: f"```json\n{text}\n```")),
        variant="fence",
    ),
    mutant(
        "oll.response.stop-excluded",
        "parameters.stop",
        body(rewrite(*TEXT, by=lambda text: f"{text}Thursday")),
    ),
    mutant("oll.response.logprobs", "parameters.logprobs", body(drop("logprobs"))),
    mutant(
        "oll.response.logprobs",
        "parameters.logprobs",
        body(put("logprobs", 0, "logprob", value=0.5)),
        variant="positive",
    ),
)

OLLAMA_ERRORS = (
    mutant("oll.error.shape", BAD, refusal(put("error", value={"message": "Bad."}))),
    mutant("oll.error.shape", BAD, only(failed, lambda answer: setattr(answer, "body", [])), variant="array"),
    mutant("oll.error.status-not-200", PLAIN, _failure_under_200),
    mutant("oll.error.json-content-type", BAD, header("content-type", "text/plain", where=failed)),
    mutant("oll.error.unknown-model-404", "errors.unknown-model", accepted),
    mutant("oll.error.malformed-json-400", BAD, accepted),
    mutant("oll.error.missing-model-400", REQUESTS, only(asking(lambda a: "model" not in a), accepted)),
    mutant(
        "oll.error.wrong-type-400",
        REQUESTS,
        only(asking(lambda a: isinstance(a.get("messages"), str)), accepted),
    ),
    mutant(
        "oll.error.invalid-format-400", REQUESTS, only(asking(lambda a: a.get("format") == "yaml"), accepted)
    ),
    mutant("oll.error.unknown-think-level", THINK, only(to(f"{THINK}/4"), crashed)),
    mutant("oll.error.wrong-key-401", KEY, only(to(f"{KEY}/0"), refused)),
    mutant("oll.error.no-key-401", KEY, only(to(f"{KEY}/1"), refused)),
)

OLLAMA_CONVERSATIONS = (
    mutant("oll.mt.tool-result-accepted", ROUND, only(to(f"{ROUND}/1"), refused)),
    mutant("oll.mt.tool-result", ROUND, only(to(f"{ROUND}/1"), body(says("I do not know.")))),
    mutant("oll.mt.tool-results-accepted", "ollama.result-forms", refused),
    mutant("oll.mt.tool-results-pairing", PAIRS, only(to(f"{PAIRS}/0"), body(says("Rome has HERON.")))),
    mutant("oll.mt.reasoning-echo", ECHO, only(to(f"{ECHO}/2"), refused)),
    mutant(
        "oll.request.images-not-ignored",
        "chat.image",
        only(to("chat.image/0"), body(put("prompt_eval_count", value=5))),
    ),
)

OLLAMA_MODELS = (
    mutant("oll.models.shape", LIST, _listed(body(put("models", value={})))),
    mutant("oll.models.shape", LIST, _listed(crashed), variant="crash"),
    mutant("oll.models.entry-shape", LIST, _listed(body(put("models", 0, "name", value="")))),
    mutant(
        "oll.models.entry-shape", LIST, _listed(body(put("models", 0, "size", value="4 GB"))), variant="size"
    ),
    mutant("oll.models.tested-present", LIST, _listed(body(_other))),
    mutant("oll.models.show", LIST, _shown(crashed)),
    mutant("oll.models.show", LIST, _shown(raw(lambda _: b"[]")), variant="array"),
    mutant("oll.models.show", LIST, _shown(body(put("capabilities", value="chat"))), variant="capabilities"),
    mutant("oll.models.show-unknown-404", LIST, only(failed, _found)),
)

"""Mutants whose parser calls what is quoted, loses what it can't read, or reads a stream otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.simulator.mutants.edits import (
    ARGUMENTS,
    MESSAGE,
    Edit,
    body,
    both,
    crashed,
    events,
    only,
    put,
    refused,
    rewrite,
    to,
    together,
)
from conformance.simulator.mutants.mutant import Answer, Change, Mutant
from conformance.types import WireName

QUOTED = "parser.quoted-markup"
BEFORE, NEUSS = "parser.text-before", "parser.single-quotes"
FENCED, THOUGHT, CUT = "parser.fenced-call", "parser.call-in-reasoning", "parser.cut-by-cap"
LAHR = "parser.stop-behind-call"

CONTENT = (*MESSAGE, "content")


def _calling(arguments: str, content: Any = None) -> Edit:
    """The message becomes a call of the weather."""

    def edit(document: Any) -> None:
        function = {"name": "get_weather", "arguments": arguments}
        call = {"id": "call_mutant", "type": "function", "function": function}
        document["choices"][0]["message"] |= {"content": content, "tool_calls": [call]}
        document["choices"][0]["finish_reason"] = "tool_calls"

    return edit


MARKUP = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
NO_CALLS = "tools.choice-none"


def _leak(rule: str, wire: WireName, *path: str | int) -> Mutant:
    return Mutant(rule, NO_CALLS, body(put(*path, value=MARKUP)), wire=wire)


def _busy(answer: Answer) -> None:
    document = {"message": "Busy.", "type": "server_error", "param": None, "code": None}
    answer.become(503, {"error": document})


def _whole(scenario: str, change: Change) -> Change:
    """Changes the whole answer; the streamed one is not to be had, so that nothing is compared."""
    return together(only(to(f"{scenario}/1"), change), only(to(f"{scenario}/2"), _busy))


def _streamed(scenario: str, change: Callable[[list[Any]], None]) -> Change:
    return only(to(f"{scenario}/2"), events(change))


def _both_ways(scenario: str, whole: Change, streamed: Change) -> Change:
    return together(only(to(f"{scenario}/1"), whole), only(to(f"{scenario}/2"), streamed))


def _ending_in(kind: str) -> Change:
    """A stream ends with an error of this type, where its text would begin."""

    def change(given: list[Any]) -> None:
        document = {"message": "Can't read it.", "type": kind, "param": None, "code": None}
        given[1:] = [{"error": document}]

    return events(change)


def _deltas(given: list[Any], member: str) -> list[dict[str, Any]]:
    """The deltas of a stream that have something in a member."""
    choices = [event["choices"][0] for event in given if isinstance(event, dict) and event.get("choices")]
    return [choice["delta"] for choice in choices if choice["delta"].get(member)]


def _shorter(given: list[Any]) -> None:
    delta = _deltas(given, "content")[-1]
    delta["content"] = delta["content"][:-1]


def _wider(given: list[Any]) -> None:
    _deltas(given, "content")[-1]["content"] += "\n\n"


def _thinking(given: list[Any]) -> None:
    _deltas(given, "reasoning_content")[0]["reasoning_content"] = "Hm. I "


def _elsewhere(given: list[Any]) -> None:
    pieces = [delta["tool_calls"][0]["function"] for delta in _deltas(given, "tool_calls")]
    for piece in pieces[1:]:
        piece["arguments"] = ""
    pieces[1]["arguments"] = '{"city": "look at Aalen"}'


def _finished(given: list[Any]) -> None:
    last = next(event for event in reversed(given) if isinstance(event, dict) and event["choices"])
    last["choices"][0]["finish_reason"] = "length"


def _dearer(given: list[Any]) -> None:
    usage = given[-2]["usage"]
    usage["completion_tokens"] += 1
    usage["total_tokens"] += 1


def _twice(document: Any) -> None:
    calls = document["choices"][0]["message"]["tool_calls"]
    calls.append(json.loads(json.dumps(calls[0])) | {"id": "call_again"})


def _gone(document: Any) -> None:
    del document["choices"][0]["message"]["tool_calls"]
    document["choices"][0]["finish_reason"] = "stop"


def _blank(document: Any) -> None:
    del document["choices"][0]["message"]["tool_calls"]
    document["choices"][0]["message"]["content"] = ""


PARSING = (
    _leak("resp.response.no-call-markup-leak", "openai-responses", "output", 0, "content", 0, "text"),
    _leak("anth.response.no-call-markup-leak", "anthropic-messages", "content", 0, "text"),
    Mutant(
        "parser.quoted-markup-kept",
        QUOTED,
        only(to(f"{QUOTED}/0"), body(_calling('{"city": "Turin"}'))),
    ),
    Mutant(
        "parser.quoted-markup-kept",
        QUOTED,
        only(to(f"{QUOTED}/0"), body(put(*CONTENT, value="I made none."))),
        variant="dropped",
    ),
    Mutant("parser.survives", NEUSS, _both_ways(NEUSS, crashed, crashed)),
    Mutant(
        "parser.survives", NEUSS, _both_ways(NEUSS, refused, _ending_in("server_error")), variant="streamed"
    ),
    Mutant("parser.answered", BEFORE, _both_ways(BEFORE, refused, refused)),
    Mutant(
        "parser.answered",
        BEFORE,
        _both_ways(BEFORE, refused, _ending_in("invalid_request_error")),
        also=("chat.stream.answered-to-the-end",),
        because="an error in a stream takes the place of its end",
        variant="streamed",
    ),
    Mutant(
        "parser.call-as-written",
        NEUSS,
        _whole(NEUSS, body(_calling('{"city": "\'Neuss\'"}'))),
    ),
    Mutant("parser.call-as-written", BEFORE, _whole(BEFORE, body(_twice)), variant="twice"),
    Mutant(
        "parser.call-as-written",
        CUT,
        _whole(CUT, body(put(*ARGUMENTS, value='{"city": "Bamberg'))),
        variant="cut",
    ),
    Mutant(
        "parser.arguments-json",
        NEUSS,
        _whole(NEUSS, body(_calling("{'city': 'Neuss'}"))),
        also=("chat.response.tool-call-arguments-json",),
        because="whoever wrote it, an argument that is no JSON is one",
    ),
    Mutant("parser.calls-read", BEFORE, _whole(BEFORE, body(_gone))),
    Mutant("parser.text-kept", BEFORE, _whole(BEFORE, body(put(*CONTENT, value=None)))),
    Mutant(
        "parser.text-kept",
        NEUSS,
        _whole(NEUSS, body(rewrite(*CONTENT, by=lambda text: text.removeprefix("<tool_call>\n")))),
        variant="broken",
    ),
    Mutant("parser.text-kept", CUT, _whole(CUT, body(_blank)), variant="cut"),
    Mutant(
        "parser.nothing-swallowed",
        NEUSS,
        _whole(NEUSS, body(put(*CONTENT, value="<tool_call>"))),
        also=("parser.text-kept",),
        because="a text that is swallowed is not kept",
    ),
    Mutant(
        "parser.quotation-not-called",
        FENCED,
        _whole(FENCED, body(_calling('{"city": "Xanten"}', "I made none."))),
    ),
    Mutant(
        "parser.cut-is-told",
        CUT,
        _whole(CUT, body(both(_gone, put(*CONTENT, value="get_weather")))),
    ),
    Mutant("parser.stop-ends-answer", LAHR, _whole(LAHR, body(put(*CONTENT, value="sunny")))),
    Mutant("parity.outcome", NEUSS, only(to(f"{NEUSS}/1"), refused)),
    Mutant("parity.outcome", NEUSS, only(to(f"{NEUSS}/2"), refused), variant="streamed"),
    Mutant(
        "parity.calls",
        BEFORE,
        _streamed(BEFORE, _elsewhere),
        also=("parser.call-as-written",),
        because="one of two calls that differ is not what was written",
    ),
    Mutant(
        "parity.text",
        BEFORE,
        _streamed(BEFORE, _shorter),
        also=("parser.text-kept",),
        because="one of two texts that differ is not what was written",
    ),
    Mutant("parity.space", BEFORE, _streamed(BEFORE, _wider)),
    Mutant("parity.reasoning", THOUGHT, _streamed(THOUGHT, _thinking)),
    Mutant("parity.finish", NEUSS, _streamed(NEUSS, _finished)),
    Mutant("parity.usage", BEFORE, _streamed(BEFORE, _dearer)),
)

"""Mutants of the framing of streams."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import events, framed, header, raw_stream
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

PLAIN = "stream.plain"


def _run_together(given: list[Any]) -> None:
    given[1:3] = [framed(given[1])[:-1] + framed(given[2])]


def _numbered(given: list[Any]) -> None:
    given[1] = b"id: 1\n" + framed(given[1])


def _retrying(given: list[Any]) -> None:
    given[1] = b"retry: 1000\n" + framed(given[1])


def _with_crlf(given: list[Any]) -> None:
    given[1] = framed(given[1]).replace(b"\n", b"\r\n")


def _on_two_lines(given: list[Any]) -> None:
    given[1] = framed(given[1]).replace(b',"object"', b',\ndata: "object"')


def _half_characters(given: list[Any]) -> None:
    for place in (1, 2):
        given[place]["choices"][0]["delta"]["content"] = "\ufffd"


def _broken_by(line_end: bytes) -> Change:
    """A hop that splits lines at U+2028 and writes them anew."""

    def broken(given: list[Any]) -> None:
        given[1]["choices"][0]["delta"]["content"] = "one\u2028two"
        given[1] = framed(given[1]).replace("\u2028".encode(), line_end)

    return events(broken)


def _at_the_end(answer: Answer) -> None:
    """A long answer whose letters are all held back for more than a second."""
    if answer.events is None:
        return
    first = answer.events[1]
    text = "".join(e["choices"][0]["delta"].get("content") or "" for e in answer.events[:-1])
    letters = [first | {"choices": [first["choices"][0] | {"delta": {"content": letter}}]} for letter in text]
    answer.events[1:-2] = letters
    answer.events[:] = [b"".join(framed(event) for event in answer.events)]
    answer.delay_s = 1.1


SSE = (
    Mutant("sse.content-type", PLAIN, header("content-type", "text/plain")),
    Mutant("sse.utf8", PLAIN, events(lambda given: given.insert(1, b": caf\xe9\n\n"))),
    Mutant("sse.no-bom", PLAIN, raw_stream(lambda text: b"\xef\xbb\xbf" + text)),
    Mutant(
        "sse.event-separated-by-blank-line",
        PLAIN,
        events(_run_together),
    ),
    Mutant("sse.final-event-terminated", PLAIN, raw_stream(lambda text: text[:-1])),
    Mutant("sse.known-fields-only", PLAIN, raw_stream(lambda text: b"message: hi\n\n" + text)),
    Mutant("sse.space-after-colon", PLAIN, raw_stream(lambda text: text.replace(b"data: ", b"data:", 1))),
    Mutant("sse.no-empty-data-event", PLAIN, events(lambda given: given.insert(1, b"event: ping\n\n"))),
    Mutant("sse.no-id-field", PLAIN, events(_numbered)),
    Mutant("sse.no-retry-field", PLAIN, events(_retrying)),
    Mutant("sse.consistent-line-ends", PLAIN, events(_with_crlf)),
    Mutant("sse.single-line-json", PLAIN, events(_on_two_lines)),
    Mutant("sse.no-cache", PLAIN, header("cache-control", "public, max-age=60")),
    Mutant(
        "sse.no-split-utf8-replacement",
        PLAIN,
        events(_half_characters),
        also=("chat.response.content-unicode-intact",),
        because="the halves are what is left of a character",
    ),
    Mutant(
        "sse.line-separators-inside-json",
        PLAIN,
        _broken_by(b"\n\n"),
        also=("sse.known-fields-only", "sse.one-json-object-per-event"),
        because="neither half of the payload is JSON, and the second is no field",
    ),
    Mutant(
        "sse.line-separators-inside-json",
        PLAIN,
        _broken_by(b"\n"),
        also=("sse.known-fields-only", "sse.one-json-object-per-event"),
        because="neither half of the payload is JSON, and the second is no field",
        variant="line-feed",
    ),
    Mutant(
        "sse.line-separators-inside-json",
        PLAIN,
        _broken_by(b"\ndata: "),
        also=("sse.one-json-object-per-event",),
        because="a line feed in a JSON string has to be escaped",
        variant="data-lines",
    ),
    Mutant("sse.incremental-delivery", PLAIN, _at_the_end),
    Mutant("sse.one-json-object-per-event", PLAIN, events(lambda given: given.insert(1, "pong"))),
    Mutant("sse.done-sentinel", PLAIN, events(lambda given: given.pop() and None)),
    Mutant("sse.done-once-and-last", PLAIN, events(lambda given: given.append("[DONE]"))),
)

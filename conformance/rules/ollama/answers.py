"""Answers taken apart: one JSON object, or a stream of JSON objects line by line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.rules.ollama.asked import NOTHING, Asked, asked_in, is_chat
from conformance.rules.reading import JsonText, Reading, read_json
from conformance.rules.views import Answered, Run, View, event_at

LINES_TYPE = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Reply(Answered):
    """Every response to a chat request, whatever its status."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return is_chat(reading)


@dataclass(frozen=True, slots=True)
class Chunk(View):
    """One object of an answer: all of it, or a line of its stream; ``value`` is an object and no error.

    ``last`` of its answer or not; ``streamed`` or whole.
    """

    asked: Asked = NOTHING
    streamed: bool = False
    last: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            yield from answer.chunks  # type: ignore[misc]

    @property
    def done(self) -> bool:
        """``done`` is true."""
        return self.get("done") is True

    def text(self, name: str) -> str:
        """A text of the message; empty where it has none of that name."""
        return self.string("message", name)


@dataclass(frozen=True, slots=True)
class Line(View):
    """One line of a stream, whatever it holds; ``event`` is its number, ``text`` as it was sent."""

    text: str = ""
    read: JsonText = field(default_factory=JsonText)


@dataclass(frozen=True, slots=True)
class Answer(View):
    """A 2xx answer to a chat request; ``value`` is its body where that is one JSON text.

    ``lines`` are those of a stream. ``errors`` are what it has in place of chunks. ``complete``: it was not
    cut, and no error ended it. ``streamed``: it came line by line. ``single``: one object came, as a whole
    answer, where a stream was asked for.
    """

    asked: Asked = NOTHING
    lines: tuple[Line, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    errors: tuple[View, ...] = ()
    complete: bool = False
    streamed: bool = False
    single: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in run.readings:
            known = reading.exchange.ending in ("complete", "cut", "closed-by-us", "stalled")
            if reading.succeeded and is_chat(reading) and known:
                yield cls._read(reading)

    @classmethod
    def _read(cls, reading: Reading) -> Self:
        asked = asked_in(reading)
        at, body = reading.body_at, reading.body.value
        labelled = reading.media_type == LINES_TYPE
        single = asked.streams and isinstance(body, dict) and not labelled
        streamed = labelled or (asked.streams and not single)
        lines = tuple(_lines(reading)) if streamed else ()
        documents: list[View] = list(lines) if streamed else [View(reading, at, body)]
        objects = [one for one in documents if isinstance(one.value, dict)]
        errors = tuple(
            View(one.reading, one.at, one.value, one.event) for one in objects if is_error(one.value)
        )
        said = [one for one in objects if not is_error(one.value)]
        chunks = tuple(
            Chunk(one.reading, one.at, one.value, one.event, asked, streamed, one is said[-1]) for one in said
        )
        complete = reading.exchange.ending == "complete" and not errors
        return cls(reading, at, body, None, asked, lines, chunks, errors, complete, streamed, single)


def is_error(value: dict[str, Any]) -> bool:
    """Whether an object is an error and nothing of an answer."""
    return bool(value.get("error")) and "message" not in value


def _lines(reading: Reading) -> Iterator[Line]:
    """The lines of a body. What is behind the last line end is one where it is JSON or the body is whole."""
    response = reading.exchange.response
    if response is None:
        return
    text = response.body.removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    *ended, rest = text.split("\n")
    whole = reading.exchange.ending == "complete"
    for number, line in enumerate([*ended, *([rest] if rest and whole else [])]):
        plain = line.removesuffix("\r")
        read = read_json(plain)
        # What looks like server-sent events has events of its own, which its lines are not.
        event = number if reading.stream is None else None
        yield Line(reading, event_at(reading, number), read.value, event, plain, read)

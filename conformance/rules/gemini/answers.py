"""Answers taken apart: the responses of an answer, whichever way they came.

A whole answer is one ``GenerateContentResponse``; a stream is several, each an event or, without ``alt=sse``,
an element of one JSON array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from conformance.rules.gemini.asked import NOTHING, Asked, asked_in, is_generate
from conformance.rules.reading import Reading
from conformance.rules.views import Answered, Run, StreamEvent, View

Framing = Literal["whole", "array", "events"]


@dataclass(frozen=True, slots=True)
class Reply(Answered):
    """Every response to a request that generates content, whatever its status."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return is_generate(reading)

    @property
    def asked(self) -> Asked:
        """The request it answers."""
        return asked_in(self.reading)


@dataclass(frozen=True, slots=True)
class Response(View):
    """One ``GenerateContentResponse``: all of an answer, or a chunk of it; ``value`` is an object."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            yield from answer.responses  # type: ignore[misc]

    @property
    def candidates(self) -> list[Any]:
        """``candidates``, or nothing where that is no array."""
        return self.array("candidates")


@dataclass(frozen=True, slots=True)
class Answer(View):
    """A 2xx answer to a request that generates content; ``value`` is its body where that is JSON.

    ``errors`` are what it has in place of responses; ``complete``: it was not cut, and no error ended it.
    """

    asked: Asked = NOTHING
    framing: Framing = "whole"
    responses: tuple[Response, ...] = ()
    errors: tuple[View, ...] = ()
    complete: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        events: dict[int, list[View]] = {}
        for event in run.views(StreamEvent):
            events.setdefault(event.reading.index, []).append(event)
        for reading in run.readings:
            known = reading.exchange.ending in ("complete", "cut") or reading.stream is not None
            if reading.succeeded and is_generate(reading) and known:
                yield cls._read(reading, events.get(reading.index, []))

    @classmethod
    def _read(cls, reading: Reading, events: list[View]) -> Self:
        at, body = reading.body_at, reading.body.value
        framing: Framing = "whole"
        documents = [View(reading, at, body)]
        if reading.stream is not None:
            framing, documents = "events", events
        elif isinstance(body, list):
            framing = "array"
            documents = [View(reading, f"{at}/{place}", value) for place, value in enumerate(body)]
        objects = [one for one in documents if isinstance(one.value, dict)]
        errors = tuple(one for one in objects if is_error(one.value))
        responses = tuple(
            Response(one.reading, one.at, one.value, one.event) for one in objects if not is_error(one.value)
        )
        complete = reading.exchange.ending == "complete" and not errors
        return cls(reading, at, body, None, asked_in(reading), framing, responses, errors, complete)


def is_error(value: dict[str, Any]) -> bool:
    """Whether an object is an error and no response."""
    return bool(value.get("error")) and "candidates" not in value

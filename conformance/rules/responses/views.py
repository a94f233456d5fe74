"""Views of responses: the object whole and in a stream's lifecycle, and its items however they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.reading import JsonText, Reading, read_json
from conformance.rules.responses.asked import CALLS, Asked, asked_in, is_responses
from conformance.rules.responses.streams import LIFECYCLE, ResponseStream
from conformance.rules.views import Answered, Run, View, whole_answers

CUT_SHORT = ("incomplete", "failed", "cancelled", "in_progress", "queued")
"""Statuses of a response or an item that did not come to its end: what it lacks proves nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Answered):
    """Every response to a request that creates one, whatever its status."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return is_responses(reading)


@dataclass(frozen=True, slots=True)
class Answer(View):
    """A 2xx answer that is not an event stream; ``value`` is its body as JSON."""

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in whole_answers(run, is_responses):
            if not hidden_error(reading):
                yield cls(reading, reading.body_at, reading.body.value, asked=asked_in(reading))


@dataclass(frozen=True, slots=True)
class Snapshot(View):
    """A response object as it stands: a whole answer's, or that of an event in a stream's lifecycle."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            if isinstance(answer.value, dict):
                yield cls(answer.reading, answer.at, answer.value)
        for stream in run.views(ResponseStream):
            for event in stream.events:
                if event.type in LIFECYCLE and event.response is not None:
                    yield cls(event.reading, f"{event.at}/response", event.response, event.event)


@dataclass(frozen=True, slots=True)
class Item(View):
    """An item of a response's output, with the request it answers.

    ``settled``: it came to the end that the model meant: no cut, no error, no cap, no filter.
    ``response_completed``: the response that it is an item of did.
    """

    asked: Asked | None = None
    settled: bool = False
    response_completed: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for result in run.views(Result):
            yield from result.items  # type: ignore[misc]

    @property
    def type(self) -> str:
        """The member ``type``; empty where that is no string."""
        return self.string("type")

    @property
    def arguments(self) -> JsonText:
        """What the arguments of a function call read as; nothing where they are no text."""
        text = self.get("arguments")
        return read_json(text) if isinstance(text, str) and text else JsonText()

    @property
    def halved(self) -> bool:
        """Whether it is a call whose arguments break off."""
        return bool(self.arguments.problem) and not self.arguments.beyond

    @property
    def parts(self) -> list[Any]:
        """``content``, or nothing where that is no array."""
        return self.array("content")


@dataclass(frozen=True, slots=True)
class Result(View):
    """What an answer came to, whole or streamed: the response object at its end, and its items.

    ``value`` is ``ABSENT`` where a stream did not come to its end. The items of a stream are those of its
    last event, or where it has none there, those that the stream itself ended.
    """

    asked: Asked | None = None
    items: tuple[Item, ...] = ()
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            if isinstance(answer.value, dict):
                yield cls._read(answer, answer.asked, [])
        for stream in run.views(ResponseStream):
            ended = [
                (f"{event.at}/item", event.item, event.event)
                for slot in sorted(stream.slots, key=lambda slot: slot.index)
                if (event := slot.done) is not None
            ]
            final = stream.final
            if final is not None:
                last = View(final.reading, f"{final.at}/response", final.response, final.event)
                yield cls._read(last, stream.asked, ended)
            elif ended:
                yield cls._read(View(stream.reading, stream.at), stream.asked, ended)

    @classmethod
    def _read(cls, view: View, asked: Asked | None, ended: list[tuple[str, Any, int | None]]) -> Self:
        settled = view.reading.exchange.ending == "complete" and view.get("status") == "completed"
        output = view.get("output")
        listed = output if isinstance(output, list) else []
        found = [(f"{view.at}/output/{place}", item, view.event) for place, item in enumerate(listed)]
        items = tuple(
            Item(
                view.reading, at, item, event, asked, settled and item.get("status") not in CUT_SHORT, settled
            )
            for at, item, event in (found or ended)
            if isinstance(item, dict)
        )
        return cls(view.reading, view.at, view.value, view.event, asked, items, settled)

    @property
    def calls(self) -> tuple[Item, ...]:
        """The items that call a tool of the client's."""
        return tuple(item for item in self.items if item.type in CALLS)

    @property
    def refused(self) -> bool:
        """Whether a message of it is a refusal."""
        return any(isinstance(p, dict) and p.get("type") == "refusal" for i in self.items for p in i.parts)

    @property
    def text(self) -> str:
        """The visible text."""
        parts = (part for item in self.items if item.type == "message" for part in item.parts)
        texts = (p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "output_text")
        return "".join(text for text in texts if isinstance(text, str))


def hidden_error(reading: Reading) -> bool:
    """Whether a 2xx body is an error object and no response, which has an error of its own when it failed."""
    body = reading.body.value
    return isinstance(body, dict) and bool(body.get("error")) and not {"output", "status"} & body.keys()

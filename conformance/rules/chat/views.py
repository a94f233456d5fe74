"""Views of chat answers: whole ones, their choices, and messages and calls however they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.chat.asked import Asked, asked_in, is_chat
from conformance.rules.chat.streams import ChatStream, ChoiceStream
from conformance.rules.reading import ABSENT, JsonText, Reading, read_json
from conformance.rules.views import Answered, Run, View, whole_answers

NO_TEXT = JsonText(problem="no string")
CUT_SHORT = ("length", "content_filter")
"""Finish reasons of a message that the server itself cut: what it lacks proves nothing."""


@dataclass(frozen=True, slots=True)
class ChatReply(Answered):
    """Every response to a chat request, whatever its status."""

    @classmethod
    def covers(cls, reading: Reading) -> bool:
        return is_chat(reading)

    @property
    def asked(self) -> Asked | None:
        """The request it answers."""
        return asked_in(self.reading)


@dataclass(frozen=True, slots=True)
class Answer(View):
    """A 2xx answer to a chat request that is not an event stream; ``value`` is its body as JSON.

    An error object under a 2xx status is no answer (``err.status-not-200`` is for it).
    """

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in whole_answers(run, is_chat):
            if not hidden_error(reading):
                yield cls(reading, reading.body_at, reading.body.value, asked=asked_in(reading))

    @property
    def is_object(self) -> bool:
        """Whether there is a JSON object to judge; all but two rules leave anything else alone."""
        return isinstance(self.value, dict)

    @property
    def choices(self) -> list[Any]:
        """``choices``, or nothing where that is no array."""
        return self.array("choices")


@dataclass(frozen=True, slots=True)
class Choice(View):
    """Each entry of a whole answer's ``choices``."""

    asked: Asked | None = None

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            for place, value in enumerate(answer.choices):
                yield cls(answer.reading, f"{answer.at}/choices/{place}", value, asked=answer.asked)

    @property
    def finish_reason(self) -> Any:
        """``finish_reason``, or ``None`` where it is null or absent."""
        reason = self.get("finish_reason")
        return None if reason is ABSENT else reason

    @property
    def calls(self) -> list[Any]:
        """``message.tool_calls``, or nothing where that is no array."""
        return self.array("message", "tool_calls")


@dataclass(frozen=True, slots=True)
class Call(View):
    """A tool call, from a whole answer or put together from a stream.

    ``settled``: its message came to the end that the model or server meant, so that its arguments are
    all there. ``parsed`` is what a string of arguments reads as.
    """

    asked: Asked | None = None
    settled: bool = False
    parsed: JsonText = NO_TEXT

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for message in run.views(Message):
            yield from message.calls  # type: ignore[misc]

    @property
    def name(self) -> str:
        """The function's name; empty where there is none."""
        return self.string("function", "name")

    @property
    def arguments(self) -> str | None:
        """The arguments, if they are a string."""
        arguments = self.get("function", "arguments")
        return arguments if isinstance(arguments, str) else None

    @property
    def is_custom(self) -> bool:
        """Whether it calls a custom tool, which has an input text in place of arguments."""
        return self.get("type") == "custom" or isinstance(self.get("custom"), dict)


@dataclass(frozen=True, slots=True)
class WholeCall(Call):
    """A tool call as a whole answer has it (the deltas of a stream have rules of their own)."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for call in run.views(Call):
            if call.event is None:
                yield cls(call.reading, call.at, call.value, None, call.asked, call.settled, call.parsed)


@dataclass(frozen=True, slots=True)
class Message(View):
    """An assistant message, from a whole answer or merged from a stream, with the request it answers.

    ``settled``: it came to the end that the model or server meant: no cut, no error, no cap, no filter.
    """

    asked: Asked | None = None
    finish_reason: Any = None
    settled: bool = False
    calls: tuple[Call, ...] = ()

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for one in run.views(Choice):
            message, asked, reason = one.get("message"), one.asked, one.finish_reason
            if isinstance(message, dict):
                settled = one.reading.exchange.ending == "complete" and reason not in CUT_SHORT
                at = f"{one.at}/message"
                calls = tuple(
                    _call(one, f"{at}/tool_calls/{place}", call, asked, settled)
                    for place, call in enumerate(one.calls)
                )
                yield cls(one.reading, at, message, None, asked, reason, settled, calls)
        for merged in run.views(ChoiceStream):
            asked, reason = merged.asked, merged.finish_reason
            settled = merged.settled and reason not in CUT_SHORT
            calls = tuple(_call(c, c.at, c.value, asked, settled) for c in merged.calls)
            yield cls(merged.reading, merged.at, merged.value, merged.event, asked, reason, settled, calls)

    @property
    def content(self) -> str:
        """The visible text; empty where there is none."""
        return self.string("content")

    @property
    def refused(self) -> bool:
        """Whether the message is a refusal."""
        return bool(self.value.get("refusal"))


@dataclass(frozen=True, slots=True)
class Counted(View):
    """The ``usage`` object of an answer, whole or streamed (then the last), and the request it answers.

    ``said``: the answer has text or calls, and all that belongs to it has come.
    """

    asked: Asked | None = None
    said: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reply in run.views(Answer):
            if isinstance(usage := reply.get("usage"), dict):
                parts = [reply.get("choices", 0, "message", name) for name in ("content", "tool_calls")]
                said = any(isinstance(part, str | list) and part for part in parts)
                yield cls(reply.reading, f"{reply.at}/usage", usage, None, reply.asked, said)
        for one in run.views(ChatStream):
            said = one.finished and any(c.said("content") or c.calls for c in one.choices)
            for last in one.usages[-1:]:
                yield cls(last.reading, f"{last.at}/usage", last.usage, last.event, one.asked, said)

    def count(self, *path: str) -> int | None:
        """The count at a path, if it is one."""
        value = self.get(*path)
        return value if type(value) is int and value >= 0 else None


def envelopes(run: Run, name: str) -> Iterator[View]:
    """What carries a member of the envelope: whole answers, and chunks where its value changes.

    Chunks without it, or with null, and bookkeeping chunks are left out.
    """
    yield from run.views(Answer)
    for one in run.views(ChatStream):
        before: Any = None
        for chunk in one.chunks:
            value = chunk.value.get(name)
            if value is None or chunk.bookkeeping:
                continue
            if (type(value), value) != (type(before), before):
                yield chunk
            before = value


def hidden_error(reading: Reading) -> bool:
    """Whether a 2xx body is an error object and not an answer."""
    body = reading.body.value
    return isinstance(body, dict) and bool(body.get("error")) and not body.get("choices")


def _call(near: View, at: str, value: Any, asked: Asked | None, settled: bool) -> Call:
    call = Call(near.reading, at, value, near.event, asked, settled)
    if call.arguments is None:
        return call
    return Call(near.reading, at, value, near.event, asked, settled, read_json(call.arguments))

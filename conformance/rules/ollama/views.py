"""What an answer says, whole or put together from its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.ollama.answers import Answer, Chunk
from conformance.rules.ollama.asked import NOTHING, Asked
from conformance.rules.views import Run, View

__all__ = ["Call", "Message"]


@dataclass(frozen=True, slots=True)
class Call(View):
    """An entry of ``message.tool_calls``, with the request; ``settled``: its answer came to its own end."""

    asked: Asked = NOTHING
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for message in run.views(Message):
            yield from message.calls  # type: ignore[misc]

    @property
    def name(self) -> str:
        """``function.name``; empty where that is no string."""
        return self.string("function", "name")

    @property
    def arguments(self) -> Any:
        """``function.arguments``, or ``ABSENT``."""
        return self.get("function", "arguments")


@dataclass(frozen=True, slots=True)
class Message(View):
    """The message of an answer; ``value`` is that of its first chunk.

    ``settled``: the answer came to the end that its model meant: no cut, no error, no cap.
    """

    asked: Asked = NOTHING
    chunks: tuple[Chunk, ...] = ()
    calls: tuple[Call, ...] = ()
    complete: bool = False
    settled: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for answer in run.views(Answer):
            if not answer.chunks:
                continue
            first, last = answer.chunks[0], answer.chunks[-1]
            settled = answer.complete and last.done and last.get("done_reason") != "length"
            calls = tuple(
                Call(
                    chunk.reading,
                    f"{chunk.at}/message/tool_calls/{place}",
                    value,
                    chunk.event,
                    answer.asked,
                    settled,
                )
                for chunk in answer.chunks
                for place, value in enumerate(_calls(chunk))
                if isinstance(value, dict)
            )
            yield cls(
                first.reading,
                f"{first.at}/message",
                first.get("message"),
                first.event,
                answer.asked,
                answer.chunks,
                calls,
                answer.complete,
                settled,
            )

    @property
    def last(self) -> Chunk:
        """Its last chunk."""
        return self.chunks[-1]

    @property
    def content(self) -> str:
        """The visible text."""
        return "".join(chunk.text("content") for chunk in self.chunks)

    @property
    def thinking(self) -> str:
        """What it shows of its thoughts."""
        return "".join(chunk.text("thinking") for chunk in self.chunks)

    def first_with(self, name: str) -> Chunk | None:
        """The first chunk whose message has a text of that name."""
        return next((chunk for chunk in self.chunks if chunk.text(name)), None)


def _calls(chunk: Chunk) -> list[Any]:
    return chunk.array("message", "tool_calls")

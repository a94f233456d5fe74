"""Which exchanges continue one conversation: told by what each request repeats of the ones before.

A request continues an exchange when its messages begin with that request's messages and the answer to it, as
far as their texts and the functions called tell, over whatever wire; or when it names the answer's id. In
another file the ids of the calls must be the same too: recordings of one script with several models look
alike. What is open is bounded: after so many exchanges or bytes the oldest conversation is taken to be over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from conformance.rules.histories import key_of, messages_of, turns_of
from conformance.rules.reading import Reading
from conformance.types import Message, ToolCall

MAX_OPEN = 256
"""How many exchanges wait for one that continues them."""

MAX_BYTES = 32 * 1024 * 1024
"""How many bytes of bodies they may hold."""

_STATE = "previous_response_id"

Digest = bytes


class Linkable(Protocol):
    """What has an exchange that may continue another."""

    @property
    def reading(self) -> Reading:
        """The exchange, read."""

    @property
    def file(self) -> str:
        """Where it was recorded."""


T = TypeVar("T", bound=Linkable)


@dataclass(slots=True)
class _Conversation(Generic[T]):
    items: list[T] = field(default_factory=list)
    ends: set[Digest] = field(default_factory=set)
    size: int = 0
    fresh: T | None = None


class Linker(Generic[T]):
    """Takes exchanges in the order of recording, and gives them back as whole conversations."""

    def __init__(self) -> None:
        self._open: dict[int, _Conversation[T]] = {}
        self._by_end: dict[Digest, int] = {}
        self._count = 0
        self._size = 0
        self._next = 0

    def add(self, item: T) -> Iterator[tuple[T, ...]]:
        """Take the next exchange; yields the conversations that are over by now."""
        number = self._continued(item)
        if number is None:
            number, self._next = self._next, self._next + 1
            self._open[number] = _Conversation()
        one = self._open[number]
        one.items.append(item)
        one.fresh = item
        size = _size(item.reading)
        one.size, self._size, self._count = one.size + size, self._size + size, self._count + 1
        while self._count > MAX_OPEN or self._size > MAX_BYTES:
            yield self._close(next(iter(self._open)))

    def rest(self) -> Iterator[tuple[T, ...]]:
        """The conversations that are still open; none is afterwards."""
        while self._open:
            yield self._close(next(iter(self._open)))

    def _continued(self, item: T) -> int | None:
        """The number of the conversation that a request goes on with."""
        asked, messages = item.reading.asked, messages_of(item.reading)
        state = asked.get(_STATE) if isinstance(asked, dict) else None
        if not (state or any(message.role == "assistant" for message in messages)):
            return None
        for number, one in self._open.items():
            if one.fresh is not None:
                self._learn(number, one)
        if isinstance(state, str) and (known := self._by_end.get(_named(state))) is not None:
            return known
        befores = [b"", *_digests(messages)]
        for place in range(len(messages) - 1, -1, -1):
            if messages[place].role == "assistant":
                for end in _ends(befores[place], messages[place], item.file):
                    if (known := self._by_end.get(end)) is not None:
                        return known
        return None

    def _learn(self, number: int, one: _Conversation[T]) -> None:
        """Note what a request says that continues the last exchange of a conversation."""
        assert one.fresh is not None
        item, one.fresh = one.fresh, None
        before = (_digests(messages_of(item.reading)) or [b""])[-1]
        for turn in turns_of(item.reading):
            ends = _ends(before, Message("assistant", turn.parts), item.file)
            for end in (*ends, *((_named(turn.id),) if turn.id else ())):
                one.ends.add(end)
                self._by_end[end] = number

    def _close(self, number: int) -> tuple[T, ...]:
        one = self._open.pop(number)
        for end in one.ends:
            if self._by_end.get(end) == number:  # else another conversation came to the same point since
                del self._by_end[end]
        self._count -= len(one.items)
        self._size -= one.size
        return tuple(one.items)


def conversations(items: Iterable[T]) -> Iterator[tuple[T, ...]]:
    """The exchanges as conversations, each in the order of recording."""
    linker: Linker[T] = Linker()
    for item in items:
        yield from linker.add(item)
    yield from linker.rest()


def _digests(messages: Sequence[Message]) -> list[Digest]:
    """For each message, what stands for the history up to and with it; instructions don't count."""
    found: list[Digest] = []
    last = b""
    for message in messages:
        if message.role not in ("system", "developer"):
            last = _digest(last, message)
        found.append(last)
    return found


def _ends(before: Digest, answer: Message, file: str) -> tuple[Digest, Digest]:
    """What stands for a history that ends with an answer: to the ids of its calls, or in this file alone."""
    ids = [part.id for part in answer.parts if isinstance(part, ToolCall)]
    last = _digest(before, answer)
    return _hashed(last, ("calls", ids)), _hashed(last, ("file", file))


def _digest(before: Digest, message: Message) -> Digest:
    return _hashed(before, (message.role, key_of(message.parts)))


def _hashed(before: Digest, value: object) -> Digest:
    return blake2b(before + repr(value).encode("utf-8", "replace"), digest_size=16).digest()


def _named(id: str) -> Digest:
    return b"id" + id[:200].encode("utf-8", "replace")


def _size(reading: Reading) -> int:
    response = reading.exchange.response
    return len(reading.exchange.request.body) + (len(response.body) if response else 0)

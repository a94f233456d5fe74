"""Calls and their results where the wire pairs them by name and order, or by ids that may be absent."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.types import Message, ToolCall


def minted(*what: str) -> str:
    """An id for a call that came without one: the same for the same ``what``, whenever it is read."""
    seed = "\0".join(what).encode("utf-8", "surrogatepass")
    return f"call_{hashlib.sha256(seed).hexdigest()[:24]}"


class Ids:
    """The ids of one conversation, while it is read in order: given ones kept, missing ones minted.

    Minted are ``call_0``, ``call_1`` ... in the order of the conversation, those in ``taken`` left out.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._used = set(taken)
        self._count = 0
        self._open: dict[str, deque[str]] = {}
        self._answered: set[str] = set()
        self._in_order: deque[str] = deque()

    def begin(self) -> None:
        """A new turn of the model begins: results belong to its calls."""
        self._open.clear()
        self._answered.clear()
        self._in_order.clear()

    def call(self, given: str, name: str) -> str:
        """The id of the next call."""
        found = given or self._mint()
        self._open.setdefault(name, deque()).append(found)
        self._in_order.append(found)
        return found

    def result(self, given: str, name: str) -> str:
        """The id of the call that the next result answers: the given one, else the next call of that name.

        Without a name, the next call; a fresh id when no call is left.
        """
        queue = self._open.get(name, deque()) if name else self._in_order
        found = given
        while not found and queue:
            candidate = queue.popleft()
            found = "" if candidate in self._answered else candidate
        self._answered.add(found)
        return found or self._mint()

    def _mint(self) -> str:
        while (found := f"call_{self._count}") in self._used:
            self._count += 1
        self._count += 1
        return found


@dataclass(frozen=True, slots=True)
class Placed:
    """A message in the order of sending. ``index`` is its place in the request.

    ``call``: of a tool message, the call that it answers, and ``number`` its place among all calls from 0;
    ``moved``: the message stands before or after where it stood.
    """

    index: int
    message: Message
    call: ToolCall | None = None
    number: int = -1
    moved: bool = False


def placed(messages: Sequence[Message]) -> list[Placed]:
    """The messages, with neighbouring tool messages in the order of the calls that they answer.

    A result belongs to the latest call of its id; among calls of one id, to the first without a result.
    Results without a call come last.
    """
    out: list[Placed] = []
    calls: dict[str, deque[tuple[int, ToolCall]]] = {}
    count = 0
    run: list[tuple[int, Placed]] = []

    def flush() -> None:
        in_order = sorted(run, key=lambda entry: entry[0])
        for (_, was), (_, now) in zip(run, in_order, strict=True):
            out.append(replace(now, moved=was.index != now.index))
        run.clear()

    for i, message in enumerate(messages):
        if message.role == "tool":
            queue = calls.get(message.tool_call_id or "")
            if queue:
                number, call = queue[0] if len(queue) == 1 else queue.popleft()
                run.append((number, Placed(i, message, call, number)))
            else:
                run.append((count, Placed(i, message)))
            continue
        flush()
        out.append(Placed(i, message))
        if message.role != "assistant":
            continue
        fresh: set[str] = set()
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.id not in fresh:
                    calls[part.id] = deque()
                    fresh.add(part.id)
                calls[part.id].append((count, part))
                count += 1
    flush()
    return out

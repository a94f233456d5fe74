"""Ids that pair calls with results, rewritten for who takes only his own form of them.

An id says nothing but which result belongs to which call, so any one-to-one rewriting within a conversation
keeps what is said. All of them depend on the history alone: the same conversation is rewritten the same way
in every request, which is the map that is kept.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from conformance.types import Message, Request, ToolCall

_ALPHABET = string.digits + string.ascii_letters
_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_KIMI = re.compile(r"functions\.(.+):(\d+)")


def nine_letters(request: Request) -> Request:
    """Ids of nine letters or digits, which Mistral asks for; ids of that form stay."""
    return _rewritten(request, lambda old: bool(_NINE.fullmatch(old)), lambda seed: _letters(seed, 9))


def kimi_native(request: Request) -> Request:
    """Ids as Kimi's template writes them: ``functions.NAME:INDEX``; those of that form stay."""
    calls = [
        (place, part)
        for i, message in enumerate(request.messages)
        for j, part in enumerate(message.parts)
        if isinstance(part, ToolCall)
        for place in ((i, j),)
    ]
    taken = {call.id for _, call in calls if _is_kimi(call)}
    renamed: dict[tuple[int, int], str] = {}
    for number, (place, call) in enumerate(calls):
        new, index = call.id, number
        if not _is_kimi(call):
            while (new := f"functions.{call.name}:{index}") in taken:
                index += 1
            taken.add(new)
        renamed[place] = new
    return _renamed(request, renamed)


def _is_kimi(call: ToolCall) -> bool:
    form = _KIMI.fullmatch(call.id)
    return form is not None and form[1] == call.name


def unique_per_turn(request: Request) -> Request:
    """Distinct ids within each turn: a second use of one gets ``_d2``, on the call and on its result."""
    renamed: dict[tuple[int, int], str] = {}
    for i, message in enumerate(request.messages):
        taken = Taken(part.id for part in message.parts if isinstance(part, ToolCall))
        seen: set[str] = set()
        for j, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                renamed[i, j] = new = part.id if part.id not in seen else taken.take(part.id)
                seen.add(new)
    return _renamed(request, renamed)


class Taken:
    """The ids of a turn, and the next ones for calls that came with a used one: ``c1_d2``, then ``c1_d3``."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = set(ids)
        self._next: dict[str, int] = {}

    def __contains__(self, used: object) -> bool:
        return used in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def take(self, used: str) -> str:
        """Take an id; one that is free stays what it is."""
        new = used
        while new in self._ids:
            number = self._next[used] = self._next.get(used, 1) + 1
            new = f"{used}_d{number}"
        self._ids.add(new)
        return new


def _letters(seed: str, count: int) -> str:
    number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest(), "big")
    letters = []
    for _ in range(count):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)


def _rewritten(request: Request, fits: Callable[[str], bool], mint: Callable[[str], str]) -> Request:
    olds = [p.id for m in request.messages for p in m.parts if isinstance(p, ToolCall)]
    olds += [m.tool_call_id for m in request.messages if m.tool_call_id]
    taken = {old for old in olds if fits(old)}
    map_: dict[str, str] = {old: old for old in taken}
    for old in olds:
        if old not in map_:
            new, attempt = mint(old), 0
            while new in taken:
                attempt += 1
                new = mint(f"{old}\0{attempt}")
            map_[old] = new
            taken.add(new)
    return _mapped(request, map_)


def _mapped(request: Request, new: Mapping[str, str]) -> Request:
    def message(old: Message) -> Message:
        parts = tuple(replace(p, id=new[p.id]) if isinstance(p, ToolCall) else p for p in old.parts)
        paired = old.tool_call_id
        return replace(old, parts=parts, tool_call_id=new.get(paired, paired) if paired else paired)

    return replace(request, messages=tuple(message(old) for old in request.messages))


def _renamed(request: Request, new: Mapping[tuple[int, int], str]) -> Request:
    """Calls renamed by their place; a result goes with the latest call of its id that has none yet."""
    waiting: dict[str, list[str]] = {}
    out: list[Message] = []
    for i, message in enumerate(request.messages):
        parts = list(message.parts)
        if message.role == "assistant":
            waiting = {}
        for j, part in enumerate(parts):
            if isinstance(part, ToolCall):
                parts[j] = replace(part, id=new[i, j])
                waiting.setdefault(part.id, []).append(new[i, j])
        paired = message.tool_call_id
        if paired and waiting.get(paired):
            known = waiting[paired]
            paired = known.pop(0) if len(known) > 1 else known[0]
        out.append(replace(message, parts=tuple(parts), tool_call_id=paired))
    return replace(request, messages=tuple(out))

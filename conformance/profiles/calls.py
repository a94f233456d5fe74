"""Tool calls of an answer, put right: ids, names, arguments."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from conformance.dialects.parsed import mint
from conformance.profiles.ids import Taken
from conformance.profiles.profile import Asked
from conformance.wires.body import compact, parse

Entry = dict[str, Any]
PARALLEL = "multi_tool_use.parallel"
NO_ARGUMENTS = ("", "null")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Escaper:
    """Raw control characters inside JSON strings as escapes, piece by piece; all else passes unchanged."""

    __slots__ = ("_escaped", "_quoted")

    def __init__(self) -> None:
        self._quoted = False
        self._escaped = False

    def feed(self, text: str) -> str:
        """The next piece."""
        out: list[str] = []
        for char in text:
            if self._quoted and char < " ":
                out.append(_SHORT.get(char) or f"\\u{ord(char):04x}")
                self._escaped = False
                continue
            if self._escaped:
                self._escaped = False
            elif char == '"':
                self._quoted = not self._quoted
            elif char == "\\" and self._quoted:
                self._escaped = True
            out.append(char)
        return "".join(out)


def said(arguments: Any) -> str:
    """Arguments as a string: an object as its JSON, nothing as nothing."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else compact(arguments)


def escaped(arguments: str) -> str:
    """Arguments in which every string is one that JSON allows, where that is all that is wrong with them."""
    if not any(char < " " for char in arguments):
        return arguments
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return Escaper().feed(arguments)
    return arguments


def plain_name(name: str, names: Mapping[str, str]) -> str:
    """A name without leaked control tokens, and the real one of an alias (``names``)."""
    cut = name.split("<|", 1)[0] or name
    return names.get(cut, cut)


def new_id(asked: Asked, place: str, taken: Collection[str]) -> str:
    """The id of a call that came without one: the same answer at the same place gets the same."""
    return mint(f"{asked.seed}\0{place}", "call", taken)


def distinct(given: str, asked: Asked, place: str, taken: Taken) -> str:
    """The id that a call goes by from now on: its own, unless it has none or another call has it."""
    return taken.take(given or new_id(asked, place, taken))


def expanded(name: str, arguments: str, asked: Asked) -> list[tuple[str, str]] | None:
    """The calls inside of a call of ``multi_tool_use.parallel``, where all of them name offered tools."""
    offered = {tool.name for tool in asked.offered}
    if name != PARALLEL or PARALLEL in offered:
        return None
    try:
        value = parse(arguments)
    except ValueError:
        return None
    uses = value.get("tool_uses") if isinstance(value, dict) else None
    if not isinstance(uses, list) or not uses:
        return None
    found: list[tuple[str, str]] = []
    for use in uses:
        recipient = use.get("recipient_name") if isinstance(use, dict) else None
        inner = recipient.removeprefix("functions.") if isinstance(recipient, str) else ""
        if inner not in offered:
            return None
        found.append((inner, compact(use.get("parameters") or {})))
    return found


def whole(entries: list[Any], asked: Asked, names: Mapping[str, str], *, cut: bool) -> list[Any]:
    """The calls of a whole message, put right. ``cut``: the answer hit its cap, so a call may be half one."""
    out: list[Any] = []
    taken = Taken()
    for entry in entries:
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(function, dict):
            out.append(entry)
            continue
        for number, call in enumerate(_split(entry, function, asked, names, cut=cut)):
            given = call.get("id") if isinstance(call.get("id"), str) and not number else ""
            call["id"] = distinct(given or "", asked, f"{len(out)}\0{call['function'].get('name')}", taken)
            out.append(call)
    return out


def _split(
    entry: Entry, function: Entry, asked: Asked, names: Mapping[str, str], *, cut: bool
) -> Iterator[Entry]:
    arguments = escaped(said(function.get("arguments")))
    if arguments.strip() in NO_ARGUMENTS and not cut:
        arguments = "{}"
    given_name = function.get("name")
    name = plain_name(given_name, names) if isinstance(given_name, str) else ""
    for inner, given in expanded(name, arguments, asked) or [(name, arguments)]:
        # The members stay in their order: what was right already stays itself, byte for byte.
        call = {**entry, "function": {**function, "name": inner, "arguments": given}}
        yield call if call.get("type") else {**call, "type": "function"}

"""Places in a JSON document, by a pattern: ``/messages/*[role=tool]/tool_call_id``.

A pattern is a JSON Pointer (RFC 6901) in which a segment may also be ``*`` (every item or member), ``**``
(the value itself and everything within it), ``$**`` (the value itself, a JSON Schema, and every schema within
it, so that ``$**/items`` is the keyword and no property of that name) or ``-1`` (the last item). Filters in
brackets after a segment keep the values it leads to that are objects with ``[key]``, without ``[!key]``, with
``[key=value]`` or with none such, ``[key!=value]``; values are compared as JSON writes them, text without its
quotes, and an array or object only when it is empty. Nothing raises on any document, and no more than
`MAX_VISITED` values are looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_VISITED = 200_000
"""How many values of a document one pattern looks at, at most."""

_SEGMENT = re.compile(r"(?P<key>[^\[\]]*)(?P<filters>(?:\[[^\[\]]*\])*)")
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMAS = frozenset(
    {
        *("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"),
        *("additionalProperties", "propertyNames", "unevaluatedProperties"),
        *("anyOf", "allOf", "oneOf", "not", "if", "then", "else"),
    }
)
"""Keywords of JSON Schema, drafts 7 and 2020-12, that hold a schema or a list; the maps hold named ones."""
_FILTER = re.compile(r"\[(?P<not>!)?(?P<key>[^\[\]=!]+)(?:(?P<op>!?=)(?P<value>[^\[\]]*))?\]")


@dataclass(frozen=True, slots=True)
class Place:
    """A value in a document: where it is, as a JSON Pointer's segments, and what it is."""

    path: tuple[str | int, ...]
    value: Any

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer."""
        return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in self.path)

    @property
    def dotted(self) -> str:
        """The place as servers write it: ``messages[1].content``."""
        text = ""
        for key in self.path:
            text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
        return text


@dataclass(frozen=True, slots=True)
class _Filter:
    key: str
    value: str | None
    negated: bool

    def keeps(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        if self.key not in value:
            return self.negated
        return (self.value is None or self._is(value[self.key])) is not self.negated

    def _is(self, held: Any) -> bool:
        if isinstance(held, str):
            return held == self.value
        # Written out, a value that holds others can be as large as the document.
        return not (isinstance(held, (dict, list)) and held) and as_text(held) == self.value


@dataclass(frozen=True, slots=True)
class _Segment:
    key: str
    filters: tuple[_Filter, ...]

    def steps(self, place: Place) -> Iterator[Place]:
        if self.key in ("**", "$**"):
            inner = _members if self.key == "**" else _subschemas
            yield from (step for step in _within(place, inner) if self._keeps(step.value))
        else:
            for key, value in self._below(place.value):
                if self._keeps(value):
                    yield Place((*place.path, key), value)

    def _keeps(self, value: Any) -> bool:
        return not self.filters or all(kept.keeps(value) for kept in self.filters)

    def _below(self, value: Any) -> Iterable[tuple[str | int, Any]]:
        if isinstance(value, dict):
            if self.key == "*":
                return value.items()
            return ((self.key, value[self.key]),) if self.key in value else ()
        if not isinstance(value, list):
            return ()
        if self.key == "*":
            return enumerate(value)
        if self.key == "-1" and value:
            return ((len(value) - 1, value[-1]),)
        if self.key.isdecimal() and len(self.key) < 10 and int(self.key) < len(value):
            return ((int(self.key), value[int(self.key)]),)
        return ()


def places(document: Any, pattern: str) -> Iterator[Place]:
    """The places in ``document`` that ``pattern`` names, in the document's order.

    Raises:
        ValueError: the pattern can't be read.
    """
    found: Iterator[Place] = iter((Place((), document),))
    for segment in _segments(pattern):
        found = _step(found, segment)
    for visited, place in enumerate(found):
        if visited >= MAX_VISITED:
            return
        yield place


def kept(value: Any, filters: str) -> bool:
    """Whether ``value`` is an object that the ``filters`` (``[role=tool][!name]``) keep.

    Raises:
        ValueError: the filters can't be read.
    """
    return all(test.keeps(value) for test in _filters(filters))


def remove(document: Any, found: Iterable[Place]) -> None:
    """Take what is at these places, in the document's order, out of it; what is not there is passed over."""
    for place in reversed(tuple(found)):
        holder = document
        for key in place.path[:-1]:
            holder = holder[key]
        last: Any = place.path[-1]
        if isinstance(holder, list) or last in holder:
            del holder[last]


def as_text(value: Any) -> str:
    """A value as patterns compare it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _step(found: Iterator[Place], segment: _Segment) -> Iterator[Place]:
    for place in found:
        yield from segment.steps(place)


def _within(place: Place, inner: Callable[[Place], Iterable[Place]]) -> Iterator[Place]:
    waiting = [place]
    visited = 0
    while waiting and visited < MAX_VISITED:
        visited += 1
        here = waiting.pop()
        yield here
        waiting.extend(reversed(list(inner(here))))


def _members(place: Place) -> Iterator[Place]:
    if isinstance(place.value, dict):
        yield from (Place((*place.path, key), member) for key, member in place.value.items())
    elif isinstance(place.value, list):
        yield from (Place((*place.path, index), item) for index, item in enumerate(place.value))


def _subschemas(place: Place) -> Iterator[Place]:
    for keyword in _members(place) if isinstance(place.value, dict) else ():
        name = keyword.path[-1]
        if name in _MAPS or (name in _SCHEMAS and isinstance(keyword.value, list)):
            yield from _members(keyword)
        elif name in _SCHEMAS:
            yield keyword


@lru_cache(maxsize=1024)
def _segments(pattern: str) -> tuple[_Segment, ...]:
    if pattern and not pattern.startswith("/"):
        raise ValueError(f"{pattern!r} is not a path: it doesn't begin with '/'")
    return tuple(_segment(text) for text in pattern.split("/")[1:])


def _segment(text: str) -> _Segment:
    read = _SEGMENT.fullmatch(text)
    if read is None:
        raise ValueError(f"{text!r} is not a segment of a path")
    return _Segment(read["key"].replace("~1", "/").replace("~0", "~"), _filters(read["filters"]))


@lru_cache(maxsize=1024)
def _filters(text: str) -> tuple[_Filter, ...]:
    filters = []
    end = 0
    for read in _FILTER.finditer(text):
        if read.start() != end or (read["not"] and read["op"]):
            break
        end = read.end()
        filters.append(_Filter(read["key"], read["value"], bool(read["not"]) or read["op"] == "!="))
    if end != len(text):
        raise ValueError(f"{text!r} is not a filter: write [key], [!key], [key=value] or [key!=value]")
    return tuple(filters)

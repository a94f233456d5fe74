"""Recordings in YAML, read piece by piece: nothing is executed, everything is bounded.

Values are built from libyaml's events, so that depth, size and aliases count before anything is built, and
one entry of a long list is in memory at a time. Tags of other languages are the plain value beneath them.
JSON is read into the same entries, whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

import yaml

from conformance.grade.bodies import from_base64
from conformance.grade.source import MAX_WHOLE, Head, Source, Unreadable

MAX_EVENTS = 2_000_000
"""The most YAML events of one entry; a body written as a list of bytes is one for each."""

MAX_DEPTH = 200
"""How deep collections may be nested. libyaml itself stops at 1,000."""

MAX_EXPANSION = 16
"""Aliases may make a file this many times larger than it is (and a MiB more)."""

_Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile(rb"(?:^|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])%TAG|^(?:\xff\xfe|\xfe\xff)")
_OVERLAP = 8
_SLACK = 1 << 20
_OUTLINED = 5_000  # events
_OUTLINE_DEPTH = 4
_TOO_DEEP = f"nested deeper than {MAX_DEPTH}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of a document's top mapping, or one entry of the list that is such a member.

    ``document`` counts from 0; ``key`` is the member's name, empty where a list stands at the top. With a
    ``problem``, ``value`` is not what was written.
    """

    document: int
    key: str
    value: Any
    problem: str | None = None


def entries(source: Source) -> Iterator[Entry]:
    """The entries of a YAML or JSON file, in order.

    Raises ``OSError``, and `Unreadable` from where on the file can't be read.
    """
    if source.head.json is not None and not source.head.lines:
        yield from _of_json(source.json())
        return
    chunks = iter([source.head.data]) if source.head.whole else source.chunks()
    try:
        yield from _Reader(_Stream(chunks)).entries()
    except yaml.YAMLError as error:
        raise Unreadable(f"not YAML: {_reason(error)}") from None


def outline(head: Head) -> frozenset[str]:
    """Where something stands in the beginning of the first document, as far as that can be read.

    Paths such as ``interactions/request/uri``, four names deep; of lists only the first entry counts.
    """
    return _outline_of_json(head.json) if head.json is not None else _outline_of_yaml(head.data)


# ------------------------------------------------------------------------------------------------- JSON


def _of_json(value: Any) -> Iterator[Entry]:
    members = value.items() if isinstance(value, dict) else [("", value)]
    for key, member in members:
        for one in member if isinstance(member, list) else [member]:
            yield Entry(0, key, one)


def _outline_of_json(value: Any) -> frozenset[str]:
    found: set[str] = set()
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    while waiting:
        start, one, depth = waiting.pop()
        one = one[0] if isinstance(one, list) and one else one
        if isinstance(one, dict) and depth < _OUTLINE_DEPTH:
            members = [(f"{start}{key}", member) for key, member in islice(one.items(), _OUTLINED)]
            found.update(path for path, _ in members)
            waiting += [(f"{path}/", member, depth + 1) for path, member in members]
    return frozenset(found)


# ------------------------------------------------------------------------------------------------- YAML


@dataclass(slots=True)
class _Place:
    """A collection that an outline is within: the path of what comes next, ``None`` where none counts."""

    start: str | None
    is_list: bool
    next: str | None = None
    count: int = 0


@lru_cache(maxsize=2)
def _outline_of_yaml(data: bytes) -> frozenset[str]:
    """Each importer asks for it, of the same file."""
    found: set[str] = set()
    places: list[_Place] = []
    try:
        for event in islice(yaml.parse(data.decode("utf-8", "ignore"), Loader=_Parser), _OUTLINED):
            if isinstance(event, yaml.CollectionEndEvent):
                places.pop()
            elif isinstance(event, yaml.DocumentEndEvent):
                break
            elif isinstance(event, yaml.NodeEvent):
                start = _start(places, event, found)
                if isinstance(event, yaml.CollectionStartEvent):
                    places.append(_Place(start, isinstance(event, yaml.SequenceStartEvent)))
    except yaml.YAMLError:
        pass  # it is only the beginning of the file
    return frozenset(found)


def _start(places: list[_Place], event: Any, found: set[str]) -> str | None:
    """What paths within a node begin with. A key is found as soon as it is there: its value may be cut."""
    if not places:
        return ""
    place = places[-1]
    place.count += 1
    if place.is_list:
        return place.start if place.count == 1 else None
    if place.count % 2 == 0:
        return place.next
    place.next = None
    if place.start is not None and isinstance(event, yaml.ScalarEvent):
        found.add(place.start + event.value)
        if place.start.count("/") + 1 < _OUTLINE_DEPTH:
            place.next = f"{place.start}{event.value}/"
    return None


class _Stream:
    """What libyaml reads from; it stops at a single piece that is too large."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._before = b""
        self.taken = 0
        self.since = 0

    def read(self, _size: int = 0, /) -> bytes:
        chunk = next(self._chunks, b"")
        first = not self.taken
        # libyaml takes time that grows with the square of %TAG directives.
        if _FORBIDDEN.search(chunk if first else self._before + chunk, 0 if first else 1):
            raise Unreadable("UTF-16, or %TAG directives: no recorder writes that")
        self._before = chunk[-_OVERLAP:]
        self.taken += len(chunk)
        self.since += len(chunk)
        if self.since > MAX_WHOLE + len(chunk):
            raise Unreadable(f"one entry of more than {MAX_WHOLE >> 20} MiB")
        return chunk


@dataclass(slots=True)
class _Frame:
    """A collection that is being built; ``weight`` and ``depth`` are those with all aliases written out."""

    value: Any
    anchor: str | None
    weight: int = 1
    depth: int = 1
    key: Any = None
    has_key: bool = False


_Node = tuple[Any, int, int]
"""A value, its weight and its depth."""
_OPEN: _Node = (object(), 0, 0)


@dataclass(slots=True)
class _Reader:
    stream: _Stream
    events: Iterator[Any] = field(init=False)
    anchors: dict[str, _Node] = field(default_factory=dict)
    count: int = 0
    expanded: int = 0
    problem: str | None = None

    def __post_init__(self) -> None:
        self.events = yaml.parse(self.stream, Loader=_Parser)

    def entries(self) -> Iterator[Entry]:
        document = -1
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                document += 1
                self.anchors.clear()
            elif isinstance(event, yaml.MappingStartEvent):
                yield from self._members(document)
            elif isinstance(event, yaml.SequenceStartEvent):
                yield from self._list(document, "")
            elif isinstance(event, yaml.NodeEvent):
                yield self._entry(document, "", event)

    def _members(self, document: int) -> Iterator[Entry]:
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            key = _as_key(self._node(event))
            name = key if isinstance(key, str) else ""
            event = next(self.events)
            if isinstance(event, yaml.SequenceStartEvent):
                yield from self._list(document, name)
            else:
                yield self._entry(document, name, event)

    def _list(self, document: int, key: str) -> Iterator[Entry]:
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._entry(document, key, event)

    def _entry(self, document: int, key: str, event: Any) -> Entry:
        self.count, self.problem, self.stream.since = 0, None, 0
        value = self._node(event)
        if self.anchors and self.stream.taken > MAX_WHOLE:
            raise Unreadable(f"anchors in a file of more than {MAX_WHOLE >> 20} MiB")
        return Entry(document, key, value, self.problem)

    def _node(self, event: Any) -> Any:
        """The value that begins with ``event``; it takes the events up to its end."""
        frames: list[_Frame] = []
        while True:
            self.count += 1
            if self.count > MAX_EVENTS:
                raise Unreadable(f"one entry of more than {MAX_EVENTS:,} nodes")
            kind = type(event)
            if kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                if len(frames) >= MAX_DEPTH:
                    raise Unreadable(_TOO_DEEP)
                if event.anchor:
                    self.anchors[event.anchor] = _OPEN
                frames.append(_Frame({} if kind is yaml.MappingStartEvent else [], event.anchor))
            else:
                node, anchor = self._ended(event, frames)
                if anchor:
                    self.anchors[anchor] = node
                if not frames:
                    self._weigh(node[1])
                    self.expanded += node[1]
                    return node[0]
                _put(frames[-1], node)
            event = next(self.events)

    def _ended(self, event: Any, frames: list[_Frame]) -> tuple[_Node, str | None]:
        """The node that is whole with this event, and its anchor."""
        if type(event) is yaml.ScalarEvent:
            return (self._scalar(event), 1 + len(event.value), 0), event.anchor
        if type(event) is yaml.AliasEvent:
            node = self.anchors.get(event.anchor or "", _OPEN)
            if node is _OPEN:
                raise Unreadable("an alias to nothing, or to what it lies in")
            self._weigh(node[1])
            return node, None
        frame = frames.pop()
        if frame.depth > MAX_DEPTH:
            raise Unreadable(_TOO_DEEP)
        return (frame.value, frame.weight, frame.depth), frame.anchor

    def _weigh(self, weight: int) -> None:
        """Refuses a file that aliases blow up, before anybody walks over what it expands to."""
        if self.expanded + weight > MAX_EXPANSION * self.stream.taken + _SLACK:
            raise Unreadable(f"aliases make it more than {MAX_EXPANSION} times larger than it is")

    def _scalar(self, event: Any) -> Any:
        tag, text = event.tag, event.value
        if tag is None:
            return _resolved(text) if event.implicit[0] else text
        if tag.endswith(("binary", ":float", ":int", ":bool", ":null")):
            if not tag.endswith("binary"):
                return _resolved(text)
            found = from_base64(text)
            self.problem = self.problem or (found.problem and f"!!binary: {found.problem}")
            return found.data
        return text


def _put(frame: _Frame, node: _Node) -> None:
    value, weight, depth = node
    frame.weight += weight
    frame.depth = max(frame.depth, depth + 1)
    if type(frame.value) is list:
        frame.value.append(value)
    elif frame.has_key:
        frame.value[frame.key] = value
        frame.has_key = False
    else:
        frame.key, frame.has_key = _as_key(value), True


def _as_key(value: Any) -> Any:
    """The key of a mapping. A list stands for the string type of some library, made from its first entry."""
    if isinstance(value, dict):
        value = value.get("args")
    if isinstance(value, list):
        value = value[0] if value else None
    return None if isinstance(value, dict | list) else value


_NUMBER = re.compile(
    r"[-+]?(?:(?P<int>0|[1-9][0-9]{0,400})|[0-9]{1,400}\.[0-9]{0,400}(?:[eE][-+][0-9]{1,9})?)"
)
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", "+.inf"), float("inf")),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}


def _resolved(text: str) -> Any:
    """A plain scalar's value, as those who write YAML 1.1 and 1.2 agree on it; a text where they don't."""
    if len(text) <= 5 and text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+0123456789":
        return text
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    return int(text) if match["int"] else float(text)


def _reason(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be parsed"
    return f"{what} (line {mark.line + 1})" if mark is not None else str(what)

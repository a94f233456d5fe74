"""The parts of one Chat message while it grows: runs of text, tool calls, reasoning details."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from conformance.types import Audio, File, Image, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from conformance.wires.body import compact
from conformance.wires.facts import FactName

Note = Callable[..., None]
"""``note(name, path, detail="")``: a choice's way to state a fact."""

RunKind = Literal["text", "reasoning", "refusal"]

_CALL_KEYS = frozenset({"index", "id", "type", "function", "custom"})
_SNAPSHOTS = 3  # one repetition proves nothing: text may repeat itself


def _slot(opaque: dict[str, Any] | None) -> Opaque | None:
    return {"openai-chat": opaque} if opaque else None


def media_in(item: dict[str, Any]) -> Image | Audio | File | None:
    """The picture, sound or document that a content part holds; what it says beside its data is opaque."""
    kind = item.get("type")
    inner = item.get(kind) if kind in ("image_url", "input_audio", "file") else None
    if kind == "image_url" and isinstance(inner, str):  # a shorthand that many servers take
        inner = {"url": inner}
    if not isinstance(inner, dict):
        return None

    def rest(*keys: str) -> Opaque | None:
        return _slot({k: v for k, v in inner.items() if k not in keys})

    if kind == "image_url":
        url = inner.get("url")
        return Image(url, rest("url")) if isinstance(url, str) else None
    if kind == "input_audio":
        data, form = inner.get("data"), inner.get("format")
        if isinstance(data, str) and isinstance(form, str):
            return Audio(data, form, rest("data", "format"))
        return None
    url, name = inner.get("file_data", ""), inner.get("filename", "")
    if isinstance(url, str) and isinstance(name, str):
        return File(url, name, rest("file_data", "filename"))
    return None


class Pieces:
    """Fragments of one string, joined on demand; notices when they are growing snapshots of it."""

    __slots__ = ("_count", "_growing", "_last", "_third", "fragments")

    def __init__(self) -> None:
        self.fragments: list[str] = []
        self._last = ""
        self._growing = True
        self._count = 0
        self._third = ""

    def add(self, fragment: str, path: str) -> None:
        if not fragment:
            return
        self.fragments.append(fragment)
        self._count += 1
        self._growing = self._growing and len(fragment) > len(self._last) and fragment.startswith(self._last)
        self._last = fragment
        if self._count == _SNAPSHOTS:
            self._third = path

    @property
    def snapshot_at(self) -> str:
        """Where the third snapshot was, or ``""`` when these are no snapshots."""
        return self._third if self._growing else ""

    def join(self) -> str:
        if len(self.fragments) > 1:
            self.fragments = ["".join(self.fragments)]
        return self.fragments[0] if self.fragments else ""


class Run:
    """An uninterrupted run of text, reasoning or refusal."""

    __slots__ = ("kind", "opaque", "pieces", "spelling")

    def __init__(self, kind: RunKind, spelling: str = "", opaque: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.spelling = spelling
        self.opaque = opaque
        self.pieces = Pieces()

    def takes(self, kind: RunKind, spelling: str, opaque: dict[str, Any] | None) -> bool:
        """True when more of this belongs to this run."""
        return self.kind == kind and self.spelling == spelling and self.opaque is None and opaque is None

    def build(self, opaque: dict[str, Any] | None) -> Part:
        text, slot = self.pieces.join(), _slot(opaque or self.opaque)
        if self.kind == "text":
            return Text(text, slot)
        if self.kind == "refusal":
            return Refusal(text, slot)
        return Reasoning(text, self.spelling, slot)


class Call:
    """One tool call, stitched from its deltas.

    A second name piece that equals the name so far is a repetition; any other one is appended, as
    clients that concatenate do.
    """

    __slots__ = ("_arguments", "_arguments_at", "_arguments_seen", "_at", "_deltas", "_legacy", "_name",
                 "_name_at", "_name_size", "_opaque", "_type", "id", "index")  # fmt: skip

    def __init__(self, at: str, index: int | None, *, legacy: bool = False) -> None:
        self.index = index
        self.id = ""
        self._at = at
        self._name_at = ""
        self._arguments_at = ""
        self._legacy = legacy
        self._name: list[str] = []
        self._name_size = 0
        self._arguments = Pieces()
        self._arguments_seen = False
        self._opaque: dict[str, Any] = {}
        self._type = ""
        self._deltas = 0

    def absorb(self, entry: dict[str, Any], at: str, call_id: str, note: Note) -> None:
        """Take one delta of this call; ``call_id`` is its id, ``""`` for none."""
        first, self._deltas = self._deltas == 0, self._deltas + 1
        if call_id and call_id == self.id:
            note("repeated-id", f"{at}/id", call_id)
        elif call_id:
            self.id = call_id
            if not first:
                note("id-late", f"{at}/id", call_id)
        self._take_type(entry, at, note, first=first)
        for key, value in entry.items():
            if key not in _CALL_KEYS and value is not None:
                self._opaque[key] = value
        custom, function = entry.get("custom"), entry.get("function")
        if isinstance(custom, dict) and (self._type == "custom" or not isinstance(function, dict)):
            # Beside a function it is an empty stub (Snowflake).
            self.take(custom, f"{at}/custom", note, arguments_key="input")
        elif isinstance(function, dict):
            self.take(function, f"{at}/function", note)
        else:
            note("missing-function", f"{at}/function")

    def take(self, function: dict[str, Any], at: str, note: Note, arguments_key: str = "arguments") -> None:
        """Take what names the function and its arguments."""
        self._name_at = self._name_at or f"{at}/name"
        self._arguments_at = self._arguments_at or f"{at}/{arguments_key}"
        name = function.get("name")
        if isinstance(name, str):
            self._take_name(name, f"{at}/name", note)
        elif name is not None:
            note("name-not-string", f"{at}/name", compact(name))
        if arguments_key not in function:
            return
        self._arguments_seen = True
        path, arguments = f"{at}/{arguments_key}", function[arguments_key]
        if isinstance(arguments, str):
            self._arguments.add(arguments, path)
        elif arguments is None:
            note("arguments-null", path)
        else:
            fact: FactName = "arguments-object" if isinstance(arguments, dict) else "arguments-not-string"
            note(fact, path, type(arguments).__name__)
            self._arguments.add(compact(arguments), path)

    def _take_type(self, entry: dict[str, Any], at: str, note: Note, *, first: bool) -> None:
        kind = entry.get("type")
        if "type" in entry and kind is None:
            note("type-null", f"{at}/type")
        elif not kind:
            if first:
                note("missing-type", f"{at}/type")
        elif kind in ("function", "custom"):
            self._type = kind
        else:
            note("type-unknown", f"{at}/type", kind if isinstance(kind, str) else compact(kind))

    def _take_name(self, name: str, path: str, note: Note) -> None:
        if not name:
            return
        if not self._name:
            if self._arguments.fragments:
                note("name-late", path, name)
        elif len(name) == self._name_size and name == "".join(self._name):
            note("repeated-name", path, name)
            return
        else:
            note("name-in-pieces", path, name)
        self._name.append(name)
        self._name_size += len(name)

    def build(self, note: Note) -> ToolCall:
        """The call so far; states what is missing from it."""
        name, opaque = "".join(self._name), dict(self._opaque)
        if self._legacy:
            opaque["function_call"] = True
        elif not self.id:
            note("missing-id", f"{self._at}/id")
        if self._type == "custom":
            opaque["type"] = "custom"
        if not name:
            note("missing-name", self._name_at or f"{self._at}/function/name")
        if not self._arguments_seen:
            note("missing-arguments", self._arguments_at or f"{self._at}/function/arguments")
        if self._arguments.snapshot_at:
            note("snapshot-like", self._arguments.snapshot_at)
        return ToolCall(self.id, name, self._arguments.join(), _slot(opaque))


class Details:
    """OpenRouter's ``reasoning_details``: items in order, the text of streamed ones put together again.

    Pieces belong together when index *and* type agree: text and encrypted items share an index
    (pydantic-ai, ``models/openrouter.py``). Encrypted items are never merged.
    """

    __slots__ = ("_items", "_open")

    _TEXTS = ("text", "summary")

    def __init__(self) -> None:
        self._items: list[tuple[dict[str, Any], dict[str, list[str]]]] = []
        self._open: dict[tuple[str, str], int] = {}

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, item: dict[str, Any], *, whole: bool) -> str:
        """Take an item; returns the readable text in it."""
        texts = {key: item[key] for key in self._TEXTS if isinstance(item.get(key), str)}
        key = (compact(item.get("index")), compact(item.get("type")))
        known = None if whole or not texts else self._open.get(key)
        if known is None:
            if texts:
                self._open[key] = len(self._items)
            self._items.append((dict(item), {k: [v] for k, v in texts.items()}))
        else:
            merged, pieces = self._items[known]
            merged.update({k: v for k, v in item.items() if k not in texts and v is not None})
            for field, text in texts.items():
                merged.setdefault(field, "")
                pieces.setdefault(field, []).append(text)
        return "".join(texts.values())

    def json(self) -> list[dict[str, Any]]:
        return [item | {k: "".join(v) for k, v in pieces.items()} for item, pieces in self._items]

"""A call whose arguments come in pieces: ``partialArgs``, each a value at a path.

Only where ``streamFunctionCallArguments`` was asked for (Vertex AI; google-genai 3.6.1,
``types.PartialArg``). The first piece names the call; ``willContinue`` says that more pieces follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from conformance.types import ToolCall
from conformance.wires.arguments import text_of
from conformance.wires.gemini_names import members
from conformance.wires.gemini_parts import Note, slot

_MAX_STEPS = 64
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class _String:
    """A string while it grows."""

    __slots__ = ("pieces",)

    def __init__(self) -> None:
        self.pieces: list[str] = []


class PartialCall:
    """One call while its pieces come: the first at ``at``, the call ``position``-th of its candidate."""

    def __init__(self, at: str, position: int) -> None:
        self.at = at
        self.position = position
        self.open = True
        self._id = ""
        self._name = ""
        self._opaque: dict[str, Any] = {}
        self._root: dict[str, Any] = {}
        self._strings: dict[str, _String] = {}

    def absorb(self, call: Mapping[str, Any], rest: Mapping[str, Any], at: str, note: Note) -> None:
        """Take a piece: a ``functionCall`` and what stands beside it in its part."""
        name, given, args, pieces = (call.get(key) for key in ("name", "id", "args", "partialArgs"))
        self._name = self._name or (name if isinstance(name, str) else "")
        self._id = self._id or (given if isinstance(given, str) else "")
        self._opaque.update(rest)
        if isinstance(args, dict):
            self._root.update(args)
        for i, piece in enumerate(pieces if isinstance(pieces, list) else ()):
            where = f"{at}/partialArgs/{i}"
            if not (isinstance(piece, dict) and self._take(members(piece))):
                note("partial-path", where)
        self.open = call.get("willContinue") is True

    def build(self, identify: Callable[..., str]) -> ToolCall:
        """The call so far."""
        arguments = text_of(_plain(self._root))
        return ToolCall(
            identify(self._id, self._name, arguments), self._name, arguments, slot(dict(self._opaque))
        )

    def _take(self, piece: dict[str, Any]) -> bool:
        path = piece.get("jsonPath")
        key = next((key for key in _VALUES if key in piece), None)
        if not isinstance(path, str):
            return False
        value = None if key is None or key == "nullValue" else piece[key]
        if key != "stringValue":
            return key is not None and self._place(path, value)
        if not isinstance(value, str):
            return False
        string = self._strings.get(path)
        if string is None:
            string = self._strings[path] = _String()
            if not self._place(path, string):
                del self._strings[path]
                return False
        string.pieces.append(value)
        return True

    def _place(self, path: str, value: Any) -> bool:
        steps = _steps(path)
        if not steps:
            return False
        node: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            fresh: Any = value if following is None else {} if isinstance(following, str) else []
            if isinstance(step, str) and isinstance(node, dict):
                if following is None or step not in node:
                    node[step] = fresh
            elif isinstance(step, int) and isinstance(node, list) and step <= len(node):
                if step == len(node):
                    node.append(fresh)
                elif following is None:
                    node[step] = fresh
            else:
                return False
            node = node[step]
        return True


def _steps(path: str) -> list[str | int]:
    """The steps of a JSON Path (RFC 9535) that has names and indexes only; ``[]`` for any other."""
    if not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) == _MAX_STEPS:
            return []
        name, index, single, double = found.groups()
        quoted = single if single is not None else double
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if name is not None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        at = found.end()
    return steps


def _plain(value: Any) -> Any:
    if isinstance(value, _String):
        return "".join(value.pieces)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value

"""Events of one shape, told once: what makes judging a long stream cheap.

Most events of a stream differ from the one before only in a piece of text. Such a run is *folded*: its
first `KEPT` events and its last one are read as JSON and seen by rules, the others only give their
texts. A rule that holds for an event holds for every event of the same shape, and one that does not is
told as often as it would be told anyway; rules about the whole text see the whole text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.transport import sse

KEPT = 4
"""More than the findings of a rule that are told one by one, so that folding hides none of them."""

Path = tuple[str | int, ...]

_TEXT = re.compile(
    r'("(?:content|arguments|reasoning_content|reasoning|refusal|obfuscation)": ?")'
    r'((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))+)"'
)
"""A member that holds a non-empty text, spelt as JSON allows; anything else stays part of the shape."""

_MESSAGE_TEXTS = frozenset({"content", "reasoning_content", "reasoning", "refusal"})


@dataclass(frozen=True, slots=True)
class Fold:
    """The events after a kept one that were folded into it.

    ``events`` are their numbers, ``texts`` what each says at each of ``paths`` (from the event's data).
    """

    paths: tuple[Path, ...]
    events: tuple[int, ...]
    texts: tuple[tuple[str, ...], ...]


def fold(events: Sequence[sse.Event]) -> Mapping[int, Fold]:
    """What can be folded, by the number of the kept event it follows."""
    folds: dict[int, Fold] = {}
    for first, shape, said in _runs(events):
        if len(said) <= KEPT + 1:
            continue
        paths = _paths(shape)
        if paths is None:
            continue
        texts = tuple(tuple(map(_unescape, texts)) for texts in said[KEPT:-1])
        numbers = tuple(range(first + KEPT, first + len(said) - 1))
        folds[first + KEPT - 1] = Fold(paths, numbers, texts)
    return folds


def _runs(events: Sequence[sse.Event]) -> Iterator[tuple[int, list[str], list[list[str]]]]:
    """First event, shape and the texts of each event, of every run of events of one shape."""
    first, name = 0, None
    shape: list[str] = []
    said: list[list[str]] = []
    for event in events:
        parts = _TEXT.split(event.data)
        texts = parts[2::3]
        del parts[2::3]
        if parts != shape or event.name != name or event.data_lines != 1:
            if said:
                yield first, shape, said
            first, shape, name, said = event.number, parts, event.name, []
        said.append(texts)
    if said:
        yield first, shape, said


def _paths(shape: list[str]) -> tuple[Path, ...] | None:
    """Where the texts of a shape stand, or ``None`` where they are not all parts of a message."""
    texts = len(shape) // 2
    pieces = [*(f'{shape[2 * n]}{shape[2 * n + 1]}\\u0000{n}"' for n in range(texts)), shape[-1]]
    try:
        value = json.loads("".join(pieces))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or '"logprobs":{' in "".join(pieces).replace(" ", ""):
        return None
    found = {text: path for text, path in _texts(value, ()) if text.startswith("\0")}
    paths = tuple(found.get(f"\0{n}", ()) for n in range(texts))
    return paths if all(map(_is_message_text, paths)) else None


def _is_message_text(path: Path) -> bool:
    match path:
        case ("obfuscation",):
            return True
        case ("choices", int(), "delta", str(name)):
            return name in _MESSAGE_TEXTS
        case ("choices", int(), "delta", "tool_calls", int(), "function", "arguments"):
            return True
    return False


def _texts(value: Any, path: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _texts(member, (*path, name))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _texts(member, (*path, place))


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    unescaped: str = json.loads(f'"{text}"')
    return unescaped

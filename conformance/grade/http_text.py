"""HTTP messages as text: a first line, header lines, a blank line, a body (RFC 9112, section 2.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LINE_END = re.compile(r"\r?\n")
_MAX_HEAD = 256 * 1024


@dataclass(frozen=True, slots=True)
class Message:
    """One message; ``first`` is its request or status line."""

    first: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of that name (in lower case), or an empty text."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def message(text: bytes) -> Message | None:
    """The message that ``text`` is, its body still in whatever coding; ``None`` where its head has no end."""
    end = _HEAD_END.search(text, 0, _MAX_HEAD)
    if end is None:
        return None
    first, *lines = _LINE_END.split(text[: end.start()].decode("latin-1"))
    fields = [line.partition(":") for line in lines]
    headers = tuple((name.strip(), value.strip()) for name, colon, value in fields if colon)
    return Message(first, headers, text[end.end() :])

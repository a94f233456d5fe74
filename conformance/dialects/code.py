"""Code in Markdown, as far as quoted markup needs it: fences and spans in backticks.

Every function looks at a bounded stretch, and answers ``None`` where more text could change the answer.
"""

from __future__ import annotations

import re

MAX_SPAN = 1000
"""Longest code span, in characters; a longer one is no code."""

MAX_INFO = 200
"""Longest info string behind an opening fence, in characters."""

_RUN = re.compile(r"`+|\n")
_BLANKS = re.compile(r"[ \t]*+")
_INFO = re.compile(rf"[^\n`]{{0,{MAX_INFO}}}+\n")
_SPACE = re.compile(r"\s*+")

Fence = tuple[str, int]
"""The character of a fence and how often it stands there."""


def opens_fence(text: str, run: str, end: int, *, final: bool) -> bool | None:
    """Whether a run of three or more at the beginning of a line, ending at ``end``, opens a fence."""
    newline = text.find("\n", end, end + MAX_INFO)
    if newline < 0:
        if len(text) - end >= MAX_INFO:
            return False
        if not final:
            return None
        newline = len(text)
    return run[0] == "~" or "`" not in text[end:newline]


def closes_fence(text: str, run: str, end: int, fence: Fence, *, final: bool) -> bool | None:
    """Whether a run at the beginning of a line closes the fence: long enough, and nothing behind it."""
    char, size = fence
    if run[0] != char or len(run) < size:
        return False
    blanks = _BLANKS.match(text, end)
    after = blanks.end() if blanks else end
    if after == len(text):
        return True if final else None
    return text[after] in "\r\n"


def span_end(text: str, end: int, size: int, *, final: bool) -> int | None:
    """Where the code span ends that a run of ``size`` backticks opened; ``-1`` where it opened none."""
    limit = min(len(text), end + MAX_SPAN)
    for match in _RUN.finditer(text, end, limit):
        if match.group() == "\n":
            return -1
        if len(match.group()) == size:
            return None if match.end() == len(text) and not final else match.end()
    return None if limit == len(text) and len(text) - end < MAX_SPAN and not final else -1


def body_start(text: str, run: str, end: int) -> int | None:
    """Where the text inside the code begins that a run opens: behind the info string and white space."""
    if len(run) >= 3:
        info = _INFO.match(text, end)
        if not info:
            return None if "\n" not in text[end : end + MAX_INFO] and len(text) - end < MAX_INFO else -1
        end = info.end()
    space = _SPACE.match(text, end)
    after = space.end() if space else end
    return None if after == len(text) else after


def body_of_whole(text: str, run: str, start: int) -> str | None:
    """What is inside from ``start`` on, when the code ends where the text does."""
    end = len(text.rstrip())
    close = end - len(run)
    if close < start or text[close:end] != run or text[close - 1] == run[0]:
        return None
    return text[start:close]

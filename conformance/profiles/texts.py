"""What the visible text of an answer really holds: calls that no parser took out, reasoning in tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from conformance.dialects import DIALECTS, leaked
from conformance.types import Part, Reasoning, Text, Tool, ToolCall

_THINK = re.compile(r"\s*<(think|thinking|reasoning|thought)>", re.IGNORECASE)
_HARMONY = ("analysis", "assistantfinal")
_CHANNEL = "<|channel|>"
_REAL = str.maketrans({"｜": "|", "▁": "_"})
_MORE_MARKS = ("functions.", "to=functions.", "Action:", "Action Input:", "analysis")
_TAGS = ("<think", "<reasoning", "<thought")
Suspicion = Literal["none", "perhaps", "surely"]


def thought(text: str) -> tuple[Part, ...] | None:
    """Reasoning in tags at the head of a text; to the end of it where the tag is never closed."""
    opening = _THINK.match(text)
    if opening is None:
        return None
    close = re.compile(rf"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
    inner = text[opening.end() : close.start() if close else len(text)].strip()
    rest = text[close.end() :].lstrip() if close else ""
    found: list[Part] = [Reasoning(inner)] if inner else []
    return (*found, *([Text(rest)] if rest else []))


def harmony(text: str) -> tuple[Part, ...] | None:
    """The channels of gpt-oss, with their tokens or with these stripped."""
    if _CHANNEL in text:
        pieces = DIALECTS["harmony"].parse(text).pieces
        parts = tuple(p for p in pieces if isinstance(p, Text | Reasoning))
        return parts if parts and parts != (Text(text),) else None
    begin, final = _HARMONY
    at = text.find(final, len(begin))
    if not text.startswith(begin) or at < 0:
        return None
    inner, rest = text[len(begin) : at].strip(), text[at + len(final) :].lstrip()
    return (*((Reasoning(inner),) if inner else ()), *((Text(rest),) if rest else ()))


def with_calls(text: str, tools: Sequence[Tool]) -> tuple[Part, ...] | None:
    """Calls of the offered tools that stand in the text as markup; their ids are yet to be minted."""
    leaks = leaked(text, tools)
    if not leaks:
        return None
    parts: list[Part] = []
    at = 0
    dialects = {leak.dialect for leak in leaks}
    for leak in leaks:
        parts += _shown(text[at : leak.start], dialects)
        parts.append(ToolCall("", leak.name, leak.arguments))
        at = leak.end
    return (*parts, *_shown(text[at:], dialects))


def with_calls_in(
    found: tuple[Part, ...] | None, text: str, tools: Sequence[Tool]
) -> tuple[Part, ...] | None:
    """The parts found so far (``None``: the text alone), with the calls that stand in their texts."""
    out: list[Part] = []
    changed = found is not None
    for part in (Text(text),) if found is None else found:
        inner = with_calls(part.text, tools) if isinstance(part, Text) else None
        changed = changed or inner is not None
        out += (part,) if inner is None else inner
    return tuple(out) if changed else None


def _shown(text: str, dialects: set[str]) -> list[Part]:
    """The text between calls, without the markup that belongs to them."""
    for mark in _marks_of(frozenset(dialects)):
        text = text.replace(mark, "")
    return [Text(text)] if text.strip() else []


@cache
def _marks_of(dialects: frozenset[str]) -> tuple[str, ...]:
    marks: set[str] = set()
    for name in dialects:
        own = DIALECTS[name].markers
        literals = {m for m in own.open if isinstance(m, str)} | {*own.close, *own.stop, *own.swallow}
        marks |= {m for m in literals if m.startswith(("<", "["))}
    marks |= {mark.translate(_REAL) for mark in marks}
    return tuple(sorted(marks, key=lambda mark: (-len(mark), mark)))


@cache
def _marks(*, tools: bool, think: bool) -> tuple[str, ...]:
    marks = {*(_TAGS if think else ()), *(_HARMONY[:1] if think else ()), *((_CHANNEL,) if think else ())}
    if tools:
        for dialect in DIALECTS.values():
            own = dialect.markers
            marks |= {m for m in (*own.open, *own.lines) if isinstance(m, str)}
        marks |= {mark.translate(_REAL) for mark in marks}
        marks |= {*_MORE_MARKS, "<function", "<invoke", "[TOOL_CALLS]"}
    return tuple(sorted(marks))


@cache
def _any_of(*, tools: bool, think: bool) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _marks(tools=tools, think=think))), re.IGNORECASE)


@cache
def longest(*, tools: bool, think: bool) -> int:
    """The length of the longest mark, in characters."""
    return max((len(mark) for mark in _marks(tools=tools, think=think)), default=0)


def suspicion(text: str, *, begins: bool, tools: bool, think: bool) -> Suspicion:
    """Whether a stretch of text (the whole of it, where it ``begins`` there) holds markup, or may begin
    to.
    """
    if not (tools or think):
        return "none"
    if tools and begins and text.lstrip()[:1] in ("{", "["):
        return "surely"  # JSON is all that formats without markers have
    if _any_of(tools=tools, think=think).search(text):
        return "surely"
    if begins and not text.strip():
        return "perhaps"
    lowered = text.lower()
    for mark in _marks(tools=tools, think=think):
        low = mark.lower()
        if any(lowered.endswith(low[:size]) for size in range(1, len(low))):
            return "perhaps"
    return "none"

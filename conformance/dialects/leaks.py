"""Calls that a server's parser left in the visible content: which dialect, which call.

Stricter than a parser, as a false alarm accuses somebody: only whole calls of offered tools count, nothing
in code, quotation marks or block quotes, and formats without markers only where they are the whole
message. More lenient in one point: special tokens that were stripped or came as ASCII look-alikes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.dialects.calls import HERMES, NAME, Decoded, calls_of, decode
from conformance.dialects.dialect import Dialect
from conformance.dialects.incremental import Parser
from conformance.dialects.parsed import Call, Parsed
from conformance.types import Tool

MAX_LEAKS = 20
"""How many leaks of one text are told."""

_EXCERPT = 80
_MAX_VAIN = 50
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ASCII_TOKEN = re.compile(r"<\|(?:tool_(?:calls?|outputs?)_(?:begin|end)|tool_sep)\|>|</?\|DSML\|")
_TO_REAL = str.maketrans({"|": "｜", "_": "▁"})
_STRIPPED = (
    (
        "harmony",
        re.compile(rf"\bto=functions\.({NAME})\s*+(?:<\|constrain\|>)?\s*+(?:json|code)?\s*+(?=\{{)"),
    ),
    ("kimi-k2", re.compile(r"(?<![\w.])functions\.([\w.-]{1,256}):\d+\s*+(?=\{)")),
)
_WHOLE = ("llama3-json", "json-action", "pythonic")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“"}


@dataclass(frozen=True, slots=True)
class Leak:
    """A call that stands in a text as markup. ``start`` and ``end``: where, in characters."""

    dialect: str
    name: str
    arguments: str
    start: int
    end: int
    excerpt: str


def find(text: str, tools: Sequence[Tool], dialects: Sequence[Dialect]) -> tuple[Leak, ...]:
    """The calls of offered tools that ``text`` holds as markup of one of the dialects, in their order."""
    offered = {tool.name for tool in tools}
    leaks: list[Leak] = []
    for name, calls in _candidates(text, tools, offered, dialects) if tools else ():
        taken = [(leak.start, leak.end) for leak in leaks]
        for call in calls:
            apart = all(call.end <= start or end <= call.start for start, end in taken)
            if apart and len(leaks) < MAX_LEAKS and not _is_quoted(text, call.start, call.end):
                excerpt = text[call.start : min(call.end, call.start + _EXCERPT)]
                leaks.append(Leak(name, call.name, call.arguments, call.start, call.end, excerpt))
    return tuple(sorted(leaks, key=lambda leak: leak.start))


def _candidates(
    text: str, tools: Sequence[Tool], offered: set[str], dialects: Sequence[Dialect]
) -> Iterator[tuple[str, Sequence[Call]]]:
    """Calls by dialect; stretches that an earlier one claims are not a later one's."""
    real = _ASCII_TOKEN.sub(lambda m: m.group().translate(_TO_REAL), text)
    for dialect in dialects:
        if dialect.name == "react":
            if "Action" in text or "<action>" in text:
                yield dialect.name, _steps(dialect, text, tools, offered)
            continue
        literals = [m for m in dialect.markers.open if isinstance(m, str)]
        for spelling in dict.fromkeys((text, real)):
            if any(literal in spelling for literal in literals):
                calls = [call for call in _read(dialect, spelling, tools).calls if call.name in offered]
                own = [call for call in calls[:MAX_LEAKS] if _is_own(dialect, spelling, call, tools)]
                yield dialect.name, own
        if dialect.name in _WHOLE:
            yield dialect.name, _whole(dialect, text, tools, offered)
    yield from _stripped(text, offered)
    yield "mistral-json", _bare_array(text, offered)


def _read(dialect: Dialect, text: str, tools: Sequence[Tool]) -> Parsed:
    """Read a text in which code is code even where it is the whole message."""
    parser = Parser(dialect, tools, _inside_code=True)
    parser.feed(text)
    return parser.finish()


def _is_own(dialect: Dialect, text: str, call: Call, tools: Sequence[Tool]) -> bool:
    """Whether the call is in the dialect's own spelling, not in that of a family with the same tag."""
    again = _read(dialect, text[call.start : call.end], tools)
    return "ambiguous" not in again.flags and any(found.name == call.name for found in again.calls)


def _whole(dialect: Dialect, text: str, tools: Sequence[Tool], offered: set[str]) -> tuple[Call, ...]:
    """The calls of a format without markers, where they are all there is."""
    if text.lstrip()[:1] not in ("{", "["):
        return ()
    parsed = _read(dialect, text, tools)
    alone = parsed.content is None and not parsed.flags - {"unknown-tool"}
    return parsed.calls if alone and all(call.name in offered for call in parsed.calls) else ()


def _steps(dialect: Dialect, text: str, tools: Sequence[Tool], offered: set[str]) -> tuple[Call, ...]:
    """ReAct's actions, where their input is JSON."""
    parsed = _read(dialect, text, tools)
    if parsed.flags & {"malformed", "repaired"}:
        return ()
    return tuple(c for c in parsed.calls if c.name in offered and "{" in text[c.start : c.end])


def _stripped(text: str, offered: set[str]) -> Iterator[tuple[str, Sequence[Call]]]:
    """Calls whose special tokens a server stripped, where what remains is still unmistakable."""
    plain = _CODE.sub(lambda m: " " * len(m.group()), text)
    vain = 0
    for name, pattern in _STRIPPED:
        for head in pattern.finditer(plain):
            if head.group(1) not in offered or vain > _MAX_VAIN:
                continue
            got = decode(text, head.end(), final=True)
            if isinstance(got, Decoded) and not got.repaired:
                raw = text[head.end() : got.end]
                yield name, (Call(head.group(1), raw, got.value, None, head.start(), got.end),)
            else:
                vain += 1


def _bare_array(text: str, offered: set[str]) -> tuple[Call, ...]:
    """Mistral's array without its token, where it is all there is."""
    start = len(text) - len(text.lstrip())
    if not text.startswith("[", start):
        return ()
    got = decode(text, start, final=True)
    if not isinstance(got, Decoded) or got.repaired or text[got.end :].strip():
        return ()
    keyed = isinstance(got.value, list) and all(isinstance(v, dict) and "arguments" in v for v in got.value)
    read = calls_of(text, got, start, HERMES, lists=True) if keyed else None
    if read is None or read[1] or not all(call.name in offered for call in read[0]):
        return ()
    return read[0]


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a stretch stands in quotation marks, or on a line of a block quote."""
    before = text[start - 1 : start]
    if before in _QUOTES and text[end : end + 1] == _QUOTES[before]:
        return True
    line = text[text.rfind("\n", max(0, start - 200), start) + 1 : start]
    return line.lstrip().startswith(">")

"""The seam between a dialect's grammar and the machine that feeds it text.

A grammar says which *markers* may begin a region, and reads the region that begins at one. The machine
(``incremental``) does what every dialect needs: code, reasoning, held-back prefixes, white space, budgets.

A region must be read *monotonically*: what it says of a text it says of every longer text that begins
with it. Where more text could change the answer it says ``WAIT``; with ``context.final`` there is no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from conformance.dialects.parsed import Call, Flag
from conformance.types import Text, Tool

_LONGEST_PATTERN = 320

NO_FLAGS: frozenset[Flag] = frozenset()
THINK = (("<think>", "</think>"), ("<thinking>", "</thinking>"))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A marker that is no fixed string: what it is, and what its beginnings look like at a text's end."""

    whole: str
    partial: str


@dataclass(frozen=True)
class Markers:
    """Everything in a text that is not simply text.

    ``open`` begins a region anywhere, ``lines`` only at the beginning of a line, ``first`` only where the
    content begins. ``close`` ends regions, and is odd outside of one. ``stop`` ends the text and is
    dropped there; ``swallow`` is dropped everywhere. ``think`` encloses reasoning. ``fences``: the
    dialect's own markup lies in fenced code.
    """

    open: tuple[str | Pattern, ...] = ()
    lines: tuple[str | Pattern, ...] = ()
    first: tuple[str | Pattern, ...] = ()
    close: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    swallow: tuple[str, ...] = ()
    think: tuple[tuple[str, str], ...] = THINK
    fences: bool = False

    @cached_property
    def token(self) -> re.Pattern[str]:
        """The next marker or run of backticks; the group's name says which kind it is."""
        return self._tokens(self.first)

    @cached_property
    def later_token(self) -> re.Pattern[str]:
        """The same, where the content has begun."""
        return self._tokens(())

    def _tokens(self, first: tuple[str | Pattern, ...]) -> re.Pattern[str]:
        groups = [
            ("open", [_whole(m) for m in self.open]),
            ("lines", [_whole(m) for m in self.lines]),
            ("first", [_whole(m) for m in first]),
            ("close", [re.escape(m) for m in self.close]),
            ("stop", [re.escape(m) for m in self.stop]),
            ("swallow", [re.escape(m) for m in self.swallow]),
            ("think", [re.escape(opening) for opening, _ in self.think]),
            ("unthink", [re.escape(closing) for _, closing in self.think]),
            ("ticks", ["`++", "~++"]),
        ]
        return re.compile("|".join(f"(?P<{n}>{'|'.join(patterns)})" for n, patterns in groups if patterns))

    def next(self, text: str, at: int, *, begun: bool) -> re.Match[str] | None:
        """The next token; one that surely stands inside a line is none of ``lines``."""
        tokens = self.later_token if begun else self.token
        token = tokens.search(text, at)
        while token and token.lastgroup == "lines" and _inside_line(text, at, token.start()):
            token = tokens.search(text, token.start() + 1)
        return token

    @cached_property
    def hold(self) -> re.Pattern[str]:
        """What at the end of a text may become a marker with more text."""
        partials = [_partial(m) for m in self._all]
        return re.compile(f"(?:{'|'.join(sorted(set(partials)))})\\Z")

    @cached_property
    def window(self) -> int:
        """In how many characters at the end of a text an unfinished marker can begin."""
        return max(_LONGEST_PATTERN if isinstance(m, Pattern) else len(m) for m in self._all)

    @property
    def _all(self) -> tuple[str | Pattern, ...]:
        texts = (*self.close, *self.stop, *self.swallow, *(m for pair in self.think for m in pair))
        return (*self.open, *self.lines, *self.first, *texts)

    def held(self, text: str, since: int) -> int:
        """Where at the end of ``text`` an unfinished marker begins; its length where there is none."""
        match = self.hold.search(text, max(since, len(text) - self.window))
        return match.start() if match else len(text)


def _inside_line(text: str, since: int, at: int) -> bool:
    before = text[max(since, at - 16) : at].rstrip(" \t")
    return text[at] not in "`~" and bool(before) and not before[-1].isspace()


@lru_cache(maxsize=64)
def any_of(literals: tuple[str, ...]) -> re.Pattern[str]:
    """A regular expression for each of the literals."""
    return re.compile("|".join(re.escape(literal) for literal in literals))


def _whole(marker: str | Pattern) -> str:
    return marker.whole if isinstance(marker, Pattern) else re.escape(marker)


def _partial(marker: str | Pattern) -> str:
    return marker.partial if isinstance(marker, Pattern) else beginning(marker)


def beginning(literal: str) -> str:
    """A regular expression for every proper, non-empty beginning of a literal, and the longest first."""
    pattern = ""
    for char in reversed(literal[1:-1]):
        pattern = f"(?:{re.escape(char)}{pattern})?"
    return re.escape(literal[0]) + pattern


def may_become(text: str, at: int, literals: Iterable[str]) -> bool:
    """True when ``text`` ends inside one of the literals, begun at ``at``."""
    rest = text[at : at + 64]
    return at + len(rest) == len(text) and any(len(rest) < len(m) and m.startswith(rest) for m in literals)


Rest = Literal["text", "verbatim", "dropped"]
"""What becomes of the text after a region: read on; content whatever it holds; nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """A region that was understood: its pieces, and where it ends.

    With ``rest`` *verbatim* a further marker sets the flag ``alarm``.
    """

    end: int
    pieces: tuple[Call | Text, ...] = ()
    flags: frozenset[Flag] = NO_FLAGS
    rest: Rest = "text"
    alarm: Flag = "malformed"


@dataclass(frozen=True, slots=True)
class Missed:
    """No region: everything up to ``resume`` is content. ``looked``: how far the text was read to say so.

    ``resume`` at the marker itself means: not mine at all, read it as any text.
    """

    resume: int
    flags: frozenset[Flag] = NO_FLAGS
    looked: int = 0
    rest: Rest = "text"


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning begins at ``end``; it lasts to one of ``closing`` (dropped) or ``before`` (read on there)."""

    end: int
    spelling: str
    closing: tuple[str, ...]
    before: tuple[str, ...] = ()
    must_close: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """More text could change the answer."""


WAIT = Wait()
Outcome: TypeAlias = Found | Missed | Think | Wait


@dataclass(frozen=True, slots=True)
class Context:
    """What a region may know beside its text."""

    final: bool
    tools: Mapping[str, Tool] = field(default_factory=dict)
    calls: int = 0
    said: bool = False

    def schema(self, name: str) -> object:
        """The parameters of a tool, ``None`` where it is not known."""
        tool = self.tools.get(name)
        return tool.parameters if tool else None


Region: TypeAlias = Callable[[str, int, Context], Outcome]


def flags(*names: Flag) -> frozenset[Flag]:
    """A set of flags."""
    return frozenset(names)

"""The machine that reads a text piece by piece, for every dialect.

Laws: any split of the text gives the same result; what is emitted is never taken back; no beginning of a
marker is emitted before it is known to be none; time and memory are linear in the text.

A region is read from its beginning again whenever more text has come, which alone would be quadratic; so
reading again is paid from a budget that grows with the text. Within it, calls appear as soon as they are
complete; beyond it they appear a little later, and the result is the same.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Protocol

from conformance.dialects import code
from conformance.dialects.grammar import (
    Context,
    Found,
    Markers,
    Missed,
    Outcome,
    Rest,
    Think,
    Wait,
    any_of,
)
from conformance.dialects.growing import Event, Growing
from conformance.dialects.parsed import Call, Flag, Ids, Parsed, Piece
from conformance.types import Tool

_FREE_REREADING = 64 * 1024
_REREADING = 8
"""Characters that may be read again: so many at once, and so many per character of text."""

_MAX_WASTE = 256 * 1024
"""Characters that regions which turn out to be none may read in vain; after that the rest is content."""

_TICKS = re.compile(r"`++|~++")
_SPACE = re.compile(r"\s*+")
_HIGH = re.compile("[\ud800-\udbff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_Step = tuple[int, bool]
"""Where to read on, and whether that has to wait for more text."""


class Grammar(Protocol):
    """What the machine asks of a dialect."""

    @property
    def name(self) -> str: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def markers(self) -> Markers: ...
    def region(self, text: str, at: int, context: Context) -> Outcome:
        """Read the region that begins with the marker at ``at``."""

    def verdict(self, pieces: Sequence[Piece], found: frozenset[Flag]) -> frozenset[Flag]:
        """The flags of the whole text, from those found on the way."""


class Parser:
    """Reads a text as it comes: ``feed`` or ``feed_bytes``, then ``finish``.

    ``tools`` are those offered: they give raw values their types, and names that are not among them a flag.
    ``strict``: a call that needs repair is no call. ``thinking``: the prompt ended inside an open think
    block, so the text begins in reasoning. Never raises, whatever it is fed.
    """

    def __init__(
        self,
        grammar: Grammar,
        tools: Sequence[Tool] = (),
        *,
        strict: bool = False,
        thinking: bool = False,
        _inside_code: bool = False,
    ) -> None:
        self._grammar = grammar
        self._markers = grammar.markers
        self._offered = tuple(tools)
        self._tools = {tool.name: tool for tool in tools}
        self._strict = strict
        self._inside_code = _inside_code
        self._flags: set[Flag] = set()
        self._pieces = Growing()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._half = ""  # a high surrogate whose other half has not come
        self._pending: list[str] = []
        self._waiting = 0  # characters pending
        self._base = 0  # where in the whole text they begin
        self._fed = 0
        self._reread = 0
        self._waste = 0
        self._state: Rest | Literal["fence", "think"] = "text"
        self._line_blank = True  # nothing but blanks on this line so far
        self._last = ""  # the last character that is no white space
        self._held: int | None = None  # where at the end of the text a marker may be coming
        self._fence: code.Fence = ("`", 3)
        self._alarm: Flag = "malformed"
        self._think: Think | None = None
        if thinking:
            self._begin_thinking(Think(0, "<think>", tuple(closing for _, closing in self._markers.think)))

    def feed(self, text: str) -> tuple[Event, ...]:
        """Take more text; what is certain by now comes back."""
        text = self._half + text
        self._half = text[-1:] if _HIGH.match(text[-1:]) else ""
        text = text[: len(text) - len(self._half)]
        if _HIGH.search(text):
            text = _PAIR.sub(lambda m: m.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
        if text and self._state != "dropped":
            self._pending.append(text)
            self._waiting += len(text)
            self._fed += len(text)
            if self._reread + self._waiting <= _FREE_REREADING + _REREADING * self._fed:
                self._run(final=False)
                self._reread += self._waiting
        return self.events()

    def feed_bytes(self, data: bytes) -> tuple[Event, ...]:
        """Take more UTF-8, cut anywhere; what is none is read as U+FFFD."""
        return self.feed(self._decoder.decode(data))

    def finish(self) -> Parsed:
        """There is no more text: all of it, read. What had been held is among ``events()``."""
        self._pending += [self._decoder.decode(b"", final=True), self._half]
        self._half = ""
        self._run(final=True)
        if self._state == "think" and self._think is not None and self._think.must_close:
            self._flags.add("unclosed")
        self._pieces.flush()
        pieces = tuple(self._pieces.done)
        found = self._grammar.verdict(pieces, frozenset(self._flags))
        return Parsed(pieces, found, self._grammar.ids, self._grammar.name)

    def events(self) -> tuple[Event, ...]:
        """What became certain since this was last asked."""
        return self._pieces.take_events()

    # --------------------------------------------------------------------------------------- running

    def _run(self, *, final: bool) -> None:
        text = "".join(self._pending)
        self._held = None
        at, stuck = 0, False
        while at < len(text) and not stuck:
            if self._state == "text":
                at, stuck = self._read_text(text, at, final)
            elif self._state == "fence":
                at, stuck = self._read_fence(text, at, final)
            elif self._state == "think":
                at, stuck = self._read_reasoning(text, at, final)
            elif self._state == "verbatim":
                at, stuck = self._read_verbatim(text, at, final)
            else:
                at = len(text)
        self._base += at
        self._pending = [text[at:]]
        self._waiting = len(text) - at

    def _say(self, text: str) -> None:
        self._pieces.say(text)
        self._keep_line(text)

    def _keep_line(self, text: str) -> None:
        line = text[text.rfind("\n") + 1 :]
        blank = not line or line.isspace()
        self._line_blank = blank and (self._line_blank or len(line) < len(text))
        body = text.rstrip()
        if body:
            self._last = body[-1]

    def _certain(self, text: str, at: int, token: re.Match[str] | None, final: bool) -> _Step:
        """Up to where the text from ``at`` is just text, and whether what follows there waits for more.

        That is the next token, or the beginning of a marker that may be coming.
        """
        limit = token.start() if token else len(text)
        if final or limit < len(text) - self._markers.window:
            return limit, False
        if self._held is None or self._held < at:
            self._held = self._markers.held(text, at)
        held = self._held
        return (held, True) if held <= limit and held < len(text) else (limit, False)

    def _next(self, text: str, at: int, final: bool) -> re.Match[str] | _Step:
        """The token at ``at``; where none is known to be there, the text before the next one is said."""
        token = self._markers.next(text, at, begun=self._begun)
        start, waits = self._certain(text, at, token, final)
        if start > at:
            self._say(text[at:start])
            return start, waits
        return (at, True) if token is None or waits else token

    # ------------------------------------------------------------------------------------------ text

    def _read_text(self, text: str, at: int, final: bool) -> _Step:
        token = self._next(text, at, final)
        if isinstance(token, tuple):
            return token
        kind = token.lastgroup
        if kind == "open" or self._stands_right(kind):
            return self._read_region(text, at, final)
        if kind == "think" and self._line_blank:
            closing = next(end for begin, end in self._markers.think if begin == token.group())
            self._begin_thinking(Think(token.end(), token.group(), (closing,)))
            return token.end(), False
        if kind == "swallow":
            return self._after_markup(token.end()), False
        if kind == "stop" and (space := _SPACE.match(text, token.end())) and space.end() == len(text):
            return (len(text), False) if final else (at, True)
        if kind == "unthink" or (kind == "close" and self._last in ("}", "]")):
            self._flags.add("malformed")
        if kind in ("ticks", "lines"):
            return self._read_plainly(text, at, final)
        self._say(token.group() if kind != "first" else text[at])
        return at + (len(token.group()) if kind != "first" else 1), False

    def _stands_right(self, kind: str | None) -> bool:
        if kind == "lines":
            return self._line_blank
        return kind == "first" and not self._begun

    @property
    def _begun(self) -> bool:
        return self._pieces.said or self._pieces.calls > 0

    def _read_plainly(self, text: str, at: int, final: bool) -> _Step:
        """Read what looked like a marker and is none: as code, or as one character of text."""
        run = _TICKS.match(text, at)
        if run:
            return self._read_ticks(text, at, run.group(), final)
        self._say(text[at])
        return at + 1, False

    def _read_region(self, text: str, at: int, final: bool) -> _Step:
        if self._waste > _MAX_WASTE:
            self._flags.add("malformed")
            return self._read_plainly(text, at, final)
        context = Context(final, self._tools, self._pieces.calls, self._pieces.said)
        outcome = self._grammar.region(text, at, context)
        if isinstance(outcome, Wait):
            if not final:
                return at, True
            outcome = Missed(len(text), frozenset({"malformed"}))
        if isinstance(outcome, Think):
            self._begin_thinking(outcome)
            return outcome.end, False
        if isinstance(outcome, Missed):
            self._flags |= outcome.flags
            self._waste += max(0, outcome.looked - max(at, outcome.resume))
            if outcome.resume <= at:
                return self._read_plainly(text, at, final)
            self._say(text[at : outcome.resume])
            self._state = outcome.rest
            return outcome.resume, False
        if self._strict and "repaired" in outcome.flags:
            self._flags |= {"repaired", "malformed"}
            self._say(text[at : outcome.end])
            self._state = "text" if outcome.rest == "text" else "verbatim"
            return outcome.end, False
        self._take(outcome)
        return outcome.end, False

    def _take(self, found: Found, offset: int | None = None) -> None:
        self._flags |= found.flags
        self._pieces.flush()
        offset = self._base if offset is None else offset
        for piece in found.pieces:
            if isinstance(piece, Call):
                if self._tools and piece.name not in self._tools:
                    self._flags.add("unknown-tool")
                self._pieces.call(replace(piece, start=piece.start + offset, end=piece.end + offset))
            else:
                self._pieces.say(piece.text)
                self._pieces.flush()
        self._after_markup(0)
        self._alarm = found.alarm
        self._state = found.rest

    def _after_markup(self, end: int) -> int:
        self._pieces.flush()
        self._line_blank = True
        self._last = ""
        return end

    # ------------------------------------------------------------------------------------------ code

    def _read_ticks(self, text: str, at: int, run: str, final: bool) -> _Step:
        end = at + len(run)
        if end == len(text) and not final:
            return at, True
        whole = self._read_whole(text, at, run, final)
        if whole is not None:
            return whole
        if len(run) >= 3 and self._line_blank:
            opens = code.opens_fence(text, run, end, final=final)
            if opens is None:
                return at, True
            if opens:
                self._fence = (run[0], len(run))
                self._state = "fence"
                self._say(run)
                return end, False
        if run[0] == "`":
            close = code.span_end(text, end, len(run), final=final)
            if close is None:
                return at, True
            if close > 0:
                self._quote(text[end:close])
                self._say(text[at:close])
                return close, False
        self._say(run)
        return end, False

    def _read_whole(self, text: str, at: int, run: str, final: bool) -> _Step | None:
        """Read code that may be the whole message: calls in it are calls. ``None`` where it is none."""
        if self._begun or self._inside_code or self._markers.fences:
            return None
        start = code.body_start(text, run, at + len(run))
        if start is None:
            return None if final else (at, True)
        token = self._markers.token.match(text, start) if start > 0 else None
        if token is None or token.lastgroup not in ("open", "lines", "first"):
            unfinished = start > 0 and not final and self._markers.held(text, start) == start
            return (at, True) if unfinished else None
        if not final:
            return at, True
        body = code.body_of_whole(text, run, start)
        if body is None or self._strict:
            return None
        inner = Parser(self._grammar, self._offered, _inside_code=True)
        inner.feed(body)
        parsed = inner.finish()
        if not parsed.calls or parsed.content:
            return None
        self._take(Found(len(text), parsed.calls, parsed.flags | {"repaired"}), self._base + start)
        return len(text), False

    def _read_fence(self, text: str, at: int, final: bool) -> _Step:
        token = self._next(text, at, final)
        if isinstance(token, tuple):
            return token
        run = _TICKS.match(text, at)
        if run and self._line_blank:
            if run.end() == len(text) and not final:
                return at, True
            closes = code.closes_fence(text, run.group(), run.end(), self._fence, final=final)
            if closes is None:
                return at, True
            if closes:
                self._state = "text"
        elif token.lastgroup == "open" or self._stands_right(token.lastgroup):
            self._flags.add("quoted")
        end = run.end() if run else at + 1
        self._say(text[at:end])
        return end, False

    def _quote(self, text: str) -> None:
        """Flag markup in a text that is quoted."""
        if any(token.lastgroup == "open" for token in self._markers.token.finditer(text)):
            self._flags.add("quoted")

    # ------------------------------------------------------------------------------- reasoning, rest

    def _begin_thinking(self, think: Think) -> None:
        self._pieces.flush()
        self._think = think
        self._state = "think"

    def _read_reasoning(self, text: str, at: int, final: bool) -> _Step:
        think = self._think
        assert think is not None
        token = any_of(think.closing + think.before).search(text, at)
        start, waits = self._certain(text, at, token, final)
        if start > at:
            self._pieces.say(text[at:start], think.spelling)
            self._quote(text[at:start])
            return start, waits
        if token is None or waits:
            return at, True
        self._state = "text"
        return self._after_markup(token.end() if token.group() in think.closing else at), False

    def _read_verbatim(self, text: str, at: int, final: bool) -> _Step:
        token = self._next(text, at, final)
        if isinstance(token, tuple):
            return token
        if token.lastgroup == "open" or self._stands_right(token.lastgroup):
            self._flags.add(self._alarm)
        self._say(text[at])
        return at + 1, False

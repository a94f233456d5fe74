"""What a dialect is: a grammar that reads calls from text, and how tools, calls and results are written."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from conformance.dialects.conversation import to_text
from conformance.dialects.grammar import Context, Markers, Outcome
from conformance.dialects.incremental import Parser
from conformance.dialects.parsed import Flag, Ids, Parsed, Piece
from conformance.dialects.rendering import (
    Choice,
    Result,
    Sent,
    Written,
    chosen,
    escaped,
    lines_of,
    marks_of,
    paragraphs,
    visible,
)
from conformance.types import Loss, Request, Tool, ToolCall, Turn


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of an assistant's text: what it says, or a block of calls."""

    text: str
    calls: bool = False


class Dialect(ABC):
    """One text-level format. Frozen by convention: a dialect has no state."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What it looks like, in a line."""
    families: ClassVar[tuple[str, ...]]
    """Models that write it."""
    source: ClassVar[str]
    """Where it is specified or implemented."""
    results_as: ClassVar[str]
    """How results go back, in a line."""
    aliases: ClassVar[tuple[str, ...]] = ()

    ids: ClassVar[Ids] = "call"
    markers: ClassVar[Markers]
    forging: ClassVar[tuple[str, ...]] = ()
    """Further strings that text from outside must not contain, beside the markers."""
    forging_lines: ClassVar[re.Pattern[str] | None] = None
    """Beginnings of lines that results must not contain."""
    stop: ClassVar[tuple[str, ...]] = ()
    """Stop sequences that keep the model from writing the results itself."""
    keeps_reasoning: ClassVar[bool] = False
    """Its models want the reasoning of the current tool loop back (older turns drop it)."""
    think: ClassVar[tuple[str, str]] = ("<think>\n", "\n</think>\n\n")
    value_ends: ClassVar[tuple[str, ...] | None] = None
    """What ends a raw value and so can't be in one (a joiner is put inside); ``None``: values are JSON."""
    text_first: ClassVar[bool] = False
    """Its grammar has no text behind calls: text is written before them."""
    between_calls: ClassVar[str] = "\n"
    before_calls: ClassVar[str] = "\n"

    # --------------------------------------------------------------------------------------- reading

    @abstractmethod
    def region(self, text: str, at: int, context: Context) -> Outcome:
        """Read the region that begins with the marker at ``at``."""

    def verdict(self, pieces: Sequence[Piece], found: frozenset[Flag]) -> frozenset[Flag]:  # noqa: ARG002
        """The flags of the whole text, from those found on the way."""
        return found

    def parse(
        self, text: str, tools: Sequence[Tool] = (), *, strict: bool = False, thinking: bool = False
    ) -> Parsed:
        """Read a whole text. The parameters are those of ``Parser``; never raises."""
        parser = self.parser(tools, strict=strict, thinking=thinking)
        parser.feed(text)
        return parser.finish()

    def parser(self, tools: Sequence[Tool] = (), *, strict: bool = False, thinking: bool = False) -> Parser:
        """A parser to feed piece by piece: any split of a text gives what ``parse`` gives."""
        return Parser(self, tools, strict=strict, thinking=thinking)

    # --------------------------------------------------------------------------------------- writing

    def render_tools(self, tools: Sequence[Tool], choice: Choice = None, parallel: bool | None = None) -> str:
        """What goes into the system prompt: tools and how to call them; empty where none may be called."""
        if not tools or choice == "none":
            return ""
        return paragraphs(self.list_tools(tools), self.how_to_call(), chosen(choice, parallel))

    def list_tools(self, tools: Sequence[Tool]) -> str:
        """The tools as the models know them."""
        return paragraphs("# Tools\n\nYou may call these functions:", f"<tools>\n{lines_of(tools)}\n</tools>")

    @abstractmethod
    def how_to_call(self) -> str:
        """How a call is to be written."""

    def render_calls(self, turn: Turn, tools: Sequence[Tool] = (), *, first: int = 0) -> str:
        """An assistant turn as the model would have written it: text and calls, in their order.

        Reasoning is written by ``render_reasoning``. ``tools`` tell the types of raw values. ``first``: how
        many calls the conversation had before. Markers inside of arguments are escaped where that changes
        nothing; raw values can't hold everything, and ``to_text`` says where they could not.
        """
        schemas = {tool.name: tool.parameters for tool in tools}
        runs: list[Run] = []
        calls: list[Written] = []
        number = first
        parts = turn.parts
        if self.text_first:
            parts = (*(p for p in parts if not isinstance(p, ToolCall)), *turn.calls)
        for part in (*parts, None):
            if isinstance(part, ToolCall):
                calls.append(self._written(Written.of(part, number, schemas.get(part.name))))
                number += 1
                continue
            said = visible(part) if part is not None else ""
            if calls and (part is None or said):
                runs.append(Run(self.write_calls(calls), calls=True))
                calls = []
            if said:
                runs.append(Run(said))
        return self.join(runs)

    def _written(self, call: Written) -> Written:
        if self.value_ends is None:
            return replace(call, json=escaped(call.json, self.marks))
        return replace(call, breaking=self.raw_marks)

    def join(self, runs: Sequence[Run]) -> str:
        """Texts and blocks of calls as one text."""
        return self.before_calls.join(run.text for run in runs)

    def write_calls(self, calls: Sequence[Written]) -> str:
        """A block of calls."""
        return self.between_calls.join(self.write_call(call) for call in calls)

    @abstractmethod
    def write_call(self, call: Written) -> str:
        """One call."""

    def id_in_text(self, call: Written) -> str:
        """The id a call and its result have in the text, where the text carries ids."""
        return call.id

    def render_reasoning(self, text: str) -> str:
        """Reasoning, as it stands before a turn's text."""
        return f"{self.think[0]}{text}{self.think[1]}"

    @abstractmethod
    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        """The results of a turn's calls, in their order, as the model's chat template writes them.

        Their text is written as it is: ``to_text`` neutralises it first.
        """

    def to_text(self, request: Request) -> tuple[Request, tuple[Loss, ...]]:
        """The request as text, for a chat wire without tools, and what is lost: see ``conversation``."""
        return to_text(self, request)

    @cached_property
    def raw_marks(self) -> re.Pattern[str]:
        """What a raw value can't hold: its own end, and control tokens."""
        return marks_of(self.value_ends or ())

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """What text from users and tools must not contain: it could forge a call or a turn."""
        own = self.markers
        literals = [m for m in (*own.open, *own.lines) if isinstance(m, str)]
        return marks_of([*literals, *own.close, *own.stop, *own.swallow, *self.forging])

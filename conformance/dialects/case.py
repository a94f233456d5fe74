"""Texts whose right reading is known: what a model writes, in any dialect, and what is to be made of it.

Only the scripted model can be made to write them. Each has ``words`` of its own, by which it is known
wherever it went. The sources of the readings are those of the dialects; the policy behind them: decode before
looking for the end, never complete what was cut, keep as text what is no call, call nothing that is quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from conformance.dialects.dialect import Dialect
from conformance.dialects.edits import Writer
from conformance.dialects.hermes import Hermes
from conformance.dialects.jsontext import compact, load_object, same
from conformance.types import Part, Text, Tool, ToolCall, Turn

Kind: TypeAlias = Literal[
    "call",  # calls that are well-formed: they are made
    "broken",  # no call, or none that is spelt right: it stays text, is read leniently, or is refused
    "quotation",  # markup that is no call: it stays where it is
    "cut",  # a call that the token cap cuts
]
Made: TypeAlias = tuple[str, Mapping[str, Any]]
"""A call by name and arguments."""

ALONE = "script-alone"
"""The probe that asks for a case's text without tools, before it is asked for with them."""

CAP = 80
"""Tokens within which the call of the kind *cut* does not end: a character of markup may be a token."""


@dataclass(frozen=True, slots=True)
class Case:
    """One text. ``parts`` are the turn that it is, where that is the same in every dialect.

    ``lenient`` are further readings that are right: what a careful repair makes of it. ``thinks``: it has
    reasoning. It is asked for with the sequences ``stop``. ``kept`` are texts around what is no call.
    """

    id: str
    title: str
    kind: Kind
    words: tuple[str, ...]
    writer: Writer
    parts: tuple[Part, ...] = ()
    lenient: tuple[tuple[Made, ...], ...] = ()
    doc: str = ""
    stop: tuple[str, ...] = ()
    thinks: bool = False
    kept: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[Made, ...]:
        """The calls that are made of it."""
        return tuple((p.name, json.loads(p.arguments)) for p in self.parts if isinstance(p, ToolCall))

    @property
    def said(self) -> tuple[str, ...]:
        """The visible texts around calls and what is none, trimmed."""
        texts = (part.text.strip() for part in self.parts if isinstance(part, Text))
        return self.kept or tuple(texts if self.kind == "call" else ())

    def allows(self, calls: Sequence[ToolCall]) -> bool:
        """Whether these are the calls of a right reading: names, and arguments by their values."""
        return any(_alike(_read(calls), reading) for reading in (self.calls, *self.lenient))

    def strangers(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Those of the calls that no right reading has, or not so often."""
        best = list(calls)
        for reading in (self.calls, *self.lenient):
            left, others = list(reading), []
            for one in calls:
                found = next((made for made in left if _alike(_read((one,)), (made,))), None)
                if found is None:
                    others.append(one)
                else:
                    left.remove(found)
            best = min(best, others, key=len)
        return best

    def begins(self, call: ToolCall, *, spelt: bool) -> bool:
        """Whether a call is one of the case's, or the beginning of one.

        ``spelt``: its arguments are a text, which breaks off; where they are an object, its values may.
        """
        args = load_object(call.arguments)
        for name, given in self.calls:
            if name != call.name:
                continue
            if args is None:
                return compact(dict(given)).startswith(_tight(call.arguments))
            if not spelt and all(str(given.get(key, "")).startswith(str(args[key])) for key in args):
                return True
            if same(args, dict(given)):
                return True
        return False

    def text(self, dialect: Dialect, tools: Sequence[Tool]) -> str | None:
        """What a model of the dialect writes; ``None`` where the dialect can't write it.

        It can't, too, where its own grammar reads something else: a call that it can't quote.
        """
        text = self.writer(dialect, tools)
        if text is None or not all(word in text for word in self.words):
            return None
        read = dialect.parse(text, tools)
        calls = tuple(ToolCall("", one.name, one.arguments) for one in read.calls)
        return text if self.kind == "cut" or self.allows(calls) else None

    def known(self, turn: Turn) -> bool:
        """Whether a turn is known to be made of the case's text.

        It holds the case's words, wherever they went, or nothing that is not the case's: a server that reads
        calls where no tools were offered may have swallowed the rest.
        """
        told = everything(turn)
        return all(word in told for word in self.words) or _within(told, self._in_hermes)

    def bent(self, alone: Turn | None, *turns: Turn | None) -> bool:
        """Whether the model wrote something else with tools offered than without: a grammar bent its text.

        ``alone`` answers the question without tools, ``turns`` the same one with them. The first that is
        counted tells, as the model repeats itself token by token; so do calls with words that it did not
        write: a parser loses and breaks what is there, and invents nothing. ``False`` where nothing can be
        told.
        """
        if alone is None:
            return False
        spent = _spent(alone)
        came = next((count for turn in turns if (count := _spent(turn))), None)
        if spent and came and spent != came:
            return True
        written = everything(alone) + self._in_hermes
        return not all(_within(_called(turn), written) for turn in turns if turn is not None)

    @property
    def _in_hermes(self) -> str:
        return self.text(_HERMES, ()) or ""

    def unread(self, text: str) -> Turn:
        """The turn of a request without tools, ``text`` being what was written: nothing is a call."""
        return self.turn(text) if self.kind == "quotation" else Turn((Text(text),), "stop")

    def turn(self, text: str) -> Turn:
        """The turn that a correct server makes of it, ``text`` being what was written."""
        if self.kind == "broken" or not self.parts:
            return Turn((Text(text.strip()),), "stop")
        return Turn(self.parts, "tool_calls" if self.calls else "stop")


def everything(turn: Turn) -> str:
    """All that a turn says: texts, reasoning, names, and arguments with their escapes undone."""
    said = [turn.text, turn.reasoning, turn.refusal]
    for one in turn.calls:
        said += [one.name, one.arguments, compact(load_object(one.arguments))]
    return "\n".join(said)


def _called(turn: Turn) -> str:
    """The names and values of a turn's calls."""
    return " ".join(f"{one.name} {_leaves(load_object(one.arguments))}" for one in turn.calls)


def _within(told: str, written: str) -> bool:
    """Whether all letters and digits in a row were written so; ``True`` where that would cost time."""
    runs = islice(_RUN.finditer(told), _MOST_RUNS)
    return len(written) > _LONGEST or all(run.group() in written for run in runs)


def _leaves(value: Any) -> str:
    """The strings and numbers in a JSON value."""
    if isinstance(value, Mapping):
        return " ".join(map(_leaves, value.values()))
    if isinstance(value, list):
        return " ".join(map(_leaves, value))
    return "" if value is None or isinstance(value, bool) else str(value)


_RUN = re.compile("[A-Za-z0-9]+")
_MOST_RUNS, _LONGEST = 1000, 20_000
"""Far more than any case has."""
_HERMES = Hermes()


def _spent(turn: Turn | None) -> int | None:
    return turn.usage.completion_tokens if turn is not None and turn.usage is not None else None


def _read(calls: Sequence[ToolCall]) -> list[tuple[str, dict[str, Any] | None]]:
    return [(one.name, load_object(one.arguments)) for one in calls]


def _tight(arguments: str) -> str:
    """Cut arguments without the white space that JSON allows around the first member."""
    return _LEADING.sub(lambda found: "".join(found.group().split()), arguments.strip(), count=1)


_LEADING = re.compile(r'\{\s*("[^"]*"\s*:\s*)?')


def _alike(read: Sequence[tuple[str, dict[str, Any] | None]], reading: Sequence[Made]) -> bool:
    return len(read) == len(reading) and all(
        name == wanted and same(arguments, dict(given))
        for (name, arguments), (wanted, given) in zip(read, reading, strict=True)
    )

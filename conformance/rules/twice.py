"""The same request asked both ways, whole and streamed, of a model that repeats itself.

Each difference between the answers is the server's, where the model is known to have written the same both
times. Of a case that is proven by its text without tools (``conformance.rules.scripted``); of any other
script when one of the answers says just what it says: what a grammar bends is bent in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.dialects.jsontext import load_object
from conformance.rules.reading import Reading
from conformance.rules.scripted import Scripted, Told, turns_of
from conformance.rules.views import Run, View
from conformance.types import ToolCall, Turn

_MARKUP = ("arguments", "parameters", "parameter", "function")
"""Words between a call's name and its arguments, in one dialect or another."""


@dataclass(frozen=True, slots=True)
class Twice(View):
    """A streamed answer and the ``whole`` one to the same request.

    ``pairs``: what each choice says whole and streamed, where the model is known to have written the same.
    ``bent``: a grammar of the server's may have bent the text, so that it may have been another each time.
    """

    streamed: Told | None = None
    whole: Told | None = None
    pairs: tuple[tuple[Turn, Turn], ...] = ()
    bent: bool = False

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        before: Scripted | None = None
        for one in run.views(Scripted):
            if before is not None and before.case is one.case:
                whole, streamed = before.parsed, one.parsed
                pairs = ((whole, streamed),) if whole is not None and streamed is not None else ()
                yield cls(one.reading, one.at, None, None, one, before, pairs, before.fought)
            before = one
        for reading in run.readings:
            yield from cls._of_twin(run, reading)

    @classmethod
    def _of_twin(cls, run: Run, reading: Reading) -> Iterator[Self]:
        twin = reading.exchange.twin
        if twin is None:
            return
        here, there = _told(reading), _told(run.readings[twin.of])
        if here is None or there is None:
            return
        streamed, whole = (here, there) if twin.streams else (there, here)
        stops = b'"stop' in reading.exchange.request.body
        pairs = tuple(
            pair
            for pair in zip(whole.turns, streamed.turns, strict=False)
            if any(_as_written(turn, twin.script, stops=stops) for turn in pair)
        )
        said = (*whole.turns, *streamed.turns)
        bent = not any(_as_written(turn, twin.script, stops=stops) for turn in said)
        yield cls(streamed.reading, streamed.at, None, None, streamed, whole, pairs, bent)


def unspaced(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def told(calls: tuple[ToolCall, ...], *, names_only: bool = False) -> list[tuple[str, str]]:
    """Calls as names and arguments, those by value."""
    return [(one.name, "" if names_only else _spelt(one.arguments)) for one in calls]


def _spelt(arguments: str) -> str:
    value = load_object(arguments)
    return arguments if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _told(reading: Reading) -> Told | None:
    if reading.exchange.response is None:
        return None
    at = f"/exchanges/{reading.index}/response"
    return Told(reading, at, {"status": reading.status}, None, turns_of(reading))


def _as_written(turn: Turn, script: Turn | None, *, stops: bool) -> bool:
    """Whether a turn says what is written, or the beginning of it where it was cut or may have been stopped.

    Calls that no parser found stand in the text, in whatever spelling.
    """
    if script is None:
        return False
    cut = turn.finish_reason == "length"
    if script.calls and not turn.calls:
        return _spelt_out(turn.text, script.calls, cut=cut)
    said, wanted = unspaced(turn.text), unspaced(script.text)
    if said != wanted and not ((cut or stops or script.calls) and said and wanted.startswith(said)):
        return False
    made, written = told(turn.calls), told(script.calls)
    return made == written or (cut and made == written[: len(made)])


def _spelt_out(text: str, calls: tuple[ToolCall, ...], *, cut: bool) -> bool:
    """Whether calls stand in a text: their names and values, or as much of the first as was written."""
    if not cut:
        return all(word in text for call in calls for word in _words(call))
    first = calls[0]
    _, name, rest = text.partition(first.name)
    *words, last = re.findall(r"\w+", rest) or [""]
    known = {*re.findall(r"\w+", first.arguments), *_MARKUP}
    return bool(name) and known.issuperset(words) and any(word.startswith(last) for word in known)


def _words(call: ToolCall) -> list[str]:
    """What a call says in any spelling: its name and its plain values."""
    values = (load_object(call.arguments) or {}).values()
    return [call.name, *(value for value in values if isinstance(value, str))]

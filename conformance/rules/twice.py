"""The same request asked both ways, whole and streamed, of a model that repeats itself.

Each difference between the answers is the server's, where the model is known to have written the same both
times. Of a case that is proven by its text without tools (``conformance.rules.scripted``); of any other
script when one of the answers says just what it says: what a grammar bends is bent in both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.dialects.jsontext import load_object
from conformance.rules.reading import Reading
from conformance.rules.scripted import Scripted, Told, turns_of
from conformance.rules.views import Run, View
from conformance.types import ToolCall, Turn


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
        bent = not any(_as_written(turn, twin.script) for turn in (*whole.turns, *streamed.turns))
        pairs = () if bent else tuple(zip(whole.turns, streamed.turns, strict=False))
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


def _as_written(turn: Turn, script: Turn | None) -> bool:
    """Whether a turn says what is written, or, where it was cut or stopped, the beginning of it.

    Calls that no parser found stand in the text, in whatever spelling.
    """
    if script is None:
        return False
    if script.calls and not turn.calls:
        cut = turn.finish_reason == "length"
        words = [script.calls[0].name] if cut else [word for call in script.calls for word in _words(call)]
        return all(word in turn.text for word in words)
    said, wanted = unspaced(turn.text), unspaced(script.text)
    if said != wanted and not (said and wanted.startswith(said)):
        return False
    made, written = told(turn.calls), told(script.calls)
    return made == written or (turn.finish_reason == "length" and made == written[: len(made)])


def _words(call: ToolCall) -> list[str]:
    """What a call says in any spelling: its name and its plain values."""
    values = (load_object(call.arguments) or {}).values()
    return [call.name, *(value for value in values if isinstance(value, str))]

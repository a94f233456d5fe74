"""The table a scripted model looks up: after these tokens, in this script, comes that token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from conformance.scripted_model.cutting import LOOKBACK
from conformance.scripted_model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. ``context`` holds token ids, the last one first; ``script`` is ``None`` where any will do."""

    context: tuple[int, ...]
    script: int | None
    following: int


Context: TypeAlias = tuple[int, ...]
Places: TypeAlias = dict[Context, dict[int, dict[int, None]]]
"""By context what follows, and in which scripts."""


def table(vocabulary: Vocabulary) -> tuple[Entry, ...]:
    """Every place of every script; where all scripts go on alike after the same tokens, one entry serves all.

    The context of a place is the ``LOOKBACK`` last tokens, near the beginning the script so far: nothing, in
    the end, so that any prompt will do. The longest context that fits is meant. Where that would be one of
    another place, as the end of the expected prompt looks like part of a script, the context goes back into
    the prompt.
    """
    places: Places = {}
    starts: list[tuple[Context, int, int, int]] = []
    for script, (name, chain) in enumerate(vocabulary.chains.items()):
        whole = (*chain, vocabulary.ends[name])
        for place, following in enumerate(whole):
            seen = tuple(reversed(whole[max(0, place - LOOKBACK) : place]))
            places.setdefault(seen, {}).setdefault(following, {})[script] = None
            if place < LOOKBACK:
                starts.append(((*seen, *reversed(vocabulary.prompt))[:LOOKBACK], place, script, following))
    mistaken = {seen for seen, place, _, following in starts if _mistaken(places, seen, place, following)}
    for seen, _, script, following in starts:
        if seen in mistaken:
            places.setdefault(seen, {}).setdefault(following, {})[script] = None
    return tuple(_entries(places))


def _mistaken(places: Places, seen: Context, place: int, following: int) -> bool:
    """Whether a context of more than ``place`` tokens fits that has something else to follow."""
    fitting = (places.get(seen[:length], {}) for length in range(place + 1, len(seen) + 1))
    return any(set(ways) - {following} for ways in fitting)


def _entries(places: Places) -> Iterator[Entry]:
    for seen, ways in places.items():
        for following, scripts in ways.items():
            if seen and len(ways) == 1:
                yield Entry(seen, None, following)
            else:
                yield from (Entry(seen, script, following) for script in scripts)

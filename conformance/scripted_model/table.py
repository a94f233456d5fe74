"""The table a scripted model looks up: after these tokens, in this script, comes that token."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.scripted_model.cutting import LOOKBACK
from conformance.scripted_model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. ``context`` holds token ids, the last one first; ``script`` is ``None`` where any will do."""

    context: tuple[int, ...]
    script: int | None
    following: int


def table(vocabulary: Vocabulary) -> tuple[Entry, ...]:
    """Every place of every script; where all scripts go on alike after the same tokens, one entry serves all.

    The context of a place is the ``LOOKBACK`` last tokens, and near the beginning all of the script so far; an
    empty one starts a script. A context may end like a longer one that has something else to follow: the
    longest that fits is meant.
    """
    places: dict[tuple[int, ...], dict[int, dict[int, None]]] = {}
    for script, (name, chain) in enumerate(vocabulary.chains.items()):
        whole = (*chain, vocabulary.ends[name])
        for place, following in enumerate(whole):
            seen = tuple(reversed(whole[max(0, place - LOOKBACK) : place]))
            places.setdefault(seen, {}).setdefault(following, {})[script] = None
    entries: list[Entry] = []
    for seen, ways in places.items():
        if seen and len(ways) == 1:
            entries += [Entry(seen, None, following) for following in ways]
        else:
            entries += [Entry(seen, script, following) for following, scripts in ways.items() for script in scripts]
    return tuple(entries)

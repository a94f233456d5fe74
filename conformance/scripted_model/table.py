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
    """Every place of every script.

    An empty context starts a script. The context of a place near the beginning is all of the script so far;
    from there on it is the ``LOOKBACK`` last tokens, and where all scripts go on alike after these, one entry
    serves them all.
    """
    entries: list[Entry] = []
    shared: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for number, (name, chain) in enumerate(vocabulary.chains.items()):
        whole = (*chain, vocabulary.ends[name])
        for place, following in enumerate(whole):
            seen = tuple(reversed(whole[max(0, place - LOOKBACK) : place]))
            if len(seen) < LOOKBACK:
                entries.append(Entry(seen, number, following))
            else:
                scripts = shared.setdefault(seen, {}).setdefault(following, [])
                if number not in scripts[-1:]:
                    scripts.append(number)
    for seen, ways in shared.items():
        if len(ways) == 1:
            entries += [Entry(seen, None, following) for following in ways]
        else:
            entries += [Entry(seen, number, following) for following, numbers in ways.items() for number in numbers]
    return tuple(entries)

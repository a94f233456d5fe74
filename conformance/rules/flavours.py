"""Which of several published readings of a wire an endpoint holds to.

Where they disagree, each reading has rules of its own (``Rule.flavour``). An endpoint that follows one of
them can't follow the others, so what counts are the rules of the reading it follows, or comes nearest to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from conformance.rules.registry import EVERYTHING, RULES
from conformance.rules.views import Run
from conformance.types import Aspect, Exchange, Flavour, Level, Rulebook

_COUNTED: Mapping[Level, int] = {"MUST": 0, "SHOULD": 1}
Standing = tuple[int, int]
"""How many rules of a reading do not hold: MUST, then SHOULD. Less is nearer."""


def flavour_of(exchanges: Sequence[Exchange], rulebook: Rulebook = "default") -> Flavour | None:
    """The reading that the exchanges hold to: every MUST of it, and more of it than of any other.

    ``None`` where they hold to none wholly, and where nothing in them tells the readings apart.
    """
    standings = _standings(Run.read(exchanges), rulebook)
    near = _nearest(standings)
    holds = len(near) == 1 and len(standings) > 1 and standings[near[0]][0] == 0
    return near[0] if holds else None


def other_flavours(
    run: Run,
    rulebook: Rulebook,
    kept: frozenset[Aspect] = EVERYTHING,
    published: Flavour | None = None,
) -> frozenset[Flavour]:
    """The readings that a run does not follow: what their rules find in it is no fault.

    ``published`` is the one that its endpoint is known to follow; then they are all others. Else they are
    those of which more rules do not hold than of another. Where two come equally near, neither is left out,
    so that a run which holds to none is told what is missing for each.
    """
    if published is not None:
        return frozenset(get_args(Flavour)) - {published}
    standings = _standings(run, rulebook, kept)
    return frozenset(standings) - frozenset(_nearest(standings))


def _nearest(standings: Mapping[Flavour, Standing]) -> list[Flavour]:
    best = min(standings.values(), default=None)
    return [flavour for flavour, standing in standings.items() if standing == best]


def _standings(run: Run, rulebook: Rulebook, kept: frozenset[Aspect] = EVERYTHING) -> dict[Flavour, Standing]:
    wires = {reading.exchange.wire for reading in run.readings}
    broken: dict[Flavour, list[int]] = {}
    for rule in RULES.values():
        if rule.flavour is None or wires.isdisjoint(rule.wires):
            continue
        counts = broken.setdefault(rule.flavour, [0, 0])
        place = _COUNTED.get(rule.level_in(rulebook))
        if place is not None and not rule.lacks(kept) and next(rule.violations(run), None) is not None:
            counts[place] += 1
    return {flavour: (must, should) for flavour, (must, should) in broken.items()}

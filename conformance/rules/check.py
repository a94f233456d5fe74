"""Judge exchanges by rules: the one function that everything else calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from conformance.rules.flavours import other_flavours
from conformance.rules.registry import EVERYTHING, RULES, Rule
from conformance.rules.views import Run, Violation
from conformance.transport import sse
from conformance.types import Aspect, Exchange, Finding, Flavour, Rulebook

MAX_REPEATS = 3
"""How many findings of one rule in one exchange are told apart; the last one counts the rest."""
TEXT = re.compile(r"^/exchanges/\d+/response/(?:body|events)(?:/|$)")
"""Where the text of a response is, of which nothing is said when it passes a limit of ours."""


def check(
    exchanges: Sequence[Exchange],
    *,
    rules: Iterable[Rule] | None = None,
    rulebook: Rulebook = "default",
    kept: frozenset[Aspect] = EVERYTHING,
) -> tuple[Finding, ...]:
    """Every finding in the exchanges, by exchange and then by rule.

    ``rules`` are all registered ones unless given. Where published readings of a wire disagree, only the
    rules of the one that the exchanges follow count (``conformance.rules.flavours``). ``kept`` is what a
    recording of them kept: rules that need more are left out. Bytes never make a rule raise; if one does,
    that is a defect of the rule and not hidden here.
    """
    return judged(Run.read(exchanges), rules=rules, rulebook=rulebook, kept=kept)


def judged(
    run: Run,
    *,
    rules: Iterable[Rule] | None = None,
    rulebook: Rulebook = "default",
    kept: frozenset[Aspect] = EVERYTHING,
    flavour: Flavour | None = None,
) -> tuple[Finding, ...]:
    """What ``check`` finds, in exchanges that were read already.

    ``flavour`` is the published reading that their endpoint is known to follow; without it, the one that
    they come nearest to counts.
    """
    beyond = {reading.index for reading in run.readings if reading.beyond}
    found: list[tuple[int, Finding]] = []
    others = other_flavours(run, rulebook, kept, flavour)
    for rule in RULES.values() if rules is None else rules:
        if rule.flavour in others or rule.lacks(kept):
            continue
        places: dict[int, list[Violation]] = {}
        counts: dict[int, int] = {}
        for violation in rule.violations(run):
            if violation.exchange in beyond and TEXT.search(violation.path):
                continue
            counts[violation.exchange] = counts.get(violation.exchange, 0) + violation.times
            few = places.setdefault(violation.exchange, [])
            if len(few) < MAX_REPEATS:
                few.append(violation)
        for exchange, few in places.items():
            more = counts[exchange] - len(few)
            for violation in few:
                left_out = more if violation is few[-1] else 0
                found.append((exchange, _finding(rule, violation, run, left_out, rulebook)))
    return tuple(finding for _, finding in sorted(found, key=lambda pair: pair[0]))


def _finding(rule: Rule, violation: Violation, run: Run, more: int, rulebook: Rulebook) -> Finding:
    reading = run.readings[violation.exchange]
    ms = None
    if violation.event is not None and reading.stream is not None and reading.exchange.response is not None:
        ms = sse.ms_of(reading.stream.events[violation.event], reading.exchange.response.parts)
    return Finding(
        rule=rule.id,
        level=rule.level_in(rulebook),
        basis=rule.basis,
        path=violation.path,
        message=rule.requirement,
        wanted=violation.wanted,
        got=violation.got,
        event=violation.event,
        ms=ms,
        more=more,
        consequence=rule.consequence,
        flavour=rule.flavour,
    )

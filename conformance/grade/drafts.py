"""Drafts of catalogue entries for deviations that repeat: what recordings prove, the rest to be filled in."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from conformance.grade.tally import Deviation, Example, Place, Tally
from conformance.rules import Rule, rule_of
from conformance.types import Level

MIN_EXCHANGES = 2
"""A deviation repeats that shows in as many exchanges."""

REVIEW_AFTER = datetime.timedelta(days=180)

_SEVERITY: Mapping[Level, str] = {"MUST": "breaks", "SHOULD": "degrades"}
_TO_DO = "To be filled in:"

HEADER = """\
# Drafts of quirks, from graded recordings. Each wants a person: say when it shows (trigger), check that it
# is the provider's doing and not the recorder's, add public sources, and write what a client can do.
"""


def drafts(tally: Tally, today: datetime.date) -> list[dict[str, Any]]:
    """One entry per rule and endpoint where it repeats and nothing declares it, in the catalogue's schema.

    A MAY that does not hold needs no declaring.
    """
    repeated = [
        (place, deviation)
        for place, deviation in sorted(tally.deviations.items())
        if deviation.open >= MIN_EXCHANGES
        and deviation.level != "MAY"
        and rule_of(place.rule).subject == "protocol"
    ]
    wires = Counter(_id(place) for place, _ in repeated)
    return [
        _draft(place, deviation, today, f"-{place.wire}" if wires[_id(place)] > 1 else "")
        for place, deviation in repeated
    ]


def drafts_text(entries: list[dict[str, Any]]) -> str:
    """The entries as a YAML file of the catalogue."""
    body = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=100)
    return HEADER + (body if entries else "[]\n")


def _draft(place: Place, deviation: Deviation, today: datetime.date, more: str) -> dict[str, Any]:
    rule = rule_of(place.rule)
    first = deviation.examples[0].finding
    return {
        "id": _id(place) + more,
        "title": f"{place.endpoint}: {rule.requirement}"[:120],
        "providers": [place.endpoint],
        "wire": place.wire,
        "category": rule.id.split(".")[0],
        "trigger": f"{_TO_DO} when does it show? Models: {_models(deviation)}",
        "observed": f"got {first.got}",
        "expected": f"{rule.requirement} Wanted: {first.wanted}",
        "severity": _SEVERITY[deviation.level],
        "workaround": f"{_TO_DO} what can a client do?",
        "confidence": "recorded",
        "sources": [f"recording {one.file}, exchange {one.position}" for one in deviation.examples],
        "review_by": today + REVIEW_AFTER,
        "note": f"drafted from {deviation.exchanges} recorded exchanges",
        "shows": [_shows(rule, deviation.examples)],
    }


def _shows(rule: Rule, examples: list[Example]) -> dict[str, Any]:
    shows: dict[str, Any] = {"rules": [rule.id], "scenarios": ["*"]}
    got = {one.finding.got for one in examples}
    if len(got) == 1:
        shows["got"] = f"^{re.escape(got.pop())}$"
    paths = {_pattern(one.finding.path) for one in examples}
    if len(paths) == 1:
        shows["path"] = paths.pop()
    return shows


def _pattern(path: str) -> str:
    """A pattern of the path with any number in the place of its numbers."""
    return re.sub(r"(?<=/)\\?\d+(?=/|$)", r"\\d+", re.escape(path)) + "$"


def _id(place: Place) -> str:
    text = f"{place.endpoint}-{place.rule}".lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "quirk"


def _models(deviation: Deviation) -> str:
    return ", ".join(_distinct(one.model for one in deviation.examples)) or "not told"


def _distinct(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))

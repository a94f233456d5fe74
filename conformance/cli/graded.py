"""What ``conformance grade`` tells a person: each deviation with its proof, who has it, then the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from conformance.grade.files import UNKNOWN
from conformance.grade.recorded import Unusable
from conformance.grade.tally import NOT_KEPT, Deviation, Example, Judged, Place, Tally, by_rule_alone
from conformance.report.page import Page
from conformance.rules import rule_of
from conformance.types import Level, VerdictName

if TYPE_CHECKING:
    from conformance.grade.grading import Grader, Outcome

_FEW = 5
_MARKS: dict[Level, VerdictName] = {"MUST": "violates", "SHOULD": "warns", "MAY": "unsupported"}


def print_graded(
    tally: Tally, grader: Grader, console: Console, verbose: int, notes: Sequence[str] = ()
) -> None:
    """Print what does not hold, by rule and by endpoint, what could not be judged and why, and the counts.

    With ``verbose`` every endpoint and up to three places of each deviation are told, and MAY rules as well.
    """
    page = Page(console)
    judged = by_rule_alone(tally.judged(grader))
    for level in ("MUST", "SHOULD", "MAY") if verbose else ("MUST", "SHOULD"):
        _level(page, tally, level, judged, verbose)
    _endpoints(page, tally)
    _reasons(page, tally, verbose)
    _lacking(page, judged)
    _refused(page, "Could not be read", tally.unreadable, verbose)
    _refused(page, "No recordings", _told_of(tally, verbose), verbose)
    for note in notes:
        page.gap()
        page.print(page.foreign(note, limit=10_000))
    _counts(page, tally)


def _level(page: Page, tally: Tally, level: Level, judged: Mapping[str, Judged], verbose: int) -> None:
    shown = [(rule, places) for rule, places in tally.by_rule() if level in {one.level for _, one in places}]
    if not shown:
        return
    page.title(f"{level}: {len(shown)} {'rule does' if len(shown) == 1 else 'rules do'} not hold somewhere")
    for rule, places in shown:
        page.gap()
        _rule(page, rule, level, places, judged[rule].exchanges if rule in judged else 0, verbose)


def _rule(
    page: Page, rule: str, level: Level, places: list[tuple[Place, Deviation]], judged: int, verbose: int
) -> None:
    exchanges = sum(one.exchanges for _, one in places)
    is_open = any(one.open for _, one in places)
    client = places[0][1].fault == "client"
    page.print(
        page.mark(_MARKS[level] if is_open else "quirk"),
        page.own(f" {rule} ", "bold"),
        page.own(
            f"in {exchanges} of {max(judged, exchanges)} exchanges" + (", the client's" if client else "")
        ),
    )
    page.print(page.own(rule_of(rule).requirement), indent=4)
    told = [_who(place, one) for place, one in places[: None if verbose else _FEW]]
    left = len(places) - len(told)
    page.print(
        page.own("at ", "dim"),
        page.foreign(", ".join(told) + (f" and {left} more" if left else ""), limit=10_000),
        indent=4,
    )
    for example in _examples(places, verbose):
        _example(page, example)
    if consequence := rule_of(rule).consequence:
        page.print(page.own("breaks ", "dim"), page.own(consequence), indent=4)


def _who(place: Place, one: Deviation) -> str:
    known = [f"{one.forgiven} by quirk"] if one.forgiven else []
    known += [f"{one.known} in the baseline"] if one.known else []
    return f"{place.endpoint} {one.exchanges}" + (f" ({', '.join(known)})" if known else "")


def _examples(places: list[tuple[Place, Deviation]], verbose: int) -> list[Example]:
    everything = [example for _, one in places for example in one.examples]
    return everything[: 3 * verbose or 1]


def _example(page: Page, example: Example) -> None:
    finding = example.finding
    where = f"{example.file} @{example.position}"
    page.line(page.whole(where, "dim"), indent=4)
    moment = "" if finding.event is None else f" (event {finding.event})"
    rows = [("at", f"{finding.path}{moment}"), ("wanted", finding.wanted), ("got", finding.got)]
    page.rows([(page.own(name, "dim"), page.foreign(text)) for name, text in rows], indent=6)


def _endpoints(page: Page, tally: Tally) -> None:
    rows: list[tuple[Text, ...]] = []
    for name, wire, exchanges, graded in tally.endpoints():
        levels = Counter(
            one.level
            for place, one in tally.deviations.items()
            if (place.endpoint, place.wire) == (name, wire) and one.open and one.fault == "endpoint"
        )
        rows.append(
            (
                page.foreign(name, "bold"),
                page.own(wire),
                page.own(f"{graded} of {exchanges}"),
                page.own(f"{levels['MUST']} MUST", "red" if levels["MUST"] else "dim"),
                page.own(f"{levels['SHOULD']} SHOULD", "" if levels["SHOULD"] else "dim"),
            )
        )
    if rows:
        page.title("By endpoint: exchanges graded, rules that do not hold")
        page.rows(rows, indent=2)


def _reasons(page: Page, tally: Tally, verbose: int) -> None:
    titles: Mapping[Outcome, str] = {
        "graded": "Graded in part",
        "not gradable": "Not gradable",
        "left alone": "Left alone: no traffic of a wire",
    }
    for outcome, title in titles.items():
        if found := tally.reasons(outcome):
            page.title(title)
            shown = found if verbose else found[: 2 * _FEW]
            page.rows([(page.own(f"{number:,}"), page.foreign(reason)) for reason, number in shown], indent=2)
            if left := len(found) - len(shown):
                page.print(page.own(f"and {left} more reasons (-v)"), indent=2)


def _lacking(page: Page, judged: Mapping[str, Judged]) -> None:
    """What recordings did not keep, and how many rules that left unjudged somewhere."""
    rules: dict[str, set[str]] = {}
    for rule, one in judged.items():
        for reason in one.not_gradable:
            for aspect in reason.removeprefix(NOT_KEPT).split(", "):
                rules.setdefault(aspect, set()).add(rule)
    if rules:
        page.title("Rules that some recordings are no evidence for, by what these did not keep")
        rows = sorted(rules.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        page.rows([(page.own(_of(len(names), "rule")), page.own(reason)) for reason, names in rows], indent=2)


def _told_of(tally: Tally, verbose: int) -> Sequence[Unusable]:
    """The files that are no recordings of which something is to be said: those that one could make into some.

    All of them where nothing else was found.
    """
    nothing = not tally.sorts and not tally.unreadable
    return [one for one in tally.foreign if one.reason != UNKNOWN or nothing or verbose]


def _refused(page: Page, title: str, refused: Sequence[Unusable], verbose: int) -> None:
    if not refused:
        return
    page.title(f"{title}: {len(refused):,}")
    by_reason: dict[str, list[str]] = {}
    for one in refused:
        at = "" if one.position is None else f" @{one.position}"
        by_reason.setdefault(one.reason, []).append(f"{one.file}{at}")
    for reason, files in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        page.print(page.own(f"{len(files):,} "), page.foreign(reason), indent=2)
        for file in files if verbose else files[:1]:
            page.line(page.whole(file, "dim"), indent=4)
        if len(files) > 1 and not verbose:
            page.print(page.own(f"and {len(files) - 1} more (-v)"), indent=4)


def _counts(page: Page, tally: Tally) -> None:
    outcomes = tally.outcomes
    total = sum(outcomes.values())
    page.gap()
    told = [f"graded {outcomes['graded']:,} of {_of(total, 'exchange')} in {_of(tally.files, 'file')}"]
    told += [f"{outcomes['not gradable']:,} not gradable"] if outcomes["not gradable"] else []
    told += [f"{outcomes['left alone']:,} left alone"] if outcomes["left alone"] else []
    told += [f"{len(tally.unreadable):,} unreadable"] if tally.unreadable else []
    told += [f"{_of(len(tally.foreign), 'file')} of no recordings"] if tally.foreign else []
    must, should = (_open_rules(tally, level) for level in ("MUST", "SHOULD"))
    page.print(page.own("; ".join(told), "bold"))
    page.print(page.own(f"{must} MUST and {should} SHOULD rules do not hold somewhere, undeclared"))


def _of(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _open_rules(tally: Tally, level: str) -> int:
    return len({place.rule for place, one in tally.deviations.items() if one.open and one.level == level})

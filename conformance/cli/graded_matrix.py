"""Graded recordings as a matrix, endpoint x rule chapter, for the reports that ``run`` writes too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.cli.docs import CHAPTERS, chapter_of
from conformance.types import Cell, EndpointRow, Finding, Flag, Matrix, ScenarioRow, VerdictName, WireName

if TYPE_CHECKING:
    from conformance.grade.grading import Grader
    from conformance.grade.tally import Deviation, Tally

Cells = dict[tuple[str, WireName, str], "list[tuple[str, Deviation]]"]


def matrix_of(tally: Tally, grader: Grader, suite: Mapping[str, Any], notes: tuple[str, ...]) -> Matrix:
    """The matrix. A client's faults are no endpoint's: they stand in no cell, but in a note.

    A cell is there where a rule of the chapter was judged; it has the first findings of each deviation, and
    the exchanges in which they were made.
    """
    found: Cells = {}
    for place, deviation in tally.deviations.items():
        if deviation.fault == "endpoint":
            key = (place.endpoint, place.wire, chapter_of(place.rule))
            found.setdefault(key, []).append((place.rule, deviation))
    counts = {(name, wire): graded for name, wire, _, graded in tally.endpoints()}
    several = {name for name, _ in counts if sum(other == name for other, _ in counts) > 1}
    names = {(name, wire): f"{name} ({wire})" if name in several else name for name, wire in counts}
    cells = [
        _cell(names[name, wire], chapter, found.get((name, wire, chapter), []), exchanges)
        for (name, wire, chapter), exchanges in sorted(_chapters(tally, grader).items())
    ]
    shown = {cell.scenario for cell in cells}
    order = [chapter for chapter in CHAPTERS if chapter in shown] + sorted(shown - CHAPTERS.keys())
    return Matrix(
        suite=suite,
        endpoints=tuple(
            EndpointRow(
                name=names[name, wire],
                wire=wire,
                model="as recorded",
                base_url="",
                source="recording",
                reason=f"{graded} exchanges",
                quirks=tuple(quirk.id for quirk in grader.quirks if name in quirk.providers),
            )
            for (name, wire), graded in counts.items()
        ),
        scenarios=tuple(ScenarioRow(name, CHAPTERS.get(name, name), "rules") for name in order),
        cells=tuple(cells),
        notes=(*notes, *_clients(tally)),
    )


def _chapters(tally: Tally, grader: Grader) -> dict[tuple[str, WireName, str], int]:
    """Endpoint, wire and chapter of which a rule was judged there, with the most exchanges of any rule."""
    found: dict[tuple[str, WireName, str], int] = {}
    for place, one in tally.judged(grader).items():
        chapter = chapter_of(place.rule)
        if one.exchanges and chapter != "client":
            key = (place.endpoint, place.wire, chapter)
            found[key] = max(found.get(key, 0), one.exchanges)
    return found


def _cell(endpoint: str, chapter: str, deviations: list[tuple[str, Deviation]], exchanges: int) -> Cell:
    verdict, reason = _verdict(deviations)
    findings: list[Finding] = []
    evidence: dict[tuple[str, int], Mapping[str, Any]] = {}
    for _, deviation in sorted(deviations, key=lambda pair: pair[0]):
        example = next((one for one in deviation.examples if one.evidence is not None), None)
        if example is not None and example.evidence is not None:
            where = (example.file, example.position)
            evidence.setdefault(where, example.evidence)
            path = f"/exchanges/{list(evidence).index(where)}{example.finding.path}"
            findings.append(replace(example.finding, path=path, more=deviation.places - 1))
    musts = [one for _, one in deviations if one.level == "MUST" and one.exchanges > one.forgiven]
    flags: tuple[Flag, ...] = ("known",) if musts and not any(one.open for one in musts) else ()
    return Cell(
        endpoint=endpoint,
        scenario=chapter,
        mode="strict",
        verdict=verdict,
        flags=flags,
        findings=tuple(findings),
        reason=reason,
        evidence=tuple(evidence.values()),
        requests=exchanges,
    )


def _verdict(deviations: list[tuple[str, Deviation]]) -> tuple[VerdictName, str]:
    from conformance.rules import rule_of

    counting = [(rule, one) for rule, one in deviations if one.level != "MAY"]
    protocol = [(rule, one) for rule, one in counting if rule_of(rule).subject == "protocol"]
    beyond = [(rule, one) for rule, one in protocol if one.exchanges > one.forgiven]
    worst = sorted(beyond, key=lambda pair: ("MUST", "SHOULD").index(pair[1].level))
    if worst:
        rule, one = worst[0]
        return ("violates" if one.level == "MUST" else "warns"), rule_of(rule).requirement
    if protocol:
        quirk = protocol[0][1].examples[0].finding.quirk
        return "quirk", f"declared: {quirk}"
    if counting:
        return "inconclusive", f"the model did not: {rule_of(counting[0][0]).requirement}"
    return "conforms", ""


def _clients(tally: Tally) -> list[str]:
    return [
        f"client of {place.endpoint}: {place.rule} does not hold in {one.exchanges} exchanges"
        for place, one in sorted(tally.deviations.items())
        if one.fault == "client"
    ]

"""Findings of many cells, gathered so that one deviation is told once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.report.clean import clean_line
from conformance.types import Cell, Finding, Level, VerdictName


@dataclass(frozen=True, slots=True)
class Deviation:
    """One rule that does not hold, told in one sentence, and every place it shows."""

    rule: str
    level: Level
    message: str
    places: tuple[tuple[Cell, Finding], ...]

    @property
    def consequence(self) -> str:
        """What breaks at clients; empty where nothing is known to."""
        return next((finding.consequence for _, finding in self.places if finding.consequence), "")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why cells without findings are not simply conforming."""

    verdict: VerdictName
    text: str
    cells: tuple[Cell, ...]


def deviations(cells: Iterable[Cell]) -> tuple[Deviation, ...]:
    """The MUST and SHOULD findings of ``cells``, one entry per rule, level and message, as they appear."""
    gathered: dict[tuple[str, Level, str], list[tuple[Cell, Finding]]] = {}
    for cell in cells:
        for finding in counting(cell):
            key = (finding.rule, finding.level, finding.message)
            gathered.setdefault(key, []).append((cell, finding))
    return tuple(Deviation(*key, tuple(places)) for key, places in gathered.items())


def counting(cell: Cell) -> tuple[Finding, ...]:
    """The cell's findings that bear on its verdict: all but those of MAY rules."""
    return tuple(finding for finding in cell.findings if finding.level != "MAY")


def informational(cells: Iterable[Cell]) -> dict[str, tuple[str, int]]:
    """The MAY rules that do not hold, each with its requirement and the number of cells it shows in."""
    told: dict[str, tuple[str, int]] = {}
    for cell in cells:
        for rule, message in {f.rule: f.message for f in cell.findings if f.level == "MAY"}.items():
            told[rule] = (message, told.get(rule, ("", 0))[1] + 1)
    return told


def reasons(cells: Iterable[Cell]) -> tuple[Reason, ...]:
    """The reasons of cells that have no finding to speak for them, one entry per verdict and reason."""
    gathered: dict[tuple[VerdictName, str], list[Cell]] = {}
    for cell in cells:
        if speaks_by_reason(cell):
            gathered.setdefault((cell.verdict, cell.reason), []).append(cell)
    return tuple(Reason(*key, tuple(found)) for key, found in gathered.items())


def speaks_by_reason(cell: Cell) -> bool:
    """True when the cell's reason says something that its verdict and findings do not."""
    settled_by_findings = bool(counting(cell)) and cell.verdict != "error"
    return bool(cell.reason) and cell.verdict != "conforms" and not settled_by_findings


def cells_of(number: int) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{number} {'cell' if number == 1 else 'cells'}"


def moment(finding: Finding) -> str:
    """The event and the time in milliseconds of a finding that lies in a stream; else empty."""
    told = [] if finding.event is None else [f"event {finding.event}"]
    return ", ".join(told if finding.ms is None else [*told, f"{finding.ms:.0f} ms"])


def where(finding: Finding) -> str:
    """The finding's place: its path, and its moment when it lies in a stream."""
    told = moment(finding)
    return f"{finding.path} ({told})" if told else finding.path


def plain(finding: Finding) -> str:
    """The finding as a few lines of safe plain text."""
    lines = [
        f"{finding.level} {clean_line(finding.rule)} ({finding.basis}): {clean_line(finding.message)}",
        f"  at     {clean_line(where(finding))}",
        f"  wanted {clean_line(finding.wanted)}",
        f"  got    {clean_line(finding.got)}",
    ]
    if finding.consequence:
        lines.append(f"  breaks {clean_line(finding.consequence)}")
    if finding.quirk is not None:
        lines.append(f"  declared quirk {clean_line(finding.quirk)}")
    if finding.known is not None:
        lines.append(f"  known: {clean_line(finding.known)}")
    return "\n".join(lines)

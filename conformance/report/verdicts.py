"""How a verdict looks and what it counts as, the same in every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from conformance.types import Cell, Finding, VerdictName

Outcome = Literal["passed", "failed", "broken", "skipped"]

MARKS: Mapping[VerdictName, str] = {
    "conforms": "✓",
    "warns": "!",
    "quirk": "~",
    "violates": "✗",
    "refused": "⊘",
    "inconclusive": "?",
    "unsupported": "–",
    "not-run": "·",
    "error": "E",
}

ASCII_MARKS: Mapping[VerdictName, str] = {
    **MARKS,
    "conforms": "+",
    "violates": "X",
    "refused": "o",
    "unsupported": "-",
    "not-run": ".",
}

STYLES: Mapping[VerdictName, str] = {
    "conforms": "green",
    "warns": "yellow",
    "quirk": "magenta",
    "violates": "bold red",
    "refused": "cyan",
    "inconclusive": "blue",
    "unsupported": "dim",
    "not-run": "dim",
    "error": "bold yellow",
}

MEANINGS: Mapping[VerdictName, str] = {
    "conforms": "every rule that applies holds",
    "warns": "only SHOULD rules do not hold",
    "quirk": "deviates exactly as declared",
    "violates": "a MUST rule does not hold",
    "refused": "an optional feature, honestly declined",
    "inconclusive": "the model did not do what the scenario needs",
    "unsupported": "the wire cannot express it, or the endpoint declares so",
    "not-run": "no key or no cassette",
    "error": "the suite could not tell",
}

# What a person reads first, reads first: trouble, then explanations, then good news.
BY_GRAVITY: tuple[VerdictName, ...] = (
    "violates",
    "error",
    "quirk",
    "warns",
    "refused",
    "inconclusive",
    "unsupported",
    "not-run",
    "conforms",
)

_OUTCOMES: Mapping[VerdictName, Outcome] = {
    "violates": "failed",
    "error": "broken",
    "not-run": "skipped",
    "unsupported": "skipped",
    "inconclusive": "skipped",
}


def outcome(verdict: VerdictName) -> Outcome:
    """What a test report of the usual four outcomes says for ``verdict``."""
    return _OUTCOMES.get(verdict, "passed")


def bears(finding: Finding) -> VerdictName:
    """The verdict that ``finding`` alone would give its cell; picks the mark and colour it is shown in."""
    if finding.quirk is not None:
        return "quirk"
    if finding.known is not None or finding.level != "MUST":
        return "warns"
    return "violates"


def shown_flags(cell: Cell) -> tuple[str, ...]:
    """The flags to print beside a verdict; ``simulated`` is said once, at the endpoint."""
    return tuple(flag for flag in cell.flags if flag != "simulated")

"""Known findings: a file in the user's repository that silences exactly the findings it names.

A known finding keeps its verdict (no badge or certificate improves); it only stops failing the run. An
entry that has expired, or that no longer shows, is reported.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from conformance.config import line_of
from conformance.types import Cell


class KnownError(Exception):
    """The file can't be used; the message names file, line, entry and key."""


class Known(BaseModel):
    """One known finding."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str
    rule: str
    scenario: str
    link: str = Field(min_length=1, description="Where it is tracked.")
    review_by: datetime.date = Field(description="After this date the entry no longer silences anything.")

    def __str__(self) -> str:
        return f"{self.endpoint} x {self.scenario}: {self.rule} ({self.link})"


def load_known(path: Path) -> tuple[Known, ...]:
    """The entries of a known-findings file: a YAML list of `Known`. Raises `KnownError`."""
    try:
        rows = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise KnownError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise KnownError(f"{path}: not YAML: {str(error).splitlines()[0]}") from None
    if rows is None:
        return ()
    if not isinstance(rows, list):
        raise KnownError(f"{path}: a list of entries is wanted")
    entries = []
    for number, row in enumerate(rows):
        try:
            entries.append(Known.model_validate(row))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"]) or "entry"
            line = line_of(path, (number, *first["loc"]))
            raise KnownError(f"{path}:{line}: entry {number}: {key}: {first['msg']}") from None
    return tuple(entries)


def apply_known(
    cells: Sequence[Cell], known: Sequence[Known], today: datetime.date
) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Mark the findings that are known, and the cells all of whose violations are.

    Returns the cells and one note per entry that has expired or no longer shows. An entry is said to be
    gone only where its cell was judged in this run.
    """
    notes: list[str] = []
    used: set[Known] = set()
    judged = {
        (c.endpoint, c.scenario) for c in cells if c.verdict not in ("error", "not-run", "inconclusive")
    }

    def entry_for(cell: Cell, rule: str) -> Known | None:
        return next(
            (k for k in known if (k.endpoint, k.scenario, k.rule) == (cell.endpoint, cell.scenario, rule)),
            None,
        )

    marked = []
    for cell in cells:
        findings = []
        for finding in cell.findings:
            entry = entry_for(cell, finding.rule)
            if entry is not None:
                used.add(entry)
                if entry.review_by >= today:
                    finding = replace(finding, known=entry.link)
            findings.append(finding)
        breaking = [f for f in findings if f.level == "MUST" and f.quirk is None]
        silenced = cell.verdict == "violates" and bool(breaking) and all(f.known for f in breaking)
        flags = (*cell.flags, "known") if silenced else cell.flags
        marked.append(replace(cell, findings=tuple(findings), flags=tuple(flags)))
    for entry in known:
        if entry.review_by < today:
            notes.append(f"known finding expired on {entry.review_by}: {entry}")
        elif entry not in used and (entry.endpoint, entry.scenario) in judged:
            notes.append(f"known finding no longer shows: {entry}")
    return tuple(marked), tuple(notes)

"""A difference as text for a terminal, as Markdown for a pull request, as JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.report.clean import clean_line
from conformance.report.difference import KINDS, Change, Difference
from conformance.report.markdown import code, prose
from conformance.types import Matrix

_SCENARIOS = 6


def to_text(found: Difference) -> str:
    """The difference, a block per kind of change, safe for any terminal."""
    lines: list[str] = []
    for kind, meaning in KINDS.items():
        changes = found.of(kind)
        if changes:
            lines.append(f"{kind} ({len(changes)}): {meaning}")
            for change in changes:
                lines += [f"  {line}" for line in _lines(change)]
            lines.append("")
    lines.append(_counted(found))
    return "\n".join(lines)


def to_markdown(found: Difference) -> str:
    """The difference as a comment on a pull request."""
    lines = ["## Conformance: what changed", "", prose(_counted(found)), ""]
    for kind, meaning in KINDS.items():
        changes = found.of(kind)
        if not changes:
            continue
        lines += [f"### {kind.capitalize()} ({len(changes)})", "", f"*{meaning}*", ""]
        lines += ["| endpoint | what | where |", "|---|---|---|"]
        for change in changes:
            where = ", ".join(code(name) for name in change.scenarios[:_SCENARIOS]) + _more(change)
            lines.append(f"| {prose(change.endpoint)} | {_cell(change)} | {where} |")
        lines.append("")
    return "\n".join(lines)


def to_json(found: Difference) -> dict[str, Any]:
    """The difference as JSON values."""
    return {
        "old": _suite(found.old),
        "new": _suite(found.new),
        "compared": found.compared,
        "counts": {kind: len(found.of(kind)) for kind in KINDS},
        "changes": [_entry(change) for change in found.changes],
    }


def _suite(matrix: Matrix) -> dict[str, Any]:
    return {key: matrix.suite.get(key) for key in ("version", "generated")}


def _entry(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "endpoint": change.endpoint,
        "scenarios": list(change.scenarios),
        "rule": change.rule or None,
        "level": change.level,
        "got": change.got or None,
        "before": change.before,
        "after": change.after,
        "reason": change.reason or None,
    }


def _lines(change: Change) -> Iterator[str]:
    names = ", ".join(change.scenarios[:_SCENARIOS]) + _more(change)
    if change.rule:
        yield clean_line(f"{change.endpoint}: {change.rule} ({change.level}) in {names}")
        yield clean_line(f"    {change.message}")
        if change.got:
            yield clean_line(f"    got {change.got}")
        return
    if change.before and change.after:
        yield clean_line(f"{change.endpoint}: {change.before} -> {change.after} in {names}")
    elif not change.endpoint:
        yield clean_line(f"scenarios {names}")
        return
    else:
        yield clean_line(f"{change.endpoint}{': ' if names else ''}{names}")
    if change.reason:
        yield clean_line(f"    {change.reason}")


def _cell(change: Change) -> str:
    if change.rule:
        got = f": {code(change.got)}" if change.got else ""
        return f"{code(change.rule)} ({change.level}) {prose(change.message)}{got}"
    if change.before and change.after:
        return prose(f"{change.before} -> {change.after}: {change.reason}".rstrip(": "))
    return prose(change.reason)


def _more(change: Change) -> str:
    left = len(change.scenarios) - _SCENARIOS
    return f" and {left} more" if left > 0 else ""


def _counted(found: Difference) -> str:
    counts = [f"{len(found.of(kind))} {kind}" for kind in KINDS if found.of(kind)]
    return f"{found.compared} cells judged in both: {', '.join(counts) or 'nothing changed'}"

"""A committed baseline: how often each file breaks each rule today, so that only what is new fails.

A finding is known by its file and rule, counted by exchange: it stays known when positions shift. A file that
breaks a rule in more exchanges than the baseline says has new findings; one that breaks it in fewer is told.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath

from conformance.config import ConfigError
from conformance.grade.grading import Graded
from conformance.types import Finding

VERSION = 1
KNOWN = "baseline"

Key = tuple[str, str]


class BaselineError(ConfigError):
    """The file can't be used; the message names it and what is wrong."""


class Baseline:
    """What is known, less what was met already. File names are relative to the folder of the baseline."""

    def __init__(self, folder: Path, known: Counter[Key]) -> None:
        self._folder = folder
        self._known = known
        self._left = known.copy()

    def mark(self, graded: Graded) -> Graded:
        """The exchange with its known findings marked, each rule used up once."""
        rules: dict[str, bool] = {}
        findings: list[Finding] = []
        for finding in graded.findings:
            if finding.rule not in rules:
                key = (relative(graded.file, self._folder), finding.rule)
                rules[finding.rule] = self._left[key] > 0
                if rules[finding.rule]:
                    self._left[key] -= 1
            findings.append(replace(finding, known=KNOWN) if rules[finding.rule] else finding)
        return replace(graded, findings=tuple(findings))

    def gone(self, paths: Sequence[Path]) -> Iterator[tuple[str, str, int]]:
        """File, rule and in how many exchanges less than known it is broken; ask after all was marked.

        Only of files at or below ``paths``: nothing is known of what was not graded.
        """
        graded = [PurePath(relative(str(path), self._folder)) for path in paths]
        for (file, rule), left in sorted(self._left.items()):
            if left and any(_is_below(PurePath(file), path) for path in graded):
                yield file, rule, left


def _is_below(file: PurePath, folder: PurePath) -> bool:
    """Whether a file is or lies below a folder, both relative to one place."""
    up = len([part for part in folder.parts if part == ".."])
    if up == len(folder.parts):  # the place itself, or one above it
        return len([part for part in file.parts if part == ".."]) <= up
    return file.is_relative_to(folder)


def load_baseline(path: Path) -> Baseline:
    """The baseline in a file. Raises `BaselineError`."""
    try:
        document = json.loads(path.read_text("utf-8"))
        rows = document["findings"]
        known = Counter({(str(row["file"]), str(row["rule"])): int(row["exchanges"]) for row in rows})
    except FileNotFoundError:
        raise BaselineError(f"{path}: no such file (--write-baseline makes one)") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BaselineError(f"{path}: no baseline: {str(error) or type(error).__name__}") from None
    if document.get("baseline") != VERSION:
        raise BaselineError(f"{path}: a baseline of version {VERSION} is wanted")
    return Baseline(path.parent, known)


def write_baseline(path: Path, counts: Counter[Key]) -> None:
    """Write how many exchanges of each file break each rule, sorted, so that a diff tells what changed."""
    rows = [{"file": file, "rule": rule, "exchanges": n} for (file, rule), n in sorted(counts.items())]
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
    body = f'{{\n "baseline": {VERSION},\n "findings": [\n{lines}\n ]\n}}\n'
    path.write_text(body, encoding="utf-8", errors="backslashreplace", newline="\n")


@lru_cache(maxsize=1024)
def relative(file: str, folder: Path) -> str:
    """A file's name from a folder, with slashes."""
    return Path(os.path.relpath(Path(file).resolve(), folder.resolve())).as_posix()

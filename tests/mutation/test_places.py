"""Every place bites: each statement with which a rule reports something is reached by some mutant."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from conformance import rules
from conformance.rules import check
from conformance.simulator.mutants import MUTANTS

from .conftest import Run, exchanges_of

RULES_DIRECTORY = Path(rules.__file__).parent
CLIENTS = "histories.py"
UNREACHED: dict[str, str] = {}
"""Statements (``file: source``) that no mutant reaches, each with the reason."""

Places = dict[tuple[str, int], str]


def reports() -> Places:
    """File and line of each ``yield x.found(...)`` of rules that a server can break, with its source."""
    found: Places = {}
    for path in sorted(RULES_DIRECTORY.rglob("*.py")):
        if path.name == CLIENTS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Attribute) and called.attr == "found":
                    name = path.relative_to(RULES_DIRECTORY).as_posix()
                    found[str(path), node.lineno] = f"{name}: {ast.unparse(node)}"
    return found


class Trace:
    """While it is entered: which lines of the rules run."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()

    def __enter__(self) -> Trace:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(str(RULES_DIRECTORY)) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def test_every_place_at_which_a_rule_reports_is_reached(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = [exchanges_of(mutant, run) for mutant in MUTANTS]
    with Trace() as trace:
        for several in exchanges:
            check(several)
    places = reports()
    missed = {source for place, source in places.items() if place not in trace.lines}
    with capsys.disabled():
        print(f"\nplaces at which rules report: {len(places) - len(missed)} of {len(places)} reached")
    assert missed == UNREACHED.keys()

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from conformance.report.summary import count, summarize
from conformance.types import VERDICTS, Cell, Matrix, VerdictName

from .examples import CODE, DUPLICATE, FINISH, one_endpoint, several_endpoints
from .strategies import matrices


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_cell_is_judged_when_its_verdict_says_something_about_the_endpoint(verdict: VerdictName) -> None:
    counted = count([Cell("e", "s", "strict", verdict)])
    silent = ("error", "not-run", "inconclusive", "unsupported")
    assert (counted.judged, counted.total) == (0 if verdict in silent else 1, 1)


def test_endpoints_are_counted_apart_and_keep_their_order() -> None:
    summary = summarize(several_endpoints())
    assert {name: (c.judged, c.total) for name, c in summary.endpoints.items()} == {
        "llama-server": (9, 10),
        "reference": (10, 10),
        "deepseek-like": (11, 11),
        "private-gateway-eu-west-1": (0, 3),
        "groq": (0, 0),
        "mistral": (0, 0),
    }
    assert next(iter(summary.endpoints)) == "llama-server"


def test_the_worst_rules_come_first() -> None:
    rules = summarize(several_endpoints()).rules
    assert [(r.rule, r.level, r.cells, r.endpoints) for r in rules] == [
        (FINISH.rule, "MUST", 2, 1),
        (DUPLICATE.rule, "MUST", 1, 1),
        (CODE.rule, "SHOULD", 2, 1),
    ]


def test_a_rule_found_at_two_levels_counts_at_the_graver_one() -> None:
    twice = (replace(CODE, level="MAY"), replace(CODE, level="MUST"))
    matrix = replace(
        one_endpoint(), cells=(Cell("llama-server", "chat.plain", "strict", "violates", findings=twice),)
    )
    assert [(r.level, r.cells) for r in summarize(matrix).rules] == [("MUST", 1)]


@settings(deadline=None)
@given(matrices())
def test_every_cell_is_counted_once(matrix: Matrix) -> None:
    summary = summarize(matrix)
    assert sum(summary.overall.verdicts.values()) == summary.overall.total == len(matrix.cells)
    assert sum(c.total for c in summary.endpoints.values()) == len(matrix.cells)

"""What is judged in the judge's tests: exchanges, outcomes, scenarios, quirks."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.judge import judge, judge_attempt
from conformance.quirks import Quirk
from conformance.quirks.catalogue import Shows
from conformance.rules import examples as ex
from conformance.rules.reading import ABSENT
from conformance.scenarios.base import Feature, Scenario
from conformance.types import Attempt, Cell, Exchange, Failure

CLEAN = ex.answer()
MISSING_ID = ex.answer(calls=[ex.call(id="")])
WARNING = ex.answer(usage=ABSENT)
BROKEN_STREAM = tuple(replace(e, ending="cut") for e in ex.stream())
DID: tuple[Any, str] = ("done", "")
DID_NOT: tuple[Any, str] = ("model-did-not", "make two calls in one turn")
STUCK: tuple[Any, str] = ("stuck", "")


def refusing(
    status: int, message: str = "No.", expect: Any = "answer", probe: str | None = None
) -> tuple[Exchange, ...]:
    return ex.error(status, error={"message": message}, expect=expect, probe=probe)


def broken(ending: Any, exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    return tuple(replace(one, ending=ending) for one in exchanges)


def nobody(kind: Any, message: str) -> tuple[Exchange, ...]:
    return (replace(CLEAN[0], response=None, failure=Failure(kind, message)),)


def a_scenario(id: str = "tools.single-call") -> Scenario:
    optional = (Feature("tools", re.compile("does not support tools")),)
    return Scenario(id, "A scenario", "", lambda: iter(()), (), optional=optional)  # type: ignore[arg-type,return-value]


def a_quirk(rule: str, got: str | None = None, scenarios: tuple[str, ...] = ("tools.*",)) -> Quirk:
    return Quirk(
        id="some-quirk",
        title="t",
        providers=("p",),
        wire="openai-chat",
        category="c",
        trigger="t",
        observed="o",
        expected="e",
        severity="breaks",
        workaround="w",
        confidence="recorded",
        sources=("s",),
        review_by=datetime.date(2030, 1, 1),
        shows=(Shows(rules=(rule,), scenarios=scenarios, got=got),),
    )


def cell_of(scenario: Scenario, attempts: Sequence[Attempt], quirks: Sequence[Quirk] = ()) -> Cell:
    return judge("e", scenario, attempts, [judge_attempt(scenario, a, quirks) for a in attempts])

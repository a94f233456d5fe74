"""Probes tie scenarios to rules: none without the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import conversation, error, models
from conformance.scenarios import SCENARIOS
from conformance.scenarios.base import ModelDidNot, Stuck, asks_of
from conformance.types import WIRES, Ask, Exchange, HttpRequest, HttpResponse, Raw, Reply, Together

ANSWERED = Exchange(HttpRequest("POST", "", (), b""), HttpResponse(200, (), b""), "complete", "openai-chat")


def steps() -> Iterator[Ask | Raw]:
    """Every step of every scenario, walked with its ideal turns."""
    for scenario in SCENARIOS.values():
        script, turns = scenario.script(), iter(scenario.ideal)
        with contextlib.suppress(StopIteration, Stuck, ModelDidNot):
            step = next(script)
            while True:
                yield from asks_of(step) or ([step] if isinstance(step, Raw) else [])
                replies = tuple(Reply(ANSWERED, next(turns)) for _ in asks_of(step)) or (
                    Reply(ANSWERED, None),
                )
                step = script.send(replies if isinstance(step, Together) else replies[0])


STEPS = tuple(steps())
PROBES = {step.probe for step in STEPS if step.probe}


@pytest.mark.parametrize("rule", [pytest.param(r, id=r.id) for r in RULES.values() if r.probe])
def test_a_rule_about_a_probe_has_a_scenario_that_sends_it(rule: object) -> None:
    assert getattr(rule, "probe") in PROBES  # noqa: B009


@pytest.mark.parametrize(
    "probe", sorted({s.probe for s in STEPS if s.probe and isinstance(s, Ask) and s.expect == "answer"})
)
def test_a_probe_that_is_to_be_answered_is_not_refused_unnoticed(probe: str) -> None:
    refused = error(400, probe=probe, expect="answer")
    runs = [tuple(replace(e, wire=w) for e in conversation(models(), refused, refused)) for w in WIRES]
    assert [f for run in runs for f in check(run) if f.path.endswith("/status") and f.level != "MAY"]

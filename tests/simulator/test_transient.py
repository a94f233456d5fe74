"""A transient quirk shows on the first of equal requests of a run, and asking again gets past it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from conformance.quirks import catalogue
from conformance.simulator import Simulator, running
from conformance.simulator.behaviour import Persona
from conformance.simulator.personas import having, persona_of

QUIRK = catalogue()["http-200-error-body"]
FAILING = persona_of("failing", (QUIRK,))


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with running(Simulator([FAILING], {}, gap_s=0)) as hosted:
        yield hosted


def fails(simulator: Simulator, run: str, words: str = "Hello.") -> bool:
    url = f"{simulator.base_url('failing', run=run)}/chat/completions"
    body = {"model": "reference", "messages": [{"role": "user", "content": words}]}
    answer = httpx.post(url, json=body, headers={"authorization": "Bearer sk-reference"}, timeout=10)
    return "error" in answer.json()


def test_the_same_request_is_answered_when_it_comes_again(simulator: Simulator) -> None:
    assert [fails(simulator, "again") for _ in range(3)] == [True, False, False]


def test_another_request_meets_it_anew(simulator: Simulator) -> None:
    assert [fails(simulator, "other", words) for words in ("One.", "Two.")] == [True, True]


def test_another_run_meets_it_anew(simulator: Simulator) -> None:
    assert [fails(simulator, run) for run in ("first", "second")] == [True, True]


def test_a_quirk_that_lasts_is_kept_when_the_same_comes_again() -> None:
    lasting = next(q for q in catalogue().values() if q.simulate and not q.transient)
    persona = having(FAILING, (lasting,))
    assert {quirk for _, by in persona.lasting.acts for quirk in by} == {lasting.id}


def test_behaviours_of_no_quirk_last() -> None:
    assert Persona("plain", FAILING.behaviours).lasting.behaviours == FAILING.behaviours

"""The hook that sees every answer: completions, lists of models and refusals."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from conformance.simulator import Persona, Simulator, running
from conformance.simulator.mutants import Mutant
from conformance.simulator.mutants.edits import header

from .support import SCRIPTS, Talk, deltas

MARKED = Mutant("rule", "scenario", header("x-rewired", "yes"), variant="headers").persona()


@pytest.fixture(scope="module")
def talk(client: httpx.Client) -> Iterator[Talk]:
    with running(Simulator([Persona("clean"), MARKED], SCRIPTS)) as simulator:
        yield Talk(simulator, MARKED.name, client)


def test_completions_streams_lists_and_refusals_are_rewired(talk: Talk) -> None:
    whole, streamed = talk.ask("[[plain]]"), talk.ask("[[plain]]", stream=True)
    answers = [whole, streamed, talk.get("/models"), talk.send(b"{")]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 400]
    assert [answer.headers["x-rewired"] for answer in answers] == ["yes"] * 4


def test_what_is_not_changed_stays_as_it_is(talk: Talk) -> None:
    assert talk.choice("[[plain]]")["message"]["content"] == SCRIPTS["plain"].text
    pieces = [delta.get("content") or "" for delta in deltas(talk.events("[[plain]]"))]
    assert "".join(pieces) == SCRIPTS["plain"].text

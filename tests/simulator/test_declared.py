"""What a quirk declares is what the simulator does: it refuses, and it passes over what is ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from conformance.quirks import Quirk
from conformance.simulator import Simulator, running
from conformance.simulator.declared import Declared
from conformance.simulator.personas import persona_of

from .support import SCRIPTS, WEATHER, Talk

MADE: dict[str, Any] = {
    "id": "made",
    "title": "Made",
    "providers": ["several"],
    "wire": "openai-chat",
    "category": "tool-choice",
    "trigger": "t",
    "observed": "o",
    "expected": "e",
    "severity": "breaks",
    "workaround": "w",
    "confidence": "recorded",
    "sources": ["s"],
    "review_by": "2027-05-31",
    "refuses": [{"when": [{"at": "/user"}], "answer": {"status": 422, "body": {"said": "{value}"}}}],
    "alters": [
        {"when": [{"at": "/tool_choice"}, {"at": "/seed"}], "effect": "ignored"},
        {"when": [{"at": "/tools/*", "repeated": True}], "effect": "changed"},
        {"when": [{"at": "/stop/*", "one_of": ["a", "b"]}], "effect": "ignored"},
        {"wire": "gemini", "when": [{"at": "/messages"}], "effect": "ignored"},
    ],
}


@pytest.fixture(scope="module")
def made() -> Quirk:
    return Quirk.model_validate(MADE)


@pytest.fixture(scope="module")
def talking(made: Quirk, client: httpx.Client) -> Iterator[tuple[Simulator, Talk]]:
    with running(Simulator([persona_of("made", (made,))], SCRIPTS, gap_s=0)) as simulator:
        yield simulator, Talk(simulator, "made", client)


def declared(made: Quirk) -> Declared:
    return Declared(made.id, made.wire, made.refuses, made.alters)


def test_what_is_refused_is_refused_in_the_declared_words(talking: tuple[Simulator, Talk]) -> None:
    response = talking[1].ask("Hi", user="ada")
    assert (response.status_code, response.json()) == (422, {"said": "ada"})


def test_what_is_ignored_is_as_if_it_had_not_been_sent(talking: tuple[Simulator, Talk]) -> None:
    simulator, talk = talking
    softened = talk.choice("[[plain]]", tools=[WEATHER], tool_choice="required", seed=1)["message"]
    assert "tool_calls" not in softened
    forced = talk.choice("[[plain]]", tools=[WEATHER], tool_choice="required")["message"]
    assert forced["tool_calls"]
    assert [entry.quirks for entry in simulator.journal[-2:]] == [("made",), ()]


def test_the_request_itself_stays_as_it_was(made: Quirk) -> None:
    body = {"stop": ["a", "x", "b"], "messages": [1], "tools": [1, 1]}
    read = declared(made).disregard("openai-chat", body, "m")
    assert read == {"stop": ["x"], "messages": [1], "tools": [1, 1]}
    assert body == {"stop": ["a", "x", "b"], "messages": [1], "tools": [1, 1]}


def test_a_wire_that_is_not_meant_is_read_whole(made: Quirk) -> None:
    body = {"stop": ["a"], "tool_choice": "auto", "seed": 1}
    assert declared(made).disregard("ollama", body, "m") is body

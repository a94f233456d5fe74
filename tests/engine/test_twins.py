"""Which requests are asked both ways, how, and what becomes of the answers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.engine.drive import Target, plan, run_script
from conformance.engine.twins import the_other_way, twins_of
from conformance.scenarios import SCENARIOS, Scenario, scripts
from conformance.scenarios.base import asks_of
from conformance.scenarios.walking import imagined
from conformance.simulator import PERSONAS, Persona, Simulator, running
from conformance.simulator.mutants import Mutant
from conformance.simulator.mutants.edits import body, only, put, to
from conformance.transport.client import Limits, LiveTransport
from conformance.types import WIRES, Ask, Attempt, Message, Request, WireName
from conformance.wires import wire
from tests.engine.support import at, cells, configure, go, served

REFERENCE = PERSONAS["reference"]
PLAIN = Request((Message.user("Hello."),))
STREAM = replace(PLAIN, stream=True)
ROW = {"persona": "reference", "model": "reference", "scripted": True}

NUMBERS = {
    # one question, one twin
    "chat.plain": {0},
    "stream.plain": {0},
    # every turn of a conversation, by the history that it was asked with
    "tools.result-round-trip": {0, 1},
    # what a scenario asks both ways itself has no twin
    "stream.same-as-whole": set(),
    "parser.text-before": set(),
    "parser.quoted-markup": set(),
    # requests that are the same have one
    "parameters.seed": {0},
    # a stream that is closed half-way has none, the one after it has
    "limits.client-leaves": {1},
    # options of a stream without one are about streams (number 4)
    "errors.bad-parameters": {0, 1, 2, 3, 5},
    # bytes have no script
    "errors.malformed-json": set(),
}


@pytest.mark.parametrize("scenario", NUMBERS)
def test_what_has_a_twin(scenario: str) -> None:
    assert twins_of(SCENARIOS[scenario]) == NUMBERS[scenario]


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda one: one.id)
def test_every_canonical_request_is_asked_both_ways_or_of_a_kind_that_has_one_way(scenario: Scenario) -> None:
    asks = [(step, ask) for step in imagined(scenario) for ask in asks_of(step)]
    asked = [replace(ask.request, include_usage=None) for _, ask in asks]
    twins = [
        replace(the_other_way(ask).request, include_usage=None)
        for number, (_, ask) in enumerate(asks)
        if number in twins_of(scenario)
    ]
    for step, ask in asks:
        other = replace(the_other_way(ask).request, include_usage=None)
        one_way = not isinstance(step, Ask) or ask.auth != "own" or ask.probe == "script-alone"
        about_streams = not ask.request.stream and (
            ask.request.include_usage is not None or "stream_options" in ask.request.extra
        )
        assert other in (*asked, *twins) or one_way or about_streams


@pytest.mark.parametrize(
    ("asked", "usage", "other"),
    [
        (PLAIN, True, replace(STREAM, include_usage=True)),
        (PLAIN, False, STREAM),
        (STREAM, True, PLAIN),
        (replace(STREAM, include_usage=True), True, PLAIN),
        (
            replace(STREAM, extra={"stream_options": {"x": 1}, "top_p": 1}),
            True,
            replace(PLAIN, extra={"top_p": 1}),
        ),
        (
            replace(STREAM, native={"ollama": {"stream": True, "think": True}}),
            True,
            replace(PLAIN, native={"ollama": {"think": True}}),
        ),
    ],
    ids=[
        "whole",
        "whole, usage not to be had",
        "streamed",
        "with usage",
        "with options",
        "a wire's own words",
    ],
)
def test_the_other_way_is_the_same_request_but_for_its_stream(
    asked: Request, usage: bool, other: Request
) -> None:
    assert the_other_way(Ask(asked, probe="p", expect="either"), usage=usage) == Ask(
        other, probe="p", expect="either"
    )


def attempt_of(
    scenario: str, persona: Persona, over: WireName = "openai-chat", *, parity: bool = True
) -> Attempt:
    with running(Simulator([persona], scripts(), gap_s=0)) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))
        target = Target(
            base_url=simulator.base_url(persona.name, over),
            wire=wire(over),
            model=persona.model,
            key=persona.key,
            scripted=True,
            parity=parity,
        )
        attempt = runner.run(run_script(SCENARIOS[scenario], target, transport))
        runner.run(transport.aclose())
        return attempt


@pytest.mark.parametrize("over", WIRES)
def test_twins_come_after_the_script_and_name_whose_they_are(over: WireName) -> None:
    attempt = attempt_of("tools.result-round-trip", REFERENCE, over)
    assert len(attempt.exchanges) == 2
    assert [(one.twin.of, one.twin.streams) for one in attempt.twins if one.twin] == [(0, True), (1, True)]
    assert [one.twin.script for one in attempt.twins if one.twin] == list(
        SCENARIOS["tools.result-round-trip"].ideal
    )
    assert attempt.shown == attempt.sent == (*attempt.exchanges, *attempt.twins)
    assert all(one.response and one.response.status == 200 for one in attempt.shown)


def test_a_twin_asks_with_the_history_of_the_one_whose_twin_it_is() -> None:
    attempt = attempt_of("tools.result-round-trip", REFERENCE)
    requests: list[Any] = [
        wire("openai-chat").decode_request(_body(one.request.body)) for one in attempt.shown
    ]
    assert [one.messages for one in requests[:2]] == [one.messages for one in requests[2:]]


def test_without_parity_nothing_is_asked_twice() -> None:
    assert attempt_of("tools.result-round-trip", REFERENCE, parity=False).twins == ()


@pytest.mark.parametrize("scenario", ["chat.plain", "tools.result-round-trip", "limits.client-leaves"])
def test_the_plan_counts_twins(scenario: str) -> None:
    spoken = wire("openai-chat")
    once, twice = plan(SCENARIOS[scenario], spoken), plan(SCENARIOS[scenario], spoken, parity=True)
    assert twice.requests - once.requests == len(twins_of(SCENARIOS[scenario]))
    assert len(attempt_of(scenario, REFERENCE).sent) == twice.requests


def _body(text: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    return document


# ------------------------------------------------------------------------------------------ whole runs


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", REFERENCE.key)


def test_the_reference_says_the_same_both_ways_in_every_scenario(tmp_path: Path) -> None:
    outcome = go(configure(tmp_path, one={**ROW, "parity": True}))
    assert {c.verdict for c in outcome.matrix.cells} == {"conforms", "unsupported"}
    asked = sum("twin_of" in view for cell in outcome.matrix.cells for view in cell.evidence)
    assert asked > 150


def test_a_server_whose_paths_differ_is_found_out_and_the_record_shows_it_again(tmp_path: Path) -> None:
    says = put("choices", 0, "message", "content", value="One, two, and so on.")
    counting = Mutant("parity.text", "stream.plain", only(to("stream.plain/0"), body(says))).persona()
    with served(counting) as simulator:
        config = configure(tmp_path, e=at(simulator, counting.name))
        told = cells(go(config, ("stream.plain",), mode="record"))["stream.plain"]
    assert (told.verdict, [(one.rule, one.path) for one in told.findings]) == (
        "violates",
        [("parity.text", "/exchanges/0/response")],
    )
    assert [view.get("twin_of") for view in told.evidence] == [None, 0]
    again = cells(go(config, ("stream.plain",)))["stream.plain"]
    assert (again.verdict, again.findings) == (told.verdict, told.findings)


def test_a_row_may_say_that_nothing_is_asked_twice(tmp_path: Path) -> None:
    with served(REFERENCE) as simulator:
        config = configure(tmp_path, e=at(simulator, "reference", parity=False))
        assert cells(go(config, ("chat.plain",), mode="live"))["chat.plain"].requests == 1


def test_a_quirk_that_only_twins_show_is_not_stale_where_nothing_is_asked_twice(tmp_path: Path) -> None:
    quirks = ["llamacpp-prefill-repeated-whole"]
    for parity, stale in ((True, ("simulated", "stale")), (False, ("simulated",))):
        config = configure(tmp_path, one={**ROW, "parity": parity, "quirks": quirks})
        told = cells(go(config, ("history.user-messages",)))["history.user-messages"]
        assert told.flags == stale

"""The journal names the quirks that shaped an answer, and those only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from conformance.config import ConfigError
from conformance.quirks import Quirk, catalogue
from conformance.simulator import PERSONAS, Behaviour, JournalEntry, Persona, Simulator, running
from conformance.simulator.answer import Action, Actions, Event, Refused, Respond, refusal
from conformance.simulator.choosing import CUSTOM, choose
from conformance.simulator.personas import having, persona_of
from conformance.simulator.request import ChatRequest
from conformance.types import HttpRequest, Text, Turn, WireName

from .support import SCRIPTS

DUPLICATES = "duplicate-tool-names-rejected"


@dataclass(frozen=True, slots=True)
class Acts(Behaviour):
    """Acts in one hook, where the prompt says so."""

    name: str = "acts"
    hook: str = ""

    def first(self, request: HttpRequest) -> Actions | None:
        return [Respond(200, (), b"")] if self.hook == "first" and b"do it" in request.body else None

    def screen(self, wire: WireName, body: Any, model: str) -> Refused | None:
        return refusal("No.", why="w") if self.hook == "screen" and "do it" in str(body) else None

    def refuse(self, request: ChatRequest) -> Refused | None:
        return refusal("No.", why="w") if self.hook == "refuse" and "do it" in str(request.body) else None

    def turn(self, request: ChatRequest, turn: Turn) -> Turn:
        if self.hook == "turn" and "do it" in str(request.body):
            return replace(turn, parts=(Text("changed"),))
        return replace(turn)

    def actions(self, request: ChatRequest, actions: Actions) -> Actions:
        return self._through(actions, self.hook == "actions" and "do it" in str(request.body))

    def rewire(self, request: HttpRequest, actions: Actions) -> Actions:
        return self._through(actions, self.hook == "rewire" and b"do it" in request.body)

    def _through(self, actions: Actions, change: bool) -> Iterator[Action]:
        for action in actions:
            if change and isinstance(action, Respond) and isinstance(action.body, dict):
                action.body["changed"] = True  # in place, as a careless behaviour does
            yield action


def entry(persona: Persona, prompt: str, **members: Any) -> JournalEntry:
    body = {"model": "reference", "messages": [{"role": "user", "content": prompt}], **members}
    with running(Simulator([persona], SCRIPTS, gap_s=0)) as simulator:
        url = simulator.base_url(persona.name) + "/chat/completions"
        httpx.post(url, json=body, headers={"authorization": "Bearer sk-reference"})
        (noted,) = simulator.journal
    return noted


@pytest.mark.parametrize(
    ("hook", "action"),
    [
        ("first", "took over: a, b"),
        ("screen", "refused: a, b"),
        ("refuse", "refused: a, b"),
        ("turn", "answered improvised"),
        ("actions", "answered improvised"),
        ("rewire", "answered improvised"),
    ],
)
def test_a_quirk_is_named_where_it_acts_and_not_where_it_does_not(hook: str, action: str) -> None:
    persona = Persona(
        "p", (Acts(hook=hook), Behaviour("idle")), quirks=("a", "b"), origins=(("a", "b"), ("c",))
    )
    acted, idle = entry(persona, "do it"), entry(persona, "leave it")
    assert (acted.action, acted.quirks) == (action, ("a", "b"))
    assert (idle.action, idle.quirks) == ("answered improvised", ())


@pytest.mark.parametrize("events", [10, 2_000, 2_001, 3_000])
def test_an_answer_of_any_length_goes_out_whole(events: int) -> None:
    @dataclass(frozen=True, slots=True)
    class Long(Behaviour):
        name: str = "long"

        def actions(self, request: ChatRequest, actions: Actions) -> Actions:
            *honest, end = actions
            return [*honest, *(Event({"n": i}) for i in range(events)), end]

    persona = Persona("p", (Long(), Acts()), origins=(("long",), ("idle",)))
    body = {"model": "reference", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    with running(Simulator([persona], SCRIPTS, gap_s=0)) as simulator:
        url = simulator.base_url("p") + "/chat/completions"
        answer = httpx.post(url, json=body, headers={"authorization": "Bearer sk-reference"})
        assert simulator.journal[0].quirks == ("long",)
    assert answer.text.count('{"n":') == events
    assert answer.text.endswith("data: [DONE]\n\n")


def test_a_refusal_by_a_quirk_of_the_catalogue_names_it() -> None:
    twice = [{"type": "function", "function": {"name": "a"}}] * 2
    noted = entry(persona_of("p", [catalogue()[DUPLICATES]]), "Hi", tools=twice)
    assert (noted.action, noted.quirks, noted.status) == (f"refused: {DUPLICATES}", (DUPLICATES,), 400)


def test_quirks_are_added_to_a_persona_once() -> None:
    quirk = catalogue()[DUPLICATES]
    twice = having(having(PERSONAS["reference"], [quirk]), [quirk])
    assert twice == replace(persona_of("reference", [quirk]), name="reference")


def test_all_personas_are_there_unless_some_are_named() -> None:
    assert choose() == tuple(PERSONAS.values())
    assert [persona.name for persona in choose(["reference", "reference"])] == ["reference"]


def test_a_quirk_goes_to_the_one_persona_named_else_to_a_custom_one() -> None:
    (one,) = choose(["reference"], [DUPLICATES])
    assert (one.name, one.quirks) == ("reference", (DUPLICATES,))
    *others, custom = choose([], [DUPLICATES])
    assert (custom.name, custom.quirks, len(others)) == (CUSTOM, (DUPLICATES,), len(PERSONAS))
    assert custom.serving("anything").model == "anything"


def test_models_and_keys_are_let_in_by_asking() -> None:
    (one,) = choose(["reference"], models=["gpt-*"], any_key=True)
    assert (one.key, one.serving("gpt-5").model, one.serving("other").model) == ("", "gpt-5", "reference")


@pytest.mark.parametrize(
    ("names", "quirks", "said"),
    [
        (
            ["referense"],
            [],
            "persona referense: there is none of that name (did you mean reference?); there are",
        ),
        ([], ["duplicate-tool-name-rejected"], f"(did you mean {DUPLICATES}?)"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(names: list[str], quirks: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        choose(names, quirks)
    assert said in str(caught.value)


def unsimulated() -> Iterator[Quirk]:
    return (quirk for quirk in catalogue().values() if not quirk.simulated)


@pytest.mark.skipif(next(unsimulated(), None) is None, reason="every quirk can be simulated")
def test_a_quirk_that_can_not_be_simulated_says_why() -> None:
    quirk = next(unsimulated())
    with pytest.raises(ConfigError, match=f"quirk {quirk.id}: can't be simulated: "):
        choose([], [quirk.id])

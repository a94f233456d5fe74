"""A persona's quirks explain all that it deviates in, and through its profile hardly anything is left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from conformance.engine.drive import Client, PlainClient, Target, inexpressible, run_script
from conformance.judge import Judgement, judge_attempt
from conformance.profiles import profile_of
from conformance.quirks import catalogue
from conformance.quirks.families import families
from conformance.scenarios import SCENARIOS, scripts
from conformance.scenarios.quirks import QUIRK_SCENARIOS, scenario_of
from conformance.simulator import PERSONAS, Simulator, running
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Finding, VerdictName, WireName
from conformance.wires import wire

from .conftest import ALL_SCENARIOS, ROOMY, adapted_by, models_of

OVER: WireName = "openai-chat"
TELLING = (
    "chat.plain",
    "errors.unknown-model",
    "history.assistant-messages",
    "models.list",
    "parser.two-calls",
    "reasoning.echo",
    "stream.arguments",
    "stream.parallel-calls",
    "stream.usage",
    "tools.mixed-text-and-tool-use",
    "tools.no-arguments",
    "tools.result-round-trip",
)
WHOLE = "google-gemini"
"""The persona that is played in every scenario."""
SLOW = ("limits.body-too-large", "limits.context-length", "limits.client-leaves")
FINE: frozenset[VerdictName] = frozenset({"conforms", "quirk", "inconclusive", "refused", "unsupported"})
HIDDEN = {
    ("xiaomi-mimo", "models.list"): "a 401 to one's own key is an error and no verdict",
    ("xiaomi-mimo", "models.retrieve"): "a 401 to one's own key is an error and no verdict",
}
"""What no verdict can be had on, and why."""

Meet = Callable[[str, str, bool], Judgement]


@pytest.fixture(scope="module")
def meet() -> Iterator[Meet]:
    """Judges a persona in a scenario, with its quirks declared; or, adapted, with none."""
    hosted = Simulator([PERSONAS[name] for name in families()], scripts(), gap_s=0, limits=ROOMY)
    with running(hosted) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))

        def go(name: str, scenario: str, adapted: bool) -> Judgement:
            persona = PERSONAS[name]
            target = Target(
                base_url=simulator.base_url(name, OVER, run=f"{name}-{scenario}-{int(adapted)}"),
                wire=wire(OVER),
                model=persona.model,
                key=persona.key,
                scripted=True,
                parity=not adapted,
            )
            profile = profile_of(name)
            assert profile is not None
            client: Client = adapted_by(profile) if adapted else PlainClient()
            script = run_script(ALL_SCENARIOS[scenario], target, transport, client)
            around = profile.works_around if adapted else ()
            declared = [catalogue()[quirk] for quirk in persona.quirks if quirk not in around]
            return judge_attempt(ALL_SCENARIOS[scenario], runner.run(script), declared)

        yield go
        runner.run(transport.aclose())


def unexplained(judgement: Judgement) -> list[Finding]:
    """What no declared quirk forgives, whatever the verdict."""
    return [finding for finding in judgement.findings if finding.quirk is None and finding.level != "MAY"]


def own(name: str) -> list[str]:
    """The scenarios of a persona's own quirks over Chat."""
    named = (scenario_of(catalogue()[quirk]) for quirk in PERSONAS[name].quirks)
    return [s for s in named if s in QUIRK_SCENARIOS and OVER in QUIRK_SCENARIOS[s].wires]


def everything() -> list[str]:
    """All scenarios that can be played over Chat."""
    return [
        scenario.id
        for scenario in SCENARIOS.values()
        if not (scenario.policy or scenario.intrusive or scenario.id in SLOW)
        and inexpressible(scenario, wire(OVER)) is None
    ]


def served(name: str, scenario: str) -> bool:
    """Whether the persona serves the model that a quirk's own scenario asks for."""
    asked = models_of(catalogue()[scenario.removeprefix("quirks.")]) if scenario in QUIRK_SCENARIOS else ()
    return all(PERSONAS[name].serving(model).model == model for model in asked)


MET = [
    (name, scenario)
    for name in families()
    for scenario in (*TELLING, *own(name))
    if (name, scenario) not in HIDDEN
]


@pytest.mark.parametrize("name", families())
def test_a_persona_has_a_profile(name: str) -> None:
    assert profile_of(name) is not None


@pytest.mark.parametrize(("name", "scenario"), MET)
def test_what_a_persona_deviates_in_its_quirks_explain(name: str, scenario: str, meet: Meet) -> None:
    judgement = meet(name, scenario, False)
    assert judgement.verdict in FINE, judgement
    assert unexplained(judgement) == []


@pytest.mark.parametrize("scenario", everything())
def test_a_whole_persona_is_explained(scenario: str, meet: Meet) -> None:
    judgement = meet(WHOLE, scenario, False)
    assert judgement.verdict in FINE, judgement
    assert unexplained(judgement) == []


@pytest.mark.parametrize(("name", "scenario"), [pair for pair in MET if served(*pair)])
def test_through_its_profile_a_persona_violates_nothing(name: str, scenario: str, meet: Meet) -> None:
    judgement = meet(name, scenario, True)
    assert judgement.verdict in FINE, judgement


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_no_verdict_can_be_had_on_is_an_error_still(hidden: tuple[str, str], meet: Meet) -> None:
    judgement = meet(*hidden, False)
    assert judgement.verdict == "error", judgement

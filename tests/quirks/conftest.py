"""One simulator with a persona for every quirk, and how a scenario is played against it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Protocol

import pytest

from conformance.engine.drive import PlainClient, Target, run_script
from conformance.engine.reference_client import ReferenceClient
from conformance.profiles import Profile
from conformance.quirks import Quirk, catalogue
from conformance.scenarios import SCENARIOS, scripts
from conformance.scenarios.quirks import QUIRK_SCENARIOS
from conformance.simulator import Persona, Simulator, running
from conformance.simulator import http as simulator_http
from conformance.simulator.personas import persona_of
from conformance.transport.client import Limits, LiveTransport
from conformance.types import Attempt, WireName
from conformance.wires import wire

ALL_SCENARIOS = {**SCENARIOS, **QUIRK_SCENARIOS}
CLEAN = "clean"
MODEL = Persona(CLEAN).model
BY_MODEL = {
    ("azure", "max-completion-tokens-unsupported"): "mistral-large-3",
    ("opencode", "deepseek-reasoning-echo-required"): "deepseek-v4",
    ("opencode", "deepseek-thinking-tool-choice-required"): "deepseek-v4",
    ("openrouter", "gemini-schema-required-not-in-properties"): "google/gemini-3-flash",
    ("vllm", "mistral-tool-id-9-alnum"): "mistral-large-3",
}
"""The model that a profile knows to have a quirk, where not all that the provider serves has it."""
ROOMY = simulator_http.Limits(body=16 * 1024 * 1024)


class Play(Protocol):
    """Plays a scenario against the persona of a quirk, or the clean one, maybe through a profile.

    Each is a run of its own.
    """

    def __call__(
        self,
        scenario: str,
        persona: str,
        over: WireName,
        profile: Profile | None = None,
        model: str = MODEL,
    ) -> Attempt: ...


def models_of(quirk: Quirk) -> tuple[str, ...]:
    """The models that a quirk is asked for by name, which its persona then serves."""
    example = quirk.example
    named = (example.model or example.request.get("model")) if example else None
    by_model = (model for (_, quirk_id), model in BY_MODEL.items() if quirk_id == quirk.id)
    return (*by_model, *((named,) if isinstance(named, str) and named != "{{model}}" else ()))


def adapted_by(profile: Profile) -> ReferenceClient:
    """The client of a profile, which never waits."""

    async def no_wait(seconds: float) -> None:
        del seconds

    return ReferenceClient(profile, fallback_model=None, seed="", sleep=no_wait, now=time.time)


@pytest.fixture(scope="session")
def play() -> Iterator[Play]:
    """A pair that was played before is not played again."""
    simulated = [quirk for quirk in catalogue().values() if quirk.simulated]
    every_model = tuple({name for quirk in simulated for name in models_of(quirk)})
    personas = [Persona(CLEAN, models=every_model)]
    personas += [persona_of(quirk.id, (quirk,), models_of(quirk)) for quirk in simulated]
    hosted = Simulator(personas, scripts(), gap_s=0, limits=ROOMY)
    known: dict[tuple[str, str, WireName, str, str], Attempt] = {}
    with running(hosted) as simulator, asyncio.Runner() as runner:
        transport = LiveTransport(Limits(idle_s=10, total_s=20))

        def go(
            scenario: str, persona: str, over: WireName, profile: Profile | None = None, model: str = MODEL
        ) -> Attempt:
            key = (scenario, persona, over, profile.name if profile else "", model)
            if key not in known:
                target = Target(
                    base_url=simulator.base_url(persona, over, run=str(len(known))),
                    wire=wire(over),
                    model=model,
                    key=personas[0].key,
                    scripted=True,
                )
                client = adapted_by(profile) if profile else PlainClient()
                script = run_script(ALL_SCENARIOS[scenario], target, transport, client)
                known[key] = runner.run(script)
            return known[key]

        yield go
        runner.run(transport.aclose())

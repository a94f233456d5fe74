"""The personas that come with the simulator."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.simulator.behaviour import Persona
from conformance.simulator.behaviours import BEHAVIOURS


def persona(name: str, *behaviours: str) -> Persona:
    """A persona with the named behaviours.

    Raises:
        KeyError: there is no behaviour of that name.
    """
    return Persona(name, tuple(BEHAVIOURS[behaviour] for behaviour in behaviours))


PERSONAS: Mapping[str, Persona] = {
    made.name: made
    for made in (
        persona("reference"),
        persona(
            "deepseek", "reasoning-always", "refuse-missing-reasoning-echo", "refuse-duplicate-tool-names"
        ),
        persona("gemini", "refuse-tool-choice-required"),
        persona("hermes-text", "calls-as-hermes-text"),
        persona("react-text", "calls-as-react-text"),
        persona("json-action-text", "calls-as-json-action-text"),
    )
}

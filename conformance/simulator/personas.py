"""The personas that come with the simulator."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.simulator.behaviour import Persona
from conformance.simulator.behaviours import BEHAVIOURS
from conformance.simulator.mutants.mutant import Answer, Mutation
from conformance.simulator.mutants.responses_edits import in_open_responses


def persona(name: str, *behaviours: str) -> Persona:
    """A persona with the named behaviours.

    Raises:
        KeyError: there is no behaviour of that name.
    """
    return Persona(name, tuple(BEHAVIOURS[behaviour] for behaviour in behaviours))


def _open_responses(answer: Answer) -> None:
    """A stream of the Responses wire as Open Responses has it; other answers stay as they are."""
    first = answer.events[0] if answer.events else None
    if isinstance(first, dict) and str(first.get("type")).startswith("response."):
        in_open_responses()(answer)


PERSONAS: Mapping[str, Persona] = {
    made.name: made
    for made in (
        persona("reference"),
        persona(
            "deepseek", "reasoning-always", "refuse-missing-reasoning-echo", "refuse-duplicate-tool-names"
        ),
        persona("gemini", "refuse-tool-choice-required"),
        # Streams of the Responses wire in the words of Open Responses, where they differ from OpenAI's.
        Persona("open-responses", (Mutation("open-responses", _open_responses),)),
        persona("hermes-text", "calls-as-hermes-text"),
        persona("react-text", "calls-as-react-text"),
        persona("json-action-text", "calls-as-json-action-text"),
    )
}

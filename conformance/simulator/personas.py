"""The personas that come with the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from conformance.quirks import Act, Quirk
from conformance.quirks.families import families
from conformance.simulator.behaviour import Behaviour, Persona
from conformance.simulator.behaviours import BEHAVIOURS
from conformance.simulator.declared import Declared
from conformance.simulator.deviations import DEVIATIONS
from conformance.simulator.mutants.mutant import Answer, Mutation
from conformance.simulator.mutants.responses_edits import in_open_responses


def persona(name: str, *behaviours: str) -> Persona:
    """A persona with the named behaviours.

    Raises:
        KeyError: there is no behaviour of that name.
    """
    return Persona(name, tuple(BEHAVIOURS[behaviour] for behaviour in behaviours))


def persona_of(name: str, quirks: Iterable[Quirk], models: tuple[str, ...] = ()) -> Persona:
    """A persona that has the quirks and is the reference in all else.

    Raises:
        KeyError: a quirk names a behaviour that there is not.
    """
    chosen = tuple(quirks)
    origins: dict[Behaviour, tuple[str, ...]] = {}
    for quirk in chosen:
        for behaviour in _acting_out(quirk):
            origins[behaviour] = (*origins.get(behaviour, ()), quirk.id)
    return Persona(
        name,
        tuple(origins),
        models=models,
        quirks=tuple(quirk.id for quirk in chosen),
        origins=tuple(origins.values()),
        transient=frozenset(quirk.id for quirk in chosen if quirk.transient),
    )


def having(persona: Persona, quirks: Iterable[Quirk]) -> Persona:
    """The persona with quirks added to its own.

    Raises:
        KeyError: a quirk names a behaviour that there is not.
    """
    added = persona_of(persona.name, (quirk for quirk in quirks if quirk.id not in persona.quirks))
    return replace(
        persona,
        behaviours=(*persona.behaviours, *added.behaviours),
        origins=(*(quirk_ids for _, quirk_ids in persona.acts), *added.origins),
        quirks=(*persona.quirks, *added.quirks),
        transient=persona.transient | added.transient,
    )


def _acting_out(quirk: Quirk) -> Iterator[Behaviour]:
    if quirk.refuses or quirk.alters:
        yield Declared(quirk.id, quirk.wire, quirk.refuses, quirk.alters)
    for act in quirk.simulate:
        yield behaviour_of(act)


def behaviour_of(act: Act) -> Behaviour:
    """The behaviour that a quirk names.

    Raises:
        KeyError: there is none of that name.
        TypeError: it takes no such options.
    """
    if act.behaviour in DEVIATIONS:
        return DEVIATIONS[act.behaviour](**act.options)
    return BEHAVIOURS[act.behaviour]


def _open_responses(answer: Answer) -> None:
    """A stream of the Responses wire as Open Responses has it; other answers stay as they are."""
    first = answer.events[0] if answer.events else None
    if isinstance(first, dict) and str(first.get("type")).startswith("response."):
        in_open_responses()(answer)


PERSONAS: Mapping[str, Persona] = {
    made.name: made
    for made in (
        persona("reference"),
        *(persona_of(family.name, family.quirks, family.models) for family in families().values()),
        # Streams of the Responses wire in the words of Open Responses, where they differ from OpenAI's.
        Persona("open-responses", (Mutation("open-responses", _open_responses),)),
        persona("hermes-text", "calls-as-hermes-text"),
        persona("react-text", "calls-as-react-text"),
        persona("json-action-text", "calls-as-json-action-text"),
    )
}

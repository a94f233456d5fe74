"""Personas by name, with quirks added, as a user asks for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from conformance.config import ConfigError, did_you_mean
from conformance.quirks import Quirk, catalogue
from conformance.simulator.behaviour import Persona
from conformance.simulator.personas import PERSONAS, having, persona_of

CUSTOM = "custom"
"""The persona that is the reference with the quirks asked for, and serves any model."""


def choose(
    names: Iterable[str] = (),
    quirks: Iterable[str] = (),
    models: Iterable[str] = (),
    *,
    any_key: bool = False,
) -> tuple[Persona, ...]:
    """The personas of these names, all if none is given, serving these models (patterns), too.

    The quirks go to the one persona named, or else to a further one, ``custom``. ``any_key``: any key and
    none is let in.

    Raises:
        ConfigError: a persona or quirk is not known, or the quirk can't be simulated.
    """
    named = tuple(dict.fromkeys(names))
    chosen = [_persona(name) for name in named] or list(PERSONAS.values())
    added = [_quirk(quirk) for quirk in dict.fromkeys(quirks)]
    if added and len(named) == 1:
        chosen = [having(chosen[0], added)]
    elif added:
        chosen.append(persona_of(CUSTOM, added, ("*",)))
    return tuple(
        replace(persona, models=(*persona.models, *models), key="" if any_key else persona.key)
        for persona in chosen
    )


def _persona(name: str) -> Persona:
    if name not in PERSONAS:
        hint = did_you_mean(name, list(PERSONAS))
        raise ConfigError(
            f"persona {name}: there is none of that name{hint}; there are {', '.join(PERSONAS)}"
        )
    return PERSONAS[name]


def _quirk(quirk_id: str) -> Quirk:
    quirk = catalogue().get(quirk_id)
    if quirk is None:
        hint = did_you_mean(quirk_id, list(catalogue()))
        raise ConfigError(
            f"quirk {quirk_id}: there is none of that id{hint}; conformance list quirks has them all"
        )
    if not quirk.simulated:
        raise ConfigError(f"quirk {quirk_id}: can't be simulated: {quirk.unsimulated or 'nothing says how'}")
    return quirk

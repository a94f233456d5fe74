"""Which profile an endpoint is adapted by, and the client that runs its cells through it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from conformance.config import Endpoint
from conformance.engine.drive import Client, PlainClient
from conformance.engine.options import Options, quirks_of
from conformance.engine.reference_client import ReferenceClient, Sleep
from conformance.grade.providers import by_url
from conformance.profiles import PROFILES, Profile, guess_of, profile, profile_of
from conformance.quirks import Quirk
from conformance.scenarios import Scenario


def profile_for(endpoint: Endpoint) -> Profile:
    """The endpoint's profile: the one its row names, else that of its provider, as far as the row
    tells.

    The provider is told by the persona, by the address, then by the quirks that the row declares;
    after that the wire's owner is the best guess, and ``compatible`` is for endpoints that nothing is
    known of.
    """
    if endpoint.profile is not None:
        return profile(endpoint.profile)
    named = [endpoint.persona, by_url(endpoint.base_url) if endpoint.base_url else None]
    for provider in filter(None, named):
        if (found := profile_of(provider)) is not None and found is not PROFILES["reference"]:
            return found
    counted = Counter(
        found.name
        for quirk in quirks_of(endpoint)
        if len(quirk.providers) == 1 and (found := profile_of(quirk.providers[0])) is not None
    )
    if counted:
        return PROFILES[counted.most_common(1)[0][0]]
    return guess_of(endpoint.wire)


def declared_quirks(endpoint: Endpoint, options: Options) -> tuple[Quirk, ...]:
    """The quirks that may show: those the row declares, less those that its profile works around when
    adapted.
    """
    declared = quirks_of(endpoint)
    if not options.adapted:
        return declared
    around = profile_for(endpoint).works_around
    return tuple(quirk for quirk in declared if quirk.id not in around)


def client_for(endpoint: Endpoint, scenario: Scenario, options: Options, *, waits: bool) -> Client:
    """Who sends the endpoint's requests; ``waits``: the endpoint is asked now, and not a recording of it."""
    if not options.adapted:
        return PlainClient()
    sleep: Sleep = asyncio.sleep if waits else _no_sleep
    return ReferenceClient(
        profile_for(endpoint),
        fallback_model=endpoint.fallback_model,
        seed=f"{endpoint.name}/{scenario.id}",
        sleep=sleep,
        now=time.time,
    )


async def _no_sleep(seconds: float) -> None:
    """What a recording was waited for then is not waited for again."""
    del seconds

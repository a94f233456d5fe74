"""Keeps what a cell brought as its cassette."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from conformance import __version__
from conformance.config import Endpoint
from conformance.engine.adapted import profile_for
from conformance.engine.options import Options
from conformance.engine.sources import cassette_path
from conformance.scenarios import Scenario
from conformance.transport import tape
from conformance.transport.redact import Redactor, SecretLeak
from conformance.types import Attempt


def keep(
    endpoint: Endpoint, scenario: Scenario, attempts: Sequence[Attempt], redactor: Redactor, options: Options
) -> str | None:
    """Write everything that went over the wire; says why it could not be written, if so."""
    metadata = {
        "suite": f"llm-wire-conformance {__version__}",
        "endpoint": endpoint.name,
        "scenario": scenario.id,
        "wire": endpoint.wire,
        "model": endpoint.model,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    if endpoint.server:
        metadata["server"] = endpoint.server
    if isinstance(endpoint.scripted, str):
        metadata["scripted"] = endpoint.scripted
    if endpoint.recipe:
        metadata["recipe"] = endpoint.recipe
    exchanges = [exchange for attempt in attempts for exchange in attempt.sent]
    if options.adapted:
        # What was tried again may have failed in a way that no cassette holds.
        exchanges = [exchange for exchange in exchanges if tape.is_kept(exchange)]
        metadata["profile"] = profile_for(endpoint).name
    path = cassette_path(endpoint, scenario.id, options)
    try:
        tape.save(path, exchanges, metadata=metadata, redactor=redactor)
    except (SecretLeak, tape.CassetteError, OSError) as error:
        return f"{endpoint.name}: {scenario.id} was not recorded: {error}"
    return None

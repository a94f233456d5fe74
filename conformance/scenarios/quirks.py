"""A scenario per catalogued quirk that no other scenario triggers: its smallest request, sent as it is.

They are no part of an ordinary run: a row that declares the quirk runs its scenario, others when asked by
name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

from conformance.quirks import Quirk, catalogue
from conformance.scenarios.base import Scenario
from conformance.types import Raw, Script
from conformance.wires import wire


def scenario_of(quirk: Quirk) -> str:
    """The id of the quirk's own scenario."""
    return f"quirks.{quirk.id}"


def _script(quirk: Quirk) -> Callable[[], Script]:
    example = quirk.example
    assert example is not None
    body = json.dumps(example.request, ensure_ascii=False).encode()
    probe = "extension" if example.extension else example.probe
    expect: Literal["answer", "refusal"] = "refusal" if example.probe else "answer"
    spoken = wire(example.wire or quirk.wire)
    path = "@chat" if example.model is None else spoken.path(example.model, False)

    def script() -> Script:
        yield Raw("POST", path, body, probe=probe, expect=expect)

    return script


def _scenario(quirk: Quirk) -> Scenario:
    assert quirk.example is not None
    spoken = quirk.example.wire or quirk.wire
    doc = f"{quirk.trigger} Seen: {quirk.observed} Wanted: {quirk.expected}"
    return Scenario(scenario_of(quirk), quirk.title.rstrip("."), doc, _script(quirk), (), wires=(spoken,))


QUIRK_SCENARIOS: Mapping[str, Scenario] = {
    scenario_of(quirk): _scenario(quirk)
    for quirk in catalogue().values()
    if quirk.example is not None and any(scenario_of(quirk) in shows.scenarios for shows in quirk.shows)
}
"""The scenarios of quirks by id, in the order of the catalogue."""

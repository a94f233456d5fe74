"""What the catalogue of quirks declares that a provider does with a request: data, not code."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.quirks.declarations import Alters, Refuses
from conformance.quirks.paths import remove
from conformance.simulator.answer import Actions, Hang, Refused, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.types import WireName


@dataclass(frozen=True, slots=True)
class Declared(Behaviour):
    """What a quirk refuses or passes over; ``name`` is the quirk's id. ``wire`` is the quirk's own."""

    wire: WireName = "openai-chat"
    refuses: tuple[Refuses, ...] = field(default=(), hash=False)
    alters: tuple[Alters, ...] = field(default=(), hash=False)

    def screen(self, wire: WireName, body: Mapping[str, Any], model: str) -> Refused | None:
        for declared in self.refuses:
            if (declared.wire or self.wire) != wire:
                continue
            culprits = declared.culprits(body, model)
            if culprits:
                answer = declared.answer
                document = answer.body_at(culprits[0], model)
                if isinstance(document, str):
                    document = document.encode()
                headers = (("content-type", answer.content_type), *answer.headers.items())
                said: Actions = [Hang()] if answer.hangs else [Respond(answer.status, headers, document)]
                return Refused(answer.status, document, self.name, worded=True, answer=said)
        return None

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:
        for declared in self.alters:
            if declared.effect == "ignored" and (declared.wire or self.wire) == wire:
                culprits = [place for place in declared.when.culprits(body, model) if place.path]
                if culprits:
                    body = copy.deepcopy(body)
                    remove(body, culprits)
        return body

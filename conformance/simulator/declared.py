"""Refusals as the catalogue of quirks declares them: data, not code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.quirks.declarations import Refuses
from conformance.simulator.answer import Actions, Hang, Refused, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.types import WireName


@dataclass(frozen=True, slots=True)
class Declared(Behaviour):
    """What a quirk refuses; ``name`` is the quirk's id. ``wire`` is the quirk's own."""

    wire: WireName = "openai-chat"
    refuses: tuple[Refuses, ...] = ()

    def screen(self, wire: WireName, body: Mapping[str, Any], model: str) -> Refused | None:
        for declared in self.refuses:
            if (declared.wire or self.wire) != wire:
                continue
            culprits = declared.when.culprits(body, model)
            if culprits:
                answer = declared.answer
                document = answer.body_at(culprits[0], model)
                if isinstance(document, str):
                    document = document.encode()
                headers = (("content-type", answer.content_type), *answer.headers.items())
                said: Actions = [Hang()] if answer.hangs else [Respond(answer.status, headers, document)]
                return Refused(answer.status, document, self.name, worded=True, answer=said)
        return None

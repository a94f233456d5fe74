"""Models that are asked for: one that is listed, and one that nobody serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.examples import Exchanges, answer, conversation, entry, error, exchange, models
from conformance.rules.models import ModelList
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import OPENAI_WIRES, Probe, Run, Violation, lookup

NOBODY = "no-such-model"
NOT_FOUND = {
    "message": "No such model.",
    "type": "invalid_request_error",
    "param": "model",
    "code": "model_not_found",
}


@dataclass(frozen=True, slots=True)
class ListedModel(Probe):
    """The reply to a request for a model that the run's list of models names."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        listed: set[str] = set()
        for one in run.views(ModelList):
            data = one.get("data")
            ids = (lookup(entry, ("id",)) for entry in (data if isinstance(data, list) else ()))
            listed |= {name for name in ids if isinstance(name, str)}
        for probe in run.views(Probe):
            asked_for = lookup(probe.reading.asked, ("model",))
            if isinstance(asked_for, str) and asked_for in listed:
                yield cls(probe.reading, probe.at, probe.value)


def _unknown(status: int, document: Any) -> Exchanges:
    return exchange(
        method="GET",
        path=f"/models/{NOBODY}",
        request=None,
        body=json.dumps(document).encode(),
        status=status,
        probe="retrieve-unknown",
        expect="refusal",
    )


@rule(
    "models.list.listed-works",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="convention",
    source=schema("Model"),
    probe="listed-model",
    violating=conversation(models(), error(404, probe="listed-model", expect="answer")),
    conforming=conversation(models(), answer(probe="listed-model")),
    consequence="a user picks a model from the list and is told that it does not exist",
)
def listed_works(probe: ListedModel) -> Iterator[Violation]:
    """A listed chat model answers a short request.

    Corrected in what is asked: a list also has models that do not chat, and nothing tells them apart, so
    only the model under test is asked, within the suite's usual cap (a reasoning model needs room).
    """
    if probe.turned_down:
        yield probe.found("status", wanted="2xx")


@rule(
    "models.retrieve-unknown-404",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="spec",
    source=("RFC 9110 section 15.5.5", schema("ErrorResponse")),
    probe="retrieve-unknown",
    violating=_unknown(200, entry(id=NOBODY)),
    conforming=_unknown(404, {"error": NOT_FOUND}),
    consequence="a client's check for a model always says yes",
)
def retrieve_unknown(probe: Probe) -> Iterator[Violation]:
    """GET /v1/models/{unknown} gets 404 with an error object.

    Corrected: the published document gives this path no 404, but RFC 9110 has no other status for a resource
    that is not there. The error object is held to the rules for all errors.
    """
    yield from probe.refused_with(404)

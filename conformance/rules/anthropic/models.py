"""The list of models of Anthropic's API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from conformance.rules.anthropic.examples import WIRES, entry, models
from conformance.rules.listings import gets
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_sdk
from conformance.rules.views import NOT_OURS, Run, View, Violation

TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class ModelList(View):
    """Any answer to ``GET /v1/models`` on this wire, whatever its status."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in gets(run, WIRES, "/models"):
            yield cls(reading, reading.body_at, reading.body.value)


@rule(
    "anth.models.list-shape",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    needs=("values",),
    source=(anthropic_sdk("types/model_info.py"), anthropic_sdk("pagination.py SyncPage")),
    violating=models(entry(display_name=ABSENT)),
    conforming=models(),
    consequence="anthropic 2.14.0 lists models without a name or a date, and with has_more absent asks for a "
    "next page, again and again",
)
def list_shape(listed: ModelList) -> Iterator[Violation]:
    """GET /v1/models returns a page of models, each with type, id, display_name and created_at.

    The page has data, has_more, first_id and last_id. The rule is this suite's own. With a 2xx status: one
    who has no list declares it unsupported. What later versions added to an entry is not asked for.
    """
    if not listed.reading.succeeded:
        if listed.reading.status not in NOT_OURS:
            yield listed.http.found("status", wanted="200 with a list")
        return
    if not isinstance(listed.value, dict):
        yield listed.found(wanted="a JSON object", saw=listed.reading.body.problem or None)
        return
    if not isinstance(listed.get("has_more"), bool):
        yield listed.found("has_more", wanted="true or false")
    data = listed.get("data")
    if not isinstance(data, list):
        yield listed.found("data", wanted="an array")
        return
    for name, place in (("first_id", 0), ("last_id", -1)):
        expected = data[place].get("id") if data and isinstance(data[place], dict) else None
        if listed.get(name) != expected:
            yield listed.found(name, wanted=f"the id of entry {place}" if data else "null")
    for number, one in enumerate(data):
        yield from _entry(listed, number, one)


def _entry(listed: ModelList, number: int, one: object) -> Iterator[Violation]:
    if not isinstance(one, dict) or one.get("type") != "model":
        yield listed.found("data", number, "type", wanted='an object of type "model"')
        return
    for name in ("id", "display_name"):
        value = one.get(name)
        if not (isinstance(value, str) and value):
            yield listed.found("data", number, name, wanted="a non-empty string")
    created = one.get("created_at")
    if not (isinstance(created, str) and TIME.fullmatch(created)):
        yield listed.found("data", number, "created_at", wanted="a time as RFC 3339 writes it")

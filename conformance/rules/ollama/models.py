"""The models that a server has, and what it says of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from conformance.rules.examples import conversation
from conformance.rules.listings import Listing, gets, tested
from conformance.rules.ollama.asked import is_chat
from conformance.rules.ollama.examples import WIRES, answer, entry, listing, shown
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.registry import rule
from conformance.rules.sources import ollama, ollama_sdk
from conformance.rules.views import Probe, Run, Violation, lookup

LIST = ollama("docs/openapi.yaml ListResponse")
SHOW = ollama("docs/openapi.yaml ShowResponse")
LATEST = ":latest"


@dataclass(frozen=True, slots=True)
class Tags(Listing):
    """An answer to ``GET /api/tags``."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in gets(run, WIRES, "/api/tags"):
            yield cls(reading, reading.body_at, reading.body.value, None, tested(run, _model))


@rule(
    "oll.models.shape",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    source=LIST,
    violating=listing(models=ABSENT, data=[entry()]),
    conforming=listing(),
    consequence="clients that offer a choice of models show none",
)
def shape(one: Tags) -> Iterator[Violation]:
    """GET /api/tags returns {models: [...]}.

    Not in the catalogue. Refused credentials, quota and load say nothing.
    """
    yield from one.shaped()


@rule(
    "oll.models.entry-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(ollama("docs/openapi.yaml ModelSummary"), ollama_sdk("_types.py ListResponse.Model")),
    violating=listing(entry(size="4 GB")),
    conforming=listing(entry()),
    consequence="clients that list by name or size fail on the entry, and with it on the list",
)
def entry_shape(one: Tags) -> Iterator[Violation]:
    """Each entry has a name, a non-empty text; its size, where it has one, is a number of bytes.

    Not in the catalogue.
    """
    for place, value in enumerate(one.entries):
        name, size = lookup(value, ("name",)), lookup(value, ("size",))
        if not (isinstance(name, str) and name):
            yield one.found("models", place, "name", wanted="a non-empty text")
        if size is not ABSENT and not (type(size) is int and size >= 0):
            yield one.found("models", place, "size", wanted="a number of bytes")


@rule(
    "oll.models.tested-present",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request", "values"),
    source=LIST,
    violating=conversation(answer(), listing(entry(name="other-model", model="other-model"))),
    conforming=conversation(answer(), listing()),
    consequence="clients that check the list first refuse to use the model, or fetch it once more",
)
def tested_present(one: Tags) -> Iterator[Violation]:
    """The model under test is listed, with its tag or without where that is latest.

    Not in the catalogue.
    """
    if not isinstance(one.get("models"), list):
        return
    names = [lookup(value, (member,)) for value in one.entries for member in ("name", "model")]
    known = {name.removesuffix(LATEST) for name in names if isinstance(name, str)}
    for model in sorted(one.tested):
        if model.removesuffix(LATEST) not in known:
            yield one.found("models", wanted=f"an entry {model}", saw=f"{len(one.entries)} others")


@rule(
    "oll.models.show",
    wires=WIRES,
    needs_end=True,
    level="SHOULD",
    basis="schema",
    source=SHOW,
    probe="models-retrieve",
    violating=shown(body=[]),
    conforming=shown(),
    consequence="clients that look up what a model can do, and how long its context is, do without",
)
def show_model(probe: Probe) -> Iterator[Violation]:
    """POST /api/show returns an object, whose capabilities are an array of texts where it has some.

    Not in the catalogue.
    """
    body = probe.reading.body.value
    capabilities = lookup(body, ("capabilities",))
    if probe.turned_down:
        yield probe.found("status", wanted="200 with what there is to say of the model")
    elif probe.reading.succeeded and not isinstance(body, dict):
        yield probe.found("body", wanted="an object", saw="another JSON value, or none")
    elif capabilities is not ABSENT and not _is_texts(capabilities):
        yield probe.found("body", "capabilities", wanted="an array of texts", saw="something else")


@rule(
    "oll.models.show-unknown-404",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ollama("docs/api/errors.mdx"),
    probe="retrieve-unknown",
    violating=shown("retrieve-unknown"),
    conforming=shown("retrieve-unknown", status=404, body={"error": "model 'no-such-model' not found"}),
    consequence="a client's check for a model always says yes",
)
def show_unknown(probe: Probe) -> Iterator[Violation]:
    """POST /api/show of a model that does not exist gets 404.

    Not in the catalogue.
    """
    yield from probe.refused_with(404)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _model(reading: Reading) -> Any:
    return lookup(reading.asked, ("model",)) if is_chat(reading) else None

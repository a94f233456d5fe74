"""The list of models, and the entry of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote

from conformance.rules.examples import MODEL, conversation
from conformance.rules.gemini.asked import is_generate
from conformance.rules.gemini.examples import WIRES, answer, entry, listing
from conformance.rules.listings import Listing, gets, tested
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.registry import rule
from conformance.rules.sources import gemini_docs, gemini_sdk
from conformance.rules.views import NOT_OURS, Probe, Run, View, Violation, lookup

API = gemini_docs("api/models")
ENTRY = gemini_sdk("types.py Model")
METHOD = "generateContent"
NOBODY = "no-such-model"


@dataclass(frozen=True, slots=True)
class Models(Listing):
    """An answer to ``GET models``."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in gets(run, WIRES, "/models"):
            yield cls(reading, reading.body_at, reading.body.value, None, tested(run, _model))


@dataclass(frozen=True, slots=True)
class Alone(View):
    """An answer to ``GET models/{id}`` of a model that may be there."""

    id: str = ""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in gets(run, WIRES):
            _, found, name = unquote(reading.path).rpartition("/models/")
            if found and name and reading.exchange.expect != "refusal":
                yield cls(reading, reading.body_at, reading.body.value, None, name)


@rule(
    "gem.models.shape",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    source=API,
    violating=listing(models=ABSENT, data=[entry()]),
    conforming=listing(),
    consequence="clients that offer a choice of models show none",
)
def shape(one: Models) -> Iterator[Violation]:
    """GET models returns {models: [...]}.

    Not in the catalogue. Refused credentials, quota and load say nothing.
    """
    yield from one.shaped()


@rule(
    "gem.models.entry-shape",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(API, ENTRY),
    violating=listing(entry(name=MODEL)),
    conforming=listing(entry()),
    consequence="a client that asks for the model by the name that it finds builds a path that is not there",
)
def entry_shape(one: Models) -> Iterator[Violation]:
    """Each entry has a name that begins with models/, and the methods that it supports, an array of texts.

    Not in the catalogue. supportedGenerationMethods may be left out.
    """
    for place, value in enumerate(one.entries):
        name, methods = lookup(value, ("name",)), lookup(value, ("supportedGenerationMethods",))
        if not (isinstance(name, str) and name.partition("models/")[2]):
            yield one.found("models", place, "name", wanted="models/ and the id")
        if methods is not ABSENT and not (
            isinstance(methods, list) and all(isinstance(m, str) for m in methods)
        ):
            yield one.found("models", place, "supportedGenerationMethods", wanted="an array of names")


@rule(
    "gem.models.tested-present",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=API,
    violating=conversation(answer(), listing(entry(name="models/other-model"))),
    conforming=conversation(answer(), listing()),
    consequence="clients that check the list first refuse to use the model",
)
def tested_present(one: Models) -> Iterator[Violation]:
    """The model under test is listed, unless the list goes on on another page.

    Not in the catalogue. Where it is, generateContent is among its methods.
    """
    by_id = {}
    for value in one.entries:
        name = lookup(value, ("name",))
        if isinstance(name, str):
            by_id[name.rpartition("models/")[2]] = value
    paged = isinstance(one.get("nextPageToken"), str) and one.get("nextPageToken")
    for model in sorted(one.tested) if isinstance(one.get("models"), list) and not paged else ():
        methods = lookup(by_id.get(model), ("supportedGenerationMethods",))
        if model not in by_id:
            yield one.found("models", wanted=f"an entry models/{model}", saw=f"{len(by_id)} others")
        elif isinstance(methods, list) and METHOD not in methods:
            yield one.found(
                "models", wanted=f"{METHOD} among the methods of {model}", saw=", ".join(map(str, methods))
            )


@rule(
    "gem.models.retrieve",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    source=API,
    violating=listing(entry(name="models/other"), one=MODEL, probe="models-retrieve"),
    conforming=listing(entry(), one=MODEL, probe="models-retrieve"),
    consequence="clients that look a model up before they use it, for its limits, refuse to use it",
)
def retrieve(one: Alone) -> Iterator[Violation]:
    """GET models/{id} returns the entry of that model.

    Not in the catalogue.
    """
    if not one.reading.succeeded:
        if one.reading.exchange.probe == "models-retrieve" and one.reading.status not in NOT_OURS:
            yield one.http.found("status", wanted=f"200 with the entry of {one.id}")
    elif one.get("name") != f"models/{one.id}":
        yield one.found("name", wanted=f'"models/{one.id}"')


@rule(
    "gem.models.retrieve-unknown-404",
    wires=WIRES,
    level="MUST",
    basis="spec",
    source=("RFC 9110 section 15.5.5", gemini_docs("troubleshooting")),
    probe="retrieve-unknown",
    violating=listing(entry(name=f"models/{NOBODY}"), one=NOBODY, probe="retrieve-unknown"),
    conforming=listing(
        {"error": {"code": 404, "message": "No such model.", "status": "NOT_FOUND"}},
        one=NOBODY,
        status=404,
        probe="retrieve-unknown",
    ),
    consequence="a client's check for a model always says yes",
)
def retrieve_unknown(probe: Probe) -> Iterator[Violation]:
    """GET models/{id} of a model that is not there gets 404.

    Not in the catalogue.
    """
    yield from probe.refused_with(404)


def _model(reading: Reading) -> str:
    return unquote(reading.path).rpartition("/models/")[2].rpartition(":")[0] if is_generate(reading) else ""

"""The list of models, and the entry of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import unquote

from conformance.rules.examples import MODEL, Exchanges, answer, conversation, entry, exchange, models
from conformance.rules.listings import gets, tested
from conformance.rules.reading import ABSENT, Reading
from conformance.rules.registry import rule
from conformance.rules.sources import OPENAPI, schema
from conformance.rules.views import NOT_OURS, OPENAI_WIRES, Run, View, Violation, lookup, show

LIST = schema("ListModelsResponse")
ENTRY = schema("Model")


@dataclass(frozen=True, slots=True)
class ModelList(View):
    """A 2xx answer to ``GET /models``; ``tested`` are the models that the run's other requests name."""

    tested: frozenset[str] = frozenset()

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reply in run.views(ModelListReply):
            if reply.reading.succeeded:
                yield cls(reply.reading, reply.at, reply.value, tested=tested(run, _model))


@dataclass(frozen=True, slots=True)
class ModelListReply(View):
    """Any answer to ``GET /models``, whatever its status."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for reading in gets(run, OPENAI_WIRES, "/models"):
            yield cls(reading, reading.body_at, reading.body.value)


@dataclass(frozen=True, slots=True)
class ModelEntry(View):
    """Each entry of a list of models."""

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        for listed in run.views(ModelList):
            for place, value in enumerate(listed.array("data")):
                yield cls(listed.reading, f"{listed.at}/data/{place}", value)


@dataclass(frozen=True, slots=True)
class ModelAlone(View):
    """Any answer to ``GET /models/{id}`` of a model that may be there.

    ``id`` is decoded, ``listed`` its entry in a list of the run.
    """

    id: str = ""
    listed: Any = ABSENT

    @classmethod
    def of(cls, run: Run) -> Iterator[Self]:
        entries = {
            one.get("id"): one.value for one in run.views(ModelEntry) if isinstance(one.get("id"), str)
        }
        for reading in gets(run, OPENAI_WIRES):
            # The path as sent: an encoded slash is part of the id.
            _, found, segment = reading.path.rpartition("/models/")
            if found and segment and reading.exchange.expect != "refusal":
                name, value = unquote(segment), reading.body.value
                yield cls(reading, reading.body_at, value, id=name, listed=entries.get(name, ABSENT))


def _alone(id: str, body: Any, status: int = 200) -> Exchanges:
    document = json.dumps(body).encode()
    return exchange(method="GET", path=f"/models/{id}", request=None, body=document, status=status)


def _labelled(content_type: str) -> Exchanges:
    (one,) = models()
    assert one.response is not None
    headers = (("content-type", content_type), ("x-request-id", "req_1"))
    return (replace(one, response=replace(one.response, headers=headers)),)


NOT_FOUND = {"error": {"message": "No.", "type": "invalid_request_error", "param": "model", "code": None}}


@rule(
    "models.list.shape",
    needs_end=True,
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=LIST,
    violating=models(raw=b'{"models":[]}'),
    conforming=models(),
    consequence="clients that offer a choice of models show none",
)
def shape(listed: ModelListReply) -> Iterator[Violation]:
    """GET /v1/models returns {object:list, data:[...]}.

    With a 2xx status: the list is a part of the reference, so that one who has none declares it unsupported.
    Refused credentials, quota and load say nothing.
    """
    if not listed.reading.succeeded:
        if listed.reading.status not in NOT_OURS:
            yield listed.http.found("status", wanted="200 with a list")
        return
    if not isinstance(listed.value, dict):
        yield listed.found(wanted="a JSON object", saw=listed.reading.body.problem or None)
        return
    if listed.get("object") != "list":
        yield listed.found("object", wanted='"list"')
    if not isinstance(listed.get("data"), list):
        yield listed.found("data", wanted="an array")


@rule(
    "models.list.content-type-json",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=f"{OPENAPI} #/paths/~1models/get",
    violating=_labelled("text/plain"),
    conforming=_labelled("application/json; charset=utf-8"),
    consequence="clients that look at the header hand out a text in place of a list of models",
)
def content_type(listed: ModelList) -> Iterator[Violation]:
    """The list of models has media type application/json.

    The rule is this suite's own; chat.response.content-type-json says the same of chat answers.
    """
    yield from listed.labelled_json()


@rule(
    "models.list.entry-shape",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=ENTRY,
    violating=models(entry(created=ABSENT)),
    conforming=models(entry()),
    consequence="typed clients refuse the whole list",
)
def entry_shape(one: ModelEntry) -> Iterator[Violation]:
    """Each entry has id, object model, created and owned_by."""
    if not isinstance(one.value, dict):
        yield one.found(wanted="an object")
        return
    if not (isinstance(one.get("id"), str) and one.get("id")):
        yield one.found("id", wanted="a non-empty string")
    if one.get("object") != "model":
        yield one.found("object", wanted='"model"')
    if type(one.get("created")) is not int:
        yield one.found("created", wanted="an integer number of seconds since 1970")
    if not isinstance(one.get("owned_by"), str):
        yield one.found("owned_by", wanted="a string")


@rule(
    "models.list.ids-unique",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="derived",
    needs=("values",),
    source=ENTRY,
    violating=models(entry(), entry()),
    conforming=models(entry(), entry(id="other-model")),
    consequence="which of the two a request gets is anybody's guess",
)
def ids_unique(listed: ModelList) -> Iterator[Violation]:
    """Model ids are unique and non-empty."""
    seen: set[str] = set()
    data = listed.get("data")
    for place, one in enumerate(data if isinstance(data, list) else ()):
        known = one.get("id") if isinstance(one, dict) else None
        if isinstance(known, str) and known in seen:
            yield listed.found("data", place, "id", wanted="an id that no other entry has")
        elif isinstance(known, str):
            seen.add(known)


@rule(
    "models.list.tested-model-present",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request", "values"),
    source=LIST,
    violating=conversation(answer(), models(entry(id="other-model"))),
    conforming=conversation(answer(), models(entry(id=MODEL))),
    consequence="clients that check the list first refuse to use the model",
)
def tested_present(listed: ModelList) -> Iterator[Violation]:
    """The model under test is listed.

    Known where the run's other requests name one.
    """
    data = listed.get("data")
    if isinstance(data, list):
        ids = {one["id"] for one in data if isinstance(one, dict) and isinstance(one.get("id"), str)}
        for model in sorted(listed.tested - ids):
            yield listed.found("data", wanted=f"an entry {model}", saw=f"{len(ids)} others")


@rule(
    "models.retrieve",
    needs_end=True,
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="schema",
    needs=("values",),
    source=(f"{OPENAPI} #/paths/~1models~1{{model}}", ENTRY),
    violating=conversation(models(entry(id="org/m")), _alone("org%2Fm", NOT_FOUND, 404)),
    conforming=conversation(models(entry(id="org/m")), _alone("org%2Fm", entry(id="org/m"))),
    consequence="clients that look a model up before they use it refuse to use it",
)
def retrieve(one: ModelAlone) -> Iterator[Violation]:
    """GET /v1/models/{id} returns the entry; ids with "/" work URL-encoded.

    Where a list of the run has the entry, both agree in what the schema names. A model that no list of the
    run has, and that nothing says should be there, may be unknown.
    """
    expected = one.listed is not ABSENT or one.reading.exchange.probe == "models-retrieve"
    if not one.reading.succeeded:
        if expected and one.reading.status not in NOT_OURS:
            yield one.http.found("status", wanted=f"200 with the entry of {one.id}")
        return
    if one.get("id") != one.id:
        yield one.found("id", wanted=f'"{one.id}"')
    if one.get("object") != "model":
        yield one.found("object", wanted='"model"')
    for name in ("created", "owned_by"):
        listed = lookup(one.listed, (name,))
        if listed is not ABSENT and one.get(name) != listed:
            yield one.found(name, wanted=f"{show(listed)}, as in the list")


def _model(reading: Reading) -> Any:
    return lookup(reading.asked, ("model",))

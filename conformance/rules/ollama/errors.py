"""Refusals: their shape, their status, and what has to be refused how."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.ollama.answers import Reply
from conformance.rules.ollama.examples import WIRES, answer, error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import ollama, ollama_sdk
from conformance.rules.views import TRANSIENT, ErrorAnswer, Probe, Violation

ERRORS = ollama("docs/api/errors.mdx")
REQUEST = ollama("docs/openapi.yaml ChatRequest")
LEVEL = {"think": "enormous"}
WORD = {"messages": "Say hello."}


@rule(
    "oll.error.shape",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(ERRORS, ollama_sdk("_types.py ResponseError")),
    violating=error(body={"error": {"message": "bad request"}}),
    conforming=error(),
    consequence="users see a table in place of a sentence: ollama-python shows what stands in error as it is",
)
def shape(refusal: ErrorAnswer) -> Iterator[Violation]:
    """An error is {error: text}."""
    if not isinstance(refusal.value, dict):
        problem = refusal.reading.body.problem if refusal.value is ABSENT else None
        yield refusal.found(wanted="an object with a text as error", saw=problem or None)
    elif not (isinstance(refusal.get("error"), str) and refusal.get("error")):
        yield refusal.found("error", wanted="a non-empty text")


@rule(
    "oll.error.status-not-200",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    violating=error(200),
    conforming=error(404, error="model 'no-such-model' not found"),
    consequence="ollama-python raises ValidationError for a missing message, and the reason is lost",
)
def status_of_error(reply: Reply) -> Iterator[Violation]:
    """A request that failed before it was answered has a 4xx or 5xx status.

    A part of the catalogue's oll.error.shape. A stream that breaks once it has begun is another matter.
    """
    body = reply.reading.body.value
    if reply.reading.succeeded and isinstance(body, dict) and body.get("error") and "message" not in body:
        yield reply.found("status", wanted="400 or above, since the body is an error")


@rule(
    "oll.error.json-content-type",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    violating=error(headers={"content-type": "text/plain"}),
    conforming=error(headers={"content-type": "application/json; charset=utf-8"}),
    consequence="clients that go by the header show the raw text",
)
def content_type(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Errors are application/json.

    Not in the catalogue.
    """
    yield from refusal.labelled_json()


@rule(
    "oll.error.unknown-model-404",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    probe="unknown-model",
    violating=answer(probe="unknown-model", expect="refusal"),
    conforming=error(404, probe="unknown-model"),
    consequence="a misspelt model is answered by another one, and nobody notices",
)
def unknown_model(probe: Probe) -> Iterator[Violation]:
    """A model that does not exist is refused with 404.

    Not in the catalogue.
    """
    yield from probe.refused_with(404)


@rule(
    "oll.error.malformed-json-400",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    probe="malformed-json",
    violating=error(500, probe="malformed-json"),
    conforming=error(400, probe="malformed-json"),
    consequence="clients retry a 5xx, in vain",
)
def malformed_json(probe: Probe) -> Iterator[Violation]:
    """A body that is not JSON is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "oll.error.missing-model-400",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(ERRORS, f"{REQUEST} required"),
    probe="missing-model",
    violating=answer(asked={"model": ABSENT}, probe="missing-model", expect="refusal"),
    conforming=error(400, asked={"model": ABSENT}, probe="missing-model"),
    consequence="a client's mistake is answered by whichever model happens to be there",
)
def missing_model(probe: Probe) -> Iterator[Violation]:
    """A request without a model is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "oll.error.wrong-type-400",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=(ERRORS, REQUEST),
    probe="wrong-type",
    violating=answer(asked=WORD, probe="wrong-type", expect="refusal"),
    conforming=error(400, asked=WORD, probe="wrong-type"),
    consequence="half a request is read, and the answer to it looks like one to the whole",
)
def wrong_type(probe: Probe) -> Iterator[Violation]:
    """A member of a type that the schema does not have is refused with 400.

    Not in the catalogue. Asked with messages that are a text, and with an option that is a word.
    """
    yield from probe.refused_with(400)


@rule(
    "oll.error.invalid-format-400",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=f"{REQUEST} format",
    probe="malformed-format",
    violating=answer(asked={"format": "yaml"}, probe="malformed-format", expect="refusal"),
    conforming=error(400, asked={"format": "yaml"}, probe="malformed-format"),
    consequence="a client parses prose as the format it asked for",
)
def invalid_format(probe: Probe) -> Iterator[Violation]:
    """A format that is neither json nor a schema is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "oll.error.unknown-think-level",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=ollama("docs/capabilities/thinking.mdx"),
    probe="unknown-think-level",
    violating=error(500, asked=LEVEL, probe="unknown-think-level", expect="either"),
    conforming=error(400, asked=LEVEL, probe="unknown-think-level", expect="either"),
    consequence="a client's mistake looks like the server's, and is retried in vain",
)
def think_level(probe: Probe) -> Iterator[Violation]:
    """A level of think that there is not counts as the default, or is refused with a 4xx.

    Not in the catalogue. Ollama has done both.
    """
    yield from probe.survived()


@rule(
    "oll.error.wrong-key-401",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    probe="wrong-key",
    violating=error(403, probe="wrong-key"),
    conforming=error(401, error="unauthorized", probe="wrong-key"),
    consequence="clients do not see that the key is to blame",
)
def wrong_key(probe: Probe) -> Iterator[Violation]:
    """A wrong key that is refused is refused with 401.

    Not in the catalogue. A server that answers asks for no key, as a local one: then nothing is to be judged.
    """
    if probe.status >= 300 and probe.status != 401 and probe.status not in TRANSIENT:
        yield probe.found("status", wanted="401")


@rule(
    "oll.error.no-key-401",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=ERRORS,
    probe="no-key",
    violating=error(403, probe="no-key"),
    conforming=error(401, error="unauthorized", probe="no-key"),
    consequence="the user looks for a right and lacks a key",
)
def no_key(probe: Probe) -> Iterator[Violation]:
    """A request that is refused for want of a key is refused with 401.

    Not in the catalogue. A local server asks for none.
    """
    if probe.status >= 300 and probe.status != 401 and probe.status not in TRANSIENT:
        yield probe.found("status", wanted="401")

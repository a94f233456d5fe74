"""Refusals: the error object, its status, and what has to be refused how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.gemini.examples import KEY_INVALID, WIRES, answer, error, function, offering, user
from conformance.rules.gemini.examples import config as generation
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import PROTO_JSON, gemini_docs, gemini_sdk
from conformance.rules.views import TRANSIENT, ErrorAnswer, Probe, Violation, lookup

TROUBLE = gemini_docs("troubleshooting")
API = gemini_docs("api/generate-content")
CODES = "google.rpc.Code (googleapis google/rpc/code.proto, HTTP mapping)"
RECORDED = "recorded traffic of generativelanguage.googleapis.com"
FITTING = {
    400: ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"),
    401: ("UNAUTHENTICATED",),
    403: ("PERMISSION_DENIED",),
    404: ("NOT_FOUND",),
    409: ("ABORTED", "ALREADY_EXISTS"),
    429: ("RESOURCE_EXHAUSTED",),
    499: ("CANCELLED",),
    500: ("INTERNAL", "UNKNOWN", "DATA_LOSS"),
    501: ("UNIMPLEMENTED",),
    503: ("UNAVAILABLE",),
    504: ("DEADLINE_EXCEEDED",),
}
NAMELESS = offering(function("1f"))
FORCED = {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}


@rule(
    "gem.error.shape",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(gemini_sdk("errors.py APIError"), "google.rpc.Status (googleapis google/rpc/status.proto)"),
    violating=error(body={"error": {"message": "Bad.", "type": "invalid_request_error"}}),
    conforming=error(),
    consequence="google-genai's APIError has no status, and none but itself to say what went wrong",
)
def shape(refusal: ErrorAnswer) -> Iterator[Violation]:
    """An error is {error: {code, message, status}}: the HTTP status, a text, and its name.

    A stream without alt=sse has it as the one element of an array.
    """
    path, found = _error_of(refusal)
    if not isinstance(found, dict):
        problem = refusal.reading.body.problem if refusal.value is ABSENT else None
        yield refusal.found(wanted="an object with an error object", saw=problem or None)
        return
    status, code = refusal.reading.status, found.get("code")
    if type(code) is not int or code != status:
        yield refusal.found(*path, "code", wanted=f"{status}, the HTTP status")
    for name in ("message", "status"):
        value = found.get(name)
        if not (isinstance(value, str) and value):
            yield refusal.found(*path, name, wanted="a non-empty string")


@rule(
    "gem.error.status-map",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=CODES,
    violating=error(429, error={"status": "INVALID_ARGUMENT"}),
    conforming=error(429),
    consequence="clients that go by the name retry what is wrong, or give up what only has to wait",
)
def status_map(refusal: ErrorAnswer) -> Iterator[Violation]:
    """The name in status is one that belongs to the code."""
    path, found = _error_of(refusal)
    status = found.get("status") if isinstance(found, dict) else None
    fitting = FITTING.get(refusal.reading.status)
    if isinstance(status, str) and status and fitting and status not in fitting:
        yield refusal.found(*path, "status", wanted=" or ".join(fitting))


@rule(
    "gem.error.json-content-type",
    wires=WIRES,
    level="SHOULD",
    basis="spec",
    source="RFC 9110 section 8.3",
    violating=error(headers={"content-type": "text/html"}),
    conforming=error(),
    consequence="clients that go by the header show the raw text",
)
def content_type(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Errors are application/json.

    Not in the catalogue.
    """
    yield from refusal.labelled_json()


# ---------------------------------------------------------------------------------------------- who


@rule(
    "gem.error.wrong-key",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(gemini_docs("api-key"), TROUBLE, RECORDED),
    probe="wrong-key",
    violating=answer(probe="wrong-key", expect="refusal"),
    conforming=error(400, error=KEY_INVALID, probe="wrong-key"),
    consequence="anybody is let in, or clients do not see that the key is to blame",
)
def wrong_key(probe: Probe) -> Iterator[Violation]:
    """A wrong key is refused: with 400 as by Google itself, or with 401 or 403.

    Not in the catalogue.
    """
    if probe.status not in (400, 401, 403) and probe.status not in TRANSIENT:
        yield probe.found("status", wanted="400, 401 or 403")


@rule(
    "gem.error.wrong-key-reason",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=(RECORDED, "google.rpc.ErrorInfo (googleapis google/rpc/error_details.proto)"),
    probe="wrong-key",
    violating=error(400, probe="wrong-key"),
    conforming=error(400, error=KEY_INVALID, probe="wrong-key"),
    consequence="a wrong key can't be told from a wrong argument",
)
def wrong_key_reason(probe: Probe) -> Iterator[Violation]:
    """A wrong key that is refused with 400 has an ErrorInfo with the reason API_KEY_INVALID.

    Not in the catalogue.
    """
    details = lookup(probe.reading.body.value, ("error", "details"))
    reasons = [lookup(one, ("reason",)) for one in details] if isinstance(details, list) else []
    if probe.status == 400 and "API_KEY_INVALID" not in reasons:
        yield probe.found(wanted="the reason API_KEY_INVALID", saw="a refusal without it")


@rule(
    "gem.error.no-key",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=(RECORDED, CODES),
    probe="no-key",
    violating=error(400, probe="no-key"),
    conforming=error(403, probe="no-key"),
    consequence="anybody is let in, or the user looks for a wrong argument and lacks a key",
)
def no_key(probe: Probe) -> Iterator[Violation]:
    """A request without a key is refused with 403 (401 tolerated).

    Not in the catalogue.
    """
    if probe.status not in (401, 403) and probe.status not in TRANSIENT:
        yield probe.found("status", wanted="403")


# --------------------------------------------------------------------------------------------- what


@rule(
    "gem.error.unknown-model-404",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(TROUBLE, RECORDED),
    probe="unknown-model",
    violating=answer(probe="unknown-model", expect="refusal"),
    conforming=error(404, probe="unknown-model"),
    consequence="a misspelt model is answered by another one, and nobody notices",
)
def unknown_model(probe: Probe) -> Iterator[Violation]:
    """An unknown model is refused with 404.

    Not in the catalogue.
    """
    yield from probe.refused_with(404)


@rule(
    "gem.error.malformed-json-400",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(TROUBLE, "RFC 9110 section 15.5.1"),
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
    "gem.error.missing-contents-400",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{API} contents (required)",
    probe="missing-contents",
    violating=answer(asked={"contents": []}, probe="missing-contents", expect="refusal"),
    conforming=error(400, asked={"contents": []}, probe="missing-contents"),
    consequence="a client's mistake is answered with invented text",
)
def missing_contents(probe: Probe) -> Iterator[Violation]:
    """A request without contents, or with none in the list, is refused with 400.

    Not in the catalogue. A stream is refused so too, before it begins.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.wrong-type-400",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(API, PROTO_JSON),
    probe="wrong-type",
    violating=answer(asked={"contents": "Say hello."}, probe="wrong-type", expect="refusal"),
    conforming=error(400, asked={"contents": "Say hello."}, probe="wrong-type"),
    consequence="half a request is read, and the answer to it looks like one to the whole",
)
def wrong_type(probe: Probe) -> Iterator[Violation]:
    """A member of a type that the API does not have is refused with 400.

    Not in the catalogue. Asked with contents that are a text, and a temperature that is a word.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.unknown-member-400",
    wires=WIRES,
    level="SHOULD",
    basis="spec",
    source=f"{PROTO_JSON} (parsers reject unknown fields by default)",
    probe="unknown-member",
    violating=answer(asked={"maxTokens": 16}, probe="unknown-member", expect="refusal"),
    conforming=error(400, asked={"maxTokens": 16}, probe="unknown-member"),
    consequence="a misspelt setting is quietly the default, in quality and on the bill",
)
def unknown_member(probe: Probe) -> Iterator[Violation]:
    """A member that the API does not have is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.bad-role-400",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=gemini_sdk("types.py Content.role (either user or model)"),
    probe="bad-role",
    violating=answer(asked={"contents": [{**user(), "role": "robot"}]}, probe="bad-role", expect="refusal"),
    conforming=error(400, asked={"contents": [{**user(), "role": "robot"}]}, probe="bad-role"),
    consequence="a history in another wire's words is half read: who said what is lost",
)
def bad_role(probe: Probe) -> Iterator[Violation]:
    """A content with another role than user or model is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.out-of-range-400",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{API} GenerationConfig temperature (0.0 to 2.0)",
    probe="out-of-range",
    violating=answer(asked=generation(temperature=9), probe="out-of-range", expect="refusal"),
    conforming=error(400, asked=generation(temperature=9), probe="out-of-range"),
    consequence="a value is quietly replaced, and nobody knows by which",
)
def out_of_range(probe: Probe) -> Iterator[Violation]:
    """A number outside the range that the reference gives is refused with 400.

    Not in the catalogue. Asked with a temperature of 9.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.mt.function-name-pattern",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=gemini_sdk("types.py FunctionDeclaration.name"),
    probe="tool-name-invalid",
    violating=answer(asked=NAMELESS, probe="tool-name-invalid", expect="refusal"),
    conforming=error(400, asked=NAMELESS, probe="tool-name-invalid"),
    consequence="a name that works here is refused by Google, or comes back changed",
)
def function_name(probe: Probe) -> Iterator[Violation]:
    """A function's name begins with a letter or an underscore; another one is refused with 400.

    Letters, digits, underscores, dots, colons and dashes may follow, 128 characters in all.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.invalid-schema-400",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=gemini_sdk("types.py Schema.type"),
    probe="invalid-tool-schema",
    violating=answer(asked=offering(function()), probe="invalid-tool-schema", expect="refusal"),
    conforming=error(400, asked=offering(function()), probe="invalid-tool-schema"),
    consequence="a function goes out with a schema that nothing enforces, and its arguments are anything",
)
def invalid_schema(probe: Probe) -> Iterator[Violation]:
    """Parameters that are no schema are refused with 400.

    Not in the catalogue. Asked with a type that there is not.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.mode-without-functions-400",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source="google-gemini/gemini-cli and googleapis/python-genai issues (error text)",
    probe="tool-choice-without-tools",
    violating=answer(asked=FORCED, probe="tool-choice-without-tools", expect="refusal"),
    conforming=error(400, asked=FORCED, probe="tool-choice-without-tools"),
    consequence="a forced call that can't be made is dropped without a word",
)
def mode_without_functions(probe: Probe) -> Iterator[Violation]:
    """The mode ANY without function declarations is refused with 400.

    Not in the catalogue.
    """
    yield from probe.refused_with(400)


@rule(
    "gem.error.unknown-allowed-function-400",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=gemini_sdk("types.py FunctionCallingConfig.allowed_function_names"),
    probe="tool-choice-unknown",
    violating=answer(
        asked=offering(mode="ANY", only=("no_such_function",)), probe="tool-choice-unknown", expect="refusal"
    ),
    conforming=error(
        400, asked=offering(mode="ANY", only=("no_such_function",)), probe="tool-choice-unknown"
    ),
    consequence="a forced call of a function that is not there becomes one of another",
    also=("gem.response.mode-any",),
)
def unknown_allowed(probe: Probe) -> Iterator[Violation]:
    """A name in allowedFunctionNames that is not declared is refused with 400.

    Not in the catalogue. The names should match those of the declarations.
    """
    yield from probe.refused_with(400)


def _error_of(refusal: ErrorAnswer) -> tuple[tuple[str | int, ...], Any]:
    """The error object and its path: in the body, or in the one element that the body is an array of."""
    value = refusal.value
    if isinstance(value, list) and len(value) == 1:
        return (0, "error"), lookup(value, (0, "error"))
    return ("error",), lookup(value, ("error",))

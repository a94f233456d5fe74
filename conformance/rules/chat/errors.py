"""Refusals: the status, the error object, the headers that clients go by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.rules.chat.views import ChatReply, hidden_error
from conformance.rules.examples import KEY, answer, error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import docs, schema, sdk
from conformance.rules.views import OPENAI_WIRES, Answered, ErrorAnswer, Probe, Violation

ERROR = schema("Error")
CODES = docs("guides/error-codes")
WEEKDAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
RETRY_AFTER = re.compile(
    rf"[0-9]+|(?:{WEEKDAYS}), [0-9]{{2}} (?:{MONTHS}) [0-9]{{4}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} GMT"
)
CREDENTIAL_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")
A_KEY = re.compile(r"[A-Za-z0-9._~+/=-]{8,}")


@rule(
    "err.json-content-type",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="MUST",
    basis="derived",
    source=schema("ErrorResponse"),
    violating=error(headers={"content-type": "text/html"}),
    conforming=error(),
    consequence="clients that go by the header show the raw text; openai-python reads the JSON all the same",
)
def json_type(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Error answers are application/json."""
    if refusal.reading.media_type not in ("application/json", "application/problem+json"):
        yield refusal.http.found("headers", "content-type", wanted="application/json")


@rule(
    "err.error-object",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=(schema("ErrorResponse"), sdk("_client.py _make_status_error")),
    violating=error(body={"error": "Bad."}),
    conforming=error(),
    consequence="openai-python's exceptions come without code, type or param, and say no more than the "
    "status",
)
def error_object(refusal: ErrorAnswer) -> Iterator[Violation]:
    """The body is an object whose error member is an object."""
    if refusal.value is ABSENT:
        yield refusal.found(wanted="a JSON object with an error object", saw=refusal.reading.body.problem)
    elif not isinstance(refusal.value, dict):
        yield refusal.found(wanted="an object with an error object")
    elif refusal.error is None:
        yield refusal.found("error", wanted="an object")


@rule(
    "err.message-string",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=ERROR,
    violating=error(error={"message": {"text": "Bad."}}),
    conforming=error(error={"message": "Bad."}),
    consequence="nobody learns what went wrong",
)
def message(refusal: ErrorAnswer) -> Iterator[Violation]:
    """error.message is a non-empty string."""
    if refusal.error is not None:
        said = refusal.error.get("message")
        if not (isinstance(said, str) and said):
            yield refusal.found("error", "message", wanted="a non-empty string")


@rule(
    "err.type-string",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=ERROR,
    violating=error(error={"type": ABSENT}),
    conforming=error(error={"type": "invalid_request_error"}),
    consequence="clients that branch on the type cannot",
)
def type_string(refusal: ErrorAnswer) -> Iterator[Violation]:
    """error.type is a string."""
    if refusal.error is not None and not isinstance(refusal.error.get("type"), str):
        yield refusal.found("error", "type", wanted="a string")


@rule(
    "err.param-key",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=ERROR,
    violating=error(error={"param": ABSENT}),
    conforming=error(error={"param": None}),
    consequence="none is known: openai-python takes its absence for null",
)
def param(refusal: ErrorAnswer) -> Iterator[Violation]:
    """error has a param key holding a string or null."""
    yield from _text_or_null(refusal, "param")


@rule(
    "err.code-string-or-null",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="schema",
    source=(ERROR, sdk("_exceptions.py APIError")),
    violating=error(404, error={"code": 404}),
    conforming=error(404, error={"code": "model_not_found"}),
    consequence="openai-python makes a string of a number, typed clients refuse the error",
)
def code(refusal: ErrorAnswer) -> Iterator[Violation]:
    """error has a code key holding a string or null."""
    yield from _text_or_null(refusal, "code")


@rule(
    "err.status-not-200",
    level="MUST",
    basis="sdk",
    source=sdk("_client.py _make_status_error"),
    violating=error(200),
    conforming=error(400),
    consequence="openai-python raises by status alone and hands out a ChatCompletion full of None",
)
def status(reply: ChatReply) -> Iterator[Violation]:
    """A failed request has a 4xx or 5xx status."""
    if reply.reading.succeeded and hidden_error(reply.reading):
        yield reply.found("status", wanted="400 or above, since the body is an error")


@rule(
    "err.malformed-json-400",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="MUST",
    basis="spec",
    source=("RFC 9110 section 15.5.1", f"{CODES} BadRequestError"),
    probe="malformed-json",
    violating=error(500, probe="malformed-json"),
    conforming=error(400, probe="malformed-json"),
    consequence="clients retry a 5xx, in vain",
)
def malformed(probe: Probe) -> Iterator[Violation]:
    """A body that is not JSON is refused with 400.

    Malformed syntax is a client error in RFC 9110; 422 says the same and is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "err.missing-messages-400",
    level="MUST",
    basis="schema",
    source=schema("CreateChatCompletionRequest messages minItems 1"),
    probe="missing-messages",
    violating=answer(probe="missing-messages", expect="refusal"),
    conforming=error(422, error={"param": "messages"}, probe="missing-messages"),
    consequence="a client's mistake is answered with invented text, or with a 5xx that is retried in vain",
)
def missing_messages(probe: Probe) -> Iterator[Violation]:
    """A request without messages, or with an empty list, is refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "err.unknown-model-404",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="SHOULD",
    basis="prose",
    source=(
        "openresponses/openresponses src/pages/specification.mdx section Errors (example)",
        "ollama/ollama@fb307609 docs/api/errors.mdx",
    ),
    probe="unknown-model",
    violating=answer(probe="unknown-model", expect="refusal"),
    conforming=error(404, error={"code": "model_not_found"}, probe="unknown-model"),
    consequence="a misspelt model is answered by another one, and nobody notices",
)
def unknown_model(probe: Probe) -> Iterator[Violation]:
    """An unknown model gets 404 with code model_not_found.

    Open Responses shows that code and openai-python maps 404 to NotFoundError; 400 is accepted.
    """
    yield from probe.refused_with(404, 400)


@rule(
    "err.auth-invalid-401",
    wires=(*OPENAI_WIRES, "anthropic-messages"),
    level="MUST",
    basis="prose",
    source=f"{CODES} 401",
    probe="wrong-key",
    violating=error(400, probe="wrong-key"),
    conforming=error(401, error={"code": "invalid_api_key"}, probe="wrong-key"),
    consequence="clients do not see that the key is to blame",
)
def wrong_key(probe: Probe) -> Iterator[Violation]:
    """A wrong key gets 401, preferably code invalid_api_key.

    A server that answers as if nothing were wrong asks for no key: then there is nothing to judge.
    """
    if probe.status == 403 or probe.turned_down:
        yield probe.found("status", wanted="401")


@rule(
    "err.no-key-echo",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="SHOULD",
    basis="convention",
    source=CODES,
    violating=error(401, error={"message": f"Incorrect API key: {KEY}"}),
    conforming=error(401, error={"message": "Incorrect API key: exam****6789"}),
    consequence="the key ends up in logs and bug reports",
)
def key_echo(reply: Answered) -> Iterator[Violation]:
    """The full key is never echoed in an error."""
    response = reply.reading.exchange.response
    if response is None or reply.status < 400:
        return
    texts = [response.body.decode(errors="replace"), *(value for _, value in response.headers)]
    for name, value in reply.reading.exchange.request.headers:
        key = value.removeprefix("Bearer ").strip()
        if name.lower() not in CREDENTIAL_HEADERS or not A_KEY.fullmatch(key) or "redacted" in key.lower():
            continue
        if any(key in text for text in texts):
            yield reply.found(
                wanted="an error without the key", saw=f"the key of {name.lower()} in the response"
            )


@rule(
    "err.retry-after-format",
    wires=(*OPENAI_WIRES, "anthropic-messages", "gemini", "ollama"),
    level="MUST",
    basis="spec",
    source=("RFC 9110 section 10.2.3", sdk("_base_client.py _parse_retry_after_header")),
    violating=error(429, headers={"retry-after": "2s"}),
    conforming=error(429, headers={"retry-after": "2"}),
    consequence="clients ignore it and retry too early: openai-python retries after half a second",
)
def retry_after(reply: Answered) -> Iterator[Violation]:
    """Retry-After is a whole number of seconds (OpenAI schema: >= 1) or an HTTP date."""
    value = reply.header("retry-after")
    if value is not None and not RETRY_AFTER.fullmatch(value.strip()):
        yield reply.found("headers", "retry-after", wanted="whole seconds or an HTTP date")
    value = reply.header("retry-after-ms")
    if value is not None and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value.strip()):
        yield reply.found("headers", "retry-after-ms", wanted="a number of milliseconds")


@rule(
    "err.request-id-header",
    wires=OPENAI_WIRES,
    level="MAY",
    strict_level="SHOULD",
    basis="sdk",
    source=(sdk("_exceptions.py APIStatusError.request_id"), docs("api-reference debugging requests")),
    violating=error(headers={"x-request-id": ABSENT}),
    conforming=error(headers={"x-request-id": "req_1"}),
    consequence="openai-python's request_id is None, and no report to the provider can name the request",
)
def request_id(reply: Answered) -> Iterator[Violation]:
    """Every response, success or error, has x-request-id.

    Documented, and surfaced by the SDK as request_id and _request_id. Demoted from SHOULD: the SDK's field is
    optional, so its absence breaks no client, and it would otherwise colour every cell of most servers.
    """
    if not reply.header("x-request-id"):
        yield reply.found("headers", "x-request-id", wanted="an id of the request")


def _text_or_null(refusal: ErrorAnswer, name: str) -> Iterator[Violation]:
    if refusal.error is not None and not (
        name in refusal.error and isinstance(refusal.error[name], str | None)
    ):
        yield refusal.found("error", name, wanted="a string or null")

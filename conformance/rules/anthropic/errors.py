"""Refusals: the error object, its type, the headers that clients go by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from conformance.rules.anthropic.examples import WIRES, error
from conformance.rules.anthropic.views import Refused, Reply, hidden_error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import ErrorAnswer, Violation

ERRORS = anthropic_docs("api/errors")
TYPES: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        400: ("invalid_request_error",),
        401: ("authentication_error",),
        402: ("billing_error",),
        403: ("permission_error",),
        404: ("not_found_error",),
        413: ("request_too_large", "invalid_request_error"),
        429: ("rate_limit_error",),
        500: ("api_error",),
        503: ("overloaded_error", "api_error"),
        504: ("timeout_error",),
        529: ("overloaded_error",),
    }
)
"""The types that fit each status; those of 503, which has none of its own, are compatible servers'."""


@rule(
    "anth.error.shape",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(ERRORS, anthropic_sdk("types/shared/error_response.py")),
    violating=error(body={"error": {"type": "invalid_request_error", "message": "Bad."}}),
    conforming=error(),
    consequence="without an error object anthropic 2.14.0's exception has type None; clients that look for "
    "the outer type take the body for no error",
)
def shape(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Errors are {type:error,error:{type,message}}.

    Corrected: request_id may be left out, as the SDK's type says; the header has it too.
    """
    if not isinstance(refusal.value, dict):
        yield refusal.found(wanted="a JSON object", saw=refusal.reading.body.problem or None)
        return
    if refusal.get("type") != "error":
        yield refusal.found("type", wanted='"error"')
    for name in ("type", "message"):
        said = refusal.get("error", name)
        if not (isinstance(said, str) and said):
            yield refusal.found("error", name, wanted="a non-empty string")


@rule(
    "anth.error.type-status-map",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("status",),
    source=(ERRORS, anthropic_sdk("types/shared/error_type.py")),
    violating=error(429, "invalid_request_error"),
    conforming=error(429, "rate_limit_error"),
    consequence="clients that branch on the type retry what will never work, or give up what would",
)
def type_fits(refusal: Refused) -> Iterator[Violation]:
    """error.type fits the status.

    400 invalid_request_error, 401 authentication_error, 402 billing_error, 403 permission_error, 404
    not_found_error, 413 request_too_large, 429 rate_limit_error, 500 api_error, 504 timeout_error, 529
    overloaded_error. 413 may be an invalid_request_error: the SDK's types have no other. Statuses that the
    page does not name are left alone.
    """
    kind, fitting = refusal.get("error", "type"), TYPES.get(refusal.reading.status)
    if fitting is not None and isinstance(kind, str) and kind not in fitting:
        yield refusal.found("error", "type", wanted=f"{' or '.join(fitting)} with {refusal.reading.status}")


@rule(
    "anth.error.status",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=anthropic_sdk("_client.py _make_status_error"),
    violating=error(200),
    conforming=error(400),
    consequence="anthropic 2.14.0 raises by status alone and hands out a Message full of None",
)
def status(reply: Reply) -> Iterator[Violation]:
    """A failed request has a 4xx or 5xx status.

    The rule is this suite's own; the catalogue has it for Chat alone. A stream may fail after its status.
    """
    if reply.reading.succeeded and hidden_error(reply.reading):
        yield reply.found("status", wanted="400 or above, since the body is an error")


@rule(
    "anth.error.retry-after",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=(anthropic_docs("api/rate-limits"), anthropic_sdk("_base_client.py _parse_retry_after_header")),
    violating=error(429, "rate_limit_error", headers={"retry-after": ABSENT}),
    conforming=error(429, "rate_limit_error", headers={"retry-after": "5"}),
    consequence="anthropic 2.14.0 retries twice within seconds, and runs into the limit again",
)
def retry_after(reply: Reply) -> Iterator[Violation]:
    """429 carries retry-after.

    Corrected: prose, for 429; that 529 has it too stands nowhere.
    """
    if reply.status == 429 and not (reply.header("retry-after") or reply.header("retry-after-ms")):
        yield reply.found("headers", "retry-after", wanted="seconds to wait")

"""Refusals in Anthropic's words.

Source: Anthropic's API reference, "Errors" (types by status); that a message begins with the path of
what is wrong, as in ``messages.0.content: ...``, is in recordings of the API.
"""

from __future__ import annotations

import re

from conformance.simulator.answer import Headers, Refused
from conformance.simulator.chat import fresh_id

_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OWN_WORDS = {
    "missing_required_parameter": "Field required",
    "unknown_parameter": "Extra inputs are not permitted",
}
_INDEX = re.compile(r"\[(\d+)\]")
_NAMED_ALREADY = re.compile(r"Invalid (?:type|value) for '[^']*': ")


def request_id() -> Headers:
    """The header that names a request, with a fresh id."""
    return (("request-id", fresh_id("req_011C", 20)),)


def reworded(refused: Refused) -> Refused:
    """The refusal with Anthropic's error document; one that does not have OpenAI's stays as it is."""
    if refused.error is None:
        return refused
    headers = request_id()
    document = {
        "type": "error",
        "error": {"type": _type(refused.status), "message": _message(refused.error)},
        "request_id": headers[0][1],
    }
    return Refused(refused.status, document, refused.why, refused.headers + headers)


def _type(status: int) -> str:
    return _TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")


def _message(error: dict[str, object]) -> str:
    message = _OWN_WORDS.get(str(error.get("code"))) or _NAMED_ALREADY.sub("", str(error.get("message")), 1)
    param = error.get("param")
    return _INDEX.sub(r".\1", str(param)) + ": " + message if param else message

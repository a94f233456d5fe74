"""What breaks at a refusal that breaks a rule."""

from __future__ import annotations

import json
from importlib.metadata import metadata
from typing import Any

from conformance.rules.examples import error

from .claims import Claim, Raised, itself, pauses, refused, typed, whole


def error_type(types: Any) -> Any:
    return types.ErrorObject


def inner(body: bytes) -> bytes:
    return json.dumps(json.loads(body)["error"]).encode()


def said(exception: Any) -> tuple[Any, ...]:
    return exception.code, exception.type, exception.param


def kind(value: Any) -> str:
    return type(value).__name__


REFUSALS = (
    Claim(
        "mt.system-and-developer-roles",
        "as openai-python's README does",
        lambda _: '"role": "developer"' in str(metadata("openai").json["description"]),
        True,
    ),
    Claim(
        "mt.system-and-developer-roles",
        "fail at once",
        whole(itself),
        Raised("BadRequestError"),
    ),
    Claim(
        "err.auth-missing-401",
        "openai-python raises PermissionDeniedError",
        whole(itself),
        Raised("PermissionDeniedError"),
    ),
    Claim(
        "err.json-content-type",
        "openai-python reads the JSON all the same",
        refused(said),
        ("c", "invalid_request_error", "p"),
        error(headers={"content-type": "text/html"}, error={"code": "c", "param": "p"}),
    ),
    Claim(
        "err.error-object",
        "openai-python's exceptions come without code, type or param",
        refused(said),
        (None, None, None),
    ),
    Claim(
        "err.error-object",
        "and say no more than the status",
        refused(lambda raised: raised.message),
        "Error code: 400",
    ),
    Claim(
        "err.param-names-field",
        "openai-python's error.param is None",
        refused(lambda raised: raised.param),
        None,
    ),
    Claim(
        "err.param-key",
        "openai-python takes its absence for null",
        refused(lambda raised: raised.param),
        None,
    ),
    Claim(
        "err.code-string-or-null",
        "openai-python makes a string of a number",
        refused(lambda raised: raised.code),
        "404",
    ),
    Claim(
        "err.code-string-or-null",
        "typed clients refuse the error",
        typed(error_type, inner),
        Raised("ValidationError", "code"),
    ),
    Claim(
        "err.status-not-200",
        "raises by status alone and hands out a ChatCompletion full of None",
        whole(lambda done: (kind(done), done.id, done.choices, done.model, done.usage)),
        ("ChatCompletion", None, None, None, None),
    ),
    Claim(
        "err.request-id-header",
        "openai-python's request_id is None",
        refused(lambda raised: raised.request_id),
        None,
    ),
    Claim(
        "err.retry-after-present",
        "waits half a second, then one, and gives up after the third try",
        pauses,
        [0.5, 1.0],
    ),
    Claim(
        "err.retry-after-format",
        "openai-python retries after half a second",
        lambda client: pauses(client)[0],
        0.5,
        error(429, headers={"retry-after": "60s"}),
    ),
    Claim(
        "err.retry-after-max-120",
        "openai-python 3.57.0 does not retry at all",
        pauses,
        [],
    ),
    Claim(
        "err.should-retry-header",
        "compares with true and false alone, and then goes by the status",
        pauses,
        [2.0, 2.0],
    ),
    Claim(
        "err.should-retry-header",
        "compares with true and false alone, and then goes by the status",
        pauses,
        [],
        error(400, headers={"x-should-retry": "True"}),
    ),
    Claim(
        "err.retryable-statuses",
        "openai-python sends the same bad request two times more, after a pause each",
        pauses,
        [0.5, 1.0],
    ),
)

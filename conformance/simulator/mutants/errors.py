"""Mutants of refusals, and of requests that should have been refused."""

from __future__ import annotations

from conformance.simulator.mutants.edits import (
    MESSAGE,
    accepted,
    body,
    crashed,
    drop,
    failed,
    header,
    only,
    put,
    refusal,
    refused,
    status,
    to,
    via,
)
from conformance.simulator.mutants.mutant import Answer, Change, Mutant

BAD = "errors.malformed-json"
KEY = "errors.bad-key"
PARAMETERS = "errors.bad-parameters"
TOOLS = "errors.bad-tools"
BURST = "limits.rate-limit"
LAST = f"{BURST}/39"
ROUTE = "errors.unknown-route"
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/server.py", line 7, in handle\nKeyError: 7'


def _accepted(scenario: str, number: int) -> Change:
    return only(to(f"{scenario}/{number}"), accepted)


def _echo_key(answer: Answer) -> None:
    key = {k.lower(): v for k, v in answer.request.headers}.get("authorization", "")
    if answer.status >= 400 and key:
        answer.body["error"]["message"] = f"Incorrect API key: {key.removeprefix('Bearer ')}"


def _failure_under_200(answer: Answer) -> None:
    answer.status = 200
    answer.body = {"error": {"message": "No.", "type": "server_error", "param": None, "code": None}}


def _failure_in_stream(answer: Answer) -> None:
    answer.status, answer.events = 200, [answer.body, "[DONE]"]
    answer.headers["content-type"] = "text/event-stream"


def _without_model(answer: Answer) -> bool:
    return answer.request.method == "POST" and "model" not in answer.asked


def _limited(code: str | None, retry_after: str | None) -> Change:
    """Too many requests."""

    def change(answer: Answer) -> None:
        refused(answer)
        answer.status = 429
        answer.body["error"]["code"] = code
        if retry_after is not None:
            answer.headers["retry-after"] = retry_after

    return change


ERRORS = (
    Mutant("err.json-content-type", BAD, header("content-type", "text/plain", where=failed)),
    Mutant("err.error-object", BAD, refusal(put("error", value="Bad."))),
    Mutant("err.message-string", BAD, refusal(put("error", "message", value=""))),
    Mutant("err.type-string", BAD, refusal(put("error", "type", value=None))),
    Mutant("err.param-key", BAD, refusal(drop("error", "param"))),
    Mutant("err.code-string-or-null", BAD, refusal(put("error", "code", value=400))),
    Mutant("err.no-stack-trace", BAD, refusal(put("error", "message", value=TRACE))),
    Mutant("err.content-filter", BAD, refusal(put("error", "message", value="Blocked by content policy."))),
    Mutant("err.failed-generation", BAD, refusal(put("error", "failed_generation", value={"name": "f"}))),
    Mutant("err.status-not-200", "chat.plain", _failure_under_200),
    Mutant("err.malformed-json-400", BAD, accepted),
    Mutant("err.missing-messages-400", "errors.missing-messages", accepted),
    Mutant("err.unknown-model-404", "errors.unknown-model", accepted),
    Mutant(
        "chat.stream.validation-error-before-stream",
        "errors.streamed-request",
        _failure_in_stream,
        also=("err.missing-messages-400",),
        because="the request is bad for want of messages, and its status is not 400",
    ),
)

CREDENTIALS = (
    Mutant("err.auth-invalid-401", KEY, only(to(f"{KEY}/0"), status(400))),
    Mutant("err.auth-missing-401", KEY, only(to(f"{KEY}/1"), status(400))),
    Mutant("err.auth-before-validation", KEY, only(lambda answer: not answer.asked, status(400))),
    Mutant("err.no-key-echo", KEY, _echo_key),
)

BAD_REQUESTS = (
    Mutant("err.missing-model-400", PARAMETERS, only(_without_model, accepted)),
    Mutant("err.bad-role-400", PARAMETERS, _accepted(PARAMETERS, 0)),
    Mutant("err.out-of-range-400", PARAMETERS, _accepted(PARAMETERS, 1)),
    Mutant("err.wrong-type-400", PARAMETERS, _accepted(PARAMETERS, 2)),
    Mutant(
        "err.param-names-field",
        PARAMETERS,
        only(to(f"{PARAMETERS}/1"), refusal(put("error", "param", value=None))),
    ),
    Mutant("err.unknown-field-tolerated", PARAMETERS, only(to(f"{PARAMETERS}/3"), crashed)),
    Mutant("err.stream-options-without-stream-400", PARAMETERS, only(to(f"{PARAMETERS}/4"), crashed)),
    Mutant(
        "err.unsupported-param-not-silent",
        "errors.unsupported-parameters",
        _accepted("errors.unsupported-parameters", 0),
    ),
    Mutant("err.tool-name-invalid-400", TOOLS, _accepted(TOOLS, 0)),
    Mutant("err.tool-choice-unknown-400", TOOLS, _accepted(TOOLS, 1)),
    Mutant("err.tool-choice-without-tools-400", TOOLS, _accepted(TOOLS, 2)),
    Mutant("err.retryable-statuses", TOOLS, only(to(f"{TOOLS}/3"), status(500))),
    Mutant("err.unknown-route-404", ROUTE, only(via("GET"), status(400))),
    Mutant("err.wrong-method-405", ROUTE, only(via("PUT"), status(400))),
    Mutant("err.body-too-large-413", "limits.body-too-large", crashed),
    Mutant("err.context-length-400", "limits.context-length", crashed),
)

CROWDS = (
    Mutant(
        "chat.response.own-answer",
        "limits.concurrent",
        only(to("limits.concurrent/0"), body(put(*MESSAGE, "content", value="canary-b04d82f6"))),
    ),
    Mutant("err.rate-limit-429", BURST, only(to(LAST), refused)),
    Mutant("err.overload-503", BURST, only(to(LAST), crashed)),
    Mutant("err.rate-limit-vs-quota", BURST, only(to(LAST), _limited(None, "1"))),
    Mutant("err.retry-after-present", BURST, only(to(LAST), _limited("rate_limit_exceeded", None))),
)

HEADERS = (
    Mutant("err.retry-after-format", "errors.unknown-model", header("retry-after", "2s")),
    Mutant("err.retry-after-max-120", "errors.unknown-model", header("retry-after", "86400")),
    Mutant("err.should-retry-header", "errors.unknown-model", header("x-should-retry", "yes")),
    Mutant("err.ratelimit-headers-format", "chat.plain", header("x-ratelimit-remaining-requests", "many")),
    Mutant("err.request-id-header", "chat.plain", header("x-request-id", None)),
    Mutant("err.request-id-unique", "limits.concurrent", header("x-request-id", "req_1")),
)

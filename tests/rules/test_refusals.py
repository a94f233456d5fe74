"""What refusals that were asked for prove, and what they leave open."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.examples import (
    USAGE,
    Exchanges,
    answer,
    call,
    conversation,
    entry,
    error,
    exchange,
    models,
    piece,
    start,
    stream,
    tool,
)
from conformance.rules.reading import ABSENT

MINE, OTHERS = "canary-00000001", "canary-00000002"
LONG = {"messages": [{"role": "user", "content": "100000 " * 400}]}
ENOUGH = USAGE | {"prompt_tokens": 900, "total_tokens": 903}
NAMED = {"tool_choice": {"type": "function", "function": {"name": "no_such_function"}}}
BLOCKED = "The prompt was blocked by our content policy."


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}


def keyed(wrong: int, second: Exchanges) -> Exchanges:
    """A wrong key that gets this status (200 is an answer), then something else."""
    kind: dict[str, Any] = {"probe": "wrong-key", "expect": "refusal"}
    first = answer(**kind) if wrong == 200 else error(wrong, **kind)
    return conversation(first, second)


def page(
    status: int, probe: str, method: str = "GET", body: bytes = b"<h1>No.</h1>", **more: Any
) -> Exchanges:
    """An answer that is no API's, to a path or method that is none."""
    headers = {"content-type": "text/html", **more}
    return exchange(
        method=method, path="/nope", request=None, body=body, status=status, headers=headers, probe=probe
    )


def asked(code: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"Repeat {code}"}]}


def at_once(*replies: Exchanges) -> Exchanges:
    """Replies to requests under way together, each with a request id of its own."""
    together = []
    for number, (one,) in enumerate(replies):
        assert one.response is not None
        headers = (("x-request-id", f"req_{number}"), *one.response.headers)
        together.append(replace(one, probe="concurrent", response=replace(one.response, headers=headers)))
    return tuple(together)


def burst(*statuses: int) -> Exchanges:
    replies = [
        answer(id=f"chatcmpl-{n}") if status == 200 else error(status) for n, status in enumerate(statuses)
    ]
    return tuple(replace(one, probe="burst", expect="either") for one in conversation(*replies))


@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param(error(422, error={"param": "model"}, probe="missing-model"), id="422 in place of 400"),
        pytest.param(
            error(error={"param": "/messages/0/role"}, probe="bad-role"), id="the place as a JSON Pointer"
        ),
        pytest.param(
            error(error={"param": "$.messages[0].role"}, probe="bad-role"), id="the place as a JSON path"
        ),
        pytest.param(error(401, probe="bad-role"), id="a probe with a key that is refused"),
        pytest.param(error(429, probe="out-of-range"), id="a probe that met a quota"),
        pytest.param(
            error(error={"param": None}, probe="tool-name-invalid"),
            id="a probe whose field has several names",
        ),
        pytest.param(keyed(200, answer(probe="no-key", id="chatcmpl-2")), id="a server that wants no key"),
        pytest.param(
            keyed(200, error(400, probe="wrong-key-bad-body")), id="a bad body where no key is wanted"
        ),
        pytest.param(keyed(401, error(503, probe="wrong-key-bad-body")), id="a proxy's word on a bad key"),
        pytest.param(page(404, "unknown-route"), id="an unknown route in HTML"),
        pytest.param(
            page(404, "unknown-route", body=b'{"detail":"Not Found"}'),
            id="an unknown route as FastAPI has it",
        ),
        pytest.param(page(401, "unknown-route"), id="an unknown route behind a key"),
        pytest.param(page(404, "wrong-method", "PUT"), id="404 for a wrong method"),
        pytest.param(
            answer(
                asked={"modalities": ["text", "audio"]},
                message={
                    "content": None,
                    "audio": {"id": "a", "data": "", "transcript": "Hi", "expires_at": 1},
                },
                probe="unsupported-param",
            ),
            id="speech where speech was asked for",
        ),
        pytest.param(error(409, expect="either"), id="409 where no fault was planted"),
        pytest.param(answer(probe="body-too-large"), id="a body that was not too large"),
        pytest.param(
            answer(asked=LONG, usage=ENOUGH, probe="context-length"), id="a context that is large enough"
        ),
        pytest.param(
            error(413, probe="context-length"),
            id="a long prompt whose body was too large",
        ),
        pytest.param(
            error(429, headers={"retry-after": ABSENT, "retry-after-ms": "900"}), id="Retry-After in ms"
        ),
        pytest.param(
            error(429, error={"code": None, "type": "rate_limit_error"}), id="a type that says which limit"
        ),
        pytest.param(
            error(400, error={"message": BLOCKED, "code": "content_filter"}),
            id="a blocked prompt, as Azure says it",
        ),
        pytest.param(error(403, error={"message": BLOCKED}), id="an account that may not do this"),
        pytest.param(burst(200, 429, 503, 402), id="a burst that met its limits"),
        pytest.param(burst(403, 403), id="a burst of which none is answered"),
        pytest.param(
            at_once(
                answer(asked=asked(MINE), message={"content": f"{MINE}."}, id="chatcmpl-2"),
                stream(asked=asked(OTHERS)),
            ),
            id="a model that repeats its own code, one that repeats none",
        ),
        pytest.param(at_once(answer(asked=asked(MINE)), error(429)), id="a crowd that met a quota"),
        pytest.param(
            conversation(models(entry(id="other")), error(404, probe="listed-model"))[1:],
            id="a model that no list has",
        ),
        pytest.param(
            conversation(models(), error(404, asked={"model": "unlisted"}, probe="unknown-model")),
            id="a model that is not listed",
        ),
    ],
)
def test_what_proves_nothing_is_left_alone(exchanges: Exchanges) -> None:
    assert fired(exchanges) == set()


@pytest.mark.parametrize(
    ("rules", "exchanges"),
    [
        pytest.param({"err.bad-role-400"}, error(404, probe="bad-role"), id="404 for a bad role"),
        pytest.param(
            {"err.param-names-field"},
            error(error={"param": "role"}, probe="bad-role"),
            id="a param that names only the end",
        ),
        pytest.param(
            {"err.param-key"}, error(error={"param": ABSENT}, probe="bad-role"), id="an error without param"
        ),
        pytest.param(
            {"err.auth-missing-401"},
            keyed(401, answer(probe="no-key")),
            id="a server that wants a right key or none",
        ),
        pytest.param(
            {"err.auth-missing-401"}, keyed(200, error(403, probe="no-key")), id="403 for want of a key"
        ),
        pytest.param(
            {"err.auth-before-validation"},
            keyed(401, error(403, probe="wrong-key-bad-body")),
            id="another status than for a good body",
        ),
        pytest.param({"err.unknown-route-404"}, page(200, "unknown-route"), id="a start page for any route"),
        pytest.param({"err.wrong-method-405"}, page(405, "wrong-method", "PUT"), id="405 without Allow"),
        pytest.param(
            {"err.tool-choice-unknown-400"},
            answer(asked=NAMED | {"tools": [tool()]}, calls=[call()], probe="tool-choice-unknown"),
            id="an undeclared choice that is ignored",
        ),
        pytest.param(
            {"err.tool-choice-without-tools-400"},
            answer(asked={"tool_choice": "required"}, probe="tool-choice-without-tools"),
            id="a forced call without tools that is ignored",
        ),
        pytest.param(
            {"err.unsupported-param-not-silent"},
            answer(
                asked={"functions": [{"name": "f"}], "function_call": {"name": "f"}},
                probe="unsupported-param",
            ),
            id="a forced legacy call that is ignored",
        ),
        pytest.param(
            {"err.retryable-statuses"}, error(409, probe="invalid-tool-schema"), id="409 for a fault"
        ),
        pytest.param(
            {"err.context-length-400"},
            error(error={"code": "too_long"}, probe="context-length"),
            id="another code for a long prompt",
        ),
        pytest.param(
            {"err.context-length-400"}, error(500, probe="context-length"), id="a crash on a long prompt"
        ),
        pytest.param(
            {"err.retry-after-present", "err.rate-limit-vs-quota"},
            error(429, error={"code": None, "type": "error"}, headers={"retry-after": ABSENT}),
            id="a bare 429",
        ),
        pytest.param(
            {"err.content-filter"},
            error(400, error={"message": BLOCKED}),
            id="a blocked prompt without a code",
        ),
        pytest.param(
            {"err.rate-limit-429"}, burst(200, 200, 400), id="a burst whose excess is called invalid"
        ),
        pytest.param({"err.overload-503"}, burst(200, 500), id="a burst that breaks the server"),
        pytest.param(
            {"chat.response.own-answer"},
            at_once(
                answer(asked=asked(MINE), message={"content": MINE}, id="chatcmpl-2"),
                stream(
                    start(),
                    piece(content="canary-"),
                    piece(content="00000001"),
                    piece("stop"),
                    asked=asked(OTHERS),
                ),
            ),
            id="another request's answer, streamed",
        ),
        pytest.param(
            {"chat.response.own-answer"},
            at_once(answer(asked=asked(MINE)), error(500, expect="answer")),
            id="a crowd of which one is not answered",
        ),
    ],
)
def test_the_near_miss_is_found(rules: set[str], exchanges: Exchanges) -> None:
    assert fired(exchanges) == rules


def test_a_mixed_up_answer_is_told_with_the_request_that_it_belongs_to() -> None:
    run = at_once(
        answer(asked=asked(MINE), message={"content": "Hello."}),
        answer(asked=asked(OTHERS), message={"content": MINE}, id="chatcmpl-2"),
    )
    (finding,) = check(run)
    assert finding.path == "/exchanges/1/response/body/choices/0/message"
    assert finding.got == f"{MINE}, which is in the request of exchange 0"

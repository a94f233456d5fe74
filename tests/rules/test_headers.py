"""Headers that clients go by, and the entry of a model."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import check, rule_of
from conformance.rules.examples import conversation, entry, error, exchange, models


def finds(rule: str, **headers: str) -> bool:
    return bool(check(error(429, headers=headers), rules=[rule_of(rule)]))


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"retry-after": "120"}, False),
        ({"retry-after": "121"}, True),
        ({"retry-after": "121", "x-should-retry": "false"}, False),
        ({"retry-after": "121", "x-should-retry": "true"}, True),
        ({"retry-after-ms": "130000"}, True),
        ({"retry-after-ms": "2000"}, False),
        ({"retry-after": "soon"}, False),
        ({"retry-after": "9" * 400}, False),
        (
            {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", "date": "Fri, 31 Dec 1999 23:00:00 GMT"},
            True,
        ),
        (
            {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT", "date": "Fri, 31 Dec 1999 23:59:00 GMT"},
            False,
        ),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, False),
    ],
)
def test_a_wait_of_more_than_two_minutes_is_too_long(headers: dict[str, str], found: bool) -> None:
    assert finds("err.retry-after-max-120", **headers) is found


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("x-ratelimit-reset-requests", "6m0s", False),
        ("x-ratelimit-reset-requests", "120ms", False),
        ("x-ratelimit-reset-tokens", "1h2m59.56s", False),
        ("x-ratelimit-reset-tokens", "0s", False),
        ("x-ratelimit-reset-tokens", "soon", True),
        ("x-ratelimit-reset-tokens", "", True),
        ("x-ratelimit-remaining-tokens", "149984", False),
        ("x-ratelimit-limit-tokens", "1.5", True),
        ("x-ratelimit-limit-tokens", "REDACTED", False),
    ],
)
def test_limits_are_counts_and_durations(name: str, value: str, found: bool) -> None:
    assert finds("err.ratelimit-headers-format", **{name: value}) is found


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ('Traceback (most recent call last):\n  File "x.py", line 1', True),
        ("TypeError\n    at Server.handle (/srv/app.js:10:5)", True),
        ("panic: boom\n\ngoroutine 1 [running]:", True),
        ("The file model.py was not found.", False),
    ],
)
def test_a_trace_is_known_by_its_frames(message: str, found: bool) -> None:
    exchanges = error(500, error={"message": message})
    assert bool(check(exchanges, rules=[rule_of("err.no-stack-trace")])) is found


def alone(path: str, document: bytes, status: int = 200, probe: str | None = None) -> Any:
    return exchange(
        method="GET", path=f"/models/{path}", request=None, body=document, status=status, probe=probe
    )


ENTRY = b'{"id":"org/m","object":"model","created":1764000000,"owned_by":"example"}'
OTHER = b'{"id":"org/m","object":"model","created":1,"owned_by":"example"}'
MISSING = b'{"error":{"message":"No.","type":"invalid_request_error","param":"model","code":null}}'


@pytest.mark.parametrize(
    ("got", "found"),
    [
        pytest.param(alone("org%2Fm", ENTRY), False, id="the entry of the list"),
        pytest.param(alone("org/m", ENTRY), False, id="an id with its slash as it is"),
        pytest.param(alone("org%2Fm", OTHER), True, id="another entry"),
        pytest.param(alone("org%2Fm", b"{}"), True, id="an empty object"),
        pytest.param(alone("org%2Fm", MISSING, 404), True, id="a listed model that is not found"),
        pytest.param(alone("org%2Fm", MISSING, 429), False, id="a quota"),
        pytest.param(alone("other", MISSING, 404), False, id="an unknown model"),
        pytest.param(alone("other", MISSING, 404, "models-retrieve"), True, id="the model under test"),
    ],
)
def test_an_entry_asked_for_alone_is_that_of_the_list(got: Any, found: bool) -> None:
    run = conversation(models(entry(id="org/m")), got)
    assert bool(check(run, rules=[rule_of("models.retrieve")])) is found

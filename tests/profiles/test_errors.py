"""Errors in all their shapes, and what they mean for a client."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles import Asked, Outcome, outcome, profile, repaired
from conformance.profiles.outcomes import retry_after
from conformance.types import Ending, Exchange, Failure, FailureKind, HttpRequest, HttpResponse, WireName
from conformance.wires import wire

from .support import EVENTS_TYPE, HELLO, JSON_TYPE, START, chunk, completion, framed

NOW = 1_800_000_000.0


def error(name: str, status: int, document: Any, over: WireName = "openai-chat") -> tuple[int, Any]:
    """Status and error object as the client behind a profile gets them."""
    response = HttpResponse(status, JSON_TYPE, json.dumps(document).encode())
    out = repaired(profile(name), response, Asked(HELLO, over))
    return out.status, json.loads(out.body)["error"]


def openai(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    return {"message": message, "type": kind, "param": None, "code": code}


SHAPES: dict[str, tuple[str, WireName, int, Any, int, dict[str, Any]]] = {
    "gemini-error-body-array": (
        "google-gemini", "openai-chat", 400,
        [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "bad"}}],
        400, openai("bad", "INVALID_ARGUMENT", "400")),
    "http-200-error-body": (
        "openrouter", "openai-chat", 200, {"error": {"code": 429, "message": "slow down"}},
        429, openai("slow down", code="429")),
    "an error in a 200 that names no status": (
        "compatible", "openai-chat", 200, {"error": {"code": "rate_limit_daily", "message": "enough"}},
        429, openai("enough", code="rate_limit_daily")),
    "an error in a 200 that names nothing": (
        "compatible", "openai-chat", 200, {"error": {"message": "gone"}}, 502, openai("gone")),
    "minimax-error-2013-envelope": (
        "minimax", "openai-chat", 400,
        {"type": "error", "error": {"type": "bad_request_error", "http_code": "400",
                                    "message": "invalid params, x (2013)"}},
        400, openai("invalid params, x (2013)", "bad_request_error", "2013")),
    "codex-backend-error-detail-shape": (
        "chatgpt-codex", "openai-responses", 400, {"detail": "Unsupported parameter: max_output_tokens"},
        400, openai("Unsupported parameter: max_output_tokens")),
    "context-overflow-wording-varies": (
        "alibaba", "openai-chat", 400,
        {"error": {"message": "Range of input length should be [1, 30720]", "type": "x",
                   "param": None, "code": "invalid_parameter_error"}},
        400, openai("Range of input length should be [1, 30720]", "x", "context_length_exceeded")),
    "a prompt that is too long, without a code": (
        "vllm", "openai-chat", 400,
        {"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400},
        400, openai("This model's maximum context length is 4096 tokens.", code="context_length_exceeded")),
    "zai-1214-messages-illegal": (
        "zai", "openai-chat", 400,
        {"error": {"code": "1214", "message": "The messages parameter is illegal."}},
        400, {**openai("The messages parameter is illegal.", code="1214"), "param": "messages"}),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_errors_are_in_openais_form_under_the_status_that_they_mean(shape: str) -> None:
    name, over, status, document, wanted, told = SHAPES[shape]
    assert error(name, status, document, over) == (wanted, told)


def test_an_error_of_openais_form_stays_itself() -> None:
    response = HttpResponse(400, JSON_TYPE, b'{"error": {"message":"a","type":"b","param":null,"code":null}}')
    assert repaired(profile("compatible"), response, Asked(HELLO)) is response


def test_errors_of_other_wires_keep_their_form() -> None:
    for over in ("anthropic-messages", "gemini", "ollama"):
        response = HttpResponse(400, JSON_TYPE, b'{"error": "bad"}')
        assert repaired(profile("compatible"), response, Asked(HELLO, over)) is response


# -------------------------------------------------------------------------------------------- outcomes


def became(
    response: HttpResponse | None, *, ending: Ending = "complete", failure: FailureKind | None = None
) -> Outcome:
    """What became of an exchange for the client that made it."""
    broken = Failure(failure, "broken") if failure else None
    exchange = Exchange(HttpRequest("POST", "", (), b""), response, ending, "openai-chat", broken)
    chosen, asked, chat = profile("compatible"), Asked(HELLO), wire("openai-chat")
    seen = exchange if response is None else replace(exchange, response=repaired(chosen, response, asked))
    return outcome(exchange, seen, asked, chosen, chat, NOW)


def answered(status: int, document: Any = None, **headers: str) -> HttpResponse:
    given = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpResponse(
        status, (*JSON_TYPE, *given), json.dumps(document or {"error": {"message": "a"}}).encode()
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, "failed") for status in (429, 500, 502, 503, 504, 529)),
        *((status, "refused") for status in (400, 401, 403, 404, 409, 422)),
    ],
)
def test_429_and_5xx_may_go_away_and_other_refusals_will_not(status: int, kind: str) -> None:
    assert became(answered(status)).kind == kind


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("connect", "failed"),
        ("timeout", "failed"),
        ("protocol", "failed"),
        ("tls", "refused"),
        ("no-cassette", "refused"),
        ("older-scenario", "refused"),
        ("request-cap", "refused"),
    ],
)
def test_a_broken_connection_may_go_away_and_what_was_never_sent_will_not(
    failure: FailureKind, kind: str
) -> None:
    assert became(None, failure=failure).kind == kind


@pytest.mark.parametrize("ending", ["cut", "stalled"])
def test_an_answer_that_broke_off_may_go_away(ending: Ending) -> None:
    assert became(answered(200, completion({"content": "a"})), ending=ending).kind == "failed"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (429, "failed"),
        ("502", "failed"),
        (400, "refused"),
        ("overloaded_error", "failed"),
        ("invalid_x", "refused"),
    ],
)
def test_an_error_inside_a_200_counts_as_what_it_says_whole_or_amid_a_stream(code: Any, kind: str) -> None:
    frame = {"error": {"code": code, "message": "a"}}
    assert became(answered(200, frame)).kind == kind
    stream = HttpResponse(200, EVENTS_TYPE, framed([START, chunk({"content": "a"}), frame]))
    assert became(stream).kind == kind


def test_a_missing_capability_is_a_matter_for_another_model() -> None:
    text = "No endpoints found that support tool use. Try another model."
    assert became(answered(404, {"error": {"message": text, "code": 404}})).kind == "elsewhere"


def test_an_answer_is_one() -> None:
    assert became(answered(200, completion({"content": "a"}))).kind == "answered"


WAITS: list[tuple[dict[str, str], float | None]] = [
    ({"retry_after": "7"}, 7.0),
    ({"retry_after": "1.5"}, 1.5),
    ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
    ({"retry_after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
    ({"retry_after": "Fri, 15 Jan 1999 08:00:30 GMT"}, 0.0),
    ({"retry_after": "soon"}, None),
    ({"retry_after": "-3"}, None),
    ({"retry_after": "9" * 400}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "wanted"), WAITS)
def test_the_wait_that_is_asked_for_is_read(headers: dict[str, str], wanted: float | None) -> None:
    assert retry_after(answered(429, **headers), NOW) == wanted

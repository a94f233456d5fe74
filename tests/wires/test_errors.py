"""Error bodies of every shape seen, in one form."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.wires.errors import MAX_MESSAGE, ErrorInfo, error_of

from .answers import SSE_TYPE, answer_with, response, sse


@pytest.mark.parametrize(
    ("body", "info"),
    [
        (
            {"error": {"message": "no", "type": "t", "param": "p", "code": "c"}},
            ErrorInfo("no", "t", "c", "p"),
        ),
        ({"error": {"message": "no", "code": 404}, "user_id": "u"}, ErrorInfo("no", None, 404)),
        ({"error": {"message": "no", "type": None, "param": None, "code": None}}, ErrorInfo("no")),
        (
            {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}},
            ErrorInfo("no", "INVALID_ARGUMENT", 400),
        ),
        (
            [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}],
            ErrorInfo("no", "INVALID_ARGUMENT", 400),
        ),
        ({"error": "no"}, ErrorInfo("no")),
        ({"code": "c", "error": "no"}, ErrorInfo("no", None, "c")),
        ({"error": "no", "error_type": "validation"}, ErrorInfo("no", "validation")),
        (
            {"object": "error", "message": "no", "type": "t", "param": None, "code": 400},
            ErrorInfo("no", "t", 400),
        ),
        ({"type": "error", "error": {"type": "t", "message": "no"}}, ErrorInfo("no", "t")),
        ({"detail": "no"}, ErrorInfo("no")),
        (
            {"detail": [{"loc": ["body", "messages"], "msg": "no", "type": "missing"}]},
            ErrorInfo("no", "missing", None, "body.messages"),
        ),
        ({"detail": {"error": {"message": "no"}}}, ErrorInfo("no")),
        ({"code": 400, "message": "no", "type": "t"}, ErrorInfo("no", "t", 400)),
        ({"message": "no"}, ErrorInfo("no")),
        ({"success": False, "errors": [{"code": 7000, "message": "no"}]}, ErrorInfo("no", None, 7000)),
        ({"error": {"message": {"a": 1}}}, ErrorInfo('{"a":1}')),
        ({"error": {"reason": "no"}}, ErrorInfo('{"reason":"no"}')),
        ("<html>\n<h1>Bad Gateway</h1>", ErrorInfo("<html>\n<h1>Bad Gateway</h1>")),
        ("  not now\n", ErrorInfo("not now")),
        ("", ErrorInfo("")),
        ("[1]", ErrorInfo("[1]")),
    ],
)
def test_a_refusal_is_read(body: Any, info: ErrorInfo) -> None:
    assert error_of(response(body, 400)) == info


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "no"}}, {"error": "no"}, {"object": "error", "message": "no"}, [{"error": "no"}]],
)
def test_an_error_at_status_200_is_read_where_it_says_so(body: Any) -> None:
    assert error_of(response(body)) == ErrorInfo("no")


@pytest.mark.parametrize(
    "body",
    [
        answer_with({"content": "a"}),
        {"message": "hi"},
        {"detail": "x"},
        {"error": None},
        {"error": {}},
        "<html>",
        "",
    ],
)
def test_other_bodies_at_status_200_are_no_errors(body: Any) -> None:
    assert error_of(response(body)) is None


def test_an_error_event_in_a_stream_is_read() -> None:
    body = sse(['{"choices": []}', "nope", '{"error": {"message": "no", "code": 502}}', "[DONE]"])
    assert error_of(response(body, headers=SSE_TYPE)) == ErrorInfo("no", None, 502)


def test_a_stream_without_an_error_event_is_no_error() -> None:
    assert error_of(response(sse(['{"choices": []}', "[DONE]"]))) is None


def test_a_long_message_is_capped() -> None:
    info = error_of(response("x" * 100_000, 500))
    assert info is not None
    assert len(info.message) == MAX_MESSAGE

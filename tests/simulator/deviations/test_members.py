"""Members of answers put and taken by their paths, and what refusals are made of."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.simulator.answer import Respond
from conformance.simulator.deviations import DEVIATIONS
from conformance.types import HttpRequest

CHAT = HttpRequest("POST", "/p/any/v1/chat/completions", (), b"{}")
REFUSAL = {"error": {"message": "No.", "type": "invalid_request_error", "param": "n", "code": "odd"}}


def changed(name: str, document: Any, status: int = 200, **options: Any) -> Any:
    (answer,) = (
        action
        for action in DEVIATIONS[name](**options).rewire(
            CHAT, [Respond(status, (("content-type", "application/json"),), document)]
        )
        if isinstance(action, Respond)
    )
    return answer.body


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ({"/b": 1}, {"a": [{"c": "x"}, {"c": None}], "b": 1}),
        ({"/a/*/c": "y"}, {"a": [{"c": "y"}, {"c": "y"}]}),
        ({"/a/*/d": [1]}, {"a": [{"c": "x", "d": [1]}, {"c": None, "d": [1]}]}),
        ({"/a/*/c": "{was}!"}, {"a": [{"c": "x!"}, {"c": None}]}),
        ({"/a/*[c=x]/c": ""}, {"a": [{"c": ""}, {"c": None}]}),
        ({"/nowhere/c": 1}, {"a": [{"c": "x"}, {"c": None}]}),
    ],
)
def test_members_are_put_where_their_holders_are(values: dict[str, Any], made: Any) -> None:
    assert changed("answer-with", {"a": [{"c": "x"}, {"c": None}]}, values=values) == made


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ({"at": ["/b"]}, {"a": [{"c": 1}, {"c": None}]}),
        ({"at": ["/a/*/c"]}, {"a": [{}, {}], "b": None}),
        ({"at": ["/a/*/c", "/b"], "only": [None]}, {"a": [{"c": 1}, {}]}),
        ({"at": ["/a/*"]}, {"a": [], "b": None}),
        ({"at": ["/nowhere/*"]}, {"a": [{"c": 1}, {"c": None}], "b": None}),
    ],
)
def test_members_are_taken_away(options: dict[str, Any], made: Any) -> None:
    assert changed("answer-without", {"a": [{"c": 1}, {"c": None}], "b": None}, **options) == made


def test_refusals_are_left_alone_by_what_is_about_answers_and_the_other_way_round() -> None:
    assert changed("answer-with", REFUSAL, 400, values={"/error": 1}) == REFUSAL
    assert changed("refusal-with", {"id": "a"}, 200, values={"/id": "b"}) == {"id": "a"}


@pytest.mark.parametrize(
    ("body", "status", "made"),
    [
        ([{"code": "{status}", "is": "{google}"}], 404, [{"code": 404, "is": "NOT_FOUND"}]),
        ({"m": "{message} ({code})"}, 400, {"m": "No. (odd)"}),
        ({"t": "{type}", "p": "{param}"}, 500, {"t": "server_error", "p": "n"}),
        ({"t": "{type}"}, 401, {"t": "authentication_error"}),
        (None, 415, b""),
    ],
)
def test_a_refusal_is_told_in_other_words(body: Any, status: int, made: Any) -> None:
    assert changed("refusal-is", REFUSAL, status, body=body) == made


def test_a_refusal_that_says_nothing_can_be_told_too() -> None:
    assert changed("refusal-is", ["odd"], 400, body={"m": "{message}"}) == {"m": None}


@pytest.mark.parametrize(("options", "touched"), [({"statuses": [404]}, False), ({"codes": ["odd"]}, True)])
def test_only_some_refusals_are_changed(options: dict[str, Any], touched: bool) -> None:
    assert (changed("refusal-is", REFUSAL, 400, body={}, **options) == {}) is touched


def test_a_completion_is_wrapped() -> None:
    completion: dict[str, Any] = {"choices": []}
    wrapped = changed("answer-wrapped", completion, member="data", beside={"success": True})
    assert wrapped == {"data": completion, "success": True}
    assert changed("answer-wrapped", {"object": "list"}, member="data") == {"object": "list"}

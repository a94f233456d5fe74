"""Exchanges as JSON lines: what is written is what is read, and the schema says how they look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.grade.exchanges import NO_REQUEST
from conformance.grade.jsonl import ENDINGS, EXPECTATIONS, FAILURES, exchange_schema, to_line
from conformance.grade.recorded import Recorded, Unusable
from conformance.types import WIRES, Exchange, Failure, HttpRequest, HttpResponse

from .support import ANSWER, QUESTION, STREAM, URL, chunk, exchange, found, packed, response

SCHEMA = jsonschema_rs.validator_for(exchange_schema())


def line(**more: Any) -> dict[str, Any]:
    """A line as others may write it."""
    request = {"method": "POST", "url": URL, "headers": {"a": "b"}, "body": packed(QUESTION)}
    answered = {"status": 200, "headers": {"a": ["b", "c"]}, "body": packed(ANSWER)}
    return {"request": request, "response": answered} | more


def answered(**more: Any) -> dict[str, Any]:
    """A line with other members of the response."""
    return line(response={**line()["response"], **more})


# --------------------------------------------------------------------------------------------- round trip

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = TEXTS.filter(bool) | st.just("Content-Encoding")
HEADERS = st.lists(st.tuples(NAMES, TEXTS), max_size=4).map(tuple)
BODIES = TEXTS.map(str.encode) | st.binary(max_size=30)


def decoded(response: HttpResponse) -> bool:
    """Whether a response is as the client saw it: unpacked, and no header says otherwise."""
    packed = response.body[:1] in (b"\x1f", b"(")
    return not packed and all(name.lower() != "content-encoding" for name, _ in response.headers)


@st.composite
def responses(draw: st.DrawFn) -> HttpResponse:
    body = draw(BODIES)
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=3)))
    edges = [0, *cuts, len(body)] if draw(st.booleans()) else []
    times = sorted(draw(st.lists(st.integers(0, 10**6), min_size=len(edges), max_size=len(edges))))
    parts = tuple((ms / 8, end - start) for ms, start, end in zip(times, edges, edges[1:], strict=False))
    return HttpResponse(draw(st.integers(100, 999)), draw(HEADERS), body, parts)


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    request = HttpRequest(draw(st.sampled_from(["POST", "GET"])), draw(TEXTS), draw(HEADERS), draw(BODIES))
    failure = draw(st.none() | st.builds(Failure, st.sampled_from(FAILURES), TEXTS))
    return Exchange(
        request,
        None if failure else draw(responses().filter(decoded)),
        "complete" if failure else draw(st.sampled_from(ENDINGS)),
        draw(st.sampled_from(WIRES)),
        failure,
        started=draw(st.integers(0, 2 * 10**9)) / 8,
        elapsed_ms=draw(st.integers(0, 10**6)) / 2,
        probe=draw(st.none() | TEXTS),
        expect=draw(st.sampled_from(EXPECTATIONS)),
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(exchanges(), min_size=1, max_size=3),
    endpoint=st.none() | TEXTS.filter(bool),
    scenario=st.none() | TEXTS.filter(bool),
)
def test_what_is_written_is_read(
    tmp_path: Path, written: list[Exchange], endpoint: str | None, scenario: str | None
) -> None:
    lines = [to_line(one, endpoint=endpoint, scenario=scenario) for one in written]
    assert [list(SCHEMA.iter_errors(one)) for one in lines] == [[] for _ in lines]
    read = found(tmp_path, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
    assert [one.exchange for one in read if isinstance(one, Recorded)] == written
    for one, exchanged in zip(read, written, strict=True):
        assert isinstance(one, Recorded)
        assert (one.endpoint, one.scenario, one.wire) == (endpoint, scenario, exchanged.wire)


def test_what_is_read_can_be_written_again(tmp_path: Path) -> None:
    one = exchange(tmp_path, {**line(endpoint="e", scenario="s"), "probe": "p", "wire": "gemini"})
    assert exchange(tmp_path, to_line(one)) == one


def test_what_was_no_evidence_is_none_when_it_is_written_again(tmp_path: Path) -> None:
    one = exchange(tmp_path, [chunk(content="Ho"), chunk(finish="stop")])
    again = to_line(one)
    assert SCHEMA.is_valid(again)
    assert exchange(tmp_path, again).kept == one.kept


def test_an_answer_without_its_request_stays_without(tmp_path: Path) -> None:
    one = exchange(tmp_path, to_line(exchange(tmp_path, ANSWER)))
    assert one.exchange.request == NO_REQUEST
    assert "request" not in one.kept


# ----------------------------------------------------------------------------------------- as others write


def test_headers_may_be_a_table(tmp_path: Path) -> None:
    one = exchange(tmp_path, line())
    assert one.exchange.request.headers == (("a", "b"),)
    assert response(one).headers == (("a", "b"), ("a", "c"))


def test_a_body_may_be_the_json_it_holds_and_is_then_spelt_anew(tmp_path: Path) -> None:
    one = exchange(tmp_path, answered(body=ANSWER))
    assert json.loads(response(one).body) == ANSWER
    assert one.fidelity == "parsed"
    assert "spelling" not in one.kept


def test_a_json_body_of_which_base64_is_not_the_only_member_is_json(tmp_path: Path) -> None:
    body = {"base64": "aGk=", "more": 1}
    assert json.loads(response(exchange(tmp_path, answered(body=body))).body) == body


def test_parts_say_what_the_network_brought(tmp_path: Path) -> None:
    one = exchange(tmp_path, answered(body=STREAM, parts=[[5, 20], [9.5, len(STREAM) - 20]]))
    assert response(one).parts == ((5.0, 20), (9.5, len(STREAM) - 20))
    assert "arrival" in one.kept


@pytest.mark.parametrize(
    "parts",
    [[[0, 1]], [[0]], [["0", 1]], [[0, -1]], [[float("nan"), 1]], "all", [[0, True]], {"0": 1}],
    ids=str,
)
def test_parts_that_are_not_those_of_the_body_are_no_evidence(tmp_path: Path, parts: Any) -> None:
    one = exchange(tmp_path, answered(parts=parts))
    assert response(one).parts == ()
    assert "arrival" not in one.kept


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_ending_is_told(tmp_path: Path, ending: str) -> None:
    assert exchange(tmp_path, answered(ending=ending)).exchange.ending == ending
    assert exchange(tmp_path, line(ending=ending)).exchange.ending == ending


@pytest.mark.parametrize(
    "wrong",
    [
        answered(ending="whenever"),
        line(wire="telegraph", expect="nothing", probe=1, endpoint=2, scenario=[]),
        line(started=-1, elapsed_ms="long"),
        line(request={"url": 1, "method": 2, "headers": 3, "body": "x"}),
        answered(headers=[["a"], [1, 2], {"name": "n"}, "x"]),
    ],
)
def test_members_of_another_kind_count_as_absent(tmp_path: Path, wrong: dict[str, Any]) -> None:
    one = exchange(tmp_path, wrong)
    assert (one.wire, one.endpoint, one.scenario) == (None, None, None)
    assert (one.exchange.ending, one.exchange.expect, one.exchange.probe) == ("complete", "either", None)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"request": line()["request"]}, "no response"),
        (answered(status=20), "no HTTP status"),
        (answered(status="soon"), "no HTTP status"),
        (answered(body={"base64": "?"}), "not Base64"),
        ("{", "not JSON"),
        (7, "a JSON int"),
    ],
)
def test_a_line_that_is_no_exchange_is_named_and_the_next_is_read(
    tmp_path: Path, wrong: Any, why: str
) -> None:
    middle = wrong if isinstance(wrong, str) else json.dumps(wrong)
    first, second, third = found(tmp_path, f"{json.dumps(line())}\n{middle}\n{json.dumps(line())}\n")
    assert isinstance(second, Unusable)
    assert why in second.reason
    assert [first.position, second.position, third.position] == [0, 1, 2]
    assert isinstance(third, Recorded)


# --------------------------------------------------------------------------------------------------- schema


@pytest.mark.parametrize(
    "good", [line(), answered(body=ANSWER), answered(body={"base64": "aGk="}), answered(parts=[])]
)
def test_the_schema_allows_what_others_may_write(good: dict[str, Any]) -> None:
    assert SCHEMA.is_valid(good)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"request": line()["request"]},
        answered(status="200"),
        answered(headers=["a"]),
        answered(parts=[[1]]),
        answered(ending="soon"),
        line(wire="telegraph"),
        {"failure": {"kind": "other", "message": ""}},
    ],
)
def test_the_schema_refuses_what_says_nothing(bad: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid(bad)

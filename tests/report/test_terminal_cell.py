"""One cell in a terminal: its exchanges as they went."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.exchanges import reindent
from conformance.report.terminal import print_cell
from conformance.types import Matrix

from .examples import evidence, one_endpoint
from .test_terminal import console, read


def cell_text(matrix: Matrix, scenario: str) -> str:
    target = console(140)
    print_cell(matrix, "llama-server", scenario, target)
    return read(target)


def test_a_cell_drills_down_to_request_response_and_ending() -> None:
    text = cell_text(one_endpoint(), "stream.plain")
    assert text.lstrip().startswith("✗ violates  llama-server stream.plain  strict\n")
    assert "/exchanges/0\n  > POST http://127.0.0.1:8080/v1/chat/completions\n" in text
    assert "  > authorization: Bearer [redacted]\n" in text
    assert "  < HTTP/1.1 200\n  < Content-Type: application/json; charset=utf-8\n    {\n" in text
    assert text.endswith("  ended complete after 13 ms, 2 parts from 12 to 12 ms\n")


def test_an_exchange_without_a_response_says_why() -> None:
    lost = evidence(response=None, failure={"kind": "connect", "message": "connection refused"}, ending="cut")
    cell = replace(one_endpoint().cells[0], verdict="error", evidence=(lost,))
    text = cell_text(replace(one_endpoint(), cells=(cell,)), "chat.plain")
    assert "  failed: connect: connection refused\n  ended cut after 13 ms\n" in text


def test_a_cut_body_says_so() -> None:
    cell = replace(one_endpoint().cells[0], evidence=(evidence(truncated=True),))
    assert "bodies cut to fit the report" in cell_text(replace(one_endpoint(), cells=(cell,)), "chat.plain")


def test_a_cell_that_is_not_there_is_an_error_that_names_it() -> None:
    with pytest.raises(LookupError, match=r"no cell for endpoint 'llama-server' and scenario 'chat\.nope'"):
        cell_text(one_endpoint(), "chat.nope")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v),
)


@given(json_values)
def test_reindenting_json_changes_white_space_only(value: object) -> None:
    laid_out = reindent(json.dumps(value))
    assert json.dumps(json.loads(laid_out)) == json.dumps(value)
    assert laid_out == json.dumps(value, indent=2)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ('{"a":1.0,"a":1e2}', '{\n  "a": 1.0,\n  "a": 1e2\n}'),
        ("data: {}\n\ndata: [DONE]\n\n", "data: {}\n\ndata: [DONE]\n\n"),
        ('{"cut": ', '{"cut": '),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_tokens_stay_as_sent_and_what_is_not_json_stays_whole(sent: str, shown: str) -> None:
    assert reindent(sent) == shown

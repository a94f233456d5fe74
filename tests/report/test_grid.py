from __future__ import annotations

import pytest

from conformance.report.grid import grid, source
from conformance.types import Cell, EndpointRow, Matrix, ScenarioRow

from .examples import several_endpoints


def test_an_endpoint_has_a_column_per_mode_it_was_run_in() -> None:
    columns = [(column.endpoint.name, column.remarks) for column in grid(several_endpoints()).columns]
    assert columns == [
        ("llama-server", ()),
        ("reference", ("simulated",)),
        ("deepseek-like", ("simulated",)),
        ("deepseek-like", ("simulated", "adapted")),
        ("private-gateway-eu-west-1", ()),
    ]


def test_endpoints_without_a_run_stand_apart_even_when_they_have_not_run_cells() -> None:
    row = EndpointRow("groq", "openai-chat", "m", "u", "none", status="not-run", reason="no key")
    cell = Cell("groq", "chat.plain", "strict", "not-run")
    layout = grid(Matrix({}, (row,), (ScenarioRow("chat.plain", "t", "chat"),), (cell,)))
    assert (layout.columns, layout.idle) == ((), (row,))


def test_scenarios_are_gathered_by_chapter() -> None:
    rows = [ScenarioRow("a.1", "", "a"), ScenarioRow("b.1", "", "b"), ScenarioRow("a.2", "", "a")]
    chapters = grid(Matrix({}, (), tuple(rows), ())).chapters
    assert [(name, [row.id for row in found]) for name, found in chapters] == [
        ("a", ["a.1", "a.2"]),
        ("b", ["b.1"]),
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (EndpointRow("e", "gemini", "m", "u", "live"), "live"),
        (EndpointRow("e", "gemini", "m", "u", "simulator"), "simulated"),
        (EndpointRow("e", "gemini", "m", "u", "cassette"), "cassette"),
        (EndpointRow("e", "gemini", "m", "u", "cassette", recorded="2026-10-30"), "cassette of 2026-10-30"),
    ],
)
def test_the_source_is_told_in_words(row: EndpointRow, words: str) -> None:
    assert source(row) == words

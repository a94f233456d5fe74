"""The page of servers and dialects: a column per dialect, each deviation with the bytes that prove it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from conformance.report import write_all
from conformance.report.dialects import covers, to_markdown
from conformance.types import Cell, EndpointRow, Finding, Matrix, ScenarioRow

SERVER = "llama.cpp b1"
WROTE = '<tool_call>\n{"name": "f", "arguments": {\'a\': 1}}\n</tool_call>'
SCENARIOS = tuple(
    ScenarioRow(f"parser.{name}", name, "parser") for name in ("single-quotes", "two-calls", "text-after")
)
SURVIVES = Finding(
    "parser.survives",
    "MUST",
    "derived",
    "/exchanges/1/response/status",
    "No text of the model's makes the server fail.",
    "2xx",
    "500: no match for <|channel|>",
    quirk="x-500",
    consequence="a client retries what fails again",
)


def row(dialect: str, server: str = SERVER) -> EndpointRow:
    name = f"llamacpp-{dialect}"
    return EndpointRow(
        name, "openai-chat", "m", "http://h", "cassette", server=server, scripted=dialect, quirks=("x-500",)
    )


def exchange(body: str, probe: str = "parser.single-quotes") -> dict[str, object]:
    return {"response": {"status": 200, "body": body}, "probe": probe}


ALONE = exchange(json.dumps({"choices": [{"message": {"content": WROTE}}]}), "script-alone")
FAILED = exchange('{"error":{"code":500,"message":"no match"}}')
DEVIATES = Cell(
    "llamacpp-harmony",
    "parser.single-quotes",
    "strict",
    "quirk",
    findings=(SURVIVES,),
    evidence=(ALONE, FAILED),
)
CELLS = (
    DEVIATES,
    replace(DEVIATES, scenario="parser.two-calls"),
    Cell(
        "llamacpp-hermes", "parser.single-quotes", "strict", "inconclusive", reason="a grammar bent its text"
    ),
    Cell("llamacpp-hermes", "parser.two-calls", "strict", "conforms"),
)
MATRIX = Matrix({}, (row("hermes"), row("harmony")), SCENARIOS, CELLS)


def test_a_row_is_a_scenario_and_a_column_a_dialect_with_the_numbers_of_its_deviations() -> None:
    page = to_markdown(MATRIX)
    assert f"## {SERVER}" in page
    assert "| Scenario | hermes | harmony |" in page
    assert "| `single-quotes` | ? | ~<sup>1</sup> |" in page
    assert "| `two-calls` | ✓ | ~<sup>1</sup> |" in page
    assert "| `text-after` |  |  |" in page


def test_a_deviation_is_told_with_its_rule_its_cassette_and_the_bytes() -> None:
    page = to_markdown(MATRIX)
    assert "1. **MUST** `parser.survives`: No text of the model's makes the server fail." in page
    assert "Breaks: a client retries what fails again." in page
    assert "`llamacpp-harmony/parser.single-quotes.yaml` (declared: `x-500`)" in page
    assert "wanted `2xx`, got `500: no match for <|channel|>`" in page
    assert f"the model wrote `{json.dumps(WROTE)[1:-1].replace(chr(92) + chr(34), chr(34))}`" in page
    assert 'the answer: `"error":{"code":500,"message":"no match"}}`' in page
    assert "also in `parser.two-calls`" in page


def test_what_was_not_judged_is_told_with_the_reason() -> None:
    assert (
        "- ? **inconclusive**: a grammar bent its text\n  - llamacpp-hermes: `single-quotes`"
        in to_markdown(MATRIX)
    )


def test_only_marks_that_occur_are_explained() -> None:
    legend = to_markdown(MATRIX).partition("What the marks say:")[2].partition("##")[0]
    assert "**conforms**" in legend
    assert "**inconclusive**" in legend
    assert "**violates**" not in legend


def test_each_server_has_a_table_and_its_flags_stand_below_it() -> None:
    rows = (
        row("hermes"),
        row("harmony"),
        row("kimi-k2", "vLLM 1 --tool-call-parser=kimi_k2"),
        row("glm45", "vLLM 1 LOOSE=1 --tool-call-parser=glm45"),
    )
    more = (Cell(f"llamacpp-{d}", "parser.two-calls", "strict", "conforms") for d in ("kimi-k2", "glm45"))
    cells = (*CELLS, *more)
    page = to_markdown(replace(MATRIX, endpoints=rows, cells=cells))
    assert "## vLLM 1\n\n| Scenario | kimi-<br>k2 | glm45 |" in page
    assert "- glm45: `LOOSE=1 --tool-call-parser=glm45`" in page
    assert "- kimi-k2: `--tool-call-parser=kimi_k2`" in page


def test_a_dialect_that_a_server_does_not_claim_is_told_with_the_reason() -> None:
    idle = replace(row("react"), source="none", status="not-run", reason="not supported: tools: no template")
    page = to_markdown(replace(MATRIX, endpoints=(*MATRIX.endpoints, idle)))
    assert f"- llamacpp-react ({SERVER}): not supported: tools: no template" in page


def test_foreign_bytes_add_no_markup() -> None:
    hostile = exchange("`</code><script>|x|\u202e\x1b[31m")
    cell = replace(DEVIATES, evidence=(ALONE, hostile), reason="<b>")
    page = to_markdown(replace(MATRIX, cells=(cell,)))
    assert "``" in page.partition("the answer: ")[2].partition("\n")[0]
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_evidence_of_any_shape_is_no_error() -> None:
    for first in (
        {},
        {"probe": "script-alone"},
        exchange("[]", "script-alone"),
        exchange("null", "script-alone"),
    ):
        page = to_markdown(replace(MATRIX, cells=(replace(DEVIATES, evidence=(first,)),)))
        assert "the model wrote" not in page


def test_the_page_is_written_where_there_are_several_dialects(tmp_path: Path) -> None:
    assert covers(MATRIX)
    assert tmp_path / "dialects.md" in write_all(MATRIX, tmp_path)
    one = replace(MATRIX, endpoints=(row("hermes"),), cells=CELLS[2:])
    assert not covers(one)
    assert tmp_path / "one" / "dialects.md" not in write_all(one, tmp_path / "one")

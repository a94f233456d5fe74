from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from conformance.report.markdown import to_markdown
from conformance.types import Cell, EndpointRow, Matrix

from .examples import FINISH, one_endpoint, several_endpoints
from .strategies import matrices

GOLDEN = Path(__file__).parent / "golden" / "matrix.md"
OUR_HTML = {"<br>", "<sup>", "</sup>"}


def parsed(text: str) -> list[Token]:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [t for token in tokens for t in (token, *(token.children or ()))]


def text_of(markdown: str) -> str:
    return " ".join(t.content for t in parsed(markdown) if t.type in ("text", "code_inline"))


def test_the_report_of_a_small_matrix() -> None:
    assert to_markdown(one_endpoint()) == GOLDEN.read_text(encoding="utf-8")


@settings(deadline=None)
@given(matrices())
def test_nothing_from_outside_becomes_markup(matrix: Matrix) -> None:
    tokens = parsed(to_markdown(matrix))
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "fence", "code_block", "hr", "blockquote_open", "s_open"}
    assert {t.content for t in tokens if t.type == "html_inline"} <= OUR_HTML
    for block in (t.content.strip() for t in tokens if t.type == "html_block"):
        assert block == "</details>" or block.startswith("<details>\n<summary>")
    headings = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]
    assert set(headings) <= {
        "Compatibility matrix",
        "Deviations and remarks",
        "Policies",
        "Endpoints",
        "Notes",
    }


@settings(deadline=None)
@given(matrices())
def test_every_row_of_a_table_has_as_many_cells_as_its_head(matrix: Matrix) -> None:
    widths: list[list[int]] = []
    for token in parsed(to_markdown(matrix)):
        if token.type == "table_open":
            widths.append([])
        elif token.type == "tr_open":
            widths[-1].append(0)
        elif token.type in ("td_open", "th_open"):
            widths[-1][-1] += 1
    assert all(len(set(rows)) == 1 for rows in widths)


@pytest.mark.parametrize(
    "text", ["https://evil.example/x", "www.evil.example", "a@b.example", "@team", "#12"]
)
def test_what_github_would_link_by_itself_stands_in_a_code_span(text: str) -> None:
    spans = [t.content for t in parsed(to_markdown(replace(one_endpoint(), notes=(f"see {text}",))))]
    assert text in spans


def test_pipes_backticks_and_brackets_stand_for_themselves() -> None:
    nasty = "a|b `c` <d> [e](f) *g* _h_"
    row = replace(one_endpoint().endpoints[0], model=nasty)
    assert nasty in text_of(to_markdown(replace(one_endpoint(), endpoints=(row,)))).replace("  ", " ")


def test_a_deviation_of_two_endpoints_is_one_note_that_names_both() -> None:
    first = one_endpoint()
    other = EndpointRow("vllm", "openai-chat", "m", "u", "live")
    finding = replace(FINISH, got='"length"', quirk="late-finish")
    cell = Cell("vllm", "stream.plain", "strict", "quirk", findings=(finding,))
    text = to_markdown(replace(first, endpoints=(*first.endpoints, other), cells=(*first.cells, cell)))
    assert text.count(f"`{FINISH.rule}`") == 1
    assert "at llama-server, vllm (declared quirk `late-finish`)" in text
    assert "(in `stream.plain` of llama-server; others differ)" in text
    assert "| **✗ violates** <sup>[1]</sup> | ~ quirk <sup>[1]</sup> |" in text


def test_a_simulated_endpoint_says_so_in_both_tables() -> None:
    text = to_markdown(several_endpoints())
    assert "| reference<br>*simulated* |" in text
    assert "| reference | conformance 0.1.0 | scripted | openai-chat | *simulated* |" in text


def test_endpoints_not_run_are_folded_away_with_their_reasons() -> None:
    text = to_markdown(several_endpoints())
    assert (
        "<summary>2 endpoints not run</summary>\n\n- groq: GROQ_API_KEY is not set; record it with: " in text
    )


def test_a_matrix_without_a_run_says_so() -> None:
    idle = tuple(row for row in several_endpoints().endpoints if row.status == "not-run")
    text = to_markdown(replace(several_endpoints(), endpoints=idle, cells=()))
    assert "**Judged 0 of 0 cells**." in text
    assert "No endpoint was run." in text

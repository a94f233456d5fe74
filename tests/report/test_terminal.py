from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from conformance.report.clean import clean_line
from conformance.report.findings import where
from conformance.report.grid import grid
from conformance.report.terminal import print_cell, print_matrix, print_tree
from conformance.report.verdicts import ASCII_MARKS, MARKS
from conformance.types import VERDICTS, Matrix

from .examples import CODE, DUPLICATE, FINISH, one_endpoint, several_endpoints
from .strategies import matrices


def console(width: int = 80, encoding: str = "utf-8", color: bool = False) -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    return Console(file=file, width=width, force_terminal=color, color_system="truecolor" if color else None)


def read(target: Console) -> str:
    file = target.file
    assert isinstance(file, io.TextIOWrapper)
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    return file.buffer.getvalue().decode(file.encoding)


def matrix_text(matrix: Matrix, width: int = 80, verbose: bool = False, encoding: str = "utf-8") -> str:
    target = console(width, encoding)
    print_matrix(matrix, target, verbose)
    return read(target)


def tree_text(matrix: Matrix, width: int = 80) -> str:
    target = console(width)
    print_tree(matrix, target)
    return read(target)


def everything(matrix: Matrix, target: Console) -> str:
    print_matrix(matrix, target, verbose=True)
    print_tree(matrix, target)
    for cell in matrix.cells:
        print_cell(matrix, cell.endpoint, cell.scenario, target)
    return read(target)


# ---------------------------------------------------------------------------------------- the marks


@pytest.mark.parametrize("marks", [MARKS, ASCII_MARKS])
def test_every_verdict_has_a_mark_of_its_own_one_column_wide(marks: dict[str, str]) -> None:
    assert set(marks) == set(VERDICTS)
    assert len(set(marks.values())) == len(VERDICTS)
    assert all(cell_len(mark) == 1 for mark in marks.values())


def test_the_fallback_marks_are_ascii() -> None:
    assert all(mark.isascii() for mark in ASCII_MARKS.values())


# ------------------------------------------------------------------------------------- what is safe


@settings(deadline=None)
@given(matrices(), st.integers(20, 160))
def test_no_control_code_reaches_the_output_whatever_is_in_the_matrix(matrix: Matrix, width: int) -> None:
    text = everything(matrix, console(width))
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text
    )


@settings(deadline=None)
@given(matrices(), st.integers(20, 160))
def test_only_a_pointer_may_be_wider_than_the_terminal(matrix: Matrix, width: int) -> None:
    findings = [finding for cell in matrix.cells for finding in cell.findings]
    whole = {clean_line(finding.path).rstrip() for finding in findings}
    whole |= {f"  at     {clean_line(where(finding))}".rstrip() for finding in findings}
    lines = everything(matrix, console(width)).split("\n")
    assert [line for line in lines if cell_len(line) > width and line not in whole] == []


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "shift_jis"])
@settings(deadline=None)
@given(matrix=matrices())
def test_a_terminal_that_is_not_utf8_can_hold_everything(encoding: str, matrix: Matrix) -> None:
    everything(matrix, console(encoding=encoding))


def test_text_from_outside_is_never_read_as_markup() -> None:
    cell = replace(one_endpoint().cells[6], findings=(replace(FINISH, got="[bold red]x[/] :smile:"),))
    target = console(color=True)
    print_matrix(replace(one_endpoint(), cells=(cell,)), target)
    assert "[bold red]x[/] :smile:" in read(target)


def test_no_color_turns_colour_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    target = Console(file=io.StringIO(), force_terminal=True, width=80)
    print_matrix(one_endpoint(), target)
    assert isinstance(target.file, io.StringIO)
    assert "\x1b[31m" not in target.file.getvalue()
    assert "✗ violates" in re.sub(r"\x1b\[[0-9;]*m", "", target.file.getvalue())


# ----------------------------------------------------------------------------------------- the grid


@pytest.mark.parametrize("width", [60, 80, 140])
def test_every_endpoint_is_named_in_full_above_its_column(width: int) -> None:
    lines = matrix_text(several_endpoints(), width).splitlines()
    for column in grid(several_endpoints()).columns:
        assert any(line.startswith(column.endpoint.name) and "─┐" in line for line in lines)


def test_a_name_leads_down_to_the_marks_of_its_endpoint() -> None:
    lines = matrix_text(several_endpoints()).splitlines()
    corner = next(line for line in lines if line.startswith("llama-server ")).index("┐")
    row = next(line for line in lines if line.startswith("stream.plain "))
    assert row[corner] == "✗"
    reference = next(line for line in lines if line.startswith("reference (simulated) ")).index("┐")
    assert row[reference] == "✓"


@settings(deadline=None)
@given(matrices(), st.integers(40, 160))
def test_no_endpoint_is_lost_at_any_width(matrix: Matrix, width: int) -> None:
    text = "".join(matrix_text(matrix, width).split())
    for row in matrix.endpoints:
        assert "".join(clean_line(row.name).split()) in text


def test_too_many_endpoints_wrap_into_blocks() -> None:
    first = one_endpoint()
    names = [f"endpoint-{number:02}" for number in range(30)]
    rows = tuple(replace(first.endpoints[0], name=name) for name in names)
    cells = tuple(replace(cell, endpoint=name) for name in names for cell in first.cells)
    text = matrix_text(replace(first, endpoints=rows, cells=cells), 60)
    assert text.count("\nchat.plain ") == 4
    assert all(re.search(rf"^{name} ─*┐", text, re.MULTILINE) for name in names)


def test_a_grid_of_many_lines_has_a_line_for_each_chapter_with_its_gravest_verdict() -> None:
    first = one_endpoint()
    scenarios = tuple(
        replace(first.scenarios[0], id=f"chat.number-{number}", chapter="chat") for number in range(401)
    )
    cells = tuple(
        replace(
            first.cells[0], scenario=row.id, verdict="violates" if place == 7 else "conforms", findings=()
        )
        for place, row in enumerate(scenarios)
    )
    many = replace(first, scenarios=scenarios, cells=cells)
    text = matrix_text(many)
    assert re.search(r"^chat +✗$", text, re.MULTILINE)
    assert "-v shows every scenario" in text
    assert "chat.number-9 " not in text
    assert "chat.number-9 " in matrix_text(many, verbose=True)


def test_a_simulated_endpoint_always_says_so() -> None:
    assert "reference (simulated) ──" in matrix_text(several_endpoints())
    assert "reference (simulated)" in tree_text(several_endpoints())


def test_a_flag_is_starred_in_the_grid_and_told_below() -> None:
    text = matrix_text(several_endpoints())
    assert re.search(r"^reasoning\.echo .*✓\*", text, re.MULTILINE)
    assert "* stale  deepseek-like reasoning.echo" in text


def test_a_long_name_widens_the_grid_so_that_every_column_line_reaches_its_mark() -> None:
    matrix = renamed("reference-deepseek-like", cells=1)
    lines = matrix_text(matrix, 80).strip().splitlines()
    assert lines[0].endswith("(simulated) ─┐")
    assert lines[1].index("✓") == lines[0].index("┐")


def test_a_name_that_does_not_fit_is_cut_above_its_column_with_its_remarks_below() -> None:
    name = "a-name-that-never-ends-" * 3
    lines = matrix_text(renamed(name, cells=1), 60).strip().splitlines()
    assert lines[0] == "a-name-that-never-ends-a-name-… ┐"
    assert lines[1] == " (simulated)                    │"
    assert lines[2].index("✓") == lines[0].index("┐")


def renamed(name: str, cells: int) -> Matrix:
    """A simulated endpoint of that name with its first scenarios."""
    first = one_endpoint()
    row = replace(first.endpoints[0], name=name, source="simulator")
    kept = tuple(replace(cell, endpoint=name) for cell in first.cells[:cells])
    return replace(first, endpoints=(row,), scenarios=first.scenarios[:cells], cells=kept)


def test_ascii_terminals_get_ascii_marks() -> None:
    text = matrix_text(several_endpoints(), encoding="ascii")
    assert re.search(r"^stream\.plain +X  \+  \+$", text, re.MULTILINE)


# ---------------------------------------------------------------------------------- what is wrong


def test_a_deviation_shows_the_excerpt_that_proves_it_and_where_else_it_is() -> None:
    assert (
        "✗ chat.stream.finish-reason-last  MUST (schema)\n"
        "  The last chunk of a choice carries its finish_reason.\n"
        "    in      llama-server stream.plain\n"
        "    at      /exchanges/0/response/events/7/data/choices/0/finish_reason\n"
        "    when    event 7, 212 ms\n"
        '    wanted  "stop"\n'
        "    got     null\n"
        "    breaks  a client cannot tell an ended answer from a cut one\n"
        "    also in llama-server stream.parallel-calls\n"
    ) in matrix_text(several_endpoints(), 140)


def test_violations_come_before_declared_quirks_before_warnings() -> None:
    text = matrix_text(several_endpoints(), verbose=True)
    assert re.findall(r"^([✗~!]) chat\.", text, re.MULTILINE) == ["✗", "~", "!"]


def test_a_declared_quirk_is_a_line_below_what_is_not_declared_and_its_excerpt_needs_verbose() -> None:
    text = matrix_text(several_endpoints(), 140)
    assert re.findall(r"^([✗~!]) chat\.", text, re.MULTILINE) == ["✗", "!"]
    assert re.search(rf"^~ {DUPLICATE.quirk}  deepseek-like 1 cell$", text, re.MULTILINE)
    assert text.index("What deviates") < text.index("Declared quirks that show")
    assert DUPLICATE.got not in text
    assert DUPLICATE.got in matrix_text(several_endpoints(), 140, verbose=True)


def test_many_declared_quirks_are_counted_endpoint_by_endpoint() -> None:
    first = several_endpoints()
    cell = next(cell for cell in first.cells if DUPLICATE in cell.findings)
    quirks = tuple(replace(DUPLICATE, quirk=f"quirk-{number}") for number in range(41))
    text = matrix_text(replace(first, cells=(replace(cell, findings=quirks),)), 140)
    assert re.search(r"^~ deepseek-like +41 quirks$", text, re.MULTILINE)
    assert "quirk-7" not in text


def test_verbose_shows_every_excerpt() -> None:
    text = matrix_text(several_endpoints(), 140, verbose=True)
    assert text.count(FINISH.path) == 2
    assert text.count(FINISH.consequence) == 1
    assert "also in" not in text


def test_cells_without_a_finding_tell_their_reason_once() -> None:
    assert (
        "E error: connection refused: http://10.0.0.7:8000/v1\n"
        "    private-gateway-eu-west-1 chat.plain, chat.multi-turn, tools.single-call\n"
    ) in matrix_text(several_endpoints(), 140)


def test_endpoints_not_run_come_with_what_is_missing() -> None:
    text = matrix_text(several_endpoints(), 140)
    assert "Not run: 2 endpoints\n  groq     GROQ_API_KEY is not set; record it with: conformance run" in text


def idle(number: int) -> Matrix:
    row = several_endpoints().endpoints[-1]
    return replace(
        one_endpoint(), endpoints=tuple(replace(row, name=f"idle-{place}") for place in range(number))
    )


def test_many_endpoints_not_run_are_named_on_one_line() -> None:
    assert (
        "Not run: 4 endpoints (conformance list endpoints says why)\n  idle-0, idle-1, idle-2, idle-3\n"
    ) in matrix_text(idle(4))


@pytest.mark.parametrize(("number", "verbose"), [(3, False), (4, True)])
def test_few_endpoints_not_run_or_asked_for_in_full_tell_their_reasons(number: int, verbose: bool) -> None:
    text = matrix_text(idle(number), 140, verbose)
    assert text.count("MISTRAL_API_KEY is not set") == number


def test_a_pointer_that_does_not_fit_stands_in_one_piece_on_a_line_of_its_own() -> None:
    assert f"    at\n{FINISH.path}\n    when    event 7, 212 ms\n" in matrix_text(one_endpoint(), 60)


def test_a_rule_that_fails_twice_in_a_cell_names_the_cell_once() -> None:
    cell = replace(one_endpoint().cells[6], findings=(FINISH, replace(FINISH, path="/exchanges/1")))
    assert "also in" not in matrix_text(replace(one_endpoint(), cells=(cell,)))


def test_may_findings_are_one_line_of_names_in_the_tree_and_counted_in_the_matrix() -> None:
    may = replace(CODE, rule="chat.may", level="MAY")
    cells = tuple(replace(cell, verdict="conforms", findings=(may,)) for cell in one_endpoint().cells[:2])
    matrix = replace(one_endpoint(), cells=cells)
    assert [line for line in tree_text(matrix).splitlines() if "chat.may" in line] == [
        "For information (MAY): chat.may"
    ]
    assert "For information (MAY): chat.may (2 cells)\n" in matrix_text(matrix)


def test_the_last_line_counts_what_was_judged() -> None:
    last = matrix_text(several_endpoints(), 140).splitlines()[-1]
    counts = "2 ✗ violates, 3 E error, 1 ~ quirk, 1 ! warns, 1 ? inconclusive, 26 ✓ conforms"
    assert last == f"judged 30 of 34 cells: {counts}"


# ----------------------------------------------------------------------------------------- the tree


def test_the_tree_opens_with_the_endpoint_and_its_counts() -> None:
    lines = tree_text(one_endpoint(), 140).strip().splitlines()
    assert (
        lines[0] == "llama-server · llama.cpp b6900 · model scripted · openai-chat · cassette of 2026-10-30"
    )
    assert lines[1] == "judged 9 of 10 cells: 2 ✗ violates, 1 ! warns, 1 ? inconclusive, 6 ✓ conforms"


def test_a_scenario_shows_mark_title_time_and_the_rules_that_do_not_hold() -> None:
    text = tree_text(one_endpoint())
    assert "\nchat\n  ✓ chat.plain       A plain answer  13 ms\n" in text
    assert f"  ✗ stream.plain           A streamed answer  0 ms\n      {FINISH.rule}\n" in text
    assert "Reasoning is echoed back in the next turn  0 ms, 3 attempts" in text


def test_a_narrow_tree_keeps_the_title_on_a_line_of_its_own() -> None:
    assert "  ✓ tools.duplicate-names\n    A tool name occurs twice in the request  13 ms\n" in tree_text(
        one_endpoint(), 60
    )


def test_under_the_tree_the_failures_are_grouped_by_rule() -> None:
    text = tree_text(one_endpoint())
    assert text.index(f"✗ {FINISH.rule}  MUST") < text.index(f"! {CODE.rule}  SHOULD")
    assert "    also in stream.parallel-calls\n" in text

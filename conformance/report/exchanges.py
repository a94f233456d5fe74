"""One cell drilled down to what went over the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from conformance.report.findings import plain
from conformance.report.page import Page
from conformance.report.verdicts import bears
from conformance.types import Cell, Matrix


def print_cell(matrix: Matrix, endpoint: str, scenario: str, console: Console) -> None:
    """Print a cell, in each mode it was run in: verdict, findings, and every exchange in full.

    Raises LookupError when the matrix has no such cell.
    """
    cells = [c for c in matrix.cells if (c.endpoint, c.scenario) == (endpoint, scenario)]
    if not cells:
        raise LookupError(f"no cell for endpoint {endpoint!r} and scenario {scenario!r}")
    page = Page(console)
    for cell in cells:
        _cell(page, cell)


def _cell(page: Page, cell: Cell) -> None:
    flags = f" ({', '.join(cell.flags)})" if cell.flags else ""
    page.gap()
    page.print(
        page.mark(cell.verdict),
        page.own(f" {cell.verdict}{flags}  "),
        page.foreign(f"{cell.endpoint} {cell.scenario}", "bold"),
        page.own(f"  {cell.mode}", "dim"),
    )
    if cell.reason:
        page.print(page.foreign(cell.reason), indent=2)
    for finding in cell.findings:
        head, place, *rest = plain(finding).split("\n")
        page.print(page.mark(bears(finding)), Text(" "), page.block(head), indent=2)
        page.line(page.block(place), indent=2)
        page.print(page.block("\n".join(rest)), indent=2)
    for number, exchange in enumerate(cell.evidence):
        _exchange(page, f"/exchanges/{number}", exchange)
        for nth, one in enumerate(exchange.get("behind", ())):
            _exchange(page, f"/exchanges/{number}/behind/{nth}", one)


def _exchange(page: Page, path: str, exchange: Mapping[str, Any]) -> None:
    probe, twin_of = exchange["probe"], exchange.get("twin_of")
    page.gap()
    page.print(
        page.own(path, "bold"),
        page.own("" if twin_of is None else f"  the same as {twin_of}, asked the other way", "dim"),
        page.foreign(f"  probe {probe}" if probe else "", "dim"),
    )
    request, response, failure = exchange["request"], exchange["response"], exchange["failure"]
    _message(page, "> ", f"{request['method']} {request['url']}", request)
    if response is not None:
        _message(page, "< ", f"{response['http_version']} {response['status']}", response)
    if failure is not None:
        page.print(
            page.own("failed: ", "bold"), page.foreign(f"{failure['kind']}: {failure['message']}"), indent=2
        )
    page.print(page.own(_timing(exchange, response), "dim"), indent=2)


def _message(page: Page, arrow: str, start: str, message: Mapping[str, Any]) -> None:
    page.print(page.own(arrow, "dim"), page.foreign(start, "bold", limit=2_000), indent=2)
    for name, value in message["headers"]:
        page.print(page.own(arrow, "dim"), page.foreign(f"{name}: {value}", limit=2_000), indent=2)
    if message["body"]:
        page.print(page.block(reindent(message["body"])), indent=4)


def _timing(exchange: Mapping[str, Any], response: Mapping[str, Any] | None) -> str:
    parts: Sequence[Sequence[float]] = response["parts"] if response is not None else ()
    arrivals = f", {len(parts)} parts from {parts[0][0]:.0f} to {parts[-1][0]:.0f} ms" if parts else ""
    cut = "; bodies cut to fit the report" if exchange["truncated"] else ""
    return f"ended {exchange['ending']} after {exchange['elapsed_ms']:.0f} ms{arrivals}{cut}"


def reindent(text: str) -> str:
    """``text`` broken into lines if it is JSON. Only white space changes: every token stays as sent."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    out: list[str] = []
    depth, quoted, escaped, previous = 0, False, False, " "
    for char in text:
        if quoted:
            out.append(char)
            quoted, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char not in " \t\r\n":
            depth -= char in "]}"
            if (previous in "[{,") != (char in "]}"):
                out.append("\n" + "  " * depth)
            out.append(": " if char == ":" else char)
            depth += char in "[{"
            quoted, previous = char == '"', char
    return "".join(out)

"""The cases of ``../shared/catalogue/text-formats-cases.json``, where it lies beside the checkout.

No case contradicts the parsing policy of ``text-formats.md``, section 0: nothing is overridden here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.dialects import DIALECTS, Parsed

from .samples import TOOLS

CATALOGUE = Path(__file__).parents[3] / "shared" / "catalogue" / "text-formats-cases.json"
CASES: list[dict[str, Any]] = json.loads(CATALOGUE.read_text())["cases"] if CATALOGUE.is_file() else []

needs_catalogue = pytest.mark.skipif(not CASES, reason="the catalogue ../shared/catalogue is not there")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['format']}-{case['id']}")


def check(parsed: Parsed, case: dict[str, Any]) -> None:
    got = [{"name": call.name, "arguments": call.args} for call in parsed.calls]
    assert got == [{"name": call["name"], "arguments": call["arguments"]} for call in case["calls"]]
    assert [c.id for c in parsed.calls if c.id] == [c["id"] for c in case["calls"] if "id" in c] or all(
        "id" not in c for c in case["calls"]
    )
    assert parsed.content == case["content"]
    assert parsed.flags == set(case["flags"])
    if "reasoning" in case:
        assert parsed.reasoning == case["reasoning"]


@needs_catalogue
@each_case
def test_a_case_reads_as_it_says(case: dict[str, Any]) -> None:
    check(DIALECTS[case["format"]].parse(case["input"], TOOLS), case)


@needs_catalogue
@each_case
def test_a_case_reads_the_same_however_it_is_cut(case: dict[str, Any]) -> None:
    text = case["input"]
    for cut in range(len(text) + 1):
        parser = DIALECTS[case["format"]].parser(TOOLS)
        parser.feed(text[:cut])
        parser.feed(text[cut:])
        check(parser.finish(), case)


@needs_catalogue
@each_case
def test_a_case_reads_the_same_byte_by_byte(case: dict[str, Any]) -> None:
    parser = DIALECTS[case["format"]].parser(TOOLS)
    for byte in case["input"].encode():
        parser.feed_bytes(bytes([byte]))
    check(parser.finish(), case)


@needs_catalogue
def test_every_format_of_the_catalogue_has_a_dialect() -> None:
    assert {case["format"] for case in CASES} <= set(DIALECTS)

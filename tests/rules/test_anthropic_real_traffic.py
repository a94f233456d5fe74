"""The rules of ``anthropic-messages`` on what real endpoints sent, whole and damaged, and on kept answers.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cli.corpus import is_reference, readable
from conformance.rules import check
from conformance.rules.anthropic.examples import answer
from conformance.types import Ending, Exchange

from .strategies import mangled, mangled_stream, well_formed

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"

pytestmark = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")


@cache
def recordings(official: bool = True) -> dict[str, tuple[Exchange, ...]]:
    """The exchanges by file: those with Anthropic's own host, or all others."""
    found: dict[str, tuple[Exchange, ...]] = {}
    for row, one in readable(CORPUS, lambda row: row["wire"] == "anthropic-messages"):
        if is_reference(row) is official:
            found[row["file"]] = (*found.get(row["file"], ()), one.exchange)
    return found


def body_of(exchange: Exchange) -> bytes:
    assert exchange.response is not None
    return exchange.response.body


def answering(exchange: Exchange, body: bytes, ending: Ending = "complete") -> Exchange:
    assert exchange.response is not None
    return replace(exchange, response=replace(exchange.response, body=body), ending=ending)


def test_there_are_streams_calls_thinking_and_errors_among_them() -> None:
    exchanges = [one for several in recordings().values() for one in several]
    assert len(exchanges) >= 80
    for mark in (b"event: message_stop", b'"tool_use"', b'"thinking_delta"', b'"type":"error"'):
        assert any(mark in body_of(one) for one in exchanges), mark


def test_answers_that_were_kept_without_their_requests_break_no_must() -> None:
    """Files of whole answers and of streams as Anthropic sent them, programmatic tool calls among them."""
    checked = 0
    for line in MANIFEST.read_text("utf-8").splitlines():
        row = json.loads(line)
        kept = row["format"] in ("json-fixture", "sse-file") and row["fidelity"] == "wire"
        if row["wire"] == "anthropic-messages" and row["provider"] == "anthropic" and kept:
            body = (CORPUS / row["file"]).read_bytes()
            kind = "text/event-stream" if body.startswith(b"event:") else "application/json"
            asked = {"stream": kind == "text/event-stream"}
            findings = check(answer(asked=asked, raw=body, headers={"content-type": kind}))
            assert [one.rule for one in findings if one.level == "MUST"] == [], row["file"]
            checked += 1
    assert checked >= 12


def test_of_its_own_rules_no_should_is_broken_either() -> None:
    findings = [one for exchanges in recordings().values() for one in check(exchanges)]
    assert {one.rule for one in findings if one.level == "SHOULD" and one.rule.startswith("anth.")} == set()


@pytest.mark.parametrize("ending", ["complete", "cut", "stalled"])
def test_a_stream_cut_at_any_byte_makes_no_rule_raise(ending: Ending) -> None:
    streams = [one for several in recordings().values() for one in several if b"event: " in body_of(one)]
    shortest = sorted(
        (one for one in streams if b"input_json_delta" in body_of(one) or b"signature" in body_of(one)),
        key=lambda one: len(body_of(one)),
    )
    for stream in shortest[:2]:
        body = body_of(stream)
        for length in range(len(body)):
            assert all(map(well_formed, check([answering(stream, body[:length], ending)]))), length


def small(size: int = 8_000) -> list[Exchange]:
    """Exchanges whose answers are not long."""
    both = (*recordings().values(), *recordings(official=False).values())
    return [one for several in both for one in several if len(body_of(one)) <= size]


def test_compatible_endpoints_make_no_rule_raise() -> None:
    others = recordings(official=False)
    assert len(others) >= 4
    assert all(well_formed(finding) for exchanges in others.values() for finding in check(exchanges))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_traffic_makes_no_rule_raise(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(small()))
    body = body_of(one)
    damaged = answering(one, data.draw(mangled_stream(body) if b"\ndata:" in body else mangled(body)))
    asked = replace(one.request, body=data.draw(mangled(one.request.body)))
    assert all(map(well_formed, check([replace(damaged, request=asked)])))

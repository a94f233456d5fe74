"""Anthropic's own API, as others recorded it, breaks no MUST that is not signed off with its reason.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from conformance.cli.corpus import LOADERS
from conformance.rules import check
from conformance.types import Ending, Exchange

from .strategies import well_formed

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"

NO_HEADERS = "the recorder kept no headers of the answer"
SIGNED_OFF: Mapping[tuple[str, str], str] = {
    ("Anthropic.yaml", "sse.content-type"): NO_HEADERS,
    ("Anthropic_Opus46.yaml", "sse.content-type"): NO_HEADERS,
    ("Anthropic_Sonnet45.yaml", "sse.content-type"): NO_HEADERS,
    **{
        (f"test_anthropic_instrumentation_{name}.yaml", rule): NO_HEADERS
        for name, rule in (
            ("async_messages", "anth.response.content-type-json"),
            ("messages", "anth.response.content-type-json"),
            ("multiple_tool_calling", "anth.response.content-type-json"),
            ("multiple_tool_calling_streaming", "sse.content-type"),
        )
    },
}
"""Recordings (by file name) that break a MUST, each with why that is not the endpoint's fault."""

pytestmark = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")


def rows() -> Iterator[dict[str, Any]]:
    """What the manifest says of each exchange with Anthropic's own host whose bytes are as sent."""
    for line in MANIFEST.read_text("utf-8").splitlines():
        row = json.loads(line)
        own = row["wire"] == "anthropic-messages" and row["host"] == "api.anthropic.com"
        readable = row["format"] in LOADERS and "body.empty" not in row["anomalies"]
        if own and readable and row["fidelity"] == "wire":
            yield row


@cache
def recordings() -> dict[str, tuple[Exchange, ...]]:
    """The exchanges by file."""
    places: dict[str, list[dict[str, Any]]] = {}
    for row in rows():
        places.setdefault(row["file"], []).append(row)
    return {
        file: tuple(
            replace(whole[row["position"]], wire="anthropic-messages", expect="either") for row in found
        )
        for file, found in places.items()
        for whole in [LOADERS[found[0]["format"]]((CORPUS / file).read_bytes())]
    }


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


def test_no_must_is_broken_that_is_not_signed_off() -> None:
    broken = {
        (PurePosixPath(file).name, finding.rule)
        for file, exchanges in recordings().items()
        for finding in check(exchanges)
        if finding.level == "MUST"
    }
    assert broken == SIGNED_OFF.keys()


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

"""The Responses rules on what real endpoints sent: what is odd is found, and nothing raises.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cli.corpus import ManifestRow, is_reference, readable
from conformance.rules import check
from conformance.rules.flavours import flavour_of
from conformance.rules.responses.examples import answer
from conformance.types import Ending, Exchange

from .strategies import mangled, mangled_stream, well_formed
from .test_real_traffic import CORPUS, HOSTILE, answering, body_of, needs_corpus, soon


@cache
def recordings() -> tuple[tuple[ManifestRow, Exchange], ...]:
    """Every exchange of the wire with wire fidelity, with its row of the manifest."""
    found = readable(CORPUS, lambda row: row["wire"] == "openai-responses")
    return tuple((row, recorded.exchange) for row, recorded in found)


def official() -> list[Exchange]:
    return [one for row, one in recordings() if is_reference(row)]


def small(size: int) -> list[Exchange]:
    return [one for _, one in recordings() if len(body_of(one)) <= size]


def is_stream(one: Exchange) -> bool:
    return body_of(one).startswith((b"event:", b"data:"))


@needs_corpus
def test_there_is_much_of_it() -> None:
    assert len(recordings()) >= 110
    assert sum(is_stream(one) for _, one in recordings()) >= 45


@needs_corpus
def test_the_reference_endpoint_holds_to_its_own_flavour() -> None:
    held = {flavour_of([one]) for one in official()}
    assert held <= {"openai", None}
    assert all(flavour_of([one]) == "openai" for one in official() if is_stream(one))


@needs_corpus
def test_what_is_wrong_elsewhere_is_found() -> None:
    broken = {(row["host"], finding.rule) for row, one in recordings() for finding in check([one])}
    assert {
        ("openrouter.ai", "resp.stream.done-sentinel-openai"),
        ("openrouter.ai", "resp.stream.terminal-output-complete"),
        ("bedrock-mantle.<aws_region>.api.aws", "resp.stream.content-index-contiguous"),
        ("bedrock-mantle.<aws_region>.api.aws", "resp.response.item-fields-openai"),
    } <= broken


@needs_corpus
def test_real_traffic_makes_no_rule_raise() -> None:
    assert all(well_formed(finding) for _, one in recordings() for finding in check([one]))


@needs_corpus
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_traffic_makes_no_rule_raise(data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(small(20_000)))
    body = body_of(seed)
    other = answering(seed, data.draw(mangled_stream(body) if is_stream(seed) else mangled(body)))
    asked = replace(seed.request, body=data.draw(mangled(seed.request.body)))
    assert all(map(well_formed, check([replace(other, request=asked)])))


@needs_corpus
@pytest.mark.parametrize("ending", ["complete", "cut"])
def test_a_stream_cut_at_many_a_byte_makes_no_rule_raise(ending: Ending) -> None:
    streams = sorted(filter(is_stream, small(20_000)), key=lambda one: len(body_of(one)))
    for stream in streams[:3]:
        body = body_of(stream)
        for length in range(0, len(body), 7):
            assert all(map(well_formed, check([answering(stream, body[:length], ending)]))), length


# ---------------------------------------------------------------------------------------- never hang

MANY = 20_000


def events(event: str) -> bytes:
    return b"".join(b"data: " + (event % number).encode() + b"\n\n" for number in range(MANY))


BODIES = {
    **HOSTILE,
    "items": json.dumps({"output": [{"type": "function_call", "call_id": "c"}] * MANY}).encode(),
    "parts": json.dumps({"output": [{"type": "message", "content": [{}] * MANY}]}).encode(),
    "indexes": events('{"type":"response.output_text.delta","output_index":%d,"delta":"x"}'),
    "content": events(
        '{"type":"response.output_text.delta","output_index":0,"content_index":%d,"delta":"x"}'
    ),
    "added": events('{"type":"response.output_item.added","output_index":0,"n":%d}'),
    "done": events('{"type":"response.output_item.done","output_index":%d,"item":{"type":"message"}}'),
    "ends": events('{"type":"response.completed","sequence_number":%d,"response":{"output":[{}]}}'),
    "errors": events('{"type":"error","sequence_number":%d}'),
    "deltas": events('{"type":"response.reasoning_text.delta","output_index":0,"n":%d,"delta":"x"}'),
}


@pytest.mark.parametrize("name", BODIES)
def test_no_body_makes_judging_hang(name: str) -> None:
    (clean,) = answer()
    with soon(30):
        assert all(map(well_formed, check([answering(clean, BODIES[name])])))
        asked = replace(clean.request, body=BODIES[name])
        assert all(map(well_formed, check([replace(clean, request=asked)])))

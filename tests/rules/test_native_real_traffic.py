"""The Gemini and Ollama rules on what real endpoints sent: what is odd is found, and nothing raises.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cli.corpus import ManifestRow, readable
from conformance.rules import check
from conformance.rules.gemini import examples as gemini
from conformance.rules.ollama import examples as ollama
from conformance.types import Ending, Exchange, WireName

from .strategies import mangled, mangled_body, well_formed
from .test_real_traffic import CORPUS, HOSTILE, answering, body_of, needs_corpus, soon

NATIVE: tuple[WireName, ...] = ("gemini", "ollama")
both = pytest.mark.parametrize("over", NATIVE)


@cache
def recordings(over: WireName) -> tuple[tuple[ManifestRow, Exchange], ...]:
    """Every exchange of a wire with wire fidelity, with its row of the manifest."""
    found = readable(CORPUS, lambda row: row["wire"] == over)
    return tuple((row, recorded.exchange) for row, recorded in found)


def small(over: WireName, size: int) -> list[Exchange]:
    return [one for _, one in recordings(over) if len(body_of(one)) <= size]


@needs_corpus
@pytest.mark.parametrize(
    ("over", "rule", "host"),
    [
        # Vertex AI's older models say neither which they are nor what their answer is called.
        ("gemini", "gem.response.model-version", "us-central1-aiplatform.googleapis.com"),
        # The last chunk's total is that of the answer alone.
        ("gemini", "gem.stream.usage-monotone", "generativelanguage.googleapis.com"),
        # Before there was a field for them, thoughts were part of the content.
        ("ollama", "oll.response.thinking-separate", "localhost:11434"),
    ],
)
def test_what_is_odd_is_found(over: WireName, rule: str, host: str) -> None:
    where = {row["host"] for row, one in recordings(over) for f in check([one]) if f.rule == rule}
    assert where == {host}


@needs_corpus
@both
def test_real_traffic_makes_no_rule_raise(over: WireName) -> None:
    assert all(well_formed(finding) for _, one in recordings(over) for finding in check([one]))


@needs_corpus
@both
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_traffic_makes_no_rule_raise(over: WireName, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(small(over, 8_000)))
    other = answering(seed, data.draw(mangled_body(body_of(seed))))
    asked = replace(seed.request, body=data.draw(mangled(seed.request.body)))
    assert all(map(well_formed, check([replace(other, request=asked)])))


@needs_corpus
@both
@pytest.mark.parametrize("ending", ["complete", "cut", "stalled"])
def test_an_answer_cut_at_many_a_byte_makes_no_rule_raise(over: WireName, ending: Ending) -> None:
    for one in sorted(small(over, 8_000), key=lambda one: len(body_of(one)))[-3:]:
        body = body_of(one)
        for length in range(0, len(body), 11):
            assert all(map(well_formed, check([answering(one, body[:length], ending)]))), length


# ---------------------------------------------------------------------------------------- never hang

MANY = 6_000


def events(event: str) -> bytes:
    return b"".join(b"data: " + (event % number).encode() + b"\n\n" for number in range(MANY))


def lines(line: str) -> bytes:
    return b"".join((line % number).encode() + b"\n" for number in range(MANY))


PART = '{"candidates":[{"content":{"role":"model","parts":[%s]}}],"n":%%d}'
BODIES = {
    **HOSTILE,
    "candidates": json.dumps({"candidates": [{"index": n} for n in range(MANY)]}).encode(),
    "candidates of one index": json.dumps({"candidates": [{}] * MANY}).encode(),
    "parts": json.dumps({"candidates": [{"content": {"parts": [{"text": "<"}] * MANY}}]}).encode(),
    "calls in parts": json.dumps(
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}] * MANY}}]}
    ).encode(),
    "responses": json.dumps([{"candidates": [{"index": n}]} for n in range(MANY)]).encode(),
    "errors": json.dumps([{"error": {}}] * MANY).encode(),
    "texts": events(PART % '{"text":"x"}'),
    "thoughts": events(PART % '{"text":"x","thought":true}'),
    "streamed calls": events(PART % '{"functionCall":{"name":"f","id":"a"}}'),
    "ends": events('{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":%d}}'),
    "lines": lines('{"message":{"content":"x%d"},"done":false}'),
    "thinking": lines('{"message":{"thinking":"<think>%d"},"done":true}'),
    "calls in lines": lines('{"message":{"tool_calls":[{"id":"%d","function":{"name":"f"}}]}}'),
    "error lines": lines('{"error":"%d"}'),
    "empty lines": b"\n" * MANY,
}
ASKED: Mapping[str, Exchange] = {
    "gemini": gemini.answer(asked={**gemini.offering(), "generationConfig": {"stopSequences": ["<"] * 5}})[0],
    "gemini, events": gemini.stream(asked=gemini.offering())[0],
    "gemini, an array": gemini.stream(array=True)[0],
    "ollama": ollama.answer(asked={"tools": [ollama.tool()], "format": "json"})[0],
    "ollama, lines": ollama.stream(asked={"tools": [ollama.tool()]})[0],
}


CASES = [
    (name, asked)
    for name in BODIES
    for asked in ASKED
    # Bodies that are hostile on any wire are read alike by all rules of one.
    if name not in HOSTILE or asked in ("gemini, events", "ollama, lines")
]


@pytest.mark.parametrize(("name", "asked"), CASES)
def test_no_body_makes_judging_hang(name: str, asked: str) -> None:
    clean = ASKED[asked]
    with soon(30):
        assert all(map(well_formed, check([answering(clean, BODIES[name])])))


@pytest.mark.parametrize("probe", ["tool-result", "tool-results", "tool-result-missing"])
def test_no_request_makes_judging_hang(probe: str) -> None:
    codes = " ".join("C" * (5 + number % 400) for number in range(MANY))
    turns = [ollama.said(ollama.call()), ollama.result()] * MANY
    contents = [gemini.model(gemini.call(1)), gemini.user(gemini.result(1))] * MANY
    with soon(30):
        check(ollama.answer(asked=ollama.history(*turns, ollama.result(codes)), probe=probe))
        check(gemini.answer(asked=gemini.history(*contents), probe=probe))

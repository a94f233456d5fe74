"""Laws of all rules on what real endpoints sent, whole and damaged: a finding or silence, never an exception.

Reads ``../shared/corpus`` (real exchanges published under permissive licences); skipped where it is missing.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cli.corpus import ManifestRow, readable
from conformance.rules import check
from conformance.rules.examples import answer
from conformance.transport import sse
from conformance.types import Ending, Exchange, Finding

from .strategies import mangled, mangled_stream, well_formed

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
MANIFEST = CORPUS / "manifest.jsonl"
LARGEST = 8_000
"""Bytes of a seed's body: more of the same kinds of chunks teaches nothing new."""
ARRIVAL = "sse.incremental-delivery"
"""The one rule whose subject is when bytes arrive."""
TRUNCATED = 3
"""How many streams of calls and of texts are cut at every byte."""

needs_corpus = pytest.mark.skipif(not MANIFEST.is_file(), reason="the corpus (../shared/corpus) is not here")


@cache
def seeds() -> tuple[Exchange, ...]:
    """The smallest real exchange of each provider, whole and streamed, with tools and without."""
    smallest: dict[tuple[Any, ...], tuple[ManifestRow, Exchange]] = {}
    for row, recorded in readable(CORPUS, lambda row: row["wire"] == "openai-chat"):
        if row["fidelity"] == "wire" and 0 < row["response_bytes"] <= LARGEST:
            kind = row["provider"], row["stream"], row["has_tools"], row["error"]
            if kind not in smallest or row["response_bytes"] < smallest[kind][0]["response_bytes"]:
                smallest[kind] = row, recorded.exchange
    return tuple(exchange for _, exchange in smallest.values())


def body_of(exchange: Exchange) -> bytes:
    assert exchange.response is not None
    return exchange.response.body


def streams() -> list[Exchange]:
    return sorted((one for one in seeds() if b"\ndata:" in body_of(one)), key=lambda one: len(body_of(one)))


def answering(exchange: Exchange, body: bytes, ending: Ending = "complete") -> Exchange:
    """The exchange with another body."""
    assert exchange.response is not None
    return replace(exchange, response=replace(exchange.response, body=body), ending=ending)


def arriving(exchange: Exchange, sizes: list[int]) -> Exchange:
    """The exchange with its body read in parts of these sizes, a millisecond each."""
    assert exchange.response is not None
    parts = tuple((float(ms), size) for ms, size in enumerate(sizes))
    return replace(exchange, response=replace(exchange.response, parts=parts))


def timeless(findings: tuple[Finding, ...]) -> list[Finding]:
    """The findings that don't turn on when bytes arrive, without the times."""
    return [replace(finding, ms=None) for finding in findings if finding.rule != ARRIVAL]


# ------------------------------------------------------------------------------------------ strategies


@st.composite
def any_seed(draw: st.DrawFn) -> Exchange:
    return draw(st.sampled_from(seeds()))


@st.composite
def flipped(draw: st.DrawFn) -> Exchange:
    """A real exchange with a few bytes of its answer changed."""
    seed = draw(any_seed())
    body = bytearray(body_of(seed))
    for _ in range(draw(st.integers(1, 4))):
        body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    return answering(seed, bytes(body))


@st.composite
def patched(draw: st.DrawFn) -> Exchange:
    """A real exchange with members of its request and its answer replaced by anything."""
    seed = draw(any_seed())
    body = body_of(seed)
    other = answering(seed, draw(mangled_stream(body) if b"\ndata:" in body else mangled(body)))
    return replace(other, request=replace(seed.request, body=draw(mangled(seed.request.body))))


@st.composite
def spliced(draw: st.DrawFn) -> Exchange:
    """The beginning of one real answer and the end of another."""
    one, other = draw(any_seed()), draw(any_seed())
    head, tail = body_of(one), body_of(other)
    whole = head[: draw(st.integers(0, len(head)))] + tail[draw(st.integers(0, len(tail))) :]
    return answering(one, whole)


def cut_into(draw: st.DrawFn, length: int) -> list[int]:
    """Sizes of parts that sum to a length."""
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=40)))
    return [end - start for start, end in zip([0, *cuts], [*cuts, length], strict=True)]


@st.composite
def split(draw: st.DrawFn) -> tuple[Exchange, list[int]]:
    """A real stream, and a way for it to arrive."""
    stream = draw(st.sampled_from(streams()))
    return stream, cut_into(draw, len(body_of(stream)))


# ----------------------------------------------------------------------------------------------- laws


@needs_corpus
def test_the_seeds_are_of_many_kinds() -> None:
    assert len(seeds()) >= 50
    assert len(streams()) >= 15


@needs_corpus
def test_real_traffic_makes_no_rule_raise() -> None:
    assert all(well_formed(finding) for seed in seeds() for finding in check([seed]))
    assert all(well_formed(finding) for finding in check(seeds()))


@needs_corpus
@settings(max_examples=300, deadline=None)
@given(st.lists(flipped() | patched() | spliced(), min_size=1, max_size=2))
def test_damaged_traffic_makes_no_rule_raise(run: list[Exchange]) -> None:
    assert all(well_formed(finding) for finding in check(run))


@needs_corpus
@pytest.mark.parametrize("ending", ["complete", "cut", "stalled"])
def test_a_stream_cut_at_any_byte_makes_no_rule_raise(ending: Ending) -> None:
    calling = [one for one in streams() if b'"tool_calls":[' in body_of(one)]
    texts = [one for one in streams() if one not in calling]
    for stream in (*calling[:TRUNCATED], *texts[:TRUNCATED]):
        body = body_of(stream)
        for length in range(len(body)):
            assert all(map(well_formed, check([answering(stream, body[:length], ending)]))), length


@needs_corpus
@settings(max_examples=150, deadline=None)
@given(split())
def test_findings_don_t_depend_on_how_a_stream_is_split(case: tuple[Exchange, list[int]]) -> None:
    stream, sizes = case
    assert timeless(check([arriving(stream, sizes)])) == timeless(check([stream]))


@needs_corpus
@settings(max_examples=150, deadline=None)
@given(split())
def test_a_stream_is_read_alike_however_it_is_split(case: tuple[Exchange, list[int]]) -> None:
    stream, sizes = case
    decoder, rest, early = sse.Decoder(), body_of(stream), list[sse.Event]()
    for size in sizes:
        early += decoder.feed(rest[:size])
        rest = rest[size:]
    whole = sse.parse(body_of(stream))
    assert decoder.finish() == whole
    assert tuple(early) == whole.events


# ---------------------------------------------------------------------------------------- never hang

SIZE = 100_000
MANY = 30_000
HOSTILE = {
    "arrays": b"[" * SIZE,
    "objects": b'{"a":' * SIZE,
    "a deep array, closed": b"[" * SIZE + b"]" * SIZE,
    "quotes": b'"' * SIZE,
    "backslashes": b'"' + b"\\" * SIZE,
    "empty events": b"data:\n\n" * MANY,
    "one endless event": b"data: x\n" * MANY,
    "one endless line": b"data: " + b"x" * SIZE,
    "carriage returns": b"data: {}\r" * MANY,
    "comments": b":\n" * MANY,
    "a large number": b'{"created":' + b"9" * SIZE + b"}",
    "tags": json.dumps({"choices": [{"message": {"content": "<" * SIZE}}]}).encode(),
    "half calls": json.dumps({"choices": [{"message": {"content": "<tool_call>{" * MANY}}]}).encode(),
    "thoughts": json.dumps({"choices": [{"message": {"content": "<think>" * MANY}}]}).encode(),
    "spaces": json.dumps({"choices": [{"message": {"content": " " * SIZE}}]}).encode(),
    "choices": json.dumps({"choices": [{"index": n} for n in range(MANY // 3)]}).encode(),
    "calls": json.dumps({"choices": [{"message": {"tool_calls": [{}] * (MANY // 3)}}]}).encode(),
}


@contextmanager
def soon(seconds: int) -> Iterator[None]:
    """Fails what takes this long: far more than it should, so that a busy machine does not matter."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done in {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_body_makes_judging_hang(name: str) -> None:
    (clean,) = answer()
    asked = answering(replace(clean, request=replace(clean.request, body=HOSTILE[name])), body_of(clean))
    with soon(30):
        assert all(map(well_formed, check([answering(clean, HOSTILE[name])])))
        assert all(map(well_formed, check([asked])))

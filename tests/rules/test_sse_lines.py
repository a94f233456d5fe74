"""Payloads that a hop broke at a character it took for a line end, and caches on the way."""

from __future__ import annotations

import pytest

from conformance.rules import check
from conformance.rules.examples import Exchanges, piece, start, stream

SEPARATORS = "sse.line-separators-inside-json"
UNCACHED = "sse.no-cache"
HEAD = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764000000,'
    b'"model":"example-model","choices":[{"index":0,"delta":{"content":"one'
)
TAIL = b'two"},"finish_reason":null}]}\n\n'


def fired(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


def broken(by: bytes) -> Exchanges:
    return stream(start(), HEAD + by + TAIL, piece(content="Hello."), piece("stop"))


@pytest.mark.parametrize(
    "by",
    [
        pytest.param(b"\n", id="a line end"),
        pytest.param(b"\r\n", id="CRLF"),
        pytest.param(b"\n\n", id="an empty line"),
        pytest.param(b"\n: keep-alive\n\n", id="an empty line and a comment"),
        pytest.param(b"\nand a half\n", id="twice"),
        pytest.param(b"\ndata: ", id="data fields"),
        pytest.param(b"\ndata: and a half\ndata: ", id="several data fields"),
    ],
)
def test_a_payload_broken_inside_a_string_is_found_wherever_its_end_went(by: bytes) -> None:
    (finding,) = [finding for finding in check(broken(by)) if finding.rule == SEPARATORS]
    assert finding.event == 1
    assert '"content":"one | two"' in finding.got


@pytest.mark.parametrize("by", ["\u2028".encode(), "\u2029".encode(), "\u0085".encode(), b"\\n", b"\\u2028"])
def test_a_whole_payload_is_left_alone(by: bytes) -> None:
    assert fired(broken(by)) == set()


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(b"\n\n", id="nothing behind it"),
        pytest.param(b"\n: keep-alive\n\n", id="a comment"),
        pytest.param(b"\nbut no JSON\n\n", id="what does not complete it"),
        pytest.param(b"\n" + b"a\n" * 8 + TAIL, id="more pieces than are looked at"),
    ],
)
def test_a_payload_that_nothing_completes_is_another_rules(rest: bytes) -> None:
    rules = fired(stream(start(), HEAD + rest, piece(content="Hello."), piece("stop")))
    assert SEPARATORS not in rules
    assert "sse.one-json-object-per-event" in rules


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("public", {UNCACHED}),
        ("max-age=60", {UNCACHED}),
        ("s-maxage=60", {UNCACHED}),
        ("no-cache", set()),
        ("private, max-age=60", set()),
        ("max-age=0", set()),
        ("", set()),
    ],
)
def test_what_a_shared_cache_may_keep_is_found(value: str, rules: set[str]) -> None:
    assert fired(stream(headers={"cache-control": value})) == rules

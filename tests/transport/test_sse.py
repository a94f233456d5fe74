"""How an event stream is read: the WHATWG rules, and the facts kept beside them."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.transport.sse import MAX_PER_ANOMALY, Decoder, Stream, ms_of, parse


def data_of(body: bytes) -> list[str]:
    return [event.data for event in parse(body).events]


def names_of(body: bytes) -> list[str]:
    return [anomaly.name for anomaly in parse(body).anomalies]


@pytest.mark.parametrize(
    ("body", "data"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", ["a", "b"], id="LF"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"], id="CRLF"),
        pytest.param(b"data: a\r\rdata: b\r\r", ["a", "b"], id="CR"),
        pytest.param(b"data: a\ndata: b\n\n", ["a\nb"], id="several data lines join with LF"),
        pytest.param(b"data:a\n\n", ["a"], id="no space after the colon"),
        pytest.param(b"data:  a\n\n", [" a"], id="only one space is dropped"),
        pytest.param(b"data\n\ndata\ndata\n\ndata:", ["", "\n"], id="the standard's example"),
        pytest.param(b": hi\n\ndata: a\n: in between\n\n", ["a"], id="comments"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", ["a"], id="a BOM"),
        pytest.param(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", [], id="only one BOM"),
        pytest.param(b"event: x\n\n", [], id="no data, no event"),
        pytest.param(b"data: a\n", [], id="cut before the blank line"),
        pytest.param(b"Data: a\n\n", [], id="field names have a case"),
        pytest.param(b"\n\n\n", [], id="blank lines alone"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_dispatch_follows_the_standard(body: bytes, data: list[str]) -> None:
    assert data_of(body) == data


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_nothing_but_lf_cr_and_crlf_ends_a_line(char: str) -> None:
    assert data_of(f"data: a{char}b\n\n".encode()) == [f"a{char}b"]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        pytest.param(b"data: a\n\n", [], id="nothing odd"),
        pytest.param(b": ping\r\n\r\ndata: a\r\n\r\n", [], id="comments are not odd"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", ["bom"], id="bom"),
        pytest.param(b"data: \xff\n\n", ["invalid-utf8"], id="invalid-utf8"),
        pytest.param(b'{"error": 1}\n\n', ["unknown-field"], id="bare JSON"),
        pytest.param(b"data: a\n\r\n", ["mixed-line-ends"], id="mixed-line-ends"),
        pytest.param(b"data:a\n\n", ["no-space-after-colon"], id="no-space-after-colon"),
        pytest.param(b"data:\n\n", [], id="nothing after the colon"),
        pytest.param(b"data: a\n", ["unterminated-event"], id="unterminated-event"),
        pytest.param(b"event: x\n", ["unterminated-event"], id="unterminated without data"),
        pytest.param(b"event: x\n\n", ["empty-data-event"], id="empty-data-event"),
        pytest.param(b"id: 7\ndata: a\n\n", ["id-field"], id="id-field"),
        pytest.param(b"id: 7\0\ndata: a\n\n", ["id-field", "nul-in-id"], id="nul-in-id"),
        pytest.param(b"retry: 10\ndata: a\n\n", ["retry-field"], id="retry-field"),
        pytest.param(b"retry: 1s\ndata: a\n\n", ["retry-field", "invalid-retry"], id="invalid-retry"),
    ],
)
def test_what_is_odd_is_noted(body: bytes, names: list[str]) -> None:
    assert names_of(body) == names


def test_an_anomaly_says_where() -> None:
    (anomaly,) = parse(b"data: a\n\ndata: b\xff\n\n").anomalies
    assert (anomaly.offset, anomaly.detail) == (16, "ff")


def test_invalid_utf8_is_replaced_and_the_event_survives() -> None:
    assert data_of(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_an_event_knows_its_fields_and_its_bytes() -> None:
    body = b": hello\n\nevent: delta\nid: 7\nretry: 10\ndata: a\ndata: b\n\ndata: c\n\n"
    first, second = parse(body).events
    assert (first.number, first.name, first.id, first.retry, first.data_lines) == (0, "delta", "7", "10", 2)
    assert body[first.start : first.end] == b"event: delta\nid: 7\nretry: 10\ndata: a\ndata: b\n\n"
    assert (second.number, second.name, second.id, second.retry, second.data_lines) == (
        1,
        None,
        None,
        None,
        1,
    )
    assert body[second.start : second.end] == b"data: c\n\n"


@pytest.mark.parametrize(
    ("body", "pending"),
    [
        (b"data: a\n\n", None),
        (b"data: a\n\ndata: b\n", "b"),
        (b"data: a\n\ndata: b", "b"),
        (b"data: a\n\ndata: b\ndata: c", "b\nc"),
        (b"data: caf\xc3", "caf"),
        (b"data: a\n\nevent: x", None),
        (b"data: a\n\ndat", None),
    ],
)
def test_the_event_that_the_end_cut_is_kept_beside_the_others(body: bytes, pending: str | None) -> None:
    stream = parse(body)
    assert (stream.pending and stream.pending.data) == pending


def test_a_line_that_the_end_cut_is_not_blamed_for_its_form() -> None:
    assert names_of(b"data: a\n\nda") == []
    assert names_of(b"data: a\n\ndata:caf\xc3") == ["unterminated-event"]


@pytest.mark.parametrize(
    ("body", "terminated"),
    [
        (b"", True),
        (b"data: a\n\n", True),
        (b"data: a\n\n: bye\n", True),
        (b"data: a\r\n\r", True),
        (b"data: a\n", False),
        (b"data: a\n\n: by", False),
        (b"data: a\n\nevent: x\n", False),
    ],
)
def test_a_stream_is_terminated_when_no_block_or_line_is_open(body: bytes, terminated: bool) -> None:
    assert parse(body).terminated is terminated


def test_comments_are_counted() -> None:
    assert parse(b": a\n:\n\ndata: b\n: c\n\n").comments == 3


FIELDS = st.sampled_from((b"data: x", b"data:", b"event: e", b"id: 1", b"retry: 5", b": c", b"junk"))
ENDS = st.sampled_from((b"\n", b"\r", b"\r\n", b"\n\n"))
SPECKS = st.sampled_from((b"\xef\xbb\xbf", b"\xc3", b"\xa9", b"\xff", b"\0", " \u2028".encode()))
BYTES = st.lists(FIELDS | ENDS | SPECKS | st.binary(max_size=4)).map(b"".join)


@given(body=BYTES, cuts=st.lists(st.integers(0, 200)))
def test_any_split_gives_the_same_stream(body: bytes, cuts: list[int]) -> None:
    decoder = Decoder()
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    fed = [event for a, b in pairwise(edges) for event in decoder.feed(body[a:b])]
    stream = decoder.finish()
    assert stream == parse(body)
    assert tuple(fed) == stream.events[: len(fed)]
    assert len(stream.events) - len(fed) <= 1


@given(body=BYTES)
def test_events_lie_in_the_body_in_order(body: bytes) -> None:
    at = 0
    for event in parse(body).events:
        assert at <= event.start < event.end <= len(body)
        at = event.end


@given(lines=st.lists(st.text().filter(lambda text: not set(text) & {"\r", "\n"}), min_size=1, max_size=20))
def test_what_a_server_writes_is_what_is_read(lines: list[str]) -> None:
    body = "".join(f"data: {line}\n\n" for line in lines).encode("utf-8", "surrogatepass")
    assert data_of(body) == lines


def test_a_hostile_body_keeps_few_anomalies() -> None:
    assert len(parse(b"x\n" * 10_000).anomalies) == MAX_PER_ANOMALY


def test_an_endless_line_in_single_bytes_takes_linear_time() -> None:
    def seconds(size: int) -> float:
        decoder, began = Decoder(), time.process_time()
        for _ in range(size):
            decoder.feed(b"x")
        assert decoder.finish() == Stream((), (), 0, False, None)
        return time.process_time() - began

    seconds(1_000)
    assert seconds(80_000) < 40 * seconds(10_000)  # quadratic time would be 64 times


def test_an_events_time_is_that_of_its_last_byte() -> None:
    first, second = parse(b"data: a\n\ndata: b\n\n").events
    assert ms_of(first, [(1.0, 4), (2.5, 5), (7.0, 9)]) == 2.5
    assert ms_of(second, [(1.0, 4), (2.5, 5), (7.0, 9)]) == 7.0
    assert ms_of(second, [(1.0, 4)]) is None
    assert ms_of(first, []) is None

"""Bodies as recorders leave them, and as the client saw them."""

from __future__ import annotations

import base64
import gzip
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from conformance.grade.bodies import (
    MAX_RATIO,
    Decoded,
    dechunked,
    decoded,
    from_base64,
    from_pieces,
    from_text,
    from_value,
    is_event_stream,
)

JSON = b'{"id": "a", "text": "caf\xc3\xa9"}'
RAW_DEFLATE = zlib.compress(JSON)[2:-4]


@pytest.mark.parametrize(
    ("body", "content_encoding"),
    [
        pytest.param(JSON, None, id="plain"),
        pytest.param(JSON, "gzip", id="decoded, the header left behind"),
        pytest.param(JSON, "br", id="decoded from brotli, the header left behind"),
        pytest.param(JSON, "deflate", id="decoded from deflate, the header left behind"),
        pytest.param(gzip.compress(JSON), "gzip", id="gzip"),
        pytest.param(gzip.compress(JSON), None, id="gzip without a header"),
        pytest.param(gzip.compress(JSON), "br", id="gzip, and a header that lies"),
        pytest.param(gzip.compress(gzip.compress(JSON)), "gzip", id="gzip twice"),
        pytest.param(gzip.compress(JSON[:9]) + gzip.compress(JSON[9:]), "gzip", id="gzip in two members"),
        pytest.param(zlib.compress(JSON), "deflate", id="zlib"),
        pytest.param(RAW_DEFLATE, "deflate", id="raw deflate"),
        pytest.param(gzip.compress(zlib.compress(JSON)), "deflate, gzip", id="zlib within gzip"),
    ],
)
def test_a_body_is_unpacked_by_what_it_is(body: bytes, content_encoding: str | None) -> None:
    assert decoded(body, content_encoding) == Decoded(JSON)


def test_zstd_is_unpacked_where_its_package_is_installed() -> None:
    packed = zstandard.ZstdCompressor().compress(JSON)
    assert decoded(packed) == Decoded(JSON)
    assert decoded(packed + packed, "zstd") == Decoded(JSON + JSON)
    assert decoded(packed[:-1]).problem == "broken zstd data"


def test_brotli_is_unpacked_where_its_package_is_installed() -> None:
    assert decoded(brotli.compress(JSON), "br") == Decoded(JSON)
    assert decoded(brotli.compress(JSON)[:-1], "br").problem == "broken brotli data"


@pytest.mark.parametrize(
    ("body", "content_encoding", "problem"),
    [
        pytest.param(gzip.compress(JSON)[:-5], None, "broken gzip data", id="gzip that ends early"),
        pytest.param(b"\x1f\x8b\x08" + b"\xff" * 20, None, "broken gzip data", id="gzip's beginning only"),
        pytest.param(b"\x00\xff\xfe", "deflate", "broken deflate data", id="no deflate"),
    ],
)
def test_what_is_broken_is_said(body: bytes, content_encoding: str | None, problem: str) -> None:
    assert decoded(body, content_encoding).problem == problem


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(8 << 20))
    found = decoded(bomb)
    assert found.data == b""
    assert found.problem is not None
    assert f"{MAX_RATIO} times" in found.problem


def test_a_bomb_in_zstd_is_not_unpacked() -> None:
    found = decoded(zstandard.ZstdCompressor().compress(bytes(64 << 20)))
    assert found.data == b""
    assert f"{MAX_RATIO} times" in str(found.problem)


def test_amazons_event_stream_is_left_as_it_is() -> None:
    prelude = (16).to_bytes(4, "big") + bytes(4)
    frame = prelude + zlib.crc32(prelude).to_bytes(4, "big") + bytes(4)
    assert is_event_stream(frame)
    assert decoded(frame, "br") == Decoded(frame)
    assert not is_event_stream(JSON)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, Decoded(b"")),
        ("caf\u00e9", Decoded(b"caf\xc3\xa9")),
        (b"\xff", Decoded(b"\xff")),
        ([104, 105], Decoded(b"hi")),
        ([256], Decoded(b"", "a list of something else than bytes")),
        (["a"], Decoded(b"", "a list of something else than bytes")),
        ({"a": 1}, Decoded(b"", "neither text nor bytes, but dict")),
    ],
)
def test_a_body_as_yaml_or_json_hold_it(value: object, found: Decoded) -> None:
    assert from_value(value) == found


def test_packed_bytes_that_were_written_as_text_are_told_from_lost_ones() -> None:
    packed = gzip.compress(JSON)
    assert from_text(packed.decode("latin-1")) == Decoded(packed)
    assert "lost" in str(from_text(packed.decode("utf-8", "replace")).problem)


def test_half_a_surrogate_pair_is_a_problem() -> None:
    assert from_text("\ud83d").problem == "a text with half a surrogate pair"


@given(st.binary())
def test_base64_comes_back_with_any_alphabet_padding_and_white_space(data: bytes) -> None:
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        for variant in (text, text.rstrip("="), "\n".join(text)):
            assert from_base64(variant) == Decoded(data)


@pytest.mark.parametrize("text", ["a*b=", "a", "\u00e9"])
def test_what_is_no_base64_is_said(text: str) -> None:
    assert from_base64(text).problem is not None


@pytest.mark.parametrize(
    "pieces", [["6869", "", "21"], ["aGk=", "IQ=="]], ids=["hexadecimal", "Base64, padded each"]
)
def test_pieces_are_joined(pieces: list[str]) -> None:
    assert from_pieces(pieces) == Decoded(b"hi!")


def test_pieces_that_are_no_texts_are_a_problem() -> None:
    assert from_pieces([1]).problem == "pieces that are no texts"


@given(st.lists(st.binary(min_size=1)))
def test_chunks_are_joined(chunks: list[bytes]) -> None:
    coded = b"".join(b"%x;name=value\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert dechunked(coded) == Decoded(b"".join(chunks))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (JSON, Decoded(JSON)),
        (b"data: {}\n\n", Decoded(b"data: {}\n\n")),
        (b"2\r\nhi\r\n", Decoded(b"hi", "the last chunk is absent")),
        (b"2\r\nhi\r\n9\r\nho", Decoded(b"hiho", "a chunk ends early")),
    ],
    ids=["JSON", "events", "no last chunk", "a chunk that is cut"],
)
def test_a_body_without_chunks_stays_and_one_that_is_cut_is_said(body: bytes, found: Decoded) -> None:
    assert dechunked(body) == found


@given(st.binary(), st.sampled_from([None, "gzip", "br", "deflate", "zstd", "gzip, deflate", ",", "x"]))
def test_no_bytes_raise(body: bytes, content_encoding: str | None) -> None:
    for packed in (body, b"\x1f\x8b\x08" + body, b"\x28\xb5\x2f\xfd" + body):
        decoded(packed, content_encoding)
        dechunked(packed)
        from_base64(packed)

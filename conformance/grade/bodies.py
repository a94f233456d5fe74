"""Bodies as recorders write them, turned into the bytes a client saw; bounded, and never raising.

What the bytes are counts before what a header says: recorders decode and leave ``Content-Encoding`` where
it was, or the other way round. gzip and zstd are known by their first bytes (RFC 1952, section 2.3.1; RFC
8878, section 3.1.1); deflate and brotli have none and are only tried where the header names them.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import brotli
import zstandard

from conformance.transport.coding import ContentDecoder

MAX_BODY = 64 * 1024 * 1024
"""The most bytes that one body may decode to."""

MAX_RATIO = 256
"""How many times its own size a packed body may have, once it is above ``_SURELY_SMALL``."""

_SURELY_SMALL = 1024 * 1024  # bytes
_MAX_LAYERS = 4
_STEP = 256  # bytes
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_CHUNK_HEAD = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,1024})?\r?\n")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_SPACE = str.maketrans("", "", " \t\r\n")
_URL_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body's bytes. ``problem`` says in a few words why they aren't those that were sent, else ``None``.

    With a problem, ``data`` is as far as one could get; it is no evidence of anything.
    """

    data: bytes
    problem: str | None = None


def decoded(body: bytes, content_encoding: str | None = None) -> Decoded:
    """``body`` unpacked, whatever layers it is packed in: gzip, zstd, deflate, brotli.

    ``content_encoding`` is the response's header, if there was one. A body that is plain already stays as
    it is, whatever the header says.
    """
    named = [word.strip().lower() for word in (content_encoding or "").split(",")]
    whole = Decoded(body)
    for _ in range(_MAX_LAYERS):
        data = whole.data
        if data.startswith(_GZIP):
            whole = _inflated(data, "gzip")
        elif data.startswith(_ZSTD):
            whole = _unpacked(data, "zstd")
        elif "deflate" in named and not _is_plain(data):
            named.remove("deflate")
            whole = _inflated(data, "deflate")
        elif "br" in named and not _is_plain(data):
            named.remove("br")
            whole = _unpacked(data, "brotli")
        else:
            return whole
        if whole.problem:
            return whole
    return Decoded(whole.data, f"packed more than {_MAX_LAYERS} times over")


def from_value(value: object) -> Decoded:
    """A body as YAML or JSON hold it: a text, bytes, a list of byte values, nothing. Not unpacked."""
    if value is None:
        return Decoded(b"")
    if isinstance(value, bytes):
        return Decoded(value)
    if isinstance(value, str):
        return from_text(value)
    if isinstance(value, list | tuple):
        try:
            return Decoded(bytes(value))
        except (TypeError, ValueError):
            return Decoded(b"", "a list of something else than bytes")
    return Decoded(b"", f"neither text nor bytes, but {type(value).__name__}")


def from_text(text: str) -> Decoded:
    """A body that was recorded as text. Not unpacked."""
    if text.startswith("\x1f\ufffd"):
        return Decoded(b"", "packed bytes were recorded as text, which lost them")
    if text.startswith("\x1f\x8b"):
        try:
            return Decoded(text.encode("latin-1"))
        except UnicodeEncodeError:
            return Decoded(b"", "packed bytes were recorded as text, which lost them")
    try:
        return Decoded(text.encode())
    except UnicodeEncodeError:
        return Decoded(text.encode(errors="replace"), "a text with half a surrogate pair")


def from_base64(text: str | bytes) -> Decoded:
    """Base64, with either alphabet, white space in it, padding or none. Not unpacked."""
    letters = text.decode("latin-1") if isinstance(text, bytes) else text
    letters = letters.translate(_SPACE).translate(_URL_SAFE).rstrip("=")
    if _NOT_BASE64.search(letters):
        return Decoded(b"", "not Base64")
    try:
        return Decoded(base64.b64decode(letters + "=" * (-len(letters) % 4)))
    except (binascii.Error, ValueError):
        return Decoded(b"", "Base64 that ends early")


def from_pieces(pieces: Sequence[object]) -> Decoded:
    """The pieces of one body, all hexadecimal or all Base64, joined. Not unpacked.

    nock writes hexadecimal, Polly's HAR either.
    """
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) < len(pieces):
        return Decoded(b"", "pieces that are no texts")
    if all(_HEX.fullmatch(text) for text in texts if text):
        return Decoded(bytes.fromhex("".join(texts)))
    found = [from_base64(text) for text in texts]
    return Decoded(
        b"".join(one.data for one in found), next((one.problem for one in found if one.problem), None)
    )


def dechunked(body: bytes) -> Decoded:
    """``body`` without chunked transfer coding (RFC 9112, section 7.1), where it still has it.

    Only ask where the headers say ``chunked``; a body that doesn't begin with a chunk stays as it is.
    """
    out, at = bytearray(), 0
    while head := _CHUNK_HEAD.match(body, at):
        size, start = int(head[1], 16), head.end()
        if not size:
            return Decoded(bytes(out))
        if start + size > len(body):
            return Decoded(bytes(out) + body[start:], "a chunk ends early") if at else Decoded(body)
        out += body[start : start + size]
        at = start + size
        at += 2 if body.startswith(b"\r\n", at) else body.startswith(b"\n", at)
    return Decoded(bytes(out), "the last chunk is absent") if at else Decoded(body)


def is_event_stream(body: bytes) -> bool:
    """Whether this is Amazon's binary event stream, by the checksum of its first eight bytes.

    Source: https://smithy.io/2.0/aws/amazon-eventstream.html (the prelude and its CRC).
    """
    return len(body) >= 16 and zlib.crc32(body[:8]) == int.from_bytes(body[8:12], "big")


def _is_plain(data: bytes) -> bool:
    if is_event_stream(data):
        return True
    head = data[:4096]
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The slice may have cut one character at its end.
        return len(data) > len(head) and error.start >= len(head) - 3
    return b"\x00" not in head


def _room(data: bytes) -> int:
    return min(MAX_BODY, max(_SURELY_SMALL, len(data) * MAX_RATIO))


def _inflated(data: bytes, coding: str) -> Decoded:
    decoder = ContentDecoder(coding, _room(data))
    out = decoder.feed(data)
    if decoder.too_large:
        return Decoded(b"", _too_large(coding, decoder.limit))
    decoder.finish()
    return Decoded(out, f"broken {coding} data" if decoder.broken else None)


def _unpacked(data: bytes, coding: str) -> Decoded:
    limit = _room(data)
    try:
        out, ended = _zstd(data, limit) if coding == "zstd" else _brotli(data, limit)
    except (ValueError, MemoryError, zstandard.ZstdError, brotli.error):
        return Decoded(b"", f"broken {coding} data")
    if len(out) > limit:
        return Decoded(b"", _too_large(coding, limit))
    return Decoded(out, None if ended else f"broken {coding} data")


def _zstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    out, decoder = bytearray(), None
    for step in _steps(data):
        left = step
        while left and len(out) <= limit:
            if decoder is None or decoder.eof:
                decoder = zstandard.ZstdDecompressor(max_window_size=MAX_BODY).decompressobj()
            out += decoder.decompress(left)
            left = decoder.unused_data if decoder.eof else b""
    return bytes(out), decoder is not None and decoder.eof


def _brotli(data: bytes, limit: int) -> tuple[bytes, bool]:
    out, decoder = bytearray(), brotli.Decompressor()
    for step in _steps(data):
        out += decoder.process(step)
        if len(out) > limit:
            break
    return bytes(out), decoder.is_finished()


def _steps(data: bytes) -> Iterator[bytes]:
    """Little at a time: a few bytes of either coding may stand for megabytes."""
    return (data[at : at + _STEP] for at in range(0, len(data), _STEP))


def _too_large(coding: str, limit: int) -> str:
    return f"{coding} data of more than {limit >> 20} MiB or {MAX_RATIO} times its size"

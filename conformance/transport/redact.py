"""Redaction: the only door to disk.

Credentials go by name (headers, query parameters, JSON members), by shape (what keys of known issuers
look like) and by value (the secrets we were told, and those the request itself carried, in the encodings
they turn up in). What can't be cut out exactly, or can't be looked into, goes as a whole.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias
from urllib.parse import unquote

from conformance.transport.coding import ContentDecoder
from conformance.transport.credentials import (
    Values,
    credentials,
    encode,
    is_secret_name,
    kinds,
    runs,
    shapes,
    unbase64,
)
from conformance.types import Exchange, Failure, HttpRequest, HttpResponse

REPLACEMENT = "[redacted]"
MIN_SECRET = 8
"""Shorter secrets (``EMPTY``, ``ollama``, ``test``) go by name only; by value they would shred plain text."""

Blob: TypeAlias = bytes  # ``bytes`` itself is hidden by the method of that name
Parts: TypeAlias = "tuple[tuple[float, int], ...]"

_MARK = REPLACEMENT.encode()
_INFLATED_MAX = 16 * 1024 * 1024
_MAX_DEPTH = 3
_OVERLAP = 16 * 1024
"""Bytes behind a cut that are looked at for the rest of a credential: tokens of 8 kB are real."""

_RUN_CHARS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-="
_KINDS = kinds(b"[A-Za-z0-9+/_-]")
_SHORTEST_RUN = 28  # shorter base64 can't hold a credential's shape


class SecretLeak(Exception):
    """A secret was still there after redaction. The message says where, never what."""


class Redactor:
    """Takes credentials out of exchanges, texts and bytes; ``secrets`` are the values known beforehand.

    All its methods are idempotent: what is redacted stays as it is.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = frozenset(s for s in secrets if len(s) >= MIN_SECRET and s not in REPLACEMENT)
        self._values = Values(self._secrets)

    def exchange(self, exchange: Exchange) -> Exchange:
        """The exchange without credentials; its request's own ones are taken out of the response too."""
        door = self._for(exchange.request)
        return replace(
            exchange,
            request=door._request(exchange.request),
            response=door._response(exchange.response) if exchange.response else None,
            failure=door._failure(exchange.failure),
        )

    def opening(self, exchange: Exchange, size: int) -> Exchange:
        """The exchange without credentials, of bodies and header values only the first ``size`` bytes.

        The cost depends on ``size``, not on the body. What is behind the cut is looked at as far as a
        credential that begins before it can reach: none is left as a beginning.
        """
        door = self._for(exchange.request)
        request, response = exchange.request, exchange.response
        return replace(
            exchange,
            failure=door._failure(exchange.failure),
            request=replace(
                door._request(replace(request, headers=(), body=b"")),
                headers=door._header_openings(request.headers, size),
                body=door._opening(request.body, size),
            ),
            response=response
            and replace(
                response,
                headers=door._header_openings(response.headers, size),
                body=door._opening(response.body, size) if _readable(response) else _MARK,
            ),
        )

    def _header_openings(
        self, headers: tuple[tuple[str, str], ...], size: int
    ) -> tuple[tuple[str, str], ...]:
        def opening(text: str) -> str:
            return self._opening(encode(text), size).decode("utf-8", "replace")

        return tuple(
            (opening(name), _masked(value[:size]) if is_secret_name(name[:size]) else opening(value))
            for name, value in headers
        )

    def _opening(self, data: Blob, size: int) -> Blob:
        # Sixteen: no spelling takes more characters for one.
        seen = data[: size + max(_OVERLAP, 16 * max(map(len, self._secrets), default=0))]
        if len(seen) <= size:
            return self.bytes(seen)
        clean, ((_, cut), _) = self._redact(seen, ((0.0, size), (0.0, len(seen) - size)))
        # Where the cut goes through a credential, its mark is the last to be shown.
        return clean[: cut + len(_MARK)] if clean.startswith(_MARK, cut) else clean[:cut]

    def request(self, request: HttpRequest) -> HttpRequest:
        """The request as ``exchange`` would redact it."""
        return self._for(request)._request(request)

    def text(self, text: str) -> str:
        """The text without credentials."""
        raw = encode(text)
        redacted = self._redact(raw)[0]
        return text if redacted == raw else redacted.decode("utf-8", "replace")

    def bytes(self, data: Blob) -> Blob:
        """The data without credentials."""
        return self._redact(data)[0]

    def leaks(self, data: Blob | str) -> list[str]:
        """What is still there and where (``"JWT at byte 7"``); empty when nothing is.

        Looks harder than redaction does: also for known secrets in escaped or folded spellings.
        """
        raw = encode(data) if isinstance(data, str) else data
        found = [f"{what} at byte {start}" for start, _, what in self._spans(raw)]
        return found or self._disguised(raw)

    def _for(self, request: HttpRequest) -> Redactor:
        own = set(credentials(request)) - self._secrets
        return Redactor(self._secrets | own) if own else self

    def _failure(self, failure: Failure | None) -> Failure | None:
        return failure and replace(failure, message=self.text(failure.message))

    def _request(self, request: HttpRequest) -> HttpRequest:
        return replace(
            request,
            method=self.text(request.method),
            url=self._url(request.url),
            headers=self._headers(request.headers),
            body=self.bytes(request.body),
        )

    def _response(self, response: HttpResponse) -> HttpResponse:
        if _readable(response):
            body, parts = self._redact(response.body, response.parts)
        else:  # nobody can look into it here, so nobody can vouch for it
            body, parts = _replace(response.body, response.parts, [(0, len(response.body))])
        return replace(response, headers=self._headers(response.headers), body=body, parts=parts)

    def _headers(self, headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple(
            (self.text(name), _masked(value) if is_secret_name(name) else self.text(value))
            for name, value in headers
        )

    def _url(self, url: str) -> str:
        head, question, query = url.partition("?")
        scheme, slashes, rest = head.partition("://")
        netloc, slash, path = rest.partition("/")
        if "@" in netloc:
            netloc = "redacted@" + netloc.rpartition("@")[2]
        # Square brackets in a host mean IPv6, so the mark goes without them there.
        netloc = self.text(netloc).replace(REPLACEMENT, "redacted")
        head = f"{scheme}{slashes}{netloc}{slash}{self.text(path)}" if slashes else self.text(head)
        pieces = re.split("([&;])", query)
        return head + question + self.text("".join(_masked_parameter(piece) for piece in pieces))

    def _redact(self, data: Blob, parts: Parts = ()) -> tuple[Blob, Parts]:
        for _ in range(_MAX_DEPTH):
            spans = [(start, end) for start, end, _ in self._spans(data)]
            if not spans:
                if self._disguised(data):
                    break
                return data, parts
            data, parts = _replace(data, parts, spans)
        return _replace(data, parts, [(0, len(data))])

    def _spans(self, data: Blob, depth: int = 0) -> Iterator[tuple[int, int, str]]:
        """Where to cut: (start, end, what), in no order, possibly overlapping."""
        if depth < _MAX_DEPTH and self._dirty_inside(data, depth):
            yield 0, len(data), "compressed data with a secret"
            return
        for match in self._values.matches(data):
            if match.lastgroup == "blob":
                yield *_whole_run(data, *match.span()), "a known secret (base64)"
            else:
                yield *match.span(), "a known secret"
        for start, end, what in shapes(data):
            yield start, end, f"a credential's shape ({what})"
        if depth < _MAX_DEPTH:
            places: defaultdict[Blob, list[tuple[int, int]]] = defaultdict(list)
            for start, end in _runs(data):
                places[data[start:end]].append((start, end))
            for run in self._dirty_runs({run: [*_unbase64(run, depth)] for run in places}, depth + 1):
                for start, end in places[run]:
                    yield start, end, "a credential in base64"

    def _dirty_runs(self, blobs: Mapping[Blob, list[Blob]], depth: int) -> Iterator[Blob]:
        """The keys of ``blobs`` that a value of theirs speaks against."""
        rest = []
        for run, plains in blobs.items():
            if depth < _MAX_DEPTH and any(self._dirty_inside(plain, depth) for plain in plains):
                yield run
            elif plains:
                rest.append(run)
        todo = [rest] if rest else []
        while todo:  # halving: looking into many at once costs little more than looking into one
            some = todo.pop()
            # What matches in one of them alone matches here too: to every pattern NUL is like an end.
            if self._dirty(b"\0".join([b"", *(plain for run in some for plain in blobs[run])]), depth):
                if len(some) == 1:
                    yield some[0]
                else:
                    todo += [some[: len(some) // 2], some[len(some) // 2 :]]

    def _dirty(self, data: Blob, depth: int) -> bool:
        return next(self._spans(data, depth), None) is not None

    def _dirty_inside(self, data: Blob, depth: int) -> bool:
        """True when ``data`` is compressed and holds a secret, or too much to look at."""
        if data[:2] == b"\x1f\x8b":
            coding = "gzip"
        elif data[:1] == b"\x78" or (depth == 0 and not _is_utf8(data)):
            coding = "deflate"
        else:
            return False
        decoder = ContentDecoder(coding, _INFLATED_MAX)
        inner = bytearray()
        for at in range(0, len(data), 256):  # in steps: what precedes a broken place counts too
            piece = decoder.feed(data[at : at + 256])
            if decoder.broken:
                break
            inner += piece
        return decoder.too_large or (len(inner) > 0 and self._dirty(bytes(inner), depth + 1))

    def _disguised(self, data: Blob) -> list[str]:
        return [f"a known secret ({how})" for how in self._values.disguised(data)]


def _readable(response: HttpResponse) -> bool:
    return ContentDecoder(response.header("content-encoding"), 0).readable


def _replace(data: bytes, parts: Parts, spans: list[tuple[int, int]]) -> tuple[bytes, Parts]:
    """Puts the mark over each span; a part that ended inside one now ends before its mark."""
    if not data:
        return data, parts
    out = bytearray()
    done = 0
    edges: list[tuple[int, int, int]] = []  # old start, old end, new start
    for start, end in _merged(spans):
        out += data[done:start]
        edges.append((start, end, len(out)))
        out += _MARK
        done = end
    out += data[done:]

    moved: list[tuple[float, int]] = []
    old_at = new_at = 0
    pending = iter(edges)
    edge = next(pending, None)
    shift = 0
    for ms, size in parts:
        old_at += size
        while edge is not None and edge[1] <= old_at:
            shift = edge[2] + len(_MARK) - edge[1]
            edge = next(pending, None)
        new = edge[2] if edge is not None and edge[0] < old_at else old_at + shift
        moved.append((ms, new - new_at))
        new_at = new
    return bytes(out), tuple(moved)


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    current: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if current is None:
            current = start, end
        elif start < current[1]:
            current = current[0], max(current[1], end)
        else:
            yield current
            current = start, end
    if current is not None:
        yield current


def _masked(value: str) -> str:
    """A credential header's value: the scheme stays, it is evidence and no secret."""
    scheme, space, rest = value.partition(" ")
    keep = space and rest and scheme.lower() in ("bearer", "basic", "digest", "token")
    return f"{scheme} {REPLACEMENT}" if keep else REPLACEMENT


def _masked_parameter(piece: str) -> str:
    name, equals, value = piece.partition("=")
    return f"{name}={REPLACEMENT}" if equals and value and is_secret_name(unquote(name)) else piece


def _whole_run(data: bytes, start: int, end: int) -> tuple[int, int]:
    while start and data[start - 1] in _RUN_CHARS:
        start -= 1
    while end < len(data) and data[end] in _RUN_CHARS:
        end += 1
    return start, end


def _runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Where base64 may stand: characters of its alphabets and at most two ``=``."""
    for start, end in runs(data, _KINDS, _SHORTEST_RUN):
        padding = data[end : end + 2]
        yield start, end + len(padding) - len(padding.lstrip(b"="))


def _unbase64(run: bytes, depth: int) -> Iterator[bytes]:
    for shift in range(4 if len(run) < 65_536 and not depth else 1):  # letters in front of a blob shift it
        plain = unbase64(run[shift:])
        if plain:
            yield plain


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

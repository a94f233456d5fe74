"""HTTP content codings, decoded as they arrive and bounded in size (RFC 9110, section 8.4.1)."""

from __future__ import annotations

import zlib

_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits say which header to expect
_MAX_CODINGS = 4


class ContentDecoder:
    """Undoes ``Content-Encoding`` for gzip and deflate; at most ``limit`` bytes come out.

    ``readable`` is False for a coding this module doesn't know (the bytes pass through undecoded).
    ``broken`` turns True when the data isn't what the coding says, or ends too early; from the failing
    read on, bytes pass through undecoded. ``too_large`` turns True when there was more than ``limit``.
    """

    __slots__ = ("_stages", "_total", "broken", "limit", "readable", "too_large")

    def __init__(self, content_encoding: str | None, limit: int) -> None:
        codings = [c.strip().lower() for c in (content_encoding or "").split(",")]
        codings = [c for c in codings if c not in ("", "identity")]
        known = all(c in ("gzip", "x-gzip", "deflate") for c in codings) and len(codings) <= _MAX_CODINGS
        self._stages = [_Inflater(c != "deflate") for c in reversed(codings)] if known else []
        self._total = 0
        self.limit = limit
        self.readable = known
        self.broken = False
        self.too_large = False

    def feed(self, data: bytes) -> bytes:
        """What ``data`` decodes to."""
        room = self.limit - self._total
        out = data
        if not self.broken:
            try:
                for stage in self._stages:
                    out = stage.feed(out, self.limit)
                    self.too_large = self.too_large or len(out) > self.limit
            except zlib.error:
                self.broken = True
                out = data
        if len(out) > room:
            self.too_large = True
            out = out[:room]
        self._total += len(out)
        return out

    def finish(self) -> None:
        """The data has ended: a coding that expects more is broken."""
        if any(stage.used and not stage.ended for stage in self._stages):
            self.broken = True


def decode(body: bytes, content_encoding: str | None, limit: int) -> bytes:
    """The whole ``body`` decoded, as far as it can be."""
    return ContentDecoder(content_encoding, limit).feed(body)


class _Inflater:
    __slots__ = ("_gzip", "_head", "_zlib", "used")

    def __init__(self, gzip: bool) -> None:
        self._gzip = gzip
        self._head = b""
        self._zlib = zlib.decompressobj(_GZIP) if gzip else None
        self.used = False

    @property
    def ended(self) -> bool:
        return self._zlib is not None and self._zlib.eof

    def feed(self, data: bytes, room: int) -> bytes:
        """At most ``room + 1`` bytes: one too many tells that there are more. Raises ``zlib.error``."""
        self.used = self.used or bool(data)
        if self._zlib is None:
            # "deflate" means zlib's format, but servers send raw deflate too: two bytes tell.
            self._head += data
            if len(self._head) < 2:
                return b""
            data = self._head
            zlib_header = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            self._zlib = zlib.decompressobj(_ZLIB if zlib_header else _RAW)
        out = bytearray()
        while data and len(out) <= room:
            if self._zlib.eof:
                if not (self._gzip and data.startswith(b"\x1f")):
                    break  # what follows the end is nobody's data; gzip may have further members
                self._zlib = zlib.decompressobj(_GZIP)
            out += self._zlib.decompress(data, room + 1 - len(out))
            data = self._zlib.unconsumed_tail or self._zlib.unused_data
        return bytes(out)

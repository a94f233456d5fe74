"""What a credential looks like: its names, its shapes, and the spellings its value turns up in."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_to_bytes, urlsplit

from conformance.types import HttpRequest

# -------------------------------------------------------------------------------------------- by name

_ANYWHERE = re.compile(
    "apikey|authorization|cookie|credentials?|organi[sz]ation|passw(?:or)?d|project|secret"
)
_LAST = re.compile("auth|key|sig|signature|token")
_NOT_SECRET = re.compile(
    r"ratelimit|rate-limit|^access-control-|idempotency-key$|^sec-websocket-|surrogate-key$", re.I
)


def is_secret_name(name: str) -> bool:
    """True for a header or query parameter whose value is a credential or says who the caller is."""
    if _NOT_SECRET.search(name):
        return False
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower())
    while words and words[-1] in ("id", "2", ""):
        words.pop()
    return bool(words) and bool(_LAST.fullmatch(words[-1]) or any(map(_ANYWHERE.fullmatch, words)))


# ------------------------------------------------------------------------------------------- by shape

_MEMBER = (
    rb"[\w-]{0,40}api[-_]?key|(?:access|refresh|id|auth|bearer|session|security)[-_]?token|client[-_]?secret"
    rb"|secret|secret[-_]?(?:access[-_]?)?key|private[-_]?key|subscription[-_]?key|password|passwd"
    rb"|(?:proxy[-_])?authorization|(?:set-)?cookie|org(?:ani[sz]ation)?[-_]?id"
    rb"|openai[-_](?:organization|project)"
)
_QUERY = (
    rb"(?:[\w-]{0,40}api[-_]?key|key|(?:access_)?token|sig|signature"
    rb"|x-amz-(?:signature|credential|security-token))"
)
# Every look-ahead is bounded: the patterns stay linear on hostile input.
_DIGIT = rb"(?=[\w-]{0,200}[0-9])"
_DENSE = rb"(?=[\w-]{0,200}?(?<![A-Za-z0-9])(?=[A-Za-z]{0,200}[0-9])[A-Za-z0-9]{12})"  # no words-with-dashes
_PATTERNS: tuple[tuple[str, bytes], ...] = (
    ("key", rb"(?<![\w-])sk[-_]" + _DENSE + rb"[\w-]{16,}"),
    ("key", rb"(?<![\w-])(?:gsk_|hf_|xai-|csk-|r8_|nvapi-|pplx-|fw_|tgp_v1_)" + _DIGIT + rb"[\w-]{20,}"),
    ("key", rb"(?<![\w-])AIza[\w-]{30,}"),
    ("token", rb"(?<![\w-])ya29\.[\w-]{20,}"),
    ("key", rb"(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{16}(?![\w-])"),
    ("token", rb"(?<![\w-])(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{20,}"),
    ("account id", rb"(?<![\w-])(?:org-|proj_|user[-_])" + _DIGIT + rb"[A-Za-z0-9]{16,}(?![\w-])"),
    ("JWT", rb"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    ("bearer token", rb"(?i:bearer)[ +]{1,3}(?P<bearer>(?=[\w.~+/-]{0,200}[0-9])[\w.~+/-]{12,}=*)"),
    ("user and password", rb"://(?P<user>[\w.~%!$&*+=-]{1,200}:[\w.~%!$&*+=-]{1,200})@"),
    ("query parameter", rb"(?i:[?&;]" + _QUERY + rb"=)(?P<query>[^&;\s\"'<>\[\]\\]{8,})"),
    ("JSON member", rb'(?i:"(?:' + _MEMBER + rb')")\s*:\s*"(?P<member>(?!\[redacted\]")(?:[^"\\]|\\.)+)'),
    (
        "member of JSON in JSON",
        rb'(?i:\\"(?:' + _MEMBER + rb')\\")\s*:\s*\\"(?P<quoted>(?!\[redacted\]\\)(?:[^"\\]|\\[^"])+)',
    ),
)


def kinds(characters: bytes) -> bytes:
    """A table for ``runs``; ``characters`` is a class as in a pattern."""
    return bytes(b" -"[re.match(characters, bytes([code])) is not None] for code in range(256))


_SHAPES = [(name, re.compile(pattern, re.DOTALL)) for name, pattern in _PATTERNS]
# What a shape can't do without, in lower case: looking for that first is far cheaper than for the shape.
_WORD, _BEARER, _USER, _QUERIES, _MEMBERS = (
    _SHAPES[:8],
    _SHAPES[8:9],
    _SHAPES[9:10],
    _SHAPES[10:11],
    _SHAPES[11:],
)
_QUERY_ENDS = (b"key=", b"token=", b"sig=", b"signature=", b"credential=")
# The ends of the names in _MEMBER without their dashes and with the quote behind them, by their own ends.
_MEMBER_ENDS: dict[bytes, tuple[bytes, ...]] = {
    b'key"': (b'apikey"', b'secretkey"', b'accesskey"', b'privatekey"', b'subscriptionkey"'),
    b'token"': tuple(kind + b'token"' for kind in b"access refresh id auth bearer session security".split()),
    b'id"': (b'orgid"', b'ationid"'),
    b'ization"': (b'authorization"', b'openaiorganization"'),
    b'secret"': (b'secret"',),
    b"passw": (b'password"', b'passwd"'),
    b'cookie"': (b'cookie"',),
    b'openaiproject"': (b'openaiproject"',),
}
_WORD_KINDS = kinds(b"[A-Za-z0-9_.-]")
_SHORTEST_WORD = 19  # of the first eight shapes


def runs(data: bytes, table: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """Where at least ``shortest`` bytes of the table's kind follow each other, as far as they do."""
    kind, wanted = data.translate(table), b"-" * shortest
    start = kind.find(wanted)
    while start >= 0:
        end = kind.find(b" ", start + shortest)
        end = len(data) if end < 0 else end
        yield start, end
        start = kind.find(wanted, end)


def shapes(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Where something has the shape of a credential: (start, end, what the shape is called)."""
    for name, pattern in _possible(data):
        for match in pattern.finditer(data):
            yield *match.span(match.lastgroup or 0), name


def _possible(data: bytes) -> Iterator[tuple[str, re.Pattern[bytes]]]:
    words = b" ".join({data[start:end] for start, end in runs(data, _WORD_KINDS, _SHORTEST_WORD)})
    yield from (shape for shape in _WORD if shape[1].search(words))
    lower = data.lower()
    if b"bearer" in lower:
        yield from _BEARER
    if b"://" in data:
        yield from _USER
    if any(end in lower for end in _QUERY_ENDS):
        yield from _QUERIES
    bare = lower.translate(None, b"-_\\")
    if any(end in bare and any(whole in bare for whole in ends) for end, ends in _MEMBER_ENDS.items()):
        yield from _MEMBERS


def credentials(request: HttpRequest) -> list[str]:
    """The secrets that a request carries in its headers and its URL."""
    found = []
    for name, value in request.headers:
        if not is_secret_name(name):
            continue
        scheme, _, rest = value.partition(" ")
        token = rest.strip() or scheme
        found.append(token)
        if scheme.lower() == "basic":
            user, _, password = unbase64(token).decode("utf-8", "replace").partition(":")
            found += [user, password]
        if name.lower() == "cookie":
            found += [pair.partition("=")[2].strip() for pair in value.split(";")]
    try:
        parts = urlsplit(request.url)
    except ValueError:
        return found
    found += [unquote(text) for text in (parts.username, parts.password) if text]
    found += [value for name, value in parse_qsl(parts.query) if is_secret_name(name)]
    return found


# ------------------------------------------------------------------------------------------- by value


class Values:
    """Finds known secrets in all their spellings."""

    __slots__ = ("_ascii", "_folded", "_pattern", "_spelled")

    def __init__(self, secrets: Iterable[str]) -> None:
        plain: set[bytes] = set()
        blobs: set[bytes] = set()
        for secret in secrets:
            plain.update(_spellings(secret))
            blobs.update(_base64_cores(encode(secret)))
        self._spelled = plain | blobs
        self._folded = {_fold(text) for text in self._spelled}
        self._ascii = all(map(bytes.isascii, self._spelled))
        self._pattern = re.compile(b"(?P<plain>%b)|(?P<blob>%b)" % (_any_of(plain), _any_of(blobs)))

    def found(self, data: bytes) -> bool:
        """Whether one is in there. A few plain searches: far cheaper than the pattern."""
        return any(text in data for text in self._spelled)

    def matches(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """Where they are; a match of the group ``blob`` lies in base64."""
        return self._pattern.finditer(data) if self._spelled and self.found(data) else iter(())

    def disguised(self, data: bytes) -> Iterator[str]:
        """How one is hidden that doesn't show in ``data`` itself."""
        if self._spelled:
            yield from (how for how, view in self._views(data) if self.found(view))

    def _views(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        if b"%" in data:
            once = unquote_to_bytes(data)
            yield "percent-encoded", once
            yield "percent-encoded twice", unquote_to_bytes(once)
        folded = _fold(data)
        # Unescaping takes backslashes away, which folding does too and fast, and turns u00xx into ASCII.
        if b"\\" in data and (
            not self._ascii or _ASCII_ESCAPE.search(folded) or any(text in folded for text in self._folded)
        ):
            once = _unescape(data)
            yield "JSON-escaped", once
            yield "JSON-escaped twice", _unescape(once)
        if b"&" in data:
            yield "HTML-escaped", encode(html.unescape(data.decode("utf-8", "replace")))
        yield "folded", folded


_ASCII_ESCAPE = re.compile(rb"u00[0-7]")


def _fold(text: bytes) -> bytes:
    return text.translate(None, b" \t\n\r\v\f\\")


def _any_of(texts: Iterable[bytes]) -> bytes:
    return b"|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _spellings(secret: str) -> Iterator[bytes]:
    raw = encode(secret)
    once = quote(raw, safe="")
    escaped = json.dumps(secret)[1:-1]
    texts = {once, quote(raw), quote_plus(raw), quote(once, safe=""), html.escape(secret), escaped}
    texts |= {
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(escaped)[1:-1],
        escaped.replace("/", "\\/"),
    }
    texts |= {re.sub("%[0-9A-F]{2}", lambda m: m[0].lower(), text) for text in texts}
    texts |= {raw.hex(), raw.hex().upper(), raw.decode("latin-1")}  # the last: as a header's bytes are read
    yield from {raw, *map(encode, texts)}


def _base64_cores(raw: bytes) -> Iterator[bytes]:
    """What base64 of any text around ``raw`` must contain: one core for each alignment and alphabet."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw)
        start = (shift * 8 + 5) // 6
        core = encoded[start : (shift + len(raw)) * 8 // 6]
        yield core
        yield core.translate(bytes.maketrans(b"+/", b"-_"))


def _unescape(raw: bytes) -> bytes:
    return re.sub(
        rb"\\(?:u([0-9a-fA-F]{4})|([^u]))", lambda m: encode(chr(int(m[1], 16))) if m[1] else m[2], raw
    )


def unbase64(data: bytes | str) -> bytes:
    """What base64 of either alphabet holds, with or without padding; ``b""`` when it isn't any."""
    raw = encode(data) if isinstance(data, str) else data
    raw = raw.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    raw = raw[: len(raw) - (len(raw) % 4 == 1)]
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except ValueError:
        return b""


def encode(text: str) -> bytes:
    """UTF-8 that survives lone surrogates."""
    return text.encode("utf-8", "surrogatepass")

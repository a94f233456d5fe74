"""Recordings that somebody changed or made up by hand: what tells it, and what of them is no evidence."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from conformance.grade.providers import LONG_IDS
from conformance.grade.recognise import Recognised, answers_of
from conformance.grade.recorded import Recorded
from conformance.rules.reading import Reading

Headers = tuple[tuple[str, str], ...]

_CREATED = re.compile(rb'"created(?:_at)?"\s{0,9}:\s{0,9}(\d{9,10})\b')
_DAY = timedelta(days=1)
_SLACK = 64
"""Bytes by which recorders change a body when they hide what is private in it."""

_REPLACED = re.compile(r"(?i)redacted|scrubbed|filtered|masked|x{3}|\*{3}|\.{3}|^<.*>$|^$")
"""What recorders write in place of a value that they hide."""
_HEADER_REPLACED = re.compile(r"(?i)redacted|scrubbed|filtered|-X{3}$|\*{3}|^<[A-Z_]+>$")
_BESIDE_AN_ID = (("openai-processing-ms", "x-request-id"), ("anthropic-ratelimit-", "request-id"))
"""Beginnings of names of headers that a provider sends beside its request id, and the id's name."""
_MACHINE_MADE = re.compile(r"[A-Za-z0-9]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_CHATCMPL = frozenset({"xai", "mistral", "perplexity", "zai", "vercel-gateway"})
"""Providers whose ids begin otherwise than OpenAI's: a body alone that has both is put together."""
_GROQ_OWN = "stub"
"""The id that Groq's Compound itself sends in some answers."""
_CREATED_AT = re.compile(rb'"created_at"\s{0,9}:\s{0,9}"([0-9T:+-]{0,40}(\.\d)?)')
_EPOCH = b"1970-"
_MEDIA = re.compile(
    rb'"inlineData"\s{0,9}:\s{0,9}\{\s{0,99}"mimeType"\s{0,9}:\s{0,9}"((?:image|audio|video)/[^"]{1,40})"'
    rb'\s{0,9},\s{0,99}"data"\s{0,9}:\s{0,9}"([^"]{0,80})"'
)
_LEAST_MEDIA = 60
"""Bytes: the smallest picture that can be seen has more, and so has the shortest sound."""
_LOGPROBS = re.compile(rb'"avgLogprobs"\s{0,9}:\s{0,9}-?\d\.(\d{1,3})\s{0,99}[,}]')
"""A mean of logarithms with so few digits is nobody's but a person's."""
_LAID_OUT = re.compile(rb'^\{ +"')
_BY_HAND = "put together by hand"


def composed(recorded: Recorded) -> str | None:
    """Why head and body of an answer are not of one answer; ``None`` where nothing says so.

    A body that was created a day before or after its Date, unless a cache says that it had it; a
    Content-Length that is far more than the body. It may be far less: of the body before it was unpacked.
    """
    exchange = recorded.exchange
    response = exchange.response
    if response is None or exchange.ending != "complete" or not {"headers", "values"} <= recorded.kept:
        return None
    if exchange.request.method.upper() == "POST" and not _cached(response.headers):
        sent = _date(response.headers)
        created = [int(found[1]) for found in _CREATED.finditer(response.body)]
        if sent is not None and created:
            nearest = min((datetime.fromtimestamp(at, UTC) - sent for at in created), key=abs)
            if abs(nearest) > _DAY:
                return f"{_BY_HAND}: the body is {abs(nearest).days} days from its Date"
    length = _length(response.headers)
    if "spelling" in recorded.kept and length is not None and length > len(response.body) + _SLACK:
        return f"{_BY_HAND}: its Content-Length is that of another body"
    return None


def made_up(recorded: Recorded, reading: Reading, seen: Recognised) -> str | None:
    """Why nobody but a person can have written an answer; ``None`` where nothing says so.

    Providers' ids are random and long, their times have fractions of a second, what they send as a picture is
    one. Whoever writes a test's data types short ids, whole seconds and three bytes of picture. What a
    recorder put in place of a value that it hides is none of that, and our own recordings are not asked.
    """
    if recorded.exchange.probe is not None or "values" not in recorded.kept or not reading.succeeded:
        return None
    response = recorded.exchange.response
    body = response.body if response is not None else b""
    if seen.provider in LONG_IDS:
        name = next(_ids(answers_of(reading)), None)
        if name is not None and not (
            _MACHINE_MADE.search(name) or _REPLACED.search(name) or name == _GROQ_OWN
        ):
            return f"{_BY_HAND}: {seen.provider} makes no such id as {json.dumps(name)}"
        if name is not None and seen.told_by in ("answer", "folder") and _anothers(name, seen.provider):
            return f"{_BY_HAND}: {seen.provider} makes no ids that begin with chatcmpl"
    if seen.wire == "ollama":
        times = [found for found in _CREATED_AT.finditer(body) if not found[1].startswith(_EPOCH)]
        if times and not any(found[2] for found in times):
            return f"{_BY_HAND}: its times are of whole seconds"
    if seen.wire == "gemini" and any(found[1].strip(b"0") for found in _LOGPROBS.finditer(body)):
        return f"{_BY_HAND}: a mean of logarithms has more digits"
    for media in _MEDIA.finditer(body):
        size = _decoded_size(media[2])
        if size is not None and size < _LEAST_MEDIA:
            return f"{_BY_HAND}: its {media[1].decode('latin-1')} is of {size} bytes"
    if (
        "spelling" in recorded.kept
        and _LAID_OUT.match(body)
        and _LAID_OUT.match(recorded.exchange.request.body)
    ):
        return f"{_BY_HAND}: question and answer are laid out alike, as no client and no server writes them"
    return None


def without_replaced(recorded: Recorded) -> Recorded:
    """The recording without headers whose values its recorder replaced, and what that leaves of it.

    An answer with neither Date nor Server came with others than the recorder kept, and so did one without the
    request id that its provider sends beside what is there.
    """
    response = recorded.exchange.response
    if response is None or "headers" not in recorded.kept:
        return recorded
    kept = tuple(one for one in response.headers if not _HEADER_REPLACED.search(one[1]))
    names = {name.lower() for name, _ in kept}
    thinned = names.isdisjoint(("date", "server")) or any(
        request_id not in names and any(name.startswith(beginning) for name in names)
        for beginning, request_id in _BESIDE_AN_ID
    )
    if len(kept) == len(response.headers) and not thinned:
        return recorded
    exchange = replace(recorded.exchange, response=replace(response, headers=kept))
    return replace(recorded, exchange=exchange, kept=recorded.kept - {"all-headers"})


def request_changed(recorded: Recorded) -> bool:
    """Whether the body of a request is not the one that was sent: its Content-Length is another's.

    JSON that the recorder wrote anew, with or without white space, is the same body.
    """
    request = recorded.exchange.request
    length = _length(request.headers)
    if not request.body or length in (None, len(request.body)):
        return False
    try:
        value = json.loads(request.body)
        return all(
            length != len(json.dumps(value, ensure_ascii=escaped, separators=separators).encode())
            for escaped in (False, True)
            for separators in ((",", ":"), (", ", ": "))
        )
    except (ValueError, RecursionError):
        return True


def _anothers(name: str, provider: str) -> bool:
    return provider in _NO_CHATCMPL and name.startswith("chatcmpl-") and not _REPLACED.search(name)


def _ids(answers: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """The ids of an answer: its own, or that of the message or response in its first event."""
    for one in answers:
        for place in (one, one.get("response"), one.get("message")):
            if isinstance(place, dict) and isinstance(name := place.get("id"), str) and name:
                yield name


def _decoded_size(data: bytes) -> int | None:
    """How many bytes a base64 text begins with; ``None`` where it is none."""
    try:
        return len(base64.b64decode(data[: len(data) // 4 * 4], validate=True))
    except (binascii.Error, ValueError):
        return None


def _header(headers: Headers, name: str) -> str | None:
    return next((value for key, value in headers if key.lower() == name), None)


def _cached(headers: Headers) -> bool:
    return any(
        key.lower() == "age" or ("cache" in key.lower() and "hit" in value.lower()) for key, value in headers
    )


def _date(headers: Headers) -> datetime | None:
    try:
        sent = parsedate_to_datetime(_header(headers, "date") or "")
        return sent if sent.tzinfo else sent.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _length(headers: Headers) -> int | None:
    text = _header(headers, "content-length") or ""
    packed = _header(headers, "content-encoding") is not None
    return int(text) if not packed and len(text) < 12 and text.isascii() and text.isdigit() else None

"""One exchange, read once: its JSON parsed strictly, its event stream taken apart.

Nothing here raises on any bytes, and nothing is parsed twice: every view of an exchange shares its reading.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.rules.folding import Fold, fold
from conformance.transport import sse
from conformance.types import Exchange

MAX_DEPTH = 128
"""Arrays and objects nested deeper than this are refused: no client needs them, and recursion is not free."""

DONE = "[DONE]"


class _Absent:
    """The value of a member that is not there (``None`` is JSON's ``null``)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class JsonText:
    """A text read as JSON. ``value`` is ``ABSENT`` where it is none; ``problem`` then says why.

    A byte order mark is a problem, yet the value behind it is there. ``duplicates`` are the member names
    that an object repeats (the last one counts). ``beyond``: it passes a limit of ours, nested too deep or
    with an integer too long; it may well be JSON, and nothing is said of it.
    """

    value: Any = ABSENT
    problem: str = ""
    duplicates: tuple[str, ...] = ()
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One exchange with everything that rules read from it.

    ``index`` is its place in the run; ``asked`` the request's JSON (or ``ABSENT``). A response that is
    framed as an event stream has ``stream``, and by event number ``payloads`` and ``folds`` (the events
    without a payload of their own); any other has ``body``.
    """

    index: int
    exchange: Exchange
    asked: Any
    body: JsonText
    stream: sse.Stream | None
    payloads: Mapping[int, JsonText] = field(default_factory=dict)
    folds: Mapping[int, Fold] = field(default_factory=dict)

    @property
    def status(self) -> int:
        """The HTTP status; 0 where nothing came back."""
        return self.exchange.response.status if self.exchange.response else 0

    @property
    def succeeded(self) -> bool:
        """True for a 2xx answer."""
        return 200 <= self.status < 300

    @property
    def beyond(self) -> bool:
        """True when a part of the response passes a limit of ours, so that its text can't be judged."""
        return self.body.beyond or any(payload.beyond for payload in self.payloads.values())

    @property
    def media_type(self) -> str | None:
        """The essence of ``Content-Type``, in lower case; ``None`` where it was not sent."""
        header = self.exchange.response.header("content-type") if self.exchange.response else None
        return None if header is None else header.partition(";")[0].strip().lower()

    @property
    def body_at(self) -> str:
        """The JSON Pointer of the response's body."""
        return f"/exchanges/{self.index}/response/body"

    @property
    def path(self) -> str:
        """The path of the request's URL, without a slash at its end."""
        try:
            return urlsplit(self.exchange.request.url).path.rstrip("/")
        except ValueError:
            return ""


def read(index: int, exchange: Exchange) -> Reading:
    """Read an exchange, once."""
    response = exchange.response
    asked = read_json(exchange.request.body).value
    if response is None:
        return Reading(index, exchange, asked, JsonText(problem="no response"), None)
    content_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    if response.status < 300 and is_event_stream(response.body, content_type):
        stream = sse.parse(response.body)
        folds = fold(stream.events)
        folded = {number for one in folds.values() for number in one.events}
        payloads = {
            event.number: JsonText(problem="the end marker") if event.data == DONE else read_json(event.data)
            for event in stream.events
            if event.number not in folded
        }
        return Reading(index, exchange, asked, JsonText(problem="an event stream"), stream, payloads, folds)
    return Reading(index, exchange, asked, read_json(response.body), None)


def is_event_stream(body: bytes, media_type: str) -> bool:
    """Whether a body is framed as server-sent events; the framing decides before the header does."""
    head = body[:4096].removeprefix(codecs.BOM_UTF8).lstrip()
    if head.startswith((b"{", b"[", b"<")):
        return False
    return media_type == "text/event-stream" or head.startswith(
        (b"data:", b"event:", b"id:", b"retry:", b":")
    )


def read_json(text: bytes | str) -> JsonText:
    """Read one JSON text by RFC 8259: UTF-8, no NaN, nothing after it, names noted that repeat."""
    problem = ""
    if isinstance(text, bytes):
        if text.startswith(codecs.BOM_UTF8):
            problem, text = "begins with a byte order mark", text[len(codecs.BOM_UTF8) :]
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            return JsonText(problem=f"not UTF-8 at byte {error.start}")
    if not text.strip():
        return JsonText(problem="empty")
    if _too_deep(text):
        return JsonText(problem=f"nested deeper than {MAX_DEPTH}", beyond=True)
    duplicates: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            seen = Counter(name for name, _ in pairs)
            duplicates.extend(name for name, times in seen.items() if times > 1)
        return value

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return JsonText(problem=f"{error.msg} at character {error.pos}")
    except _NotJson as error:
        return JsonText(problem=str(error)[:100])
    except (ValueError, RecursionError) as error:
        return JsonText(problem=str(error)[:100], beyond=True)
    return JsonText(value, problem, tuple(duplicates[:20]))


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def _too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKETS.finditer(text):
        token = match.group()
        if token in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif token in ("]", "}"):
            depth -= 1
    return False


class _NotJson(ValueError):
    pass


def _no_constant(name: str) -> Any:
    raise _NotJson(f"{name} is not JSON")

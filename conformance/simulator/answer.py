"""What an answer is made of: a list of actions, so that any lie is a list too.

The honest answers use `Respond` (a whole answer) or `Head` and `Event` (a stream). Behaviours
rewrite them before the server performs them; nothing here is bytes yet, so a lie about a member of
a document and a lie about the framing are equally easy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]

JSON_TYPE: Headers = (("content-type", "application/json"),)
STREAM_TYPE: Headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))


@dataclass(frozen=True, slots=True)
class Respond:
    """A whole answer with a ``content-length``; ``body`` is sent as it is if bytes, as JSON otherwise."""

    status: int
    headers: Headers
    body: Any


@dataclass(frozen=True, slots=True)
class Head:
    """The status line and headers of a body that follows.

    ``framing="none"`` frames nothing: the body ends with the connection, or where a
    ``content-length`` among the headers says it does. ``cost`` is the usage, for who tells it unasked.
    """

    status: int
    headers: Headers
    framing: Literal["chunked", "none"] = "chunked"
    cost: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event, written at once; ``data`` goes out as it is if a string, as JSON otherwise.

    ``name`` is its ``event`` field, where it has one.
    """

    data: Any
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a body of JSON lines, written at once."""

    data: Any


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of the body, or of anything at all when no head came before."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing, for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reset:
    """Break the connection (RST)."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection here, finished or not."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing more until the client gives up."""


Action: TypeAlias = Respond | Head | Event | Line | Bytes | Pause | Reset | Close | Hang
Actions: TypeAlias = Iterable[Action]


class Refused(Exception):
    """A request refused, as the answer to send.

    ``why`` goes into the journal; ``document`` is the error body. One that is ``worded`` goes out as it is,
    and with ``answer`` given that goes out in its place.
    """

    def __init__(
        self,
        status: int,
        document: Any,
        why: str,
        headers: Headers = (),
        *,
        worded: bool = False,
        answer: Actions | None = None,
    ) -> None:
        super().__init__(why)
        self.status = status
        self.document = document
        self.why = why
        self.headers = headers
        self.worded = worded
        self.answer = answer

    @property
    def error(self) -> dict[str, Any] | None:
        """The error object of OpenAI's document; ``None`` where the document is another."""
        error = self.document.get("error") if isinstance(self.document, dict) else None
        return error if isinstance(error, dict) else None

    def actions(self) -> Actions:
        """The answer that tells the client."""
        return self.answer or [Respond(self.status, JSON_TYPE + self.headers, self.document)]


def refusal(
    message: str,
    *,
    status: int = 400,
    param: str | None = None,
    code: str | None = None,
    why: str | None = None,
    kind: str = "invalid_request_error",
    headers: Headers = (),
) -> Refused:
    """A refusal with OpenAI's error body (openai/openai-openapi, schema ``ErrorResponse``)."""
    document = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Refused(status, document, why or f"{status} {code or param or kind}", headers)


def encode(document: Any) -> bytes:
    """``document`` as JSON bytes in UTF-8, on one line, non-ASCII characters unescaped."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def encode_event(event: Event) -> bytes:
    """A server-sent event as it goes out (HTML standard, 9.2)."""
    payload = event.data.encode() if isinstance(event.data, str) else encode(event.data)
    named = b"" if event.name is None else b"event: " + event.name.encode() + b"\n"
    return named + b"data: " + payload + b"\n\n"


def encode_line(document: Any) -> bytes:
    """``document`` as a line of JSON, U+2028 and U+2029 escaped as Go does: some readers end a line there."""
    line = encode(document) + b"\n"
    return line.replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")

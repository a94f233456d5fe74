"""Recorded exchanges from what importers find: headers in all their shapes, a status, a body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.grade.bodies import Decoded, dechunked, decoded, from_value, is_event_stream
from conformance.grade.recorded import KEPT, Fidelity, Recorded, Unusable
from conformance.grade.source import Source, Unreadable, dump_json, load_json
from conformance.types import Aspect, Exchange, HttpRequest, HttpResponse

Headers = tuple[tuple[str, str], ...]

NO_REQUEST = HttpRequest("", "", (), b"")
"""Stands for a request that the recorder did not keep."""

BINARY_STREAM = "Amazon's binary event stream (Bedrock): no such wire here"
"""Why an exchange can't be graded whose response is one."""

_STATUS = re.compile(r"\s*([1-9][0-9]{2})\b")
_MAX_HEADERS = 1_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Which file, by which importer and of what fidelity: what all exchanges of a file share.

    ``kept`` is what the format keeps; ``None`` for all that its fidelity promises.
    """

    source: Source
    format: str
    fidelity: Fidelity
    kept: frozenset[Aspect] | None = None

    def unusable(self, reason: str, position: int | None = None) -> Unusable:
        """What could not be read, and why."""
        return Unusable(self.source.file, reason, position)

    @staticmethod
    def why(value: object) -> str:
        """What a JSON value is that an importer had no use for: the reason why it is none, or its type."""
        return str(value) if isinstance(value, Unreadable) else f"a JSON {type(value).__name__}"

    def recorded(
        self,
        position: int,
        request: HttpRequest | None,
        status: object,
        headers: Headers,
        body: Decoded,
        parts: Sequence[tuple[float, int]] = (),
        *,
        packed: bool = True,
    ) -> Recorded | Unusable:
        """The exchange, its response's body unpacked. Without a request it is no evidence of one.

        ``status`` is a number or a status line's text; ``None`` where the recorder kept none: 200 is assumed.
        Unless ``packed``, the body is taken as it is, whatever headers say of its coding.
        `Unusable` where there is no such status, where the body is not what was sent, and for Bedrock's
        binary streams, which no wire of ours has.
        """
        code = 200 if status is None else status_of(status)
        if code is None:
            return self.unusable("no HTTP status that could be one", position)
        names = {name.lower(): value for name, value in reversed(headers)}
        if packed and body.problem is None and "chunked" in names.get("transfer-encoding", "").lower():
            body = dechunked(body.data)
        if packed and body.problem is None:
            body = decoded(body.data, names.get("content-encoding"))
        if body.problem is not None:
            return self.unusable(f"response body: {body.problem}", position)
        if is_event_stream(body.data):
            return self.unusable(BINARY_STREAM, position)
        evidence = set(KEPT[self.fidelity] if self.kept is None else self.kept)
        evidence -= {"request"} if request is None else set()
        evidence -= {"status"} if status is None else set()
        # The body is unpacked now; a header that says otherwise would mislead whoever reads on.
        kept = tuple((name, value) for name, value in headers if name.lower() != "content-encoding")
        response = HttpResponse(code, kept, body.data, tuple(parts))
        exchange = Exchange(request or NO_REQUEST, response, "complete", "openai-chat", expect="either")
        return Recorded(
            exchange,
            self.source.file,
            position,
            self.format,
            self.fidelity,
            frozenset(evidence),
        )


def request_of(method: object, url: object, headers: Headers, body: Decoded) -> HttpRequest:
    """A request; what a recorder packed is unpacked, and what can't be read of its body is left out."""
    encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
    whole = body if body.problem else decoded(body.data, encoding)
    kept = tuple((name, value) for name, value in headers if name.lower() != "content-encoding")
    return HttpRequest(
        method.upper() if isinstance(method, str) else "",
        url if isinstance(url, str) else "",
        kept,
        b"" if whole.problem else whole.data,
    )


def status_of(value: object) -> int | None:
    """The HTTP status that a number or a text such as ``200 OK`` says, if it is one."""
    if isinstance(value, bool):
        return None
    match = _STATUS.match(str(value)) if isinstance(value, int | str) else None
    return int(match[1]) if match and len(str(value)) < 100 else None


def headers_of(value: object) -> Headers:
    """Headers as recorders write them; whatever is none is left out.

    A table of names with a text or a list of texts each; a list of ``{"name", "value"}`` tables or of pairs.
    """
    found: list[tuple[str, str]] = []
    if isinstance(value, Mapping):
        for name, given in value.items():
            for one in given if isinstance(given, list | tuple) else [given]:
                _take(found, name, one)
    elif isinstance(value, list | tuple):
        for one in value:
            if isinstance(one, Mapping):
                _take(found, one.get("name"), one.get("value"))
            elif isinstance(one, list | tuple) and len(one) == 2:
                _take(found, *one)
    return tuple(found)


def flat_headers(value: object) -> Headers:
    """Headers as Node.js lists them: name, value, name, value."""
    if not isinstance(value, list | tuple):
        return headers_of(value)
    return headers_of(list(zip(value[::2], value[1::2], strict=False)))


def table(value: object) -> dict[str, Any]:
    """The value where it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def opened(value: Any) -> Any:
    """The value; where it is a text that holds JSON, what that holds."""
    if not isinstance(value, str):
        return value
    try:
        return load_json(value.encode("utf-8", "replace"))
    except Unreadable:
        return value


def without(found: Recorded | Unusable, aspect: Aspect) -> Recorded | Unusable:
    """The exchange, no evidence of ``aspect`` either."""
    return replace(found, kept=found.kept - {aspect}) if isinstance(found, Recorded) else found


def json_body(value: Any) -> Decoded:
    """A body that the recorder decoded: a JSON value as compact JSON, a text as it is."""
    if value is None or isinstance(value, str | bytes):
        return from_value(value)
    try:
        return Decoded(dump_json(value))
    except Unreadable as error:
        return Decoded(b"", str(error))


def as_events(values: Iterable[Any]) -> bytes:
    """The data of events as an event stream; named where their own ``type`` tells the name.

    Raises `Unreadable`.
    """
    out = bytearray()
    for value in values:
        name = value.get("type") if isinstance(value, dict) else None
        if isinstance(name, str) and name.isprintable() and "choices" not in value:
            out += b"event: " + name.encode("utf-8", "replace") + b"\n"
        out += b"data: " + dump_json(value) + b"\n\n"
    return bytes(out)


def as_lines(values: Iterable[Any]) -> bytes:
    """JSON values as lines (NDJSON). Raises `Unreadable`."""
    return b"".join(dump_json(value) + b"\n" for value in values)


def _take(found: list[tuple[str, str]], name: object, value: object) -> None:
    if isinstance(name, bytes):
        name = name.decode("latin-1")
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    if isinstance(name, str) and name and isinstance(value, str | int | float) and len(found) < _MAX_HEADERS:
        found.append((name, str(value)))

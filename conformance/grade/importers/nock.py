"""nock's recordings: a JSON list of ``scope``, ``path``, ``body``, ``status``, ``response``, ``rawHeaders``.

Source: nock's README, "Recording" (``response`` is a JSON value, a text, or hexadecimal: a list of pieces
where it is packed, one text where ``responseIsBinary``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.grade.bodies import Decoded, from_pieces, from_value
from conformance.grade.exchanges import Origin, flat_headers, headers_of, json_body, request_of, table
from conformance.grade.recorded import Recorded, Unusable
from conformance.grade.source import Head, Source

name = "nock"

_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


def looks_like(head: Head) -> bool:
    """Objects with a scope, a path and a method."""
    return all(isinstance(head.item.get(key), str) for key in ("scope", "path", "method"))


def read(source: Source) -> Iterator[Recorded | Unusable]:
    """A response that nock decoded is ``parsed``, any other as the wire had it."""
    wire, parsed = Origin(source, name, "wire"), Origin(source, name, "parsed")
    for position, value in enumerate(source.values()):
        one = table(value)
        if not one:
            yield wire.unusable(f"not one of nock's records: {wire.why(value)}", position)
            continue
        url = f"{_base(one.get('scope'))}{one.get('path')}"
        headers = headers_of(one.get("reqheaders"))
        request = request_of(one.get("method"), url, headers, json_body(one.get("body")))
        is_wire, body = _body(one)
        answered = flat_headers(one.get("rawHeaders", one.get("headers")))
        yield (wire if is_wire else parsed).recorded(position, request, one.get("status"), answered, body)


def _base(scope: Any) -> str:
    """The scope without the port that goes without saying; nock always writes one."""
    text = scope if isinstance(scope, str) else ""
    return text.removesuffix(":443" if text.startswith("https:") else ":80")


def _body(one: dict[str, Any]) -> tuple[bool, Decoded]:
    """Whether the body is as the wire had it, and the body."""
    response = one.get("response")
    if isinstance(response, str):
        binary = one.get("responseIsBinary") is True
        return True, from_pieces([response]) if binary else from_value(response)
    if isinstance(response, list) and response and all(map(_is_hex, response)):
        return True, from_pieces(response)
    return False, json_body(response)


def _is_hex(piece: Any) -> bool:
    return isinstance(piece, str) and _HEX.fullmatch(piece) is not None

"""Deviations of who is let in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.simulator.addresses import address
from conformance.simulator.answer import JSON_TYPE, Actions, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, labelled
from conformance.simulator.http import header
from conformance.types import HttpRequest


@dataclass(frozen=True, slots=True)
class HeaderRefused(Behaviour):
    """One answer to all requests to some paths in which a header has such a value, but for those that have
    the header ``unless``.
    """

    header: str = ""
    value: re.Pattern[str] = re.compile("")
    path: re.Pattern[str] = re.compile("")
    unless: str | None = None
    answer: Respond = field(default=Respond(401, (), b""), hash=False)

    def first(self, request: HttpRequest) -> Actions | None:
        given = header(request.headers, self.header)
        if self.unless is not None and header(request.headers, self.unless) is not None:
            return None
        met = given is not None and self.value.fullmatch(given) and self.path.fullmatch(address(request).rest)
        return [self.answer] if met else None


def _header_refused(
    header: str,
    matches: str,
    status: int,
    body: Any,
    path: str = ".*",
    headers: Mapping[str, str | None] | None = None,
    unless: str | None = None,
) -> Behaviour:
    """``path`` is a pattern for all that follows the persona's name; a ``body`` of text goes out as it is."""
    told = labelled(
        "header-refused",
        header=header,
        matches=matches,
        status=status,
        body=body,
        path=path,
        headers=headers,
        unless=unless,
    )
    sent = {"content-type": "application/json", **(headers or {})}
    said = body.encode() if isinstance(body, str) else body
    lines = tuple((name, value) for name, value in sent.items() if value is not None)
    answer = Respond(status, lines, said)
    return HeaderRefused(told, header.lower(), re.compile(matches), re.compile(path), unless, answer)


@dataclass(frozen=True, slots=True)
class KeyInHeader(Behaviour):
    """The key is wanted in a header of its own; a bearer token is refused."""

    header: str = ""
    answer: Respond = field(default=Respond(401, (), b""), hash=False)

    def first(self, request: HttpRequest) -> Actions | None:
        bearer = header(request.headers, "authorization") is not None
        return [self.answer] if bearer and header(request.headers, self.header) is None else None

    def keyed(self, request: HttpRequest) -> HttpRequest:
        key = header(request.headers, self.header)
        if key is None:
            return request
        others = tuple(line for line in request.headers if line[0].lower() != "authorization")
        return replace(request, headers=(*others, ("authorization", f"Bearer {key}")))


def _key_in_header(header: str, body: Any, status: int = 401) -> Behaviour:
    answer = Respond(status, JSON_TYPE, body)
    return KeyInHeader(
        labelled("key-in-header", header=header, body=body, status=status), header.lower(), answer
    )


ACCESS: Mapping[str, Maker] = {"header-refused": _header_refused, "key-in-header": _key_in_header}
"""Makers by name."""

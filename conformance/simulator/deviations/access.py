"""Deviations of who is let in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.simulator.addresses import address
from conformance.simulator.answer import Actions, Respond
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, labelled
from conformance.simulator.http import header
from conformance.types import HttpRequest


@dataclass(frozen=True, slots=True)
class HeaderRefused(Behaviour):
    """One answer to all requests to some paths in which a header has such a value."""

    header: str = ""
    value: re.Pattern[str] = re.compile("")
    path: re.Pattern[str] = re.compile("")
    answer: Respond = field(default=Respond(401, (), b""), hash=False)

    def first(self, request: HttpRequest) -> Actions | None:
        given = header(request.headers, self.header)
        met = given is not None and self.value.fullmatch(given) and self.path.fullmatch(address(request).rest)
        return [self.answer] if met else None


def _header_refused(
    header: str,
    matches: str,
    status: int,
    body: Any,
    path: str = ".*",
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """``path`` is a pattern for all that follows the persona's name; a ``body`` of text goes out as it is."""
    told = labelled(
        "header-refused", header=header, matches=matches, status=status, body=body, path=path, headers=headers
    )
    sent = {"content-type": "application/json", **(headers or {})}
    said = body.encode() if isinstance(body, str) else body
    answer = Respond(status, tuple(sent.items()), said)
    return HeaderRefused(told, header.lower(), re.compile(matches), re.compile(path), answer)


ACCESS: Mapping[str, Maker] = {"header-refused": _header_refused}
"""Makers by name."""

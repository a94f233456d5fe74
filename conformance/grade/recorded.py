"""One recorded exchange, where it stands, and what the recorder kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from conformance.types import Aspect, Exchange, WireName

Fidelity = Literal[
    "wire",  # bytes as the client saw them, after content decoding
    "wire-chunks",  # the same, and how the network cut them
    "wire-blocks",  # a list of whole server-sent events
    "scrubbed",  # ids and times rewritten, members sorted, some headers taken away
    "parsed",  # JSON decoded, then encoded again by the recorder
    "reformatted",  # a pretty-printed body alone: no request, no headers, no status
    "event-data",  # the data of each event on a line: no event names, no end marker
    "sdk-dump",  # objects of a client library, absent members filled in
]

_ALL_BUT_TIMES: frozenset[Aspect] = frozenset(
    {"request", "status", "headers", "all-headers", "framing", "spelling", "presence", "values"}
)

KEPT: Mapping[Fidelity, frozenset[Aspect]] = {
    "wire": _ALL_BUT_TIMES,
    "wire-chunks": _ALL_BUT_TIMES | {"arrival"},
    "wire-blocks": _ALL_BUT_TIMES,
    "scrubbed": frozenset({"request", "status", "framing", "presence"}),
    "parsed": frozenset({"request", "status", "headers", "all-headers", "presence", "values"}),
    "reformatted": frozenset({"presence", "values"}),
    "event-data": frozenset({"presence", "values"}),
    "sdk-dump": frozenset(),
}
"""What a recording of each fidelity is evidence for, unless its importer knows better."""

SIMULATED = "simulated:"
"""Begins the name of an endpoint that is a persona of the simulator; the persona's own follows."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An exchange as a recorder left it.

    ``file`` is the path as given, ``position`` counts the exchanges of the file from 0. ``kept`` is what it
    is evidence for. ``wire``, ``endpoint`` and ``scenario`` are what the recording itself says, if it does.
    The exchange's own ``wire`` is only right once `recognise` has looked at it.
    """

    exchange: Exchange
    file: str
    position: int
    format: str
    fidelity: Fidelity
    kept: frozenset[Aspect] = field(default=frozenset())
    wire: WireName | None = None
    endpoint: str | None = None
    scenario: str | None = None


@dataclass(frozen=True, slots=True)
class Unusable:
    """What could not be read, and why, in a line that names the file and the fix where there is one.

    ``foreign`` is True for a file that is no recording at all, such as a README in a folder of cassettes.
    """

    file: str
    reason: str
    position: int | None = None
    foreign: bool = False

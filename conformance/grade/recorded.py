"""One recorded exchange, where it stands, and what the recorder kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from conformance.types import Exchange, WireName

Aspect = Literal[
    "request",  # the request's body is there
    "status",  # the HTTP status is the one that was received
    "headers",  # the response's headers are those that were received
    "framing",  # an event stream has its own lines: event and data fields, blank lines, end marker
    "spelling",  # JSON is spelt as it came: repeated members, numbers, white space, order of members
    "presence",  # a member that is absent was absent, and one that is null was null
    "values",  # ids, times of creation and model names are those that were sent
    "arrival",  # times and sizes of what the network brought
]
"""What a recording may have kept. A rule can only be judged on what it needs of these."""

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

KEPT: Mapping[Fidelity, frozenset[Aspect]] = {
    "wire": frozenset({"request", "status", "headers", "framing", "spelling", "presence", "values"}),
    "wire-chunks": frozenset(
        {"request", "status", "headers", "framing", "spelling", "presence", "values", "arrival"}
    ),
    "wire-blocks": frozenset({"request", "status", "headers", "framing", "spelling", "presence", "values"}),
    "scrubbed": frozenset({"request", "status", "framing", "presence"}),
    "parsed": frozenset({"request", "status", "headers", "presence", "values"}),
    "reformatted": frozenset({"presence", "values"}),
    "event-data": frozenset({"presence", "values"}),
    "sdk-dump": frozenset(),
}
"""What a recording of each fidelity is evidence for, unless its importer knows better."""


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
    """What could not be read, and why, in a line that names the file and the fix where there is one."""

    file: str
    reason: str
    position: int | None = None

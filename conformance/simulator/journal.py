"""The journal: what was asked of the simulator, and what it did and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from conformance.simulator.answer import Headers
from conformance.types import HttpRequest, WireName

ENTRIES = 10_000
BYTES = 8 * 1024 * 1024
"""How much of a run is kept: the newest entries, as far as their requests fit."""

_SECRET = re.compile(r"authorization|api[-_]?key|^key$|token|secret|cookie|password", re.IGNORECASE)
_MASKED = "[redacted]"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One request and what became of it.

    ``action`` is ``answered ORIGIN``, ``refused: WHY``, ``took over: WHY``, ``fault: NAME`` or ``failed:
    ERROR``; ORIGIN is a marker's name, a turn of the script file or ``improvised``, WHY a quirk's id where
    one is the reason. ``quirks`` are the ids of those that shaped the answer. ``asks``: the request asks
    the model, well or badly; ``body`` is its JSON object then, if it is one. ``status`` is ``None`` where no
    head of an answer was sent. Credentials in ``query`` and ``headers`` are masked. ``number`` counts the
    requests of a run from 1.
    """

    persona: str
    method: str
    path: str
    body: Mapping[str, Any] | None
    action: str
    number: int = 0
    run: str = ""
    wire: WireName | None = None
    status: int | None = None
    quirks: tuple[str, ...] = ()
    asks: bool = False
    query: str = ""
    headers: Headers = ()

    def document(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {
            "number": self.number,
            "run": self.run,
            "persona": self.persona,
            "wire": self.wire,
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "headers": [list(line) for line in self.headers],
            "body": self.body,
            "status": self.status,
            "action": self.action,
            "quirks": list(self.quirks),
            "asks": self.asks,
        }


class Journal:
    """The newest entries of one run. Other threads may read it."""

    def __init__(self) -> None:
        self._entries: list[JournalEntry] = []
        self._sizes: list[int] = []
        self._count = 0
        self.size = 0
        """Bytes of the requests kept."""

    def note(self, entry: JournalEntry, size: int) -> JournalEntry:
        """Keep the entry of a request of ``size`` bytes; returns it with its number."""
        self._count += 1
        entry = replace(entry, number=self._count)
        self._entries.append(entry)
        self._sizes.append(size)
        self.size += size
        gone = max(0, len(self._sizes) - ENTRIES)
        kept = self.size - sum(self._sizes[:gone])
        while kept > BYTES and gone < len(self._sizes) - 1:
            kept -= self._sizes[gone]
            gone += 1
        del self._entries[:gone], self._sizes[:gone]
        self.size = kept
        return entry

    def entries(self) -> tuple[JournalEntry, ...]:
        """What is kept, the oldest first."""
        return tuple(self._entries)


def masked_headers(request: HttpRequest) -> Headers:
    """The request's headers without the values that are credentials."""
    return tuple((name, _MASKED if _SECRET.search(name) else value) for name, value in request.headers)


def masked_query(request: HttpRequest) -> str:
    """The request's query without the values that are credentials."""
    query = request.url.partition("?")[2]
    if not query:
        return ""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return _MASKED
    return urlencode([(name, _MASKED if _SECRET.search(name) else value) for name, value in pairs], safe="[]")

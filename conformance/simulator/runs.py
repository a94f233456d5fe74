"""Runs: what the simulator remembers, kept apart for clients that name different ones."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

from conformance.simulator.answer import Headers, refusal
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.cache import PromptCache
from conformance.simulator.fronts import fronts
from conformance.simulator.http import header
from conformance.simulator.journal import Journal
from conformance.types import HttpRequest

HEADER = "X-Conformance-Run"
DEFAULT = "default"
RUNS = 64
JOURNALS = 64 * 1024 * 1024
"""Bytes of requests that the journals of all runs keep together."""

_NAME = re.compile(r"[A-Za-z0-9._~-]{1,100}")
_DISTINCT = 10_000


@dataclass(frozen=True, slots=True)
class NextFault:
    """What the next ``times`` requests that ask the model meet; ``persona``: only those to this one."""

    fault: Behaviour
    times: int = 1
    persona: str | None = None


@dataclass(frozen=True, slots=True)
class Came:
    """A request, as a digest, and how often the same came ``before`` in its run."""

    digest: bytes
    before: int

    def seed(self, seed: int) -> bytes:
        """What the answer is drawn from."""
        return b"%d\n" % seed + self.digest + self.before.to_bytes(8, "big")


class Run:
    """The state of one run: journal, stored responses, prompt cache, place in the script, next faults."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.journal = Journal()
        self.cache = PromptCache()
        self.fronts = fronts()
        self.asked = 0
        """How many times the model was asked."""
        self.played: set[int] = set()
        """The turns of the script that are used up, by position."""
        self._faults: list[NextFault] = []
        self._repeats: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def faults(self) -> tuple[NextFault, ...]:
        """The faults to come, in order."""
        with self._lock:
            return tuple(self._faults)

    def add_fault(self, fault: NextFault) -> None:
        """The fault follows those that are to come already."""
        with self._lock:
            self._faults.append(fault)

    def clear_faults(self) -> None:
        """No fault is to come."""
        with self._lock:
            self._faults.clear()

    def take_fault(self, persona: str) -> Behaviour | None:
        """The fault that a request to this persona meets now, if any."""
        with self._lock:
            for i, fault in enumerate(self._faults):
                if fault.persona in (None, persona):
                    rest = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                    self._faults[i : i + 1] = rest
                    return fault.fault
        return None

    def came(self, request: HttpRequest, path: str) -> Came:
        """Count the request: it and how often the same came before it."""
        query = request.url.partition("?")[2]
        told = "\n".join((request.method, path, query)).encode() + b"\n" + request.body
        digest = hashlib.sha256(told).digest()
        before = self._repeats.pop(digest, 0)
        self._repeats[digest] = before + 1
        if len(self._repeats) > _DISTINCT:
            self._repeats.popitem(last=False)
        return Came(digest, before)


class Runs:
    """The 64 runs that were used last, or fewer where their journals are large."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, name: str) -> Run:
        """The run of that name, begun if need be; the longest unused one may be forgotten for it."""
        with self._lock:
            run = self._runs.pop(name, None) or Run(name)
            self._runs[name] = run
            size = sum(other.journal.size for other in self._runs.values())
            while len(self._runs) > RUNS or (size > JOURNALS and len(self._runs) > 1):
                size -= self._runs.popitem(last=False)[1].journal.size
            return run

    def reset(self, name: str) -> None:
        """Forget all of the run."""
        with self._lock:
            self._runs.pop(name, None)


def named(headers: Headers, in_path: str | None = None) -> str:
    """The run that a request belongs to: its header's, else the one in its path, else ``default``.

    Raises:
        Refused: 400, that is no name for a run.
    """
    name = header(headers, HEADER.lower())
    name = name if name is not None else in_path
    if name is None:
        return DEFAULT
    if not _NAME.fullmatch(name):
        message = f"A run's name ({HEADER}) has 1 to 100 of the characters A-Z a-z 0-9 . _ ~ -"
        raise refusal(message, why="400 run-name")
    return name

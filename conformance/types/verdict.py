"""What was found, and the matrix that reports are written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from conformance.types.vocabulary import Basis, Flag, Flavour, Level, Mode, VerdictName, WireName


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that does not hold, and the proof.

    ``path`` is a JSON Pointer from ``/exchanges/N/...`` (N is 0-based in the cell). ``wanted`` and
    ``got`` are short, printable texts. ``event`` and ``ms`` locate it in a stream. ``more`` counts the
    findings of the same rule in the same exchange that are not told one by one. ``consequence`` says
    what breaks at clients; empty where nothing is known to. ``flavour`` is the published reading of the wire
    that the rule belongs to; ``None`` where all readings agree.
    """

    rule: str
    level: Level
    basis: Basis
    path: str
    message: str
    wanted: str
    got: str
    event: int | None = None
    ms: float | None = None
    more: int = 0
    quirk: str | None = None
    known: str | None = None
    consequence: str = ""
    flavour: Flavour | None = None

    def at(self, prefix: str) -> Finding:
        """The same finding with ``prefix`` before its path."""
        return replace(self, path=prefix + self.path)


@dataclass(frozen=True, slots=True)
class Observation:
    """What an endpoint did where the reference leaves room; it never bears on a verdict.

    ``policy``, ``aspect`` and ``outcome`` are words of ``conformance.policies``. ``path`` is a JSON Pointer
    from ``/exchanges/N/...`` (N is 0-based in the cell) to the evidence, ``detail`` one line on it;
    ``status`` is the HTTP status of a refusal.
    """

    policy: str
    aspect: str
    outcome: str
    path: str
    detail: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One endpoint x scenario x mode. ``reason`` says in a line why the verdict is what it is.

    ``evidence`` holds one redacted, capped view per exchange of the attempt that decided (number
    ``decided_by``, 0-based, of ``attempts``): enough for a page to show the exchange. ``flavour`` is the
    published reading of the wire that the exchanges hold to, where they tell.
    """

    endpoint: str
    scenario: str
    mode: Mode
    verdict: VerdictName
    flags: tuple[Flag, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    evidence: tuple[Mapping[str, Any], ...] = ()
    attempts: int = 1
    decided_by: int = 0
    requests: int = 0
    elapsed_ms: float = 0.0
    flavour: Flavour | None = None
    observations: tuple[Observation, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as the matrix shows it. ``status``: ``run`` or ``not-run`` (then ``reason`` says why).

    ``scripted`` is the dialect of our scripted model, where the endpoint serves it.
    """

    name: str
    wire: WireName
    model: str
    base_url: str
    source: Literal["live", "cassette", "simulator", "recording", "none"]
    status: Literal["run", "not-run"] = "run"
    reason: str = ""
    server: str | None = None
    recorded: str | None = None
    quirks: tuple[str, ...] = ()
    scripted: str | None = None


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """A scenario as the matrix shows it."""

    id: str
    title: str
    chapter: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Everything a report needs, and nothing else."""

    suite: Mapping[str, Any]
    endpoints: tuple[EndpointRow, ...]
    scenarios: tuple[ScenarioRow, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()

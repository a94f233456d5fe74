"""Cells of which nothing is acquired, and what stands behind those of which something is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.config import Endpoint
from conformance.dialects import Dialect, dialect
from conformance.engine.drive import Target, inexpressible
from conformance.judge import Judgement, judge_attempt
from conformance.scenarios import Scenario
from conformance.scripted_model import unwritable
from conformance.types import Attempt, Cell, Exchange, Failure, FailureKind, HttpRequest
from conformance.wires import Wire


@dataclass(frozen=True, slots=True)
class Acquired:
    """The attempts of a cell, and what the judge said of each."""

    attempts: Sequence[Attempt]
    judgements: Sequence[Judgement]


def broken(endpoint: Endpoint, scenario: Scenario, error: Exception) -> Cell:
    """The cell of a scenario in which the suite itself failed: we could not tell, and say why."""
    reason = f"the suite failed here, please report it: {type(error).__name__}: {error}"
    return Cell(endpoint.name, scenario.id, "strict", "error", reason=reason)


def unsupported(
    endpoint: Endpoint, scenario: Scenario, wire: Wire, dialect: Dialect | None = None
) -> Cell | None:
    """The cell of a scenario that the endpoint does not claim or its wire can't say, if it is one."""
    reason = _unclaimed(endpoint, scenario) or inexpressible(scenario, wire, dialect)
    if reason is None:
        return None
    return Cell(endpoint.name, scenario.id, "strict", "unsupported", reason=reason)


def _unclaimed(endpoint: Endpoint, scenario: Scenario) -> str | None:
    missing = [need for need in scenario.needs if need in endpoint.unsupported]
    if missing:
        return f"the endpoint is configured as not supporting {_with_reasons(endpoint, missing)}"
    if "scripted" in scenario.needs and not endpoint.scripted:
        return "only our scripted model writes what this needs"
    if "auth" in scenario.needs and not (endpoint.key_env or endpoint.persona):
        return "the endpoint is configured without a key"
    scripted = endpoint.scripted if endpoint.persona is None else None
    return unwritable(scenario, dialect(scripted)) if isinstance(scripted, str) else None


def _with_reasons(endpoint: Endpoint, missing: Sequence[str]) -> str:
    said = endpoint.unsupported
    if not isinstance(said, Mapping):
        return ", ".join(missing)
    return ", ".join(f"{need}: {said[need]}" if said[need] else need for need in missing)


def unobserved(endpoint: Endpoint, scenario: Scenario) -> Cell | None:
    """The cell of a scenario that observes what an endpoint does by itself: a profile would hide it."""
    if not scenario.policy:
        return None
    reason = "a policy is observed without a profile"
    return Cell(endpoint.name, scenario.id, "strict", "unsupported", reason=reason)


def unmeasured(endpoint: Endpoint, scenario: Scenario, cassette: Path, command: str) -> Cell | None:
    """The cell of what a recorded endpoint was never asked, where nothing is amiss with that.

    Policies are measured when there is time, and what only the scripted model can say when the lab runs.
    """
    if not (scenario.policy or "scripted" in scenario.needs) or cassette.exists():
        return None
    return Cell(endpoint.name, scenario.id, "strict", "not-run", reason=f"no cassette; record it: {command}")


def unrecorded(attempt: Attempt) -> bool:
    """Whether something was asked in a replay that its cassette does not answer."""
    return any(e.failure is not None and e.failure.kind == "older-scenario" for e in attempt.sent)


def failed(scenario: Scenario, target: Target, kind: FailureKind, message: str) -> Acquired:
    """A cell that nothing could be acquired for: the attempt that says why."""
    request = HttpRequest("POST", target.base_url, (), b"")
    exchange = Exchange(request, None, "complete", target.wire.name, Failure(kind, message))
    attempt = Attempt((exchange,), "stuck", message)
    return Acquired([attempt], [judge_attempt(scenario, attempt)])

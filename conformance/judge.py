"""Rules x exchanges x quirks -> verdict. Pure: what came over the wire goes in, a judgement comes out.

Protocol and model are judged apart: findings say what the endpoint did wrong, the attempt's outcome says
what the model did not do, and only the first can make a cell ``violates``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.excuses import excuse, succeeded, told_amid, turned_away
from conformance.policies import POLICIES, hangs, observe
from conformance.policies.policy import INCONCLUSIVE
from conformance.quirks import Quirk
from conformance.rules import RULES, Rule, check, rule_of
from conformance.rules.across import compared
from conformance.rules.flavours import flavour_of
from conformance.rules.parity import PREFIX as PARITY
from conformance.rules.parity import both_ways
from conformance.scenarios import Scenario
from conformance.types import (
    Attempt,
    Basis,
    Cell,
    Exchange,
    Finding,
    Flag,
    Flavour,
    Observation,
    Rulebook,
    VerdictName,
)

ORDER: tuple[VerdictName, ...] = (
    "violates",
    "error",
    "quirk",
    "warns",
    "refused",
    "inconclusive",
    "conforms",
)
"""Several findings in one cell: the first of these that applies is the verdict."""

_JUDGED: tuple[VerdictName, ...] = ("violates", "quirk", "warns", "conforms")

_ACCEPTANCE = re.compile(r"\.request\.accepted$|(?:^|\.)(?:mt|so)\.")
"""Rules that a refusal of the request breaks, honest or not."""


@dataclass(frozen=True, slots=True)
class Strictness:
    """What a run counts: which rules, how literally, on which basis."""

    rulebook: Rulebook = "default"
    rules: frozenset[str] | None = None
    bases: frozenset[Basis] | None = None

    def selected(self) -> tuple[Rule, ...]:
        """The rules that count."""
        return tuple(
            rule
            for rule in RULES.values()
            if (self.rules is None or rule.id in self.rules)
            and (self.bases is None or rule.basis in self.bases)
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of one attempt and what it rests on."""

    verdict: VerdictName
    reason: str
    findings: tuple[Finding, ...]
    flavour: Flavour | None = None
    observations: tuple[Observation, ...] = ()


def judge_attempt(
    scenario: Scenario,
    attempt: Attempt,
    quirks: Sequence[Quirk] = (),
    strictness: Strictness | None = None,
    beside: Sequence[Exchange] = (),
) -> Judgement:
    """The verdict of one attempt.

    ``quirks`` are those the endpoint declares: each forgives exactly the findings it explains, and an answer
    that breaks off where it says that answers break off. ``beside`` are
    the exchanges of the same scenario with the same server over another wire. A scenario that measures a
    policy is judged by no rule but those on the server's two paths, and what it observed never makes the
    verdict.
    """
    strictness = strictness or Strictness()
    if scenario.policy:
        return _measured(scenario, attempt, quirks, strictness)
    reasons: dict[VerdictName, str] = {}
    places = _Places(_others(attempt))
    for number, exchange in enumerate(attempt.shown):
        if let_off := _excused(scenario, exchange):
            verdict, reason = let_off
            lost = exchange.ending in ("cut", "stalled") and succeeded(exchange)
            where = places.refused if verdict == "refused" else places.broken if lost else places.unjudged
            where.add(number)
            breaking = next((q.id for q in quirks if q.breaks_off(scenario.id)), None)
            if breaking is not None and _broke_off(exchange):
                verdict, reason = "quirk", f"declared: {breaking}"
            reasons.setdefault(verdict, reason)

    rules, rulebook = strictness.selected(), strictness.rulebook
    found = [
        *check(attempt.exchanges, rules=rules, rulebook=rulebook),
        *compared(beside, attempt.exchanges, rules, rulebook),
    ]
    # A case that is asked both ways by its own script is found by both.
    found += [one for one in _on_both_paths(attempt, strictness) if one not in found]
    findings = _weighed(scenario, [one for one in found if places.counts(one)], quirks, reasons)

    if attempt.outcome == "model-did-not":
        reasons.setdefault("inconclusive", f"the model did not {attempt.reason}")
    elif (
        attempt.outcome == "stuck"
        and not reasons.keys() & {"violates", "error", "quirk", "refused"}
        and not any(f.level == "SHOULD" and _number(f) == len(attempt.exchanges) - 1 for f in findings)
    ):
        reasons["error"] = (
            f"could not go on: {attempt.reason or 'an answer held no turn, and no rule says why'}"
        )
    verdict = next((v for v in ORDER if v in reasons), "conforms")
    flavour = flavour_of(attempt.exchanges, rulebook)
    return Judgement(verdict, reasons.get(verdict, ""), findings, flavour)


@dataclass(frozen=True, slots=True)
class _Places:
    """The numbers of exchanges that can't be held against the endpoint: declined, unanswered, broken off.

    ``others``: of each exchange that was asked both ways the number of the other one.
    """

    others: Mapping[int, int] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    unjudged: set[int] = field(default_factory=set)
    broken: set[int] = field(default_factory=set)

    def counts(self, finding: Finding) -> bool:
        """Whether what was found bears on the endpoint."""
        number = _number(finding)
        if finding.rule.startswith(PARITY) and self.others.get(number) in self.unjudged:
            return False
        if number in self.unjudged or (number in self.refused and _is_acceptance(finding.rule)):
            return False
        return number not in self.broken or not rule_of(finding.rule).needs_end


def _others(attempt: Attempt) -> dict[int, int]:
    pairs = {
        number: one.twin.of
        for number, one in enumerate(attempt.twins, len(attempt.exchanges))
        if one.twin is not None
    }
    return pairs | {of: number for number, of in pairs.items()}


def _excused(scenario: Scenario, exchange: Exchange) -> tuple[VerdictName, str] | None:
    """Why an exchange can't be held against the endpoint; that one of two paths declines is for a rule."""
    let_off = excuse(scenario, exchange)
    if exchange.twin is None:
        return let_off
    if let_off is None and (reason := told_amid(exchange)):
        return "error", reason
    return None if let_off is not None and let_off[0] == "refused" else let_off


def _on_both_paths(attempt: Attempt, strictness: Strictness) -> tuple[Finding, ...]:
    """How answers differ from those to the same requests asked the other way."""
    return both_ways(attempt.shown, strictness.selected(), strictness.rulebook) if attempt.twins else ()


def _weighed(
    scenario: Scenario, found: Sequence[Finding], quirks: Sequence[Quirk], reasons: dict[VerdictName, str]
) -> tuple[Finding, ...]:
    """The findings, each with the quirk that explains it; what they say for a verdict joins the reasons."""
    findings: list[Finding] = []
    for finding in found:
        declared = next((q.id for q in quirks if q.explains(scenario.id, finding)), None)
        finding = replace(finding, quirk=declared)
        findings.append(finding)
        counts = finding.level != "MAY"
        if counts and rule_of(finding.rule).subject == "model":
            reasons.setdefault("inconclusive", f"the model did not: {finding.message}")
        elif declared is not None:
            reasons.setdefault("quirk", f"declared: {declared}")
        elif counts:
            reasons.setdefault("violates" if finding.level == "MUST" else "warns", finding.message)
    return tuple(findings)


def _broke_off(exchange: Exchange) -> bool:
    """Whether the other side took the request and ended the connection before its answer's end."""
    if exchange.response is None:
        return _left_unanswered(exchange)
    return exchange.ending in ("cut", "stalled") and not turned_away(exchange, exchange.response)


def _left_unanswered(exchange: Exchange) -> bool:
    return exchange.failure is not None and exchange.failure.kind == "protocol"


def _number(finding: Finding) -> int:
    """Which of the attempt's exchanges the finding is in."""
    return int(finding.path.split("/", 3)[2])


def _measured(
    scenario: Scenario, attempt: Attempt, quirks: Sequence[Quirk], strictness: Strictness
) -> Judgement:
    """What was observed: ``conforms`` where anything was, whatever it is, and the other path agrees."""
    reasons: dict[VerdictName, str] = {}
    lost: set[int] = set()
    for number, exchange in enumerate(attempt.shown):
        let_off = None if hangs(exchange, attempt.shown) else _excused(scenario, exchange)
        if let_off is not None:
            verdict, reason = let_off
            reasons.setdefault(verdict, reason)
            if verdict == "error":
                lost.add(number)
    why = f"the model did not {attempt.reason}" if attempt.outcome == "model-did-not" else attempt.reason
    found = observe(POLICIES[scenario.policy], attempt.exchanges, lost=lost, reason=why)
    if all(one.outcome == INCONCLUSIVE for one in found):
        reasons.setdefault("inconclusive", found[0].detail if found else why)
        found = () if "error" in reasons else found
    places = _Places(_others(attempt), unjudged=lost)
    differing = [one for one in _on_both_paths(attempt, strictness) if places.counts(one)]
    findings = _weighed(scenario, differing, quirks, reasons)
    verdict = next((v for v in ORDER if v in reasons), "conforms")
    return Judgement(verdict, reasons.get(verdict, ""), findings, observations=found)


def judge(
    endpoint: str,
    scenario: Scenario,
    attempts: Sequence[Attempt],
    judgements: Sequence[Judgement],
    flags: Collection[Flag] = (),
) -> Cell:
    """The cell of one endpoint x scenario from all its attempts and what `judge_attempt` said of each.

    A scenario is run again only while the model does not do what it needs; a violation seen in any
    attempt counts, an ``inconclusive`` one only when no attempt was better. The findings and paths are
    those of the attempt that decided.
    """
    conclusive = [j for j in judgements if j.verdict != "inconclusive"] or judgements
    decided = min(conclusive, key=lambda j: ORDER.index(j.verdict))
    number = judgements.index(decided)
    marks: list[Flag] = list(flags)
    if len({j.verdict for j in judgements}) > 1:
        marks.append("flaky")
    reason = decided.reason
    if decided.verdict == "inconclusive" and len(attempts) > 1:
        reason += f" (in {len(attempts)} attempts)"
    return Cell(
        endpoint=endpoint,
        scenario=scenario.id,
        mode="strict",
        verdict=decided.verdict,
        flags=tuple(marks),
        findings=decided.findings,
        reason=reason,
        attempts=len(attempts),
        requests=sum(len(a.sent) for a in attempts),
        elapsed_ms=sum(e.elapsed_ms for a in attempts for e in a.shown),
        decided_by=number,
        flavour=decided.flavour,
        observations=decided.observations,
    )


def worth_keeping(scenario: Scenario, attempts: Sequence[Attempt], quirks: Sequence[Quirk] = ()) -> bool:
    """Whether a recording of these attempts is evidence: everything was answered, nothing refused us.

    A recording that only shows a spent quota, a wrong key or a server that crashed must not replace a good
    one; that a connection is closed without an answer counts where one of the declared ``quirks`` says so.
    """
    closes = any(quirk.breaks_off(scenario.id) for quirk in quirks)
    return all(
        closes and _left_unanswered(exchange)
        if exchange.response is None
        else not turned_away(exchange, exchange.response)
        and not (exchange.twin is not None and told_amid(exchange))
        for attempt in attempts
        for exchange in attempt.shown
    )


def mark_stale(cells: Sequence[Cell], quirks: Sequence[Quirk]) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Flag the cells of one endpoint in which a declared quirk should have shown and nowhere did.

    That an answer broke off is told by the cells' evidence. Returns the cells and one note per stale quirk.
    """
    notes: list[str] = []
    stale: set[str] = set()
    for quirk in quirks:
        where = [c for c in cells if c.verdict in _JUDGED and quirk.expected_in(c.scenario)]
        shown = any(finding.quirk == quirk.id for cell in cells for finding in cell.findings) or any(
            quirk.breaks_off(cell.scenario) and _is_broken(cell) for cell in cells
        )
        if where and not shown:
            stale.update(cell.scenario for cell in where)
            names = ", ".join(cell.scenario for cell in where)
            notes.append(f"{where[0].endpoint}: quirk {quirk.id} is declared but no longer shows in {names}")
    flagged = tuple(
        replace(c, flags=(*c.flags, "stale")) if c.scenario in stale and c.verdict in _JUDGED else c
        for c in cells
    )
    return flagged, tuple(notes)


def _is_broken(cell: Cell) -> bool:
    """Whether one of the cell's answers broke off, whatever made its verdict."""
    return any(
        view["ending"] in ("cut", "stalled")
        if view["failure"] is None
        else view["failure"]["kind"] == "protocol"
        for view in cell.evidence
    )


def readings(cells: Sequence[Cell]) -> tuple[str, ...]:
    """A note per endpoint whose wire has several published readings: which of them it holds to."""
    counts: dict[str, Counter[str]] = {}
    for cell in cells:
        if cell.flavour is not None:
            counts.setdefault(cell.endpoint, Counter())[cell.flavour] += 1
    return tuple(
        f"{endpoint} holds to the flavour "
        + " and ".join(f"{flavour} in {number} cells" for flavour, number in counted.most_common())
        for endpoint, counted in counts.items()
    )


def _is_acceptance(rule: str) -> bool:
    return bool(_ACCEPTANCE.search(rule))

"""Rules x exchanges x quirks -> verdict. Pure: what came over the wire goes in, a judgement comes out.

Protocol and model are judged apart: findings say what the endpoint did wrong, the attempt's outcome says
what the model did not do, and only the first can make a cell ``violates``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.quirks import Quirk
from conformance.rules import RULES, Rule, check, error_text, refusal_text, rule_of
from conformance.rules.across import compared
from conformance.rules.flavours import flavour_of
from conformance.rules.reading import read_json
from conformance.scenarios import Scenario
from conformance.types import (
    Attempt,
    Basis,
    Cell,
    Exchange,
    Finding,
    Flag,
    Flavour,
    HttpResponse,
    Rulebook,
    VerdictName,
    WireName,
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

_NOT_OURS_TO_JUDGE = {
    401: "the credentials were refused",
    402: "the account has no credit",
    403: "the credentials are not allowed to do this",
    404: "nothing answers there: wrong base URL, or a model the endpoint does not know",
    405: "nothing answers there: wrong base URL",
    407: "a proxy wants credentials",
    429: "the rate limit or quota is spent",
    502: "a gateway could not reach the server",
    503: "the endpoint is overloaded or down",
    504: "a gateway timed out",
    529: "the endpoint is overloaded",
}
"""Statuses that say nothing about the wire when an answer was expected: we could not tell."""

_TRANSIENT = frozenset({429, 502, 503, 504, 529})

_CREDENTIALS = frozenset({401, 402, 403, 407})

_KEY_PROBES = frozenset({"wrong-key", "no-key", "wrong-key-bad-body"})
"""Probes sent with other credentials than our own: only there a refusal of them is an answer."""

_FOREIGN_MODEL = frozenset({"unknown-model", "retrieve-unknown", "missing-model", "content-coding"})
"""Probes that name no model of ours."""

_NO_ROUTE = frozenset({"unknown-route", "wrong-method", *_FOREIGN_MODEL})
"""Probes to which 404 may be the answer."""

_UNKNOWN_MODEL = re.compile(
    r"model_not_found|\bmodels?\b[\s:/]*(?:with (?:id|name) )?['\"`]*[^\s'\"`]*['\"`]*,? "
    r"?(?:was |is )?(?:not found|(?:does not|doesn't) exist)"
    r"|\b(?:unknown|no such) model\b|not a valid model\b|\binvalid model:",
    re.IGNORECASE,
)
_LOAD = re.compile(
    r"\boverloaded|\b(?:at|over|exceeds?|exceeded|out of|no|insufficient) capacity|capacity (?:is )?exceeded",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"(?:try|retry)(?: your request)? again (?:later|in\b|shortly|soon)|temporarily unavailable|\bbusy\b",
    re.IGNORECASE,
)
_DONE = re.compile(rb"^data: ?\[DONE\][ \t]*\r?\n\r?\n", re.MULTILINE)
"""The end marker, dispatched."""
_LAST: Mapping[WireName, re.Pattern[bytes]] = {
    "openai-chat": _DONE,
    "openai-responses": re.compile(rb'"type": ?"response\.(?:completed|incomplete|failed)"'),
    "anthropic-messages": re.compile(rb'"type": ?"message_stop"'),
    "gemini": re.compile(rb'"finishReason"'),
    "ollama": re.compile(rb'"done": ?true'),
}
"""What the last event of a stream holds."""

_PROVOKED = frozenset({"burst"})
"""Probes that provoke a transient status to see it: there it is the answer, and no excuse."""

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


def judge_attempt(
    scenario: Scenario,
    attempt: Attempt,
    quirks: Sequence[Quirk] = (),
    strictness: Strictness | None = None,
    beside: Sequence[Exchange] = (),
) -> Judgement:
    """The verdict of one attempt.

    ``quirks`` are those the endpoint declares: each forgives exactly the findings it explains. ``beside`` are
    the exchanges of the same scenario with the same server over another wire.
    """
    reasons: dict[VerdictName, str] = {}
    refused: set[int] = set()
    unjudged: set[int] = set()
    broken: set[int] = set()
    for number, exchange in enumerate(attempt.exchanges):
        if excuse := _excuse(scenario, exchange):
            verdict, reason = excuse
            lost = exchange.ending in ("cut", "stalled") and _succeeded(exchange)
            (refused if verdict == "refused" else broken if lost else unjudged).add(number)
            reasons.setdefault(verdict, reason)

    rules = (strictness or Strictness()).selected()
    rulebook = (strictness or Strictness()).rulebook
    findings: list[Finding] = []
    found = check(attempt.exchanges, rules=rules, rulebook=rulebook)
    for finding in (*found, *compared(beside, attempt.exchanges, rules, rulebook)):
        number = int(finding.path.split("/")[2])
        if number in unjudged or (number in refused and _is_acceptance(finding.rule)):
            continue
        if number in broken and rule_of(finding.rule).needs_end:
            continue
        declared = next((q.id for q in quirks if q.explains(scenario.id, finding)), None)
        finding = replace(finding, quirk=declared)
        findings.append(finding)
        if finding.level == "MAY":
            continue
        if rule_of(finding.rule).subject == "model":
            reasons.setdefault("inconclusive", f"the model did not: {finding.message}")
        elif declared is not None:
            reasons.setdefault("quirk", f"declared: {declared}")
        else:
            reasons.setdefault("violates" if finding.level == "MUST" else "warns", finding.message)

    if attempt.outcome == "model-did-not":
        reasons.setdefault("inconclusive", f"the model did not {attempt.reason}")
    elif attempt.outcome == "stuck" and not reasons.keys() & {"violates", "error", "quirk", "refused"}:
        reasons["error"] = (
            f"could not go on: {attempt.reason or 'an answer held no turn, and no rule says why'}"
        )
    verdict = next((v for v in ORDER if v in reasons), "conforms")
    flavour = flavour_of(attempt.exchanges, rulebook)
    return Judgement(verdict, reasons.get(verdict, ""), tuple(findings), flavour)


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
        requests=sum(len(a.exchanges) for a in attempts),
        elapsed_ms=sum(e.elapsed_ms for a in attempts for e in a.exchanges),
        decided_by=number,
        flavour=decided.flavour,
    )


def worth_keeping(attempts: Sequence[Attempt]) -> bool:
    """Whether a recording of these attempts is evidence: everything was answered, nothing refused us.

    A recording that only shows a spent quota or a wrong key must not replace a good one.
    """
    return all(
        exchange.response is not None
        and not _is_transient(exchange, exchange.response)
        and not (exchange.response.status in _CREDENTIALS and exchange.probe not in _KEY_PROBES)
        for attempt in attempts
        for exchange in attempt.exchanges
    )


def mark_stale(cells: Sequence[Cell], quirks: Sequence[Quirk]) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Flag the cells of one endpoint in which a declared quirk should have shown and nowhere did.

    Returns the cells and one note per stale quirk.
    """
    notes: list[str] = []
    stale: set[str] = set()
    for quirk in quirks:
        where = [c for c in cells if c.verdict in _JUDGED and quirk.expected_in(c.scenario)]
        shown = any(finding.quirk == quirk.id for cell in cells for finding in cell.findings)
        if where and not shown:
            stale.update(cell.scenario for cell in where)
            names = ", ".join(cell.scenario for cell in where)
            notes.append(f"{where[0].endpoint}: quirk {quirk.id} is declared but no longer shows in {names}")
    flagged = tuple(
        replace(c, flags=(*c.flags, "stale")) if c.scenario in stale and c.verdict in _JUDGED else c
        for c in cells
    )
    return flagged, tuple(notes)


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


def _is_transient(exchange: Exchange, response: HttpResponse) -> bool:
    return exchange.probe not in _PROVOKED and (
        response.status in _TRANSIENT or (response.status == 500 and _says_overloaded(exchange, response))
    )


def _says_overloaded(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether a 500 means what 503 says; "try again later" alone is no excuse where a request was bad."""
    text = refusal_text(response.body, exchange.request.body)
    return bool(_LOAD.search(text) or (exchange.expect != "refusal" and _LATER.search(text)))


def _succeeded(exchange: Exchange) -> bool:
    return exchange.response is not None and exchange.response.status < 300


def _ended(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether all of a stream is here, its last event dispatched."""
    whole = exchange.wire == "openai-chat" or response.body.endswith((b"\n\n", b"\n\r\n", b"}\n", b"}\r\n"))
    return whole and bool(_LAST[exchange.wire].search(response.body))


def _is_acceptance(rule: str) -> bool:
    return bool(_ACCEPTANCE.search(rule))


def _excuse(scenario: Scenario, exchange: Exchange) -> tuple[VerdictName, str] | None:
    """Why an exchange can't be held against the endpoint, if it can't."""
    response = exchange.response
    if response is None:
        assert exchange.failure is not None
        return "error", exchange.failure.message
    if exchange.ending in ("cut", "stalled", "too-large"):
        if exchange.ending == "stalled" and response.status < 300 and _ended(exchange, response):
            return None  # All of it is here; that the connection was kept open is for rules to mind.
        size = len(response.body)
        said = {
            "cut": f"the connection broke after {size} bytes of the answer",
            "stalled": f"the answer stalled after {size} bytes",
            "too-large": f"the answer did not end within {size} bytes or its time limit",
        }[exchange.ending]
        return "error", said
    if response.status < 300:
        return None
    why = _why_unjudged(exchange, response)
    shown = error_text(response.body)[:160]
    declined = why is None or response.status in (404, 405)
    if declined and not _unknown_model(exchange, response) and exchange.expect == "answer":
        text = refusal_text(response.body, exchange.request.body)
        for feature in scenario.optional if 400 <= response.status < 500 else ():
            if feature.named_by.search(text):
                return "refused", f"declines {feature.name}: HTTP {response.status} {shown}"
    if why is not None:
        return "error", f"HTTP {response.status}: {why}{': ' + shown if shown else ''}"
    return None


def _why_unjudged(exchange: Exchange, response: HttpResponse) -> str | None:
    """Why a status of 300 or above says nothing about the wire; ``None`` where it does."""
    status, probe = response.status, exchange.probe
    if status == 500 and _is_transient(exchange, response):
        return _NOT_OURS_TO_JUDGE[529]
    if _is_transient(exchange, response) or (status in _CREDENTIALS and probe not in _KEY_PROBES):
        return _NOT_OURS_TO_JUDGE[status]
    if _unknown_model(exchange, response):
        return "the endpoint does not know the model"
    if exchange.request.method != "POST":
        return None
    # A path that is not there says so in a page, or in a framework's own words, and not in an error object.
    nowhere = status in (404, 405) and probe not in _NO_ROUTE and not _names_an_error(response.body)
    if nowhere or exchange.expect == "answer":
        return _NOT_OURS_TO_JUDGE.get(status)
    return None


def _unknown_model(exchange: Exchange, response: HttpResponse) -> bool:
    """Whether our own model is said not to be there."""
    if exchange.probe in _FOREIGN_MODEL or exchange.request.method != "POST":
        return False
    if response.status != 404 and not (response.status == 400 and exchange.expect == "answer"):
        return False
    return bool(_UNKNOWN_MODEL.search(refusal_text(response.body, exchange.request.body)))


def _names_an_error(body: bytes) -> bool:
    value = read_json(body).value
    if isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, dict) and (bool(value.get("error")) or value.get("object") == "error")

"""What rules say of recorded exchanges, as far as the recordings are evidence.

One pass, conversation by conversation: nothing is held but what may still be continued.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import PurePath
from typing import Literal

from conformance.excuses import no_evidence
from conformance.grade.exchanges import BINARY_STREAM
from conformance.grade.handmade import composed, made_up, request_changed, without_replaced
from conformance.grade.link import Linker
from conformance.grade.looked_at import is_of_errors, is_own_error, names_of
from conformance.grade.provider_marks import not_as_sent, published_reading
from conformance.grade.providers import ToldBy
from conformance.grade.recognise import NO_WIRE, Recognised, recognise
from conformance.grade.recorded import SIMULATED, Fidelity, Recorded, Unusable
from conformance.quirks import Quirk
from conformance.quirks.families import families
from conformance.rules import RULES, Rule, rule_of
from conformance.rules.across import PREFIX
from conformance.rules.check import judged
from conformance.rules.flavours import other_flavours
from conformance.rules.reading import ABSENT, Reading, read
from conformance.rules.views import Run
from conformance.transport.redact import Redactor
from conformance.types import Aspect, Exchange, Finding, Level, Rulebook, WireName

Outcome = Literal["graded", "not gradable", "left alone"]
Fault = Literal["client", "endpoint"]
LEVELS: tuple[Level, ...] = ("MUST", "SHOULD", "MAY")

REBUILT = "objects of a client library, filled in by it: no evidence of what was on the wire"
"""Every rule needs to know what was there and what was not."""

EARLY = "the stream stops before its end; perhaps its reader left"

_ENDS: Mapping[WireName, re.Pattern[bytes]] = {
    "openai-chat": re.compile(
        rb'\[DONE\]|"finish_reason"\s{0,9}:\s{0,9}"|"error"|^event: ?error', re.MULTILINE
    ),
    "openai-responses": re.compile(rb'"response\.(?:completed|incomplete|failed)"|"error"|\[DONE\]'),
    "anthropic-messages": re.compile(rb'"message_stop"|"error"|\[DONE\]'),
    "gemini": re.compile(rb'"finishReason"|"blockReason"|"error"'),
    "ollama": re.compile(rb'"done"\s{0,9}:\s{0,9}true|"error"'),
}
"""What a stream holds that its server ended, well or badly."""

_PLACES: Mapping[WireName, str] = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic-messages": "/v1/messages",
    "gemini": "/v1beta/models/unknown:generateContent",
    "ollama": "/api/chat",
}
"""Where a request went whose recorder kept nothing of it."""


@dataclass(frozen=True)
class Grader:
    """How strictly recordings are judged, and what is known of them already. No slots: the rules are kept.

    ``rules`` are ids; ``level`` is the lowest that counts; ``quirks`` are declared and forgive what they
    explain. ``wire`` and ``endpoint`` say of all exchanges what they would else be recognised by. With
    ``by_provider`` all quirks that the catalogue has on the recognised provider are declared, or on the
    provider that a persona of the simulator plays.
    """

    rules: frozenset[str] | None = None
    level: Level = "MAY"
    rulebook: Rulebook = "default"
    quirks: tuple[Quirk, ...] = ()
    by_provider: bool = False
    wire: WireName | None = None
    endpoint: str | None = None

    @cached_property
    def selected(self) -> Mapping[WireName, tuple[Rule, ...]]:
        """The rules that count, by the wires whose exchanges they judge."""
        found: dict[WireName, list[Rule]] = {}
        for rule in RULES.values():
            named = self.rules is None or rule.id in self.rules
            counts = LEVELS.index(rule.level_in(self.rulebook)) <= LEVELS.index(self.level)
            if named and counts and not rule.id.startswith(PREFIX):
                for wire in rule.wires:
                    found.setdefault(wire, []).append(rule)
        return {wire: tuple(rules) for wire, rules in found.items()}

    def declares(self, finding: Finding, provider: str, endpoint: str | None) -> str | None:
        """The declared quirk that explains a finding; ``endpoint`` is the recording's name for it."""
        for quirk in self.quirks:
            if quirk.fits(finding) and (not self.by_provider or _is_of(quirk, provider, endpoint)):
                return quirk.id
        return None


@dataclass(frozen=True, slots=True)
class Graded:
    """One exchange and what came of it.

    ``reason`` says why it is not gradable or what it is instead of traffic of a wire; of a graded one, why
    a part of the rules had nothing to say; ``told_by`` what tells the provider. Paths of ``findings`` begin
    at the exchange (``/response/body``). ``turn`` counts the exchanges of its conversation from 0.
    ``looked_at`` are the names of what rules look at in it, ``kept`` what of it the recording kept. ``shown``
    is the exchange itself, where there are findings.
    """

    file: str
    position: int
    format: str
    fidelity: Fidelity
    outcome: Outcome
    reason: str
    wire: WireName | None
    provider: str
    endpoint: str
    model: str
    status: int
    told_by: ToldBy = "nothing"
    turn: int = 0
    findings: tuple[Finding, ...] = ()
    kept: frozenset[Aspect] = frozenset()
    looked_at: frozenset[str] = frozenset()
    whole: bool = True
    shown: Exchange | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    recorded: Recorded
    reading: Reading
    seen: Recognised
    endpoint: str
    excuse: str | None = None
    early: bool = False
    form_only: bool = False

    @property
    def file(self) -> str:
        return self.recorded.file

    @property
    def kept(self) -> frozenset[Aspect]:
        """What the recording kept; that a probe is named says what the request was for."""
        purpose = self.recorded.exchange.probe is not None
        return self.recorded.kept | {"purpose"} if purpose else self.recorded.kept


def fault_of(finding: Finding) -> Fault:
    """Whose fault a finding is: what is wrong in a request is its client's."""
    return "client" if rule_of(finding.rule).subject == "client" else "endpoint"


def _is_of(quirk: Quirk, provider: str, endpoint: str | None) -> bool:
    """Whether a provider has the quirk, or the persona that stands in for one."""
    if endpoint is None or not endpoint.startswith(SIMULATED):
        return provider in quirk.providers
    persona = endpoint.removeprefix(SIMULATED)
    family = families().get(persona)
    return persona in quirk.providers or (family is not None and quirk.id in family.also)


def foreign(unusable: Unusable) -> Graded | None:
    """What comes of an exchange that its importer knew for another wire's; ``None`` of any other."""
    if unusable.reason != BINARY_STREAM:
        return None
    return Graded(
        file=unusable.file,
        position=unusable.position or 0,
        format="event-stream",
        fidelity="wire",
        outcome="left alone",
        reason=f"Bedrock: {NO_WIRE}",
        wire=None,
        provider="bedrock",
        endpoint="bedrock",
        model="",
        status=0,
    )


def grade(recordings: Iterable[Recorded], grader: Grader) -> Iterator[Graded]:
    """What comes of each exchange: those of a conversation together, once it is over.

    A conversation does not leave its folder.
    """
    linker: Linker[_Item] = Linker()
    folder = None
    for recorded in recordings:
        if folder != (folder := PurePath(recorded.file).parent):
            for conversation in linker.rest():
                yield from _conversation(conversation, grader)
        item = _prepared(recorded, grader)
        if item.seen.wire is None:
            yield _without(item, "left alone", item.seen.why)
            continue
        for conversation in linker.add(item):
            yield from _conversation(conversation, grader)
    for conversation in linker.rest():
        yield from _conversation(conversation, grader)


# -------------------------------------------------------------------------------------------- one exchange


def _prepared(recorded: Recorded, grader: Grader) -> _Item:
    if request_changed(recorded):
        recorded = replace(recorded, kept=recorded.kept - {"request"})
    reading = read(0, recorded.exchange)
    seen = recognise(reading, recorded.file, grader.wire or recorded.wire)
    endpoint = grader.endpoint or recorded.endpoint or seen.provider
    if seen.wire is None:
        return _Item(recorded, reading, seen, endpoint)
    early = _stops_early(reading, seen.wire)
    excuse = _why_not(recorded, reading) or made_up(recorded, reading, seen)
    recorded = without_replaced(recorded)
    if excuse is None and grader.endpoint is None:
        excuse = not_as_sent(recorded, reading, seen)
    reading = replace(reading, exchange=_as_judged(recorded.exchange, seen.wire, early))
    form_only = excuse is not None and _has_form(recorded, reading, excuse)
    excuse = f"{excuse}: only the error's form was judged" if form_only else excuse
    return _Item(recorded, reading, seen, endpoint, excuse, early, form_only)


def _as_judged(exchange: Exchange, wire: WireName, early: bool) -> Exchange:
    """The exchange as rules are shown it: nobody here knows what its request was for, unless a probe says."""
    request = exchange.request
    if not request.url:
        request = replace(request, url=_PLACES[wire], method=request.method or "POST")
    return replace(
        exchange,
        request=request,
        wire=wire,
        ending="closed-by-us" if early and exchange.ending == "complete" else exchange.ending,
        expect=exchange.expect if exchange.probe else "either",
    )


def _why_not(recorded: Recorded, reading: Reading) -> str | None:
    """Why an answer is no evidence of anything; ``None`` where it is."""
    if "presence" not in recorded.kept:
        return REBUILT
    excuse = no_evidence(reading.exchange) or composed(recorded)
    if excuse is not None:
        return excuse
    response = reading.exchange.response
    body = response.body.strip() if response else b""
    if reading.succeeded and not body:
        return "the recorder left the body empty"
    if "status" not in recorded.kept and _is_error(reading):
        return "an error, and the recorder did not keep its status"
    if body.startswith((b"{", b"[")) and not body.endswith((b"}", b"]")) and reading.body.value is ABSENT:
        return "the recorder's JSON breaks off"
    if reading.stream is not None and not reading.stream.events:
        return "the recorder left no event of the stream"
    if "framing" not in recorded.kept and _leaves_events_out(reading):
        return "the recorder left events out: their numbers have gaps"
    return None


def _has_form(recorded: Recorded, reading: Reading, excuse: str) -> bool:
    """Whether an error that says nothing of the request (quota, load, credentials) still has a form."""
    if "status" not in recorded.kept or excuse != no_evidence(reading.exchange):
        return False
    return reading.status not in (404, 405) and composed(recorded) is None and is_own_error(reading)


def _leaves_events_out(reading: Reading) -> bool:
    """Whether the events of a Responses stream are numbered, and with gaps."""
    values = [payload.value for payload in reading.payloads.values()]
    numbers = [value.get("sequence_number") for value in values if isinstance(value, dict)]
    counted = [number for number in numbers if type(number) is int]
    return any(after > before + 1 for before, after in pairwise(counted))


def _is_error(reading: Reading) -> bool:
    value = reading.body.value
    if isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, dict) and (bool(value.get("error")) or value.get("type") == "error")


def _stops_early(reading: Reading, wire: WireName) -> bool:
    """Whether a stream holds nothing that streams end with: then nobody knows who ended it."""
    response = reading.exchange.response
    if response is None or not reading.succeeded:
        return False
    value = reading.body.value
    streamed = reading.stream is not None or (
        wire == "ollama" and (value is ABSENT or (isinstance(value, dict) and value.get("done") is False))
    )
    return streamed and not _ENDS[wire].search(response.body)


def _without(item: _Item, outcome: Outcome, reason: str) -> Graded:
    return Graded(
        file=item.recorded.file,
        position=item.recorded.position,
        format=item.recorded.format,
        fidelity=item.recorded.fidelity,
        outcome=outcome,
        reason=reason,
        wire=item.seen.wire,
        provider=item.seen.provider,
        endpoint=item.endpoint,
        model=item.seen.model,
        status=item.reading.status,
        told_by=item.seen.told_by,
    )


# ---------------------------------------------------------------------------------------- one conversation


def _conversation(items: Sequence[_Item], grader: Grader) -> Iterator[Graded]:
    run = Run(tuple(replace(item.reading, index=turn) for turn, item in enumerate(items)))
    found: dict[int, list[Finding]] = {}
    looked_at: dict[int, frozenset[str]] = {}
    wires = {item.seen.wire for item in items if item.seen.wire is not None}
    rules = {rule.id: rule for wire in wires for rule in grader.selected.get(wire, ())}
    flavour = published_reading(item.seen.provider for item in items)
    for kept in {item.kept for item in items}:
        for finding in judged(
            run, rules=rules.values(), rulebook=grader.rulebook, kept=kept, flavour=flavour
        ):
            turn = int(finding.path.split("/", 3)[2])
            if items[turn].kept == kept and _counts(finding, items[turn]):
                found.setdefault(turn, []).append(finding)
        others = other_flavours(run, grader.rulebook, kept, flavour)
        held = [rule for rule in rules.values() if rule.flavour not in others]
        names = names_of(run, held, lambda rule, turn: _applies(rule, items[turn]))
        looked_at |= {turn: names[turn] for turn, item in enumerate(items) if item.kept == kept}
    for turn, item in enumerate(items):
        findings = tuple(_told(finding, turn, item, grader) for finding in found.get(turn, ()))
        outcome: Outcome = "graded" if item.excuse is None or item.form_only else "not gradable"
        yield replace(
            _without(item, outcome, item.excuse or (EARLY if item.early else "")),
            turn=turn,
            findings=findings,
            kept=item.kept,
            looked_at=looked_at[turn],
            whole=not item.early,
            shown=item.reading.exchange if findings else None,
        )


def _counts(finding: Finding, item: _Item) -> bool:
    rule = rule_of(finding.rule)
    return _applies(rule, item) and not (item.early and rule.needs_end and rule.subject != "client")


def _applies(rule: Rule, item: _Item) -> bool:
    """Whether a rule has a say on an exchange: of an answer that is no evidence, on its form at most."""
    if rule.subject == "client" or item.excuse is None:
        return True
    return item.form_only and is_of_errors(rule)


def _told(finding: Finding, turn: int, item: _Item, grader: Grader) -> Finding:
    """The finding with its path from the exchange, the quirk that explains it, and no secret in it."""
    return replace(
        finding,
        path=finding.path.removeprefix(f"/exchanges/{turn}"),
        wanted=_REDACTOR.text(finding.wanted),
        got=_REDACTOR.text(finding.got),
        quirk=grader.declares(finding, item.seen.provider, item.recorded.endpoint),
    )


_REDACTOR = Redactor(())

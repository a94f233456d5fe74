"""The JSON that ``grade --json`` prints, written as exchanges come, and its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TextIO, get_args

from conformance.grade.grading import Fault, Graded, Grader, Outcome, fault_of
from conformance.grade.providers import ToldBy
from conformance.grade.recorded import Fidelity, Unusable
from conformance.grade.tally import Tally
from conformance.types import WIRES, Basis, Finding, Flavour, Level
from conformance.types.documents import COUNT, STRING, WIRE, array, closed, word_of

_HIDDEN = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
"""Control characters that JSON need not escape, marks of direction, what has no width, halves of pairs."""


class DocumentWriter:
    """Writes the document to a stream. What is written stays valid JSON when ``end`` comes early."""

    def __init__(self, out: TextIO, suite: Mapping[str, Any]) -> None:
        self._out = out
        self._first = True
        out.write(f'{{"suite": {dumped(suite)},\n"exchanges": [')

    def exchange(self, graded: Graded) -> None:
        """Write an exchange of which something is to be said."""
        self._entry(
            {
                "file": graded.file,
                "position": graded.position,
                "turn": graded.turn,
                "format": graded.format,
                "fidelity": graded.fidelity,
                "outcome": graded.outcome,
                "reason": graded.reason,
                "wire": graded.wire,
                "endpoint": graded.endpoint,
                "provider": graded.provider,
                "told_by": graded.told_by,
                "model": graded.model,
                "status": graded.status,
                "findings": [_finding(finding) for finding in graded.findings],
            }
        )

    def end(self, tally: Tally, grader: Grader, interrupted: bool) -> None:
        """Write the counts, and close the document."""
        self._out.write("\n],\n" + dumped(summary(tally, grader, interrupted))[1:] + "\n")

    def _entry(self, value: Mapping[str, Any]) -> None:
        self._out.write(("\n" if self._first else ",\n") + dumped(value))
        self._first = False


def dumped(value: object, indent: int | None = None) -> str:
    """JSON, its characters unescaped but for those that a terminal obeys or that hide what is written.

    On a line, without ``indent``.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def summary(tally: Tally, grader: Grader, interrupted: bool) -> dict[str, Any]:
    """The counts of the document."""
    return {
        "counts": {**tally.outcomes, **_refused(tally), "files": tally.files},
        "reasons": [
            {"outcome": outcome, "reason": reason, "exchanges": number}
            for outcome in get_args(Outcome)
            for reason, number in tally.reasons(outcome)
        ],
        "unreadable": [_unreadable(one) for one in tally.unreadable],
        "endpoints": [
            {"endpoint": name, "wire": wire, "exchanges": exchanges, "graded": graded}
            for name, wire, exchanges, graded in tally.endpoints()
        ],
        "rules": [
            {
                "rule": place.rule,
                "endpoint": place.endpoint,
                "wire": place.wire,
                "judged": one.exchanges,
                "not_gradable": dict(one.not_gradable),
            }
            for place, one in sorted(tally.judged(grader).items())
        ],
        "deviations": [
            {
                "rule": place.rule,
                "endpoint": place.endpoint,
                "wire": place.wire,
                "level": one.level,
                "fault": one.fault,
                "exchanges": one.exchanges,
                "by_quirk": one.forgiven,
                "by_baseline": one.known,
            }
            for place, one in sorted(tally.deviations.items())
        ],
        "interrupted": interrupted,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = {
        "rule": finding.rule,
        "level": finding.level,
        "basis": finding.basis,
        "fault": fault_of(finding),
        "path": finding.path,
        "message": finding.message,
        "wanted": finding.wanted,
        "got": finding.got,
    }
    optional = {
        "event": finding.event,
        "ms": finding.ms,
        "more": finding.more or None,
        "quirk": finding.quirk,
        "known": finding.known,
        "flavour": finding.flavour,
        "consequence": finding.consequence or None,
    }
    return told | {name: value for name, value in optional.items() if value is not None}


def _refused(tally: Tally) -> dict[str, int]:
    return {"unreadable": len(tally.unreadable), "foreign": len(tally.foreign)}


def _unreadable(one: Unusable) -> dict[str, Any]:
    at = {} if one.position is None else {"position": one.position}
    return {"file": one.file, "reason": one.reason, **at}


# ------------------------------------------------------------------------------------------------- schema


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Graded recordings",
        **closed(
            suite={"type": "object"},
            exchanges={**array(_EXCHANGE), "description": "those with findings, and those not graded"},
            counts=closed(
                **dict.fromkeys((*get_args(Outcome), "unreadable", "files"), COUNT),
                foreign={**COUNT, "description": "files that are no recordings"},
            ),
            reasons=array(closed(outcome=word_of(Outcome), reason=STRING, exchanges=COUNT)),
            unreadable=array(closed({"position": COUNT}, file=STRING, reason=STRING)),
            endpoints=array(closed(endpoint=STRING, wire=WIRE, exchanges=COUNT, graded=COUNT)),
            rules=array(
                closed(
                    rule=STRING,
                    endpoint=STRING,
                    wire=WIRE,
                    judged={**COUNT, "description": "exchanges that hold what the rule looks at"},
                    not_gradable={
                        "type": "object",
                        "additionalProperties": COUNT,
                        "description": "exchanges that did not keep what the rule needs, by reason",
                    },
                )
            ),
            deviations=array(
                closed(
                    rule=STRING,
                    endpoint=STRING,
                    wire=WIRE,
                    level=word_of(Level),
                    fault=word_of(Fault),
                    exchanges=COUNT,
                    by_quirk={**COUNT, "description": "exchanges in which a declared quirk explains it"},
                    by_baseline={**COUNT, "description": "exchanges in which the baseline knows it"},
                )
            ),
            interrupted={"type": "boolean", "description": "true when only a part was graded"},
        ),
    }


_FINDING = closed(
    {
        "event": {**COUNT, "description": "index of the stream's event"},
        "ms": {"type": "number", "description": "milliseconds since the request began"},
        "more": {**COUNT, "description": "further findings of the rule in the exchange, not told"},
        "quirk": {**STRING, "description": "the declared quirk that explains it"},
        "known": {**STRING, "description": "that the baseline knows it"},
        "flavour": {**word_of(Flavour), "description": "the published reading of the wire that demands it"},
        "consequence": {**STRING, "description": "what breaks at clients"},
    },
    rule=STRING,
    level=word_of(Level),
    basis=word_of(Basis),
    fault={**word_of(Fault), "description": "who deviates: the client's request, or the endpoint's answer"},
    path={**STRING, "description": "JSON Pointer into the exchange: /request/... or /response/..."},
    message=STRING,
    wanted=STRING,
    got=STRING,
)

_EXCHANGE = closed(
    file=STRING,
    position={**COUNT, "description": "the exchange's place in its file, from 0"},
    turn={**COUNT, "description": "its place in its conversation, from 0"},
    format=STRING,
    fidelity=word_of(Fidelity),
    outcome=word_of(Outcome),
    reason=STRING,
    wire={"enum": [*WIRES, None]},
    endpoint=STRING,
    provider=STRING,
    told_by=word_of(ToldBy),
    model=STRING,
    status={"type": "integer"},
    findings=array(_FINDING),
)

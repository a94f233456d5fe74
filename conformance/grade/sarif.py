"""Findings for code hosts: SARIF 2.1.0 (OASIS Standard, 2020-03-27).

A result stands for all findings of one rule in one exchange. Recordings have no lines that would mean
anything, so a result points to its file, and in words to the exchange and the place in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from itertools import chain
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from conformance.grade.document import dumped
from conformance.grade.grading import Graded, fault_of
from conformance.rules import rule_of
from conformance.types import Finding, Level

MAX_RESULTS = 5_000
"""More than code hosts keep of one run. Beyond it the gravest results stay, and of these the first."""

_LEVELS: Mapping[Level, str] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


class SarifLog:
    """Collects results, at most ``MAX_RESULTS`` of each level, and counts the rest."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._results: dict[Level, list[tuple[int, dict[str, Any]]]] = {level: [] for level in _LEVELS}
        self._seen: Counter[Level] = Counter()
        self._rules: dict[str, int] = {}

    def add(self, graded: Graded) -> None:
        """Take the findings of an exchange."""
        told: dict[str, list[Finding]] = {}
        for finding in graded.findings:
            told.setdefault(finding.rule, []).append(finding)
        for findings in told.values():
            level = findings[0].level
            if len(self._results[level]) < MAX_RESULTS:
                self._results[level].append((self._seen.total(), self._result(graded, findings)))
            self._seen[level] += 1

    @property
    def left_out(self) -> str:
        """How many results the log does not hold, of which levels; empty where it holds all."""
        over = self._seen - Counter({level: len(found) for level, found in self._kept().items()})
        if not over:
            return ""
        levels = ", ".join(f"{over[level]:,} {level}" for level in _LEVELS if over[level])
        return f"{over.total():,} of {self._seen.total():,} results are left out: {levels}"

    def write(self, path: Path, interrupted: bool = False) -> None:
        """Write the log. Raises ``OSError``."""
        text = dumped(self.document(interrupted), indent=1)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")

    def document(self, interrupted: bool = False) -> dict[str, Any]:
        """The log as JSON values."""
        driver = {
            "name": "conformance",
            "version": self._version,
            "rules": [_rule(rule) for rule in self._rules],
        }
        kept = sorted(chain(*self._kept().values()), key=lambda pair: pair[0])
        results = [result for _, result in kept]
        if any("suppressions" in result for result in results):
            # Section 3.27.23: where one result of a run says whether it is suppressed, all do.
            results = [{"suppressions": []} | result for result in results]
        told = ["interrupted: only a part was graded"] if interrupted else []
        told += [self.left_out] if self.left_out else []
        invocation: dict[str, Any] = {"executionSuccessful": not interrupted}
        if told:
            notes = [{"level": "warning", "message": {"text": text}} for text in told]
            invocation["toolExecutionNotifications"] = notes
        run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
        return {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }

    def _kept(self) -> dict[Level, list[tuple[int, dict[str, Any]]]]:
        room, kept = MAX_RESULTS, {}
        for level, found in self._results.items():
            kept[level] = found[:room]
            room -= len(kept[level])
        return kept

    def _result(self, graded: Graded, findings: list[Finding]) -> dict[str, Any]:
        first = findings[0]
        more = sum(1 + finding.more for finding in findings) - 1
        index = self._rules.setdefault(first.rule, len(self._rules))
        where = f"exchange {graded.position}{first.path}"
        got = f"got {_plain(first.got)}, at {_plain(where)}"
        also = f" (and in {more} more places)" if more else ""
        result: dict[str, Any] = {
            "ruleId": first.rule,
            "ruleIndex": index,
            "level": _LEVELS[first.level],
            "message": {"text": f"{first.message} Wanted {_plain(first.wanted)}, {got}{also}."},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(graded.file)},
                        "region": {"startLine": 1},
                    },
                    "logicalLocations": [{"fullyQualifiedName": where, "kind": "member"}],
                }
            ],
            "partialFingerprints": {"fileRuleExchange/v1": _print(graded, first)},
            "properties": {
                "endpoint": graded.endpoint,
                "wire": graded.wire,
                "model": graded.model,
                "fault": fault_of(first),
            },
        }
        forgiven = first.quirk or first.known
        if forgiven:
            result["suppressions"] = [{"kind": "external", "justification": forgiven}]
        return result


def _rule(id: str) -> dict[str, Any]:
    rule = rule_of(id)
    help_text = "\n".join([rule.reason, *([f"Breaks: {rule.consequence}"] if rule.consequence else [])])
    return {
        "id": id,
        "shortDescription": {"text": rule.requirement},
        "fullDescription": {"text": rule.reason},
        "help": {"text": f"{help_text}\nSource: {'; '.join(rule.source)}"},
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
        "properties": {"basis": rule.basis, "kind": rule.kind, "tags": list(rule.wires)},
    }


def _plain(text: str) -> str:
    """What a recording says, without what would be a link (section 3.11.6)."""
    return text.replace("](", "] (")


def _uri(file: str) -> str:
    """Relative to the working directory, which is the repository's in a pipeline, where it lies below."""
    path = PurePath(file)
    if path.is_absolute():
        here = Path.cwd()
        if not path.is_relative_to(here):
            return path.as_uri()
        path = path.relative_to(here)
    return quote(path.as_posix(), errors="backslashreplace")


def _print(graded: Graded, finding: Finding) -> str:
    told = f"{PurePath(graded.file).as_posix()}\n{finding.rule}\n{graded.position}"
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

"""Findings for code hosts: SARIF 2.1.0 (OASIS Standard, 2020-03-27).

A result stands for all findings of one rule in one exchange. Recordings have no lines that would mean
anything, so a result points to its file, and in words to the exchange and the place in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from conformance.grade.grading import Graded, fault_of
from conformance.rules import rule_of
from conformance.types import Finding, Level

MAX_RESULTS = 5_000
"""More than code hosts keep of one run."""

_LEVELS: Mapping[Level, str] = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}


class SarifLog:
    """Collects results, the first ``MAX_RESULTS`` of them, and counts the rest."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._results: list[dict[str, Any]] = []
        self._rules: dict[str, int] = {}
        self._left_out = 0

    def add(self, graded: Graded) -> None:
        """Take the findings of an exchange."""
        told: dict[str, list[Finding]] = {}
        for finding in graded.findings:
            told.setdefault(finding.rule, []).append(finding)
        for findings in told.values():
            if len(self._results) < MAX_RESULTS:
                self._results.append(self._result(graded, findings))
            else:
                self._left_out += 1

    def write(self, path: Path) -> None:
        """Write the log. Raises ``OSError``."""
        text = json.dumps(self.document(), ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")

    def document(self) -> dict[str, Any]:
        """The log as JSON values."""
        driver = {
            "name": "conformance",
            "version": self._version,
            "rules": [_rule(rule) for rule in self._rules],
        }
        run: dict[str, Any] = {"tool": {"driver": driver}, "results": self._results}
        if self._left_out:
            run["properties"] = {"resultsLeftOut": self._left_out}
        return {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }

    def _result(self, graded: Graded, findings: list[Finding]) -> dict[str, Any]:
        first = findings[0]
        more = sum(1 + finding.more for finding in findings) - 1
        index = self._rules.setdefault(first.rule, len(self._rules))
        where = f"exchange {graded.position}{first.path}"
        also = f" (and in {more} more places)" if more else ""
        result: dict[str, Any] = {
            "ruleId": first.rule,
            "ruleIndex": index,
            "level": _LEVELS[first.level],
            "message": {"text": f"{first.message} Wanted {first.wanted}, got {first.got}, at {where}{also}."},
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


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _print(graded: Graded, finding: Finding) -> str:
    told = f"{PurePath(graded.file).as_posix()}\n{finding.rule}\n{graded.position}"
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

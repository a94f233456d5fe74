"""The log for code hosts has what SARIF 2.1.0 requires, whatever a recording says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from conformance.grade.grading import Graded
from conformance.grade.sarif import SarifLog
from conformance.rules.examples import answer

from .recordings import graded

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
}

RULE = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}},
        "properties": BAG,
    },
    "additionalProperties": False,
}
PLACE = {
    "type": "object",
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "format": "uri-reference"}},
                },
                "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": PLACE, "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {"enum": ["inSource", "external"]},
                    "justification": {"type": "string"},
                },
                "additionalProperties": False,
            },
        },
        "properties": BAG,
    },
    "additionalProperties": False,
}
INVOCATION = {
    "type": "object",
    "required": ["executionSuccessful"],
    "properties": {
        "executionSuccessful": {"type": "boolean"},
        "toolExecutionNotifications": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message"],
                "properties": {"level": LEVEL, "message": TEXT},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
LOG = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {"type": "array", "items": RULE, "uniqueItems": True},
                                },
                                "additionalProperties": False,
                            }
                        },
                    },
                    "invocations": {"type": "array", "items": INVOCATION},
                    "results": {"type": "array", "items": RESULT},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""The standard's schema, as far as what is written here goes: no member beyond these may be written."""

VALIDATOR = jsonschema_rs.Draft202012Validator(LOG, validate_formats=True)


def odd(said: Any = "eos", **more: Any) -> Graded:
    (one,) = graded(answer(choice={"finish_reason": said, "delta": {}}))
    return replace(one, **more)


def explained() -> Graded:
    return odd(findings=tuple(replace(finding, known="baseline") for finding in odd().findings))


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param([], id="nothing"),
        pytest.param([odd()], id="findings"),
        pytest.param([odd(), explained()], id="some explained"),
        pytest.param([odd("\x1b[2J\u202e<b>", model="\ud800", endpoint="\x00")], id="odd values"),
        pytest.param([odd(file="a b/ü%3A#?:[1].yaml"), odd(file="../x\n\udc80.yaml")], id="odd names"),
    ],
)
def test_a_log_has_what_the_standard_requires(
    exchanges: list[Graded], interrupted: bool, tmp_path: Path
) -> None:
    log = SarifLog("1.0")
    for one in exchanges:
        log.add(one)
    log.write(tmp_path / "x.sarif", interrupted)
    document = json.loads((tmp_path / "x.sarif").read_text("utf-8"))
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert len({"suppressions" in result for result in run["results"]}) <= 1


def test_nothing_in_a_recording_becomes_a_link() -> None:
    log = SarifLog("1.0")
    log.add(odd("[update your tools](https://example.com)"))
    told = " ".join(result["message"]["text"] for result in log.document()["runs"][0]["results"])
    assert "[update your tools] (https://example.com)" in told


def test_the_schema_here_is_one_that_a_log_can_break() -> None:
    log = SarifLog("1.0")
    log.add(odd())
    document = log.document()
    document["runs"][0]["results"][0]["level"] = "MUST"
    assert not VALIDATOR.is_valid(document)

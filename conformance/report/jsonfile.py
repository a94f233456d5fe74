"""``matrix.json``: the matrix as one JSON document, its schema, and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import jsonschema_rs

from conformance.report.summary import Count, summarize
from conformance.types import (
    VERDICTS,
    WIRES,
    Basis,
    Cell,
    Ending,
    EndpointRow,
    FailureKind,
    Finding,
    Flag,
    Flavour,
    Level,
    Matrix,
    Mode,
    Observation,
    ScenarioRow,
)

# ---------------------------------------------------------------------------------------------- out


def write(matrix: Matrix, path: Path) -> None:
    """Write the document as UTF-8 with a trailing newline."""
    text = json.dumps(to_document(matrix), ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def to_document(matrix: Matrix) -> dict[str, Any]:
    """The matrix as JSON values, in the matrix's own order; ``schema()`` describes it.

    Lone surrogates, which no UTF-8 file can hold, become the six characters of their escape.
    """
    return {
        "suite": _jsonable(matrix.suite),
        "summary": _summary(matrix),
        "endpoints": [_endpoint_to_json(row) for row in matrix.endpoints],
        "scenarios": [
            {"id": _text(row.id), "title": _text(row.title), "chapter": _text(row.chapter)}
            for row in matrix.scenarios
        ],
        "cells": [cell_to_json(cell) for cell in matrix.cells],
        "notes": [_text(note) for note in matrix.notes],
    }


def cell_to_json(cell: Cell) -> dict[str, Any]:
    """One cell as JSON values, as it stands in the document."""
    return {
        "endpoint": _text(cell.endpoint),
        "scenario": _text(cell.scenario),
        "mode": cell.mode,
        "verdict": cell.verdict,
        "flags": list(cell.flags),
        "reason": _text(cell.reason),
        "findings": [_finding_to_json(finding) for finding in cell.findings],
        "attempts": cell.attempts,
        "decided_by": cell.decided_by,
        "requests": cell.requests,
        "elapsed_ms": cell.elapsed_ms,
        "evidence": [_jsonable(exchange) for exchange in cell.evidence],
        **({} if cell.flavour is None else {"flavour": cell.flavour}),
        **({"observations": list(map(_observation_to_json, cell.observations))} if cell.observations else {}),
    }


def _observation_to_json(observation: Observation) -> dict[str, Any]:
    status = {} if observation.status is None else {"status": observation.status}
    return {
        "policy": _text(observation.policy),
        "aspect": _text(observation.aspect),
        "outcome": _text(observation.outcome),
        "path": _text(observation.path),
        "detail": _text(observation.detail),
        **status,
    }


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    required = {
        "rule": finding.rule,
        "level": finding.level,
        "basis": finding.basis,
        "path": finding.path,
        "message": finding.message,
        "wanted": finding.wanted,
        "got": finding.got,
    }
    optional = {
        "flavour": finding.flavour,
        "event": finding.event,
        "ms": finding.ms,
        "quirk": finding.quirk,
        "known": finding.known,
    }
    present = {key: value for key, value in optional.items() if value is not None}
    if finding.more:
        present["more"] = finding.more
    if finding.consequence:
        present["consequence"] = finding.consequence
    return {key: _jsonable(value) for key, value in (required | present).items()}


def _endpoint_to_json(row: EndpointRow) -> dict[str, Any]:
    return {
        "name": _text(row.name),
        "wire": row.wire,
        "model": _text(row.model),
        "base_url": _text(row.base_url),
        "source": row.source,
        "status": row.status,
        "reason": _text(row.reason),
        "server": _jsonable(row.server),
        "recorded": _jsonable(row.recorded),
        "quirks": [_text(quirk) for quirk in row.quirks],
    }


def _summary(matrix: Matrix) -> dict[str, Any]:
    summary = summarize(matrix)

    def counts(count: Count) -> dict[str, Any]:
        return {"judged": count.judged, "total": count.total, "verdicts": dict(count.verdicts)}

    return counts(summary.overall) | {
        "endpoints": {_text(name): counts(count) for name, count in summary.endpoints.items()},
        "rules": [
            {"rule": _text(r.rule), "level": r.level, "cells": r.cells, "endpoints": r.endpoints}
            for r in summary.rules
        ],
    }


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _jsonable(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(key)): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value


# --------------------------------------------------------------------------------------------- back


def from_document(document: Any) -> Matrix:
    """The matrix that ``to_document`` was given.

    Raises ValueError, naming the place, when ``document`` does not fit ``schema()``.
    """
    error = next(_validator().iter_errors(document), None)
    if error is not None:
        place = "/".join(str(step) for step in error.instance_path) or "the top level"
        raise ValueError(f"not a conformance matrix: at {place}: {error.message}")
    return Matrix(
        suite=document["suite"],
        endpoints=tuple(
            EndpointRow(**{**row, "quirks": tuple(row["quirks"])}) for row in document["endpoints"]
        ),
        scenarios=tuple(ScenarioRow(**row) for row in document["scenarios"]),
        cells=tuple(cell_from_json(cell) for cell in document["cells"]),
        notes=tuple(document["notes"]),
    )


def cell_from_json(data: Mapping[str, Any]) -> Cell:
    """The cell that ``cell_to_json`` was given; ``data`` is taken to be valid."""
    return Cell(
        **{
            **data,
            "flags": tuple(data["flags"]),
            "findings": tuple(Finding(**finding) for finding in data["findings"]),
            "observations": tuple(Observation(**one) for one in data.get("observations", ())),
            "evidence": tuple(data["evidence"]),
        }
    )


# ------------------------------------------------------------------------------------------- schema


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema())


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conformance matrix",
        **_object(
            suite={"type": "object"},
            summary=_SUMMARY,
            endpoints=_array(_ENDPOINT),
            scenarios=_array(_object(id=_STRING, title=_STRING, chapter=_STRING)),
            cells=_array(_CELL),
            notes=_array(_STRING),
        ),
    }


def _object(optional: Mapping[str, Any] | None = None, **required: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _enum(literal: Any) -> dict[str, Any]:
    return {"enum": list(get_args(literal))}


def _or_null(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [data, {"type": "null"}]}


_STRING = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_MILLISECONDS = {"type": "number", "description": "milliseconds"}
_HEADERS = _array({"type": "array", "items": _STRING, "minItems": 2, "maxItems": 2})

_ROW = get_type_hints(EndpointRow)
_VERDICT_COUNTS = _object(None, **dict.fromkeys(VERDICTS, _COUNT))
_SUMMARY = _object(
    judged={**_COUNT, "description": "cells whose verdict says something about the endpoint"},
    total=_COUNT,
    verdicts=_VERDICT_COUNTS,
    endpoints={
        "type": "object",
        "additionalProperties": _object(judged=_COUNT, total=_COUNT, verdicts=_VERDICT_COUNTS),
    },
    rules=_array(_object(rule=_STRING, level=_enum(Level), cells=_COUNT, endpoints=_COUNT)),
)

_ENDPOINT = _object(
    name=_STRING,
    wire={"enum": list(WIRES)},
    model=_STRING,
    base_url=_STRING,
    source=_enum(_ROW["source"]),
    status=_enum(_ROW["status"]),
    reason=_STRING,
    server={"type": ["string", "null"]},
    recorded={"type": ["string", "null"], "description": "the date its cassettes were recorded"},
    quirks=_array(_STRING),
)

_FINDING = _object(
    {
        "event": {**_COUNT, "description": "index of the stream's event"},
        "ms": _MILLISECONDS,
        "more": {**_COUNT, "description": "further findings of the rule in the exchange, not told"},
        "quirk": {**_STRING, "description": "the declared quirk that explains it"},
        "known": {**_STRING, "description": "why the user's known-findings file silences it"},
        "consequence": {**_STRING, "description": "what breaks at clients"},
        "flavour": {**_enum(Flavour), "description": "the published reading of the wire that demands it"},
    },
    rule=_STRING,
    level=_enum(Level),
    basis=_enum(Basis),
    path={**_STRING, "description": "JSON Pointer from /exchanges/N, N counting from 0"},
    message=_STRING,
    wanted=_STRING,
    got=_STRING,
)

_MEMBERS = dict[str, Any](
    request=_object(method=_STRING, url=_STRING, headers=_HEADERS, body=_STRING),
    response=_or_null(
        _object(
            status={"type": "integer"},
            http_version=_STRING,
            headers=_HEADERS,
            body=_STRING,
            parts=_array({"type": "array", "prefixItems": [_MILLISECONDS, _COUNT], "items": False}),
        )
    ),
    ending=_enum(Ending),
    failure=_or_null(_object(kind=_enum(FailureKind), message=_STRING)),
    elapsed_ms=_MILLISECONDS,
    probe={"type": ["string", "null"]},
    truncated={"type": "boolean", "description": "true when a body was cut to fit the report"},
)
_EVIDENCE = _object(
    {
        "behind": {
            **_array(_object(None, **_MEMBERS)),
            "description": "in an adapted run: every exchange that really went over the wire",
        }
    },
    **_MEMBERS,
)

_OBSERVATION = _object(
    {"status": {"type": "integer", "description": "the HTTP status of a refusal"}},
    policy=_STRING,
    aspect=_STRING,
    outcome=_STRING,
    path={**_STRING, "description": "JSON Pointer from /exchanges/N to the evidence, N counting from 0"},
    detail=_STRING,
)

_CELL = _object(
    {
        "flavour": {**_enum(Flavour), "description": "the published reading of the wire that it holds to"},
        "observations": {
            **_array(_OBSERVATION),
            "description": "policies that were observed; they bear on no verdict",
        },
    },
    endpoint=_STRING,
    scenario=_STRING,
    mode=_enum(Mode),
    verdict={"enum": list(VERDICTS)},
    flags=_array(_enum(Flag)),
    reason=_STRING,
    findings=_array(_FINDING),
    attempts=_COUNT,
    decided_by={**_COUNT, "description": "the attempt that findings and evidence are of, from 0"},
    requests=_COUNT,
    elapsed_ms=_MILLISECONDS,
    evidence=_array(_EVIDENCE),
)

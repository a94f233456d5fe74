"""``matrix.json``: the matrix as one JSON document, its schema, and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema_rs

from conformance.report.summary import Count, summarize
from conformance.types import (
    VERDICTS,
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
from conformance.types.documents import COUNT, STRING, WIRE, array, closed, word_of

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
        **({"scripted": _text(row.scripted)} if row.scripted is not None else {}),
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
        **closed(
            suite={"type": "object"},
            summary=_SUMMARY,
            endpoints=array(_ENDPOINT),
            scenarios=array(closed(id=STRING, title=STRING, chapter=STRING)),
            cells=array(_CELL),
            notes=array(STRING),
        ),
    }


def _or_null(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [data, {"type": "null"}]}


_MILLISECONDS = {"type": "number", "description": "milliseconds"}
_HEADERS = array({"type": "array", "items": STRING, "minItems": 2, "maxItems": 2})

_ROW = get_type_hints(EndpointRow)
_VERDICT_COUNTS = closed(None, **dict.fromkeys(VERDICTS, COUNT))
_SUMMARY = closed(
    judged={**COUNT, "description": "cells whose verdict says something about the endpoint"},
    total=COUNT,
    verdicts=_VERDICT_COUNTS,
    endpoints={
        "type": "object",
        "additionalProperties": closed(judged=COUNT, total=COUNT, verdicts=_VERDICT_COUNTS),
    },
    rules=array(closed(rule=STRING, level=word_of(Level), cells=COUNT, endpoints=COUNT)),
)

_ENDPOINT = closed(
    {"scripted": {**STRING, "description": "the dialect of our scripted model, which it serves"}},
    name=STRING,
    wire=WIRE,
    model=STRING,
    base_url=STRING,
    source=word_of(_ROW["source"]),
    status=word_of(_ROW["status"]),
    reason=STRING,
    server={"type": ["string", "null"]},
    recorded={"type": ["string", "null"], "description": "the date its cassettes were recorded"},
    quirks=array(STRING),
)

_FINDING = closed(
    {
        "event": {**COUNT, "description": "index of the stream's event"},
        "ms": _MILLISECONDS,
        "more": {**COUNT, "description": "further findings of the rule in the exchange, not told"},
        "quirk": {**STRING, "description": "the declared quirk that explains it"},
        "known": {**STRING, "description": "why the user's known-findings file silences it"},
        "consequence": {**STRING, "description": "what breaks at clients"},
        "flavour": {**word_of(Flavour), "description": "the published reading of the wire that demands it"},
    },
    rule=STRING,
    level=word_of(Level),
    basis=word_of(Basis),
    path={**STRING, "description": "JSON Pointer from /exchanges/N, N counting from 0"},
    message=STRING,
    wanted=STRING,
    got=STRING,
)

_MEMBERS = dict[str, Any](
    request=closed(method=STRING, url=STRING, headers=_HEADERS, body=STRING),
    response=_or_null(
        closed(
            status={"type": "integer"},
            http_version=STRING,
            headers=_HEADERS,
            body=STRING,
            parts=array({"type": "array", "prefixItems": [_MILLISECONDS, COUNT], "items": False}),
        )
    ),
    ending=word_of(Ending),
    failure=_or_null(closed(kind=word_of(FailureKind), message=STRING)),
    elapsed_ms=_MILLISECONDS,
    probe={"type": ["string", "null"]},
    truncated={"type": "boolean", "description": "true when a body was cut to fit the report"},
)
_EVIDENCE = closed(
    {
        "behind": {
            **array(closed(None, **_MEMBERS)),
            "description": "in an adapted run: every exchange that really went over the wire",
        },
        "twin_of": {
            **COUNT,
            "description": "number of the exchange that asked the same the other way: streamed or whole",
        },
    },
    **_MEMBERS,
)

_OBSERVATION = closed(
    {"status": {"type": "integer", "description": "the HTTP status of a refusal"}},
    policy=STRING,
    aspect=STRING,
    outcome=STRING,
    path={**STRING, "description": "JSON Pointer from /exchanges/N to the evidence, N counting from 0"},
    detail=STRING,
)

_CELL = closed(
    {
        "flavour": {**word_of(Flavour), "description": "the published reading of the wire that it holds to"},
        "observations": {
            **array(_OBSERVATION),
            "description": "policies that were observed; they bear on no verdict",
        },
    },
    endpoint=STRING,
    scenario=STRING,
    mode=word_of(Mode),
    verdict={"enum": list(VERDICTS)},
    flags=array(word_of(Flag)),
    reason=STRING,
    findings=array(_FINDING),
    attempts=COUNT,
    decided_by={**COUNT, "description": "the attempt that findings and evidence are of, from 0"},
    requests=COUNT,
    elapsed_ms=_MILLISECONDS,
    evidence=array(_EVIDENCE),
)

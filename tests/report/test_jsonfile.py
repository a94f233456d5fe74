from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given, settings

from conformance.report.jsonfile import (
    cell_from_json,
    cell_to_json,
    from_document,
    schema,
    to_document,
    write,
)
from conformance.types import Matrix

from .examples import CODE, DUPLICATE, FINISH, one_endpoint, several_endpoints
from .strategies import matrices


def test_the_schema_is_a_schema() -> None:
    jsonschema_rs.meta.validate(schema())


@settings(deadline=None)
@given(matrices())
def test_any_matrix_gives_a_valid_document_and_comes_back_the_same(matrix: Matrix) -> None:
    document = json.loads(json.dumps(to_document(matrix)))
    jsonschema_rs.validate(schema(), document)
    assert from_document(document) == matrix


@settings(deadline=None)
@given(matrices())
def test_any_cell_survives_the_way_to_another_process(matrix: Matrix) -> None:
    for cell in matrix.cells:
        assert cell_from_json(json.loads(json.dumps(cell_to_json(cell)))) == cell


def test_a_finding_names_its_quirk_only_when_there_is_one() -> None:
    cells = to_document(several_endpoints())["cells"]
    found = {f["rule"]: f for cell in cells for f in cell["findings"]}
    required = ["rule", "level", "basis", "path", "message", "wanted", "got"]
    assert list(found[CODE.rule]) == required
    assert list(found[DUPLICATE.rule]) == [*required, "quirk"]


def test_a_finding_tells_what_breaks_only_when_that_is_known() -> None:
    cells = to_document(several_endpoints())["cells"]
    found = {f["rule"]: f for cell in cells for f in cell["findings"]}
    assert found[FINISH.rule]["consequence"] == FINISH.consequence
    assert "consequence" not in found[CODE.rule]


def test_the_file_is_utf8_in_the_matrixs_order_and_ends_with_a_newline(tmp_path: Path) -> None:
    matrix = replace(one_endpoint(), notes=("é 漢",))
    write(matrix, tmp_path / "matrix.json")
    text = (tmp_path / "matrix.json").read_bytes().decode()
    assert text.endswith("}\n")
    assert "é 漢" in text
    document = json.loads(text)
    assert list(document) == ["suite", "summary", "endpoints", "scenarios", "cells", "notes"]
    assert [cell["scenario"] for cell in document["cells"]] == [cell.scenario for cell in matrix.cells]


def test_a_lone_surrogate_is_written_as_its_escape(tmp_path: Path) -> None:
    write(replace(one_endpoint(), notes=("half \ud83d",)), tmp_path / "matrix.json")
    document = json.loads((tmp_path / "matrix.json").read_text(encoding="utf-8"))
    assert document["notes"] == ["half \\ud83d"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"cells": None}, "cells"),
        ({"extra": 1}, "the top level"),
        ({"scenarios": [{"id": "a", "title": "b"}]}, "scenarios/0"),
    ],
)
def test_what_is_no_matrix_is_refused_with_the_place(change: dict[str, object], place: str) -> None:
    with pytest.raises(ValueError, match=f"at {place}: "):
        from_document(to_document(one_endpoint()) | change)


def test_a_verdict_outside_the_vocabulary_is_refused() -> None:
    document = to_document(one_endpoint())
    document["cells"][0]["verdict"] = "fine"
    with pytest.raises(ValueError, match="at cells/0/verdict"):
        from_document(document)

"""The schema decides what a raw text is."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.dialects.schema_types import typed, types

_ROOT = {"$defs": {"Count": {"type": "integer"}, "Loop": {"$ref": "#/$defs/Loop"}}}


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["integer", "null"]}, {"integer", "null"}),
        ({"anyOf": [{"type": "string"}, {"enum": [1]}]}, {"string", "integer"}),
        ({"enum": ["a", None, 1.5]}, {"string", "null", "number"}),
        ({"const": True}, {"boolean"}),
        ({"$ref": "#/$defs/Count"}, {"integer"}),
        ({"$ref": "#/$defs/Loop"}, set()),
        ({"$ref": "https://elsewhere"}, set()),
        ({"properties": {}}, {"object"}),
        ({}, set()),
        (None, set()),
        (True, set()),
    ],
)
def test_the_types_of_a_schema(schema: Any, names: set[str]) -> None:
    assert types(schema, _ROOT) == names


@pytest.mark.parametrize(
    ("raw", "schema", "value", "flags"),
    [
        ("42", {"type": "string"}, "42", set()),
        ("42", {}, "42", set()),
        ("42", {"type": "integer"}, 42, set()),
        (" 42\n", {"type": "integer"}, 42, set()),
        ("4.5", {"type": "integer"}, "4.5", {"type-mismatch"}),
        ("4", {"type": "number"}, 4, set()),
        ("three", {"type": "integer"}, "three", {"type-mismatch"}),
        ("true", {"type": "boolean"}, True, set()),
        ("True", {"type": "boolean"}, True, {"repaired"}),
        ("1", {"type": "boolean"}, "1", {"type-mismatch"}),
        ("null", {"type": "integer"}, None, set()),
        ("null", {"type": "string"}, "null", set()),
        ("null", {"type": ["string", "null"]}, None, set()),
        ("3", {"type": ["string", "integer"]}, 3, set()),
        ("x", {"type": ["string", "integer"]}, "x", set()),
        ("True", {"type": ["string", "boolean"]}, "True", set()),
        ("['a',]", {"type": "array"}, ["a"], {"repaired"}),
        ('{"a":1}', {"type": "object"}, {"a": 1}, set()),
        ('{"a":1} x', {"type": "object"}, '{"a":1} x', {"type-mismatch"}),
    ],
)
def test_a_raw_text_becomes_what_the_schema_allows(
    raw: str, schema: Any, value: Any, flags: set[str]
) -> None:
    got, found = typed(raw, schema)
    assert (got, type(got)) == (value, type(value))
    assert found == flags

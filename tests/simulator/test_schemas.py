"""Values that conform to schemas of strangers."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.simulator import schemas
from conformance.simulator.tokens import groups, tokens

NODE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value", "next"],
        }
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"const": 3},
        {"enum": ["a", "b"]},
        {"type": ["null", "string"]},
        {"type": "string", "minLength": 40},
        {"type": "string", "maxLength": 0},
        {"type": "string", "format": "date-time"},
        {"type": "string", "format": "uuid"},
        {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"},
        {"type": "integer", "minimum": 7, "maximum": 7},
        {"type": "integer", "exclusiveMinimum": 10, "multipleOf": 4},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "number", "maximum": -3},
        {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "uniqueItems": True},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        {"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"type": "string"}}, "maxProperties": 0},
        {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": {"type": "boolean"}}}]},
        {"oneOf": [{"type": "string", "pattern": "^q{9}$"}, {"type": "integer"}]},
        NODE,
    ],
)
def test_a_conforming_value_conforms(schema: Any) -> None:
    assert schemas.problem(schema) is None
    value = schemas.conforming(schema)
    assert jsonschema_rs.is_valid(schema, value)
    assert schemas.conforming(schema) == value


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"$ref": "#"},
        {"type": "object", "properties": {"self": {"$ref": "#"}}, "required": ["self"]},
    ],
)
def test_what_can_not_be_found_is_said_so(schema: Any) -> None:
    with pytest.raises(schemas.Unsatisfiable):
        schemas.conforming(schema)


KINDS = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS | st.lists(KINDS, min_size=1, max_size=2, unique=True),
            "minLength": st.integers(0, 9),
            "maxLength": st.integers(0, 9),
            "minimum": st.integers(-9, 9),
            "maximum": st.integers(-9, 9),
            "multipleOf": st.integers(1, 5),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": KINDS,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), unique=True),
            "items": inner,
            "minItems": st.integers(0, 3),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "$ref": st.sampled_from(["#", "#/properties/a", "#/nowhere", "http://127.0.0.1:9/", "#/items/0"]),
        },
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_any_schema_is_a_problem_or_has_a_value_or_is_given_up(schema: Any) -> None:
    if schemas.problem(schema) is not None:
        return
    try:
        value = schemas.conforming(schema)
    except schemas.Unsatisfiable:
        return
    assert schemas.conforms(schema, value)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, None),
        ({"type": "object", "properties": {}}, "the root must set 'additionalProperties' to false"),
        ({"type": "array", "items": {"type": "string"}}, "the root is not an object"),
        ({"anyOf": [{"type": "object"}]}, "the root is not an object"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
            "the root must list 'a' in 'required'",
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}},
                "required": ["a"],
                "additionalProperties": False,
            },
            "/a/items must set 'additionalProperties' to false",
        ),
        (
            {"type": "object", "allOf": [{}], "additionalProperties": False},
            "the root uses 'allOf', which is not permitted",
        ),
    ],
)
def test_strict_mode_wants_closed_objects_with_every_property_required(
    schema: Any, problem: str | None
) -> None:
    assert schemas.strict_problem(schema) == problem


@given(st.text())
def test_tokens_are_at_most_four_bytes_and_rebuild_the_text(text: str) -> None:
    found = tokens(text)
    assert "".join(found) == text
    assert all(0 < len(token.encode()) <= 4 for token in found)
    assert len(groups(found)) <= 32
    assert [token for group in groups(found) for token in group] == found

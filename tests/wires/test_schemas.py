"""Which schemas OpenAI takes as strict, and what Anthropic's grammars take of a schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from conformance.types import Loss
from conformance.wires.schemas import for_grammar, is_strict

TEXT = {"type": "string"}


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        closed(),
        closed(a=TEXT, b={"type": "array", "items": closed(c=TEXT)}),
        closed(a={"anyOf": [TEXT, {"type": "null"}]}),
        {**closed(a={"$ref": "#/$defs/x"}), "$defs": {"x": closed(y=TEXT)}},
        closed(a={"type": "integer", "minimum": 1}),
    ],
)
def test_a_closed_schema_with_all_its_properties_required_is_strict(schema: dict[str, Any]) -> None:
    assert is_strict(schema)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        TEXT,
        {"type": "object"},
        {**closed(a=TEXT), "additionalProperties": True},
        {**closed(a=TEXT), "required": []},
        {**closed(a=TEXT), "required": "a"},
        {**closed(a=TEXT), "required": [["a"]]},
        {**closed(a=TEXT), "anyOf": [closed()]},
        {**closed(a=TEXT), "allOf": [closed()]},
        closed(a={"type": "object"}),
        closed(a={"type": "array", "items": {"properties": {"b": TEXT}}}),
        closed(a={"anyOf": [{"type": "object"}]}),
        {**closed(a=TEXT), "$defs": {"x": {"type": "object"}}},
    ],
)
def test_any_other_schema_is_not(schema: Any) -> None:
    assert not is_strict(schema)


FITTED: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    (closed(a=TEXT), closed(a=TEXT), []),
    (
        {"type": "object", "properties": {"a": TEXT}},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
        [("/s/additionalProperties", "form")],
    ),
    (
        {"type": ["object", "null"], "additionalProperties": TEXT},
        {"type": ["object", "null"], "additionalProperties": False},
        [("/s/additionalProperties", "meaning")],
    ),
    (
        closed(a={"type": "array", "items": {"type": "object"}, "minItems": 2}),
        closed(a={"type": "array", "items": {"type": "object", "additionalProperties": False}}),
        [("/s/properties/a/minItems", "meaning"), ("/s/properties/a/items/additionalProperties", "form")],
    ),
    (
        closed(minimum={"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}),
        closed(minimum={"anyOf": [{"type": "number"}, {"type": "null"}]}),
        [("/s/properties/minimum/anyOf/0/minimum", "meaning")],
    ),
]


@pytest.mark.parametrize(("schema", "fitted", "lost"), FITTED)
def test_a_grammar_closes_objects_and_drops_limits_and_says_so(
    schema: dict[str, Any], fitted: dict[str, Any], lost: list[tuple[str, str]]
) -> None:
    losses: list[Loss] = []
    before = copy.deepcopy(schema)
    assert for_grammar(schema, "/s", losses) == fitted
    assert [(loss.path, loss.weight) for loss in losses] == lost
    assert schema == before
    assert for_grammar(fitted, "/s", losses) == fitted
    assert len(losses) == len(lost)


def test_a_schema_nested_beyond_any_request_is_left_to_the_endpoint() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"items": schema}
    assert for_grammar(schema, "", []).keys() == {"items"}
    assert not is_strict(closed(a=schema))

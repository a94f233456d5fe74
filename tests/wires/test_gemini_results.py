"""Results as responses, names, and the schema subset."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.wires.gemini_names import MAX_NAME, from_gemini, members, to_gemini
from conformance.wires.gemini_results import unwrap, wrap
from conformance.wires.gemini_schema import json_schema

from .gemini_kit import arguments, json_values, words

# ------------------------------------------------------------------------------------------------ results

result_texts = st.one_of(
    st.text(),
    arguments,
    arguments.map(lambda text: f" {text}"),
    st.tuples(st.sampled_from(["output", "error", "result"]), words).map(
        lambda kv: f'{{"{kv[0]}":"{kv[1]}"}}'
    ),
)


@given(result_texts)
@example('{"output":"x"}')
@example('{"error":"x"}')
@example('{"output":{"output":"x"}}')
@example('{"a": 1}')
@example('{"a":NaN}')
@example('{"a":1,"a":1}')
@example('{"a":1e400}')
@example('{"a":"\ud800"}')
@example("{}")
@example("")
def test_unwrapping_undoes_wrapping_of_any_text(text: str) -> None:
    assert unwrap(wrap(text)) == (text, False)


@pytest.mark.parametrize(
    ("text", "response"),
    [
        ("cold", {"output": "cold"}),
        ('{"temperature":-3}', {"temperature": -3}),
        ('{"temperature": -3}', {"output": '{"temperature": -3}'}),
        ("[1]", {"output": "[1]"}),
        ("null", {"output": "null"}),
        ('{"output":"x"}', {"output": '{"output":"x"}'}),
        ('{"output":5}', {"output": 5}),
        ('{"a":NaN}', {"output": '{"a":NaN}'}),
        ('{"a":1,"a":1}', {"output": '{"a":1,"a":1}'}),
    ],
)
def test_a_result_that_is_an_object_is_the_response_where_that_restores_it(
    text: str, response: dict[str, Any]
) -> None:
    assert wrap(text) == response


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"output": "x"}, "x", False),
        ({"error": "x"}, "x", True),
        ({"error": {"code": 1}}, '{"error":{"code":1}}', False),
        ({"output": "x", "more": 1}, '{"output":"x","more":1}', False),
        ({}, "{}", False),
    ],
)
def test_a_response_of_any_make_is_read(response: dict[str, Any], text: str, failed: bool) -> None:
    assert unwrap(response) == (text, failed)


# -------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("get_weather", "get_weather"),
        ("_f", "_f"),
        ("a.b:c-d", "a.b:c-d"),
        ("1f", "_:1f"),
        ("-f", "_:-f"),
        ("get weather", "_:get:20:weather"),
        ("größe", "_:gr:f6::df:e"),
        ("_:f", "_:_:3a:f"),
        ("_::zz:", "_::zz:"),
        ("", ""),
        ("f" * MAX_NAME, "f" * MAX_NAME),
    ],
)
def test_a_name_that_gemini_refuses_is_escaped(name: str, said: str) -> None:
    assert to_gemini(name) == said
    assert from_gemini(said) == name


@given(st.one_of(st.text(max_size=30), st.text("_:ab20", max_size=12)))
def test_an_escaped_name_says_what_it_was(name: str) -> None:
    assert from_gemini(to_gemini(name)) == name


@given(st.lists(st.text("_:a2 ", max_size=6), unique=True))
def test_two_names_never_become_one(names: list[str]) -> None:
    assert len({to_gemini(name) for name in names}) == len(names)


@given(st.text(max_size=30))
def test_no_name_makes_reading_raise(name: str) -> None:
    assert isinstance(from_gemini(f"_:{name}"), str)
    assert from_gemini("_::ffffff:") == "_::ffffff:"


def test_members_are_read_in_either_spelling_and_the_right_one_counts() -> None:
    heard: list[tuple[str, ...]] = []
    value = {"finish_reason": 1, "finishReason": 2, "block_reason": 3, "_private": 4, "a_1": 5}
    assert members(value, "/p", lambda *fact: heard.append(fact)) == {
        "finishReason": 2,
        "blockReason": 3,
        "_private": 4,
        "a1": 5,
    }
    assert heard == [("snake-case", f"/p/{key}") for key in ("finish_reason", "block_reason", "a_1")]


# ------------------------------------------------------------------------------------------------- schema


@pytest.mark.parametrize(
    ("old", "schema"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        (
            {"type": "STRING", "format": "enum", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "STRING"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"any_of": [{"type": "STRING"}]}, {"anyOf": [{"type": "string"}]}),
        (
            {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"},
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        ),
        (
            {"type": "OBJECT", "properties": {"max_items": {"type": "STRING"}}, "required": ["max_items"]},
            {"type": "object", "properties": {"max_items": {"type": "string"}}, "required": ["max_items"]},
        ),
        (
            {"ref": "#/$defs/p", "defs": {"p": {"type": "STRING"}}},
            {"$ref": "#/$defs/p", "$defs": {"p": {"type": "string"}}},
        ),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
    ],
)
def test_the_openapi_subset_becomes_json_schema(old: dict[str, Any], schema: dict[str, Any]) -> None:
    assert json_schema(old) == schema


def test_a_property_named_like_a_keyword_stays_a_property() -> None:
    old = {"properties": {"type": {"type": "STRING"}, "nullable": {"type": "BOOLEAN"}}}
    assert json_schema(old) == {"properties": {"type": {"type": "string"}, "nullable": {"type": "boolean"}}}


@given(
    st.dictionaries(
        st.sampled_from(["type", "items", "anyOf", "nullable", "enum", "properties"]), json_values
    )
)
def test_no_schema_makes_it_raise(old: dict[str, Any]) -> None:
    assert isinstance(json_schema(old), dict)


def test_a_schema_of_any_depth_is_read() -> None:
    deep: dict[str, Any] = {"type": "STRING"}
    for _ in range(900):
        deep = {"items": deep}
    assert json_schema(deep)["items"]["items"]

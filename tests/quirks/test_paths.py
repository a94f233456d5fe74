"""Places in a document, by a pattern."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.quirks.paths import kept, places

CHAT = {
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}, {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "name": "alpha", "content": ""},
    ],
    "tools": [{"function": {"name": "a/b"}}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("pattern", "pointers"),
    [
        ("", [""]),
        ("/messages", ["/messages"]),
        ("/messages/1", ["/messages/1"]),
        ("/messages/9", []),
        ("/messages/-1", ["/messages/2"]),
        ("/messages/*/role", ["/messages/0/role", "/messages/1/role", "/messages/2/role"]),
        ("/messages/*/tool_calls/*/id", ["/messages/1/tool_calls/0/id", "/messages/1/tool_calls/1/id"]),
        ("/messages/*[role=tool]", ["/messages/2"]),
        ("/messages/*[role!=tool]", ["/messages/0", "/messages/1"]),
        ("/messages/*[name]", ["/messages/2"]),
        ("/messages/*[!name]", ["/messages/0", "/messages/1"]),
        ("/messages/*[role=tool][!name]", []),
        ("/messages/*[content=null]", ["/messages/1"]),
        ("/tools/**/name", ["/tools/0/function/name"]),
        ("/missing/*/name", []),
    ],
)
def test_a_pattern_names_places_in_the_documents_order(pattern: str, pointers: list[str]) -> None:
    assert [place.pointer for place in places(CHAT, pattern)] == pointers


SCHEMA = {
    "type": "object",
    "properties": {
        "items": {"type": "string", "enum": [{"items": 1}]},
        "list": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "object"}]}},
    },
    "additionalProperties": False,
    "$defs": {"one": {"not": {}}},
    "default": {"items": 2},
}


@pytest.mark.parametrize(
    ("pattern", "pointers"),
    [
        ("/$**/items", ["/properties/list/items"]),
        ("/$**/additionalProperties", ["/additionalProperties"]),
        ("/$**[type=null]", ["/properties/list/items/anyOf/0"]),
        (
            "/$**[!type]",
            ["/properties/list/items", "/$defs/one", "/$defs/one/not"],
        ),
    ],
)
def test_schemas_within_a_schema_are_told_from_properties_and_values(
    pattern: str, pointers: list[str]
) -> None:
    assert [place.pointer for place in places({"schema": SCHEMA}, f"/schema{pattern}")] == [
        f"/schema{pointer}" for pointer in pointers
    ]


@pytest.mark.parametrize("pattern", ["messages", "/messages/*[", "/messages/*[=x]", "/a/]b", "/a[!x=y]"])
def test_a_pattern_that_cannot_be_read_is_an_error(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"path|segment|filter"):
        list(places(CHAT, pattern))


def test_a_place_is_written_as_pointer_and_as_servers_write_it() -> None:
    (place,) = places({"a/b": [{"c~d": 1}]}, "/a~1b/*/c~0d")
    assert (place.pointer, place.dotted) == ("/a~1b/0/c~0d", "a/b[0].c~d")


@pytest.mark.parametrize(("filters", "answer"), [("[role=tool]", True), ("[role=user]", False), ("", True)])
def test_filters_keep_or_drop_a_value(filters: str, answer: bool) -> None:
    assert kept({"role": "tool"}, filters) is answer


@given(JSON)
def test_every_value_is_within_its_document(document: Any) -> None:
    found = list(places(document, "/**"))
    assert found[0].value == document
    for place in found:
        value = document
        for key in place.path:
            value = value[key]
        assert value is place.value or value == place.value


def test_a_deep_document_is_walked_without_recursion() -> None:
    document: Any = 0
    for _ in range(50_000):
        document = [document]
    assert sum(1 for _ in places(document, "/**")) == 50_001


@given(JSON)
def test_the_schemas_within_a_document_are_values_of_it(document: Any) -> None:
    values = {place.path for place in places(document, "/**")}
    assert {place.path for place in places(document, "/$**")} <= values


def test_a_wide_document_is_looked_at_within_bounds() -> None:
    assert sum(1 for _ in places(list(range(300_000)), "/*")) == 200_000

"""JSON in text: where it ends, what it is, whether it could go on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dialects.jsontext import MAX_DEPTH, Broken, Incomplete, Value, load_object, same, scan

_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(
        st.lists(inner), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
    max_leaves=15,
)
_BROKEN = st.text(st.sampled_from(list("{}[]\",:\\ \n0123456789.-+eEtruefalsnuxd8'TN")), max_size=30)


@given(value=_VALUES, ascii=st.booleans(), python=st.booleans(), tail=st.text(max_size=3))
def test_every_container_reads_as_the_json_module_reads_it(
    value: Any, ascii: bool, python: bool, tail: str
) -> None:
    text = json.dumps([value], ensure_ascii=ascii)
    got = scan(text + tail, 0, python=python)
    assert isinstance(got, Value)
    assert got.end == len(text)
    assert same(got.value, json.loads(text))


@given(value=_VALUES, data=st.data())
def test_every_beginning_of_a_container_is_incomplete(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"key": value}, ensure_ascii=data.draw(st.booleans()))
    assert isinstance(scan(text[: data.draw(st.integers(0, len(text) - 1))], 0), Incomplete)


@given(text=_BROKEN, python=st.booleans(), more=_BROKEN)
def test_what_is_decided_stays_decided_with_more_text(text: str, python: bool, more: str) -> None:
    text = "[" + text
    got, later = scan(text, 0, python=python), scan(text + more, 0, python=python)
    if isinstance(got, Broken):
        assert isinstance(later, Broken)
        assert later.at == got.at
    if isinstance(got, Value):
        assert isinstance(later, Value)
        assert (later.end, later.value) == (got.end, got.value)


@given(text=_BROKEN)
def test_strict_accepts_no_more_than_the_json_module(text: str) -> None:
    got = scan("[" + text, 0)
    if isinstance(got, Value):
        assert same(json.loads(("[" + text)[: got.end]), got.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":NaN}',
        '{"a":-Infinity}',
        '{"a":1e400}',
        '{"a":01}',
        '{"a":"\\ud83d"}',
        '{"a":"\\ude00"}',
        '{"a":"\ud83d"}',
    ],
)
@pytest.mark.parametrize("python", [False, True])
def test_what_no_client_can_use_is_broken_in_both_grammars(text: str, python: bool) -> None:
    assert isinstance(scan(text, 0, python=python), Broken)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 'b'}", {"a": "b"}),
        ('{"a": "b",}', {"a": "b"}),
        ("[1, 2,]", [1, 2]),
        ("[True, False, None, true]", [True, False, None, True]),
        ('{"a": "x\ny"}', {"a": "x\ny"}),
        ('{"a": "\\d\\x41\\\'"}', {"a": "\\dA'"}),
        ("[.5, 1., +2]", [0.5, 1.0, 2]),
    ],
)
def test_only_the_lenient_grammar_reads_what_python_would_write(text: str, value: Any) -> None:
    assert isinstance(scan(text, 0), Broken)
    got = scan(text, 0, python=True)
    assert isinstance(got, Value)
    assert got.value == value


def test_integers_stay_exact_up_to_thousands_of_digits_and_are_broken_beyond() -> None:
    exact, beyond = "9" * 4000, "9" * 5000
    got = scan(f"[{exact}]", 0)
    assert isinstance(got, Value)
    assert got.value == [10**4000 - 1]
    assert isinstance(scan(f"[{beyond}]", 0), Broken)


@pytest.mark.parametrize(("depth", "kind"), [(MAX_DEPTH, Value), (MAX_DEPTH + 1, Broken)])
def test_nesting_is_read_down_to_a_limit(depth: int, kind: type) -> None:
    assert isinstance(scan("[" * depth + "]" * depth, 0), kind)
    assert isinstance(scan('{"a":' * depth + "1" + "}" * depth, 0), kind)


def test_members_are_located_in_the_text() -> None:
    text = '[{"name": "f", "arguments": { "n": 1 }}]'
    got = scan(text, 0)
    assert isinstance(got, Value)
    start, end = got.spans[id(got.value[0])]["arguments"]
    assert text[start:end] == '{ "n": 1 }'


def test_the_keys_of_a_cut_object_are_told() -> None:
    assert scan('{"name": "f", "parameters": {"a": 1', 0) == Incomplete(("name", "parameters"))


@pytest.mark.parametrize("text", ["", "[]", '{"a":1} x', '{"a":1,"a":2}', "{'a':1}", "{"])
def test_only_a_strict_object_is_an_object(text: str) -> None:
    assert load_object(text) is None


def test_numbers_and_booleans_are_not_the_same() -> None:
    assert not same(1, True)
    assert not same(1, 1.0)
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})

"""JSON read without surprises."""

from __future__ import annotations

import pytest

from conformance.wires.body import MAX_DEPTH, compact, parse


@pytest.mark.parametrize("depth", [1, MAX_DEPTH])
def test_nesting_up_to_the_limit_is_read(depth: int) -> None:
    assert compact(parse("[" * depth + "]" * depth)) == "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_nesting_beyond_the_limit_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse('{"a":' * depth + "1" + "}" * depth)


def test_many_brackets_are_not_depth() -> None:
    assert parse("[" + "[]," * 1000 + "[]]") == [[]] * 1001


@pytest.mark.parametrize("text", ["", "nope", "{", "[1,]", "'a'"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_an_integer_of_thousands_of_digits_is_read_as_a_float() -> None:
    assert parse("1" * 5000) == float("inf")
    assert parse("1" * 400) == int("1" * 400)

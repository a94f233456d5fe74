"""The list of dialects: names, aliases, what is said of each."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS, Dialect, dialect

each_dialect = pytest.mark.parametrize("one", DIALECTS.values(), ids=lambda d: d.name)


def test_a_dialect_is_found_by_its_name_and_its_aliases() -> None:
    for one in DIALECTS.values():
        assert all(dialect(name) is one for name in (one.name, *one.aliases))


def test_names_and_aliases_are_unique() -> None:
    names = [name for one in DIALECTS.values() for name in (one.name, *one.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("name", "hint"), [("hermess", "did you mean hermes?"), ("zzz", "there are hermes")])
def test_an_unknown_name_says_which_come_close(name: str, hint: str) -> None:
    with pytest.raises(LookupError, match=f"no dialect {name}") as caught:
        dialect(name)
    assert hint in str(caught.value)


@each_dialect
def test_a_dialect_says_what_it_is(one: Dialect) -> None:
    for line in (one.title, one.source, one.results_as):
        assert line
        assert "\n" not in line
    assert one.families
    assert one.__doc__

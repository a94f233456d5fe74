"""How scripts are cut into steps."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.scripted_model.steps import ScriptError, cut

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>'


def test_steps_are_as_long_as_real_tokens_even_in_many_scripts_of_like_text() -> None:
    steps, chains = cut({str(n): CALL % f"City {n}" for n in range(200)}, taken=())
    assert max(map(len, steps)) <= 8
    assert min(map(len, chains.values())) >= 10


def test_scripts_share_a_common_beginning_and_a_common_end() -> None:
    _, chains = cut({"a": CALL % "Paris", "b": CALL % "Rome", "c": CALL % "Tokyo"}, taken=())
    assert chains["b"][0] == chains["c"][0]
    assert chains["b"][-1] == chains["c"][-1]


def test_scripts_of_equal_text_share_all_steps() -> None:
    _, chains = cut({"a": CALL % "Paris", "b": CALL % "Paris"}, taken=())
    assert chains["a"] == chains["b"]


def test_no_step_has_a_text_that_is_taken() -> None:
    taken = {"ab", "abc", "bc", "cd"}
    steps, _ = cut({"a": "abcd" * 3}, taken)
    assert not taken & set(steps)


def test_no_step_looks_like_a_tag_that_an_engine_may_take_for_the_end_of_the_turn() -> None:
    steps, chains = cut({"a": "<b></s><eos>"}, taken=())
    assert "".join(steps[i] for i in chains["a"]) == "<b></s><eos>"
    assert not {"<b>", "</s>", "<eos>"} & set(steps)


def test_a_text_without_a_way_to_cut_it_is_refused_by_name() -> None:
    with pytest.raises(ScriptError, match="'b' cannot be cut"):
        cut({"a": "no", "b": "yes"}, taken={"yes"})


scripts = st.dictionaries(st.sampled_from("abcdefgh"), st.text("ab<>{", max_size=24), min_size=1)


@given(scripts)
def test_each_script_is_spelled_by_steps_that_no_text_repeats(scripts: dict[str, str]) -> None:
    with suppress(ScriptError):
        steps, chains = cut(scripts, taken={"ab"})
        assert {name: "".join(steps[i] for i in chain) for name, chain in chains.items()} == scripts
        assert len(set(steps)) == len(steps)
        assert all(len(set(chain)) == len(chain) for chain in chains.values())


@given(scripts)
def test_where_scripts_part_they_have_all_of_the_text_before_in_common(scripts: dict[str, str]) -> None:
    with suppress(ScriptError):
        _, chains = cut(scripts, taken=())
        places: dict[int, set[tuple[tuple[int, ...], int | None]]] = {}
        for chain in chains.values():
            for n, (step, following) in enumerate(pairwise((*chain, None))):
                assert step is not None
                places.setdefault(step, set()).add((chain[:n], following))
        for found in places.values():
            assert len({before for before, _ in found}) == 1 or len({after for _, after in found}) == 1

"""The table of what follows what."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.scripted_model.cutting import LOOKBACK, ScriptError, Split
from conformance.scripted_model.table import table
from conformance.scripted_model.vocabulary import Script, Vocabulary, vocabulary

from .models import CALL, END, MARKERS, PROMPT, SPECIAL


def words(texts: dict[str, str], split: str = "random") -> Vocabulary:
    scripts = {name: Script(text, END) for name, text in texts.items()}
    return vocabulary(scripts, SPECIAL, Split.read(split), prompt=PROMPT)


def looked_up(built: Vocabulary, script: int, seen: tuple[int, ...]) -> set[int]:
    """What the longest entry that fits has to follow."""
    fitting = [e for e in table(built) if e.script in (None, script) and e.context == seen[: len(e.context)]]
    longest = max(len(entry.context) for entry in fitting)
    return {entry.following for entry in fitting if len(entry.context) == longest}


def test_places_that_are_alike_in_all_scripts_share_an_entry() -> None:
    one = len(table(words({"a": CALL % "Paris"})))
    assert len(table(words({"a": CALL % "Paris", "b": CALL % "Paris"}))) == one + 1  # the second's beginning


def test_where_scripts_part_there_is_an_entry_for_each() -> None:
    built = words({"a": CALL % "Paris", "b": CALL % "Rome"})
    parting = [entry for entry in table(built) if entry.context and entry.script is not None]
    assert {entry.script for entry in parting} == {0, 1}
    assert len({entry.context for entry in parting}) == 1


def test_a_script_may_begin_as_another_goes_on_behind_the_end_of_a_prompt() -> None:
    built = words({"a": "Hello there.", "b": f"It says {PROMPT}Hello folks.", "c": "Hello you."}, "char")
    for script, (name, chain) in enumerate(built.chains.items()):
        seen = tuple(reversed(built.encode(PROMPT)))
        for following in (*chain, built.ends[name]):
            assert looked_up(built, script, seen) == {following}
            seen = (following, *seen)


texts = st.lists(st.sampled_from(["a", "b", "\n", *MARKERS]), max_size=14).map("".join)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from("xyz"), texts, min_size=1), st.sampled_from(["random", "char", "whole"])
)
def test_the_longest_entry_that_fits_is_right_at_every_place(scripts: dict[str, str], split: str) -> None:
    try:
        built = words(scripts, split)
    except ScriptError:
        return
    for script, (name, chain) in enumerate(built.chains.items()):
        seen = tuple(reversed(built.prompt))
        for following in (*chain, built.ends[name]):
            assert looked_up(built, script, seen[:LOOKBACK]) == {following}
            seen = (following, *seen)

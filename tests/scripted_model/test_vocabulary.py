"""The tokens of a scripted model."""

from __future__ import annotations

import pytest

from conformance.scripted_model.steps import ScriptError
from conformance.scripted_model.vocabulary import vocabulary

EOS = "<|im_end|>"
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>'


def test_chains_spell_the_scripts() -> None:
    scripts = {"a/0": CALL % "Zürich 🌦", "b/0": CALL % "東京", "c/0": "", "d/0": "Plain text."}
    built = vocabulary(scripts, eos=EOS)
    assert {name: built.decode(chain) for name, chain in built.chains.items()} == scripts
    assert {built.kinds[step] for chain in built.chains.values() for step in chain} == {"step"}


def test_no_two_tokens_have_the_same_text() -> None:
    built = vocabulary({f"s/{n}": CALL % f"City {n}" for n in range(256)}, eos=EOS)
    assert len(set(built.tokens)) == len(built.tokens) == len(built.kinds)


def test_the_same_scripts_give_the_same_vocabulary() -> None:
    scripts = {"a": CALL % "Paris", "b": CALL % "Rome", "c": "Plain text."}
    assert vocabulary(scripts, eos=EOS) == vocabulary(dict(scripts), eos=EOS)


def test_a_prompt_is_markers_specials_and_single_bytes() -> None:
    built = vocabulary({"tools.single-call/0": "yes, I do"}, eos=EOS)
    ids = built.encode("<|im_start|>é[[tools.single-call/0]][[other]]")
    assert [built.kinds[i] for i in ids] == ["special", "plain", "plain", "marker", *["plain"] * 9]
    assert built.decode(ids[1:3]) == "é"


@pytest.mark.parametrize(
    ("scripts", "message"),
    [
        ({}, "no scripts"),
        ({f"s/{n}": f"text {n}" for n in range(513)}, "513 scripts: at most 512"),
        ({"a b": "text"}, "'a b'"),
        ({"a]]": "text"}, "'a]]'"),
        ({"a": "x"}, "'a' cannot be cut"),
        ({"a": "\ud800"}, "'a': not encodable"),
    ],
)
def test_what_cannot_be_a_model_is_refused(scripts: dict[str, str], message: str) -> None:
    with pytest.raises(ScriptError) as raised:
        vocabulary(scripts, eos=EOS)
    assert message in str(raised.value)

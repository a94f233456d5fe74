"""The tokens of a scripted model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.scripted_model.cutting import RANDOM, ScriptError
from conformance.scripted_model.vocabulary import Script, Vocabulary, vocabulary

from .models import CALL, END, PROMPT, SPECIAL, TEXT


def words(texts: dict[str, str]) -> Vocabulary:
    return vocabulary(
        {name: Script(text, END) for name, text in texts.items()}, SPECIAL, RANDOM, prompt=PROMPT
    )


def test_chains_spell_the_scripts() -> None:
    texts = {"a/0": CALL % "Zürich 🌦", "b/0": CALL % "東京", "c/0": "", "d/0": "Plain text."}
    built = words(texts)
    assert {name: built.decode(chain) for name, chain in built.chains.items()} == texts


def test_no_two_tokens_have_the_same_text() -> None:
    built = words({f"s/{n}": CALL % f"City {n}" for n in range(256)})
    spelled = [built.spelled(number) for number in range(len(built.tokens))]
    assert len(set(spelled)) == len(built.tokens) == len(built.kinds)


def test_a_marker_of_the_dialect_is_one_token_in_scripts_and_prompts_or_plain_text() -> None:
    texts = {"a": Script(CALL % "Rome", END)}
    special, plain = (vocabulary(texts, specials, RANDOM) for specials in (SPECIAL, TEXT))
    assert special.kinds[special.chains["a"][0]] == "added"
    assert special.encode("<tool_call>") == [special.chains["a"][0]]
    assert {plain.kinds[number] for number in plain.chains["a"]} == {"piece"}
    assert len(plain.encode("<tool_call>")) == len("<tool_call>")


def test_the_same_scripts_give_the_same_vocabulary() -> None:
    texts = {"a": CALL % "Paris", "b": CALL % "Rome", "c": "Plain text."}
    assert words(texts) == words(dict(texts))


def test_a_prompt_is_markers_special_tokens_and_single_bytes() -> None:
    built = words({"tools.single-call/0": "yes, I do"})
    ids = built.encode("<|im_start|>é[[tools.single-call/0]][[other]]")
    assert [built.kinds[i] for i in ids] == ["control", "byte", "byte", "marker", *["byte"] * 9]
    assert built.decode(ids[1:3]) == "é"


def test_the_end_of_the_expected_prompt_is_known() -> None:
    built = words({"a": "Hello."})
    assert built.decode(built.prompt) == PROMPT[-8:]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "no scripts"),
        ({f"s/{n}": f"text {n}" for n in range(513)}, "513 scripts: at most 512"),
        ({"a b": "text"}, "'a b'"),
        ({"a]]": "text"}, "'a]]'"),
        ({"a": "\ud800"}, "'a': not encodable"),
        ({"a": "<think>" * 9 + "</think>"}, "'a': repeats itself"),
    ],
)
def test_what_cannot_be_a_model_is_refused(texts: dict[str, str], message: str) -> None:
    with pytest.raises(ScriptError) as raised:
        words(texts)
    assert message in str(raised.value)


def test_a_script_ends_with_a_control_token() -> None:
    with pytest.raises(ScriptError, match="its end '<think>' is no control token"):
        vocabulary({"a": replace(Script("Hello.", END), end="<think>")}, SPECIAL, RANDOM)

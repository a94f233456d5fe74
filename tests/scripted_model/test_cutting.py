"""How texts are cut into tokens."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.scripted_model.cutting import LOOKBACK, ScriptError, Split, cut

from .models import CALL, MARKERS, ambiguous

RANDOM, CHAR, WHOLE = (Split.read(text) for text in ("random", "char", "whole"))
PARIS = CALL % "Paris"


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("char", Split("char")),
        ("whole", Split("whole")),
        ("random", Split("random")),
        ("random:7", Split("random", 7)),
    ],
)
def test_a_split_is_named(text: str, split: Split) -> None:
    assert Split.read(text) == split


@pytest.mark.parametrize("text", ["", "chars", "char:1", "random:", "random:x", "random:-1", "whole:2"])
def test_another_word_is_no_split(text: str) -> None:
    with pytest.raises(ValueError, match="wanted char, whole or random:SEED"):
        Split.read(text)


def test_whole_leaves_text_between_special_tokens_in_one_piece() -> None:
    assert cut(PARIS, WHOLE) == (PARIS.encode(),)
    body = PARIS.removeprefix("<tool_call>").removesuffix("</tool_call>").encode()
    assert cut(PARIS, WHOLE, special=MARKERS) == (b"<tool_call>", body, b"</tool_call>")


def test_char_cuts_behind_every_character_but_the_first() -> None:
    assert cut("Héllo 🌦", CHAR) == ("Hé".encode(), b"l", b"l", b"o", b" ", "🌦".encode())
    assert cut("<think>ab", CHAR, special=MARKERS) == (b"<think>", b"a", b"b")


def test_random_cuts_pieces_of_the_size_of_real_tokens_within_characters_too() -> None:
    pieces = cut("Über 東京 🌦 und Zürich, weiter nach Malmö und Århus 🚂", RANDOM)
    assert {len(piece) for piece in pieces[:-1]} <= {2, 3, 4, 5, 6}
    with pytest.raises(UnicodeDecodeError):
        [piece.decode() for piece in pieces]


def test_another_seed_cuts_otherwise() -> None:
    assert len({cut(PARIS, Split("random", seed)) for seed in range(5)}) == 5


def test_like_texts_are_cut_alike_and_share_tokens() -> None:
    one, other = cut(PARIS, RANDOM), cut(CALL % "Rome", RANDOM)
    assert one[:8] == other[:8]


def test_no_piece_is_a_token_that_is_taken() -> None:
    assert b"lo" not in cut("<b>lo", RANDOM, special=("<b>",), taken={b"lo"})
    assert cut("<tool_call>", WHOLE, taken={b"<tool_call>"}) == (b"<tool_call", b">")


@pytest.mark.parametrize("split", [RANDOM, WHOLE])
def test_no_piece_looks_like_a_tag_that_an_engine_may_take_for_the_end_of_the_turn(split: Split) -> None:
    assert not {b"<b>", b"</s>", b"<eos>"} & set(cut("</s>", split) + cut("<b></s><eos>", split))


@pytest.mark.parametrize("split", [RANDOM, CHAR, WHOLE])
@pytest.mark.parametrize("text", ["a" * 300, "ab" * 200, "the same. " * 60 + "end", (PARIS + "\n") * 20])
def test_what_a_text_repeats_is_cut_so_that_its_places_differ(text: str, split: Split) -> None:
    for special in ((), MARKERS):
        chain = cut(text, split, special=special)
        assert b"".join(chain).decode() == text
        assert not ambiguous(chain)


def test_the_end_of_the_prompt_counts_among_what_is_repeated() -> None:
    prompt = tuple(bytes([byte]) for byte in b"Say it: a b c d e")
    assert not ambiguous(cut("f. Say it: a b c d e!", CHAR, prompt=prompt), prompt[-LOOKBACK:])


@pytest.mark.parametrize(
    ("text", "message"),
    [("<think>" * 9 + "</think>", "nothing but special tokens"), ("\ud800", "not encodable")],
)
def test_a_text_without_a_way_to_cut_it_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        cut(text, RANDOM, special=MARKERS)


@given(
    st.text(st.sampled_from("ab<>\né🌦") | st.characters(codec="utf-8"), max_size=40),
    st.sampled_from([RANDOM, CHAR, WHOLE]),
)
def test_any_text_is_spelled_by_its_tokens(text: str, split: Split) -> None:
    for special in ((), ("<a>", "ab")):
        with suppress(ScriptError):
            chain = cut(text, split, special=special, taken={b"ba"})
            assert b"".join(chain).decode() == text
            assert b"ba" not in chain
            assert not ambiguous(chain)
            assert not chain or len(chain[0]) > 1 or chain[0].decode() == text or chain[1].decode() in special

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.clean import clean_block, clean_line

any_text = st.text(st.characters(codec=None, categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "L", "So"]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, 漢字, é", "plain, 漢字, é"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b2J", r"\x9b2J"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("abc\u202egnp", r"abc\u202egnp"),
        ("\ufeff{}", r"\ufeff{}"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        ("no\xa0break", "no\xa0break"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert clean_line(text) == shown


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    assert clean_line("x" * 12, limit=10) == "x" * 10 + " [… 2 more characters]"
    assert clean_line("x" * 10, limit=10) == "x" * 10


def test_a_block_keeps_its_line_feeds_only() -> None:
    assert clean_block("data: {}\r\n\r\n\tx") == "data: {}\\r\n\\r\n\\tx"


@given(any_text)
def test_nothing_invisible_survives(text: str) -> None:
    assert all(char.isprintable() or unicodedata.category(char) == "Zs" for char in clean_line(text, 10_000))


@given(any_text)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean_block(text, 10_000)
    assert clean_block(once, 100_000) == once

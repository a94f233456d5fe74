"""Codes that are sure to differ."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conformance.scripted_model.codes import COUNT, SIZE, codes


def test_a_code_is_a_row_of_signs() -> None:
    rows = codes(range(1000))
    assert rows.shape == (1000, SIZE)
    assert set(np.unique(rows)) == {-1.0, 1.0}


@given(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1))
def test_two_codes_have_half_in_common_at_most(one: int, other: int) -> None:
    product = float(np.prod(codes([one, other]), axis=0).sum())
    assert product == SIZE if one == other else product <= SIZE / 2


def test_no_two_of_all_codes_are_nearer_than_eight_places() -> None:
    # The code is linear, so distances between words are weights of words.
    weights = (codes(range(1, COUNT)) < 0).sum(axis=1)
    assert int(weights.min()) == 8

"""Vectors of signs that are sure to differ: what tokens and scripts are called inside the network."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.scripted_model.weights import Array

SIZE = 32
COUNT = 1 << 16


def codes(numbers: Iterable[int]) -> Array:
    """A row of 32 signs for each number below 65,536.

    They are the words of the Reed-Muller code RM(2, 5): all quadratic polynomials in five bits. Any two
    differ in 8 of 32 places or more, so the product of two is 16 at most, where that of a code with itself is
    32. Signs are exact in every floating-point format.
    """
    import numpy as np

    points = (np.arange(SIZE)[:, None] >> np.arange(5)) & 1
    terms = [
        np.ones(SIZE, np.int64),
        *points.T,
        *(points[:, a] & points[:, b] for a, b in combinations(range(5), 2)),
    ]
    bits = (np.fromiter(numbers, np.int64)[:, None] >> np.arange(len(terms))) & 1
    signs: Array = (1 - 2 * (bits @ np.stack(terms) % 2)).astype(np.float32)
    return signs

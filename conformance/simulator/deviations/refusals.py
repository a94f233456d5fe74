"""The form of refusals."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.simulator.deviations.deviation import Maker, deviation
from conformance.simulator.mutants.mutant import Answer, Change


def _in_array() -> Change:
    """The body of every refusal is the only item of an array."""

    def change(answer: Answer) -> None:
        if answer.status >= 400 and isinstance(answer.body, dict):
            answer.body = [answer.body]

    return change


REFUSALS: Mapping[str, Maker] = dict((deviation("refusals-in-array", _in_array),))
"""Makers by name."""

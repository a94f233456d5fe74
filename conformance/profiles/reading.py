"""How a family's answers over Chat are to be read, where families contradict one another: data of a
profile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Reading:
    """What a family's answers mean.

    ``new_id_on_index``: a further id at an index that has one begins another call, or is the same call's
    under a new name. ``one_choice``: several choices that nobody asked for are pieces of one.
    ``leaks``: calls of offered tools that stand in the text are calls. ``inline_reasoning``: text in think
    tags or in channels is reasoning. ``keeps_first``: where one call was asked for, further ones are dropped.
    ``format_in_reasoning``: JSON that was asked for may stand in the reasoning.
    """

    new_id_on_index: Literal["another-call", "same-call"] = "another-call"
    one_choice: bool = False
    leaks: bool = True
    inline_reasoning: bool = False
    keeps_first: bool = False
    format_in_reasoning: bool = False
    reserved: frozenset[str] = field(default_factory=frozenset)

"""Cuts scripts into steps, the tokens a scripted model writes.

A step knows what comes next, so it stands for a place in a script, and no two may have the same text. Scripts
that are much alike would soon run out of texts; therefore they share the steps of a common beginning (where
they part, the marker decides) and of a common end. In between each has at least one step of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

_LENGTHS = (2, 3, 3, 4, 5, 6)  # bytes per step: the sizes of real tokens, so chunks cut texts at odd places
_LONGEST = 64
_TAG = re.compile(r"<[^<>]*>")  # engines take some tokens of this shape for end-of-turn by their text alone
_ROOT = -1


class ScriptError(ValueError):
    """The scripts cannot become a model; the message names the script and what to change."""


def cut(scripts: Mapping[str, str], taken: Collection[str]) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """The texts of all steps, and each script as indices into them.

    No step has a text in ``taken``, and each has two characters or more. Raises ``ScriptError``.
    """
    steps: list[str] = []
    used = set(taken)
    heads, tails = _Trie(), _Trie()  # of steps from a script's beginning; of steps from its end, all reversed
    chains: dict[str, tuple[int, ...]] = {"": ()}
    # Short texts first: they have the fewest ways to be cut.
    for text, name in sorted(((text, name) for name, text in scripts.items()), key=lambda x: (len(x[0]), x)):
        if text in chains:
            continue
        head = heads.walk(text)
        rest = text[sum(len(steps[i]) for i in head) :]
        tail = tails.walk(rest[::-1])[::-1]
        middle = rest[: len(rest) - sum(len(steps[i]) for i in tail)]
        while (pieces := _pieces(middle, used)) is None:
            if tail:
                middle += steps[tail.pop(0)]
            elif head:
                middle = steps[head.pop()] + middle
            else:
                raise ScriptError(
                    f"script {name!r} cannot be cut into unused tokens: vary or lengthen its text"
                )
        new = list(range(len(steps), len(steps) + len(pieces)))
        steps += pieces
        used.update(pieces)
        # A step where scripts part and one where they have joined must not be the same: half of the new
        # ones are offered for the former, half (the last at least) for the latter.
        half = len(new) // 2
        heads.add([(i, steps[i]) for i in (*head, *new[:half])])
        tails.add([(i, steps[i][::-1]) for i in (*reversed(tail), *reversed(new[half:]))])
        chains[text] = (*head, *new, *tail)
    return steps, {name: chains[text] for name, text in scripts.items()}


@dataclass(frozen=True, slots=True)
class _Trie:
    """Steps by the step before them and their text."""

    children: dict[int, dict[str, int]] = field(default_factory=dict)

    def walk(self, text: str) -> list[int]:
        """The steps that spell as much of the start of ``text`` as is there."""
        path: list[int] = []
        while True:
            options = self.children.get(path[-1] if path else _ROOT, {})
            piece = max((p for p in options if text.startswith(p)), key=len, default="")
            if not piece:
                return path
            path.append(options[piece])
            text = text[len(piece) :]

    def add(self, path: list[tuple[int, str]]) -> None:
        for (before, _), (step, piece) in pairwise([(_ROOT, ""), *path]):
            self.children.setdefault(before, {})[piece] = step


def _pieces(text: str, used: Collection[str]) -> list[str] | None:
    """``text`` in one piece or more, none of them in ``used``, none twice; ``None`` if that can't be."""
    first_at: dict[str, int] = {}  # pieces that came up twice may only stand where they came up first
    while (cuts := _cuts(text, used, first_at)) is not None:
        pieces = [text[start:end] for start, end in pairwise(cuts)]
        if len(set(pieces)) == len(pieces):
            return pieces
        for start, piece in zip(cuts, pieces, strict=False):
            if pieces.count(piece) > 1:
                first_at.setdefault(piece, start)
    return None


def _cuts(text: str, used: Collection[str], first_at: Mapping[str, int]) -> list[int] | None:
    """Where to cut, ends included, so that pieces come nearest to the lengths wanted; ``None`` if nowhere."""
    wanted = [_LENGTHS[b % len(_LENGTHS)] for b in hashlib.sha256(text.encode()).digest()]
    best: list[tuple[int, int] | None] = [
        (0, 0),
        *[None] * len(text),
    ]  # by end: total cost, start of last piece
    for end in range(2, len(text) + 1):
        for start in range(max(0, end - _LONGEST), end - 1):
            before, piece = best[start], text[start:end]
            if (
                before is None
                or piece in used
                or first_at.get(piece, start) != start
                or _TAG.fullmatch(piece)
            ):
                continue
            cost = before[0] + (end - start - wanted[start % len(wanted)]) ** 2
            here = best[end]
            if here is None or cost < here[0]:
                best[end] = (cost, start)
    cuts = [len(text)]
    while cuts[-1]:
        last = best[cuts[-1]]
        if last is None:
            return None
        cuts.append(last[1])
    return cuts[::-1] if text else None

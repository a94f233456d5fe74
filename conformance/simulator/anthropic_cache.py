"""Anthropic's prompt cache: what was marked is written, what was written is read.

Source: Anthropic's guide "Prompt caching": at most four breakpoints, a prompt of at least 1,024 tokens up to
the breakpoint, a look back over 20 blocks, longer lives before shorter ones. Nothing expires here but by
number.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from conformance.simulator.answer import refusal
from conformance.simulator.anthropic_blocks import Block

_LEAST = 1024
_LOOK_BACK = 20
_BREAKPOINTS = 4
_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How many tokens of a prompt were read from the cache, and written to it for 5 minutes and an hour."""

    read: int = 0
    written_5m: int = 0
    written_1h: int = 0

    @property
    def written(self) -> int:
        """All that was written."""
        return self.written_5m + self.written_1h


def check_marks(blocks: Sequence[Block]) -> None:
    """Refuse breakpoints that Anthropic would refuse.

    Raises:
        Refused: there are too many of them, or a longer life comes after a shorter one.
    """
    marks = [block for block in blocks if block.mark]
    if len(marks) > _BREAKPOINTS:
        message = (
            f"A maximum of {_BREAKPOINTS} blocks with cache_control may be provided. Found {len(marks)}."
        )
        raise refusal(message, why="400 cache-control")
    short = False
    for block in marks:
        if short and block.mark == "1h":
            message = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
            raise refusal(message, param=f"{block.path}.cache_control.ttl")
        short |= block.mark == "5m"


class MarkedCache:
    """The prefixes of prompts that were marked, the newest 20,000 of them."""

    def __init__(self) -> None:
        self._written: OrderedDict[bytes, None] = OrderedDict()

    def use(self, owner: str, blocks: Sequence[Block]) -> CacheUse:
        """What of the prompt ``blocks`` of ``owner`` is read; what is marked is written."""
        sizes = list(accumulate(block.tokens for block in blocks))
        marks = [i for i, block in enumerate(blocks) if block.mark and sizes[i] >= _LEAST]
        if not marks:
            return CacheUse()
        prefixes = _prefixes(owner, blocks[: marks[-1] + 1])
        near = (i for mark in marks for i in range(mark, max(mark - _LOOK_BACK, -1), -1))
        found = max((i for i in near if prefixes[i] in self._written), default=-1)
        read = sizes[found] if found >= 0 else 0
        written = {"5m": 0, "1h": 0}
        done = read
        for mark in marks:
            written[blocks[mark].mark or "5m"] += max(sizes[mark] - done, 0)
            done = max(done, sizes[mark])
            self._written[prefixes[mark]] = None
            self._written.move_to_end(prefixes[mark])
        while len(self._written) > _ENTRIES:
            self._written.popitem(last=False)
        return CacheUse(read, written["5m"], written["1h"])


def _prefixes(owner: str, blocks: Sequence[Block]) -> list[bytes]:
    hashed = hashlib.sha256(owner.encode())
    prefixes = []
    for block in blocks:
        hashed.update(b"%d:" % len(block.raw) + block.raw)
        prefixes.append(hashed.digest())
    return prefixes

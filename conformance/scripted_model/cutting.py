"""Cuts the text of a script into tokens."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

LOOKBACK = 8
"""How many tokens the network sees, the last one included: what has to tell a place in a script from
others."""

_LENGTHS = (2, 3, 3, 4, 5, 6)  # bytes: the sizes of real tokens, so chunks cut texts at odd places
_TRIES = 8  # ways to cut a piece otherwise
_TAG = re.compile(rb"<[^<>]*>")  # engines take some tokens of this shape for end-of-turn by their text alone


class ScriptError(ValueError):
    """The scripts cannot become a model; the message names the script and what to change."""


@dataclass(frozen=True, slots=True)
class Split:
    """How text between special tokens is cut: a character a token, at random, or not at all."""

    kind: Literal["char", "random", "whole"]
    seed: int = 0

    @classmethod
    def read(cls, text: str) -> Split:
        """``char``, ``whole``, ``random`` or ``random:SEED``. Raises ``ValueError``."""
        kind, colon, seed = text.partition(":")
        if kind == "random" and (not colon or re.fullmatch(r"[0-9]{1,9}", seed)):
            return cls("random", int(seed or 0))
        if kind in ("char", "whole") and not colon:
            return cls("char" if kind == "char" else "whole")
        raise ValueError(f"split {text!r}: wanted char, whole or random:SEED")


RANDOM = Split("random")

Chain: TypeAlias = tuple[bytes, ...]


def cut(
    text: str, split: Split, *, special: Sequence[str] = (), taken: Collection[bytes] = (), prompt: Chain = ()
) -> Chain:
    """The tokens of ``text``, in order: those of ``special`` whole, all else in pieces that are not
    ``taken``.

    The first is a special token or has two bytes or more, as prompts have none like it. Where a text repeats
    itself (or the end of the ``prompt``), its pieces are cut otherwise, so that the ``LOOKBACK`` last ones
    tell what comes next.

    Raises ``ScriptError`` for a text that can't be cut so, and for one that is no UTF-8.
    """
    return _Cutting(text, split, special, frozenset(taken), prompt[-LOOKBACK:]).chain()


class _Cutting:
    def __init__(
        self, text: str, split: Split, special: Sequence[str], taken: frozenset[bytes], prompt: Chain
    ) -> None:
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise ScriptError(f"not encodable as UTF-8 ({error.reason})") from error
        self.split = split
        self.taken = taken
        self.prompt = prompt
        self.random = random.Random(hashlib.sha256(f"{split.seed}:".encode() + data).digest())  # noqa: S311
        self.pieces: list[bytes] = []
        self.fixed: list[bool] = []  # a special token
        for part, fixed in _segments(text, special):
            cuts = [part.encode()] if fixed else list(self._first_cut(part))
            self.pieces += cuts
            self.fixed += [fixed] * len(cuts)

    def _first_cut(self, text: str) -> Iterator[bytes]:
        data = text.encode()
        if self.split.kind == "char":
            yield from (character.encode() for character in text)
        elif self.split.kind == "whole":
            yield data
        else:
            piece = b""
            while data:
                # The last piece decides about the next: like texts are cut alike, and share tokens.
                digest = hashlib.sha256(f"{self.split.seed}:".encode() + piece).digest()
                length = _LENGTHS[digest[0] % len(_LENGTHS)]
                piece, data = data[:length], data[length:]
                yield piece

    def chain(self) -> Chain:
        if self.pieces and len(self.pieces[0]) == 1 and len(self.pieces) > 1 and not self.fixed[1]:
            self._replace(0, 2, [self.pieces[0] + self.pieces[1]])
        for at in range(len(self.pieces) - 1, -1, -1):
            piece = self.pieces[at]
            if not self.fixed[at] and len(piece) > 1 and (piece in self.taken or _TAG.fullmatch(piece)):
                self._replace(at, 1, [piece[:-1], piece[-1:]])
        self._tell_apart()
        return tuple(self.pieces)

    def _tell_apart(self) -> None:
        """Vary pieces until no context has two things to follow."""
        follows: dict[Chain, bytes | None] = {}
        noted: list[Chain] = []  # what each place from -1 on was the first to have, or nothing
        left = 10 * len(self.pieces) + 100
        while len(noted) <= len(self.pieces):
            place = len(noted) - 1
            following = self.pieces[place + 1] if place + 1 < len(self.pieces) else None
            seen = self._context(place)
            if follows.get(seen, following) == following:
                noted.append(() if seen in follows else seen)
                follows[seen] = following
                continue
            if not left:
                raise ScriptError("repeats itself so much that its places can't be told apart: vary its text")
            left -= 1
            again = self._vary(place)
            for key in noted[again:]:
                follows.pop(key, None)
            del noted[again:]

    def _context(self, place: int) -> Chain:
        """What the network sees when the piece at ``place`` is the last token; at -1 it is the prompt's."""
        own = self.pieces[max(0, place + 1 - LOOKBACK) : place + 1]
        before = self.prompt[max(0, len(self.prompt) + len(own) - LOOKBACK) :]
        return (*before, *own)

    def _vary(self, place: int) -> int:
        """Cut one of the pieces seen at ``place`` otherwise; return which."""
        seen = range(max(0, place - LOOKBACK + 1), place + 1)
        for at in self.random.sample(seen, len(seen)):  # in a fixed order it may come round to where it was
            if self.fixed[at]:
                continue
            many = 2 if at < place and not self.fixed[at + 1] else 1
            text = b"".join(self.pieces[at : at + many])
            cuts = range(1 + (at == 0), len(text) + (many == 2))  # at the end: one piece
            for cut in self.random.sample(cuts, min(_TRIES, len(cuts))):
                way = [text[:cut], text[cut:]] if cut < len(text) else [text]
                if way != self.pieces[at : at + many] and self._allowed(way):
                    self._replace(at, many, way)
                    return at
        raise ScriptError("repeats itself where there is nothing but special tokens")

    def _allowed(self, way: Sequence[bytes]) -> bool:
        return not any(len(piece) > 1 and (piece in self.taken or _TAG.fullmatch(piece)) for piece in way)

    def _replace(self, at: int, many: int, pieces: list[bytes]) -> None:
        self.pieces[at : at + many] = pieces
        self.fixed[at : at + many] = [False] * len(pieces)


def _segments(text: str, special: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text in parts, and whether each is a special token; no part is empty."""
    if not special:
        yield from [(text, False)] if text else []
        return
    longest_first = sorted(special, key=len, reverse=True)
    for part in re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text):
        if part:
            yield part, part in special

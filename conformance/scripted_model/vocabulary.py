"""The tokens of a scripted model: specials, markers, single bytes, and the steps of the scripts.

Prompts are tokenised to markers, specials and single bytes; only the model's own output uses steps. So what
comes next depends on the last token and the last marker alone, and one layer is enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from conformance.scripted_model.steps import ScriptError, cut

TokenKind = Literal["special", "marker", "plain", "step"]

MAX_SCRIPTS = 512
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Token texts (in the byte alphabet) by id, and which ids belong to which script.

    ``chains`` gives a script's steps in order, ``()`` for an empty text.
    """

    tokens: tuple[str, ...]
    kinds: tuple[TokenKind, ...]
    markers: Mapping[str, int]
    chains: Mapping[str, tuple[int, ...]]
    eos: int

    @property
    def merge(self) -> tuple[str, str]:
        """The only BPE merge: loaders insist on a list, and this one never applies to text (two NULs)."""
        nul = _ALPHABET[0]
        return (nul, nul)

    def encode(self, prompt: str) -> list[int]:
        """Token ids of a prompt, as engines find them: specials and markers first, then bytes."""
        whole = {t: i for i, (t, k) in enumerate(zip(self.tokens, self.kinds, strict=True)) if k in _WHOLE}
        byte = self.tokens.index(_ALPHABET[0])
        ids: list[int] = []
        for piece in re.split("(" + "|".join(map(re.escape, whole)) + ")", prompt):
            ids += [whole[piece]] if piece in whole else [byte + b for b in piece.encode()]
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """The text of step and byte tokens; bytes that are not UTF-8 become U+FFFD."""
        return bytes(_BYTES[c] for i in ids for c in self.tokens[i]).decode(errors="replace")


def vocabulary(scripts: Mapping[str, str], *, eos: str) -> Vocabulary:
    """The vocabulary of these scripts; a pure function of names, order and texts.

    Raises ``ScriptError`` for no scripts, more than 512, a name that can't stand in a marker, or a text that
    can't be cut into steps.
    """
    if not scripts:
        raise ScriptError("no scripts: a scripted model needs at least one")
    if len(scripts) > MAX_SCRIPTS:
        raise ScriptError(f"{len(scripts)} scripts: at most {MAX_SCRIPTS} fit in one model, build several")
    for name in scripts:
        if not _NAME.fullmatch(name):
            raise ScriptError(f"script name {name!r}: only letters, digits and . _ / - can stand in a marker")
    specials = list(dict.fromkeys((*SPECIALS, eos)))
    marker_tokens = [f"[[{name}]]" for name in scripts]
    plain = [*_ALPHABET, _ALPHABET[0] * 2]
    tokens = [*specials, *marker_tokens, *plain]
    kinds: list[TokenKind] = [*_kind("special", specials), *_kind("marker", scripts), *_kind("plain", plain)]
    steps, chains = cut({name: _spell(name, text) for name, text in scripts.items()}, tokens)
    kinds += _kind("step", steps)
    return Vocabulary(
        tokens=(*tokens, *steps),
        kinds=tuple(kinds),
        markers={name: len(specials) + j for j, name in enumerate(scripts)},
        chains={name: tuple(len(tokens) + step for step in chain) for name, chain in chains.items()},
        eos=specials.index(eos),
    )


def _kind(kind: TokenKind, tokens: Collection[str]) -> list[TokenKind]:
    return [kind] * len(tokens)


def _spell(name: str, text: str) -> str:
    """``text`` in the byte alphabet."""
    try:
        return "".join(_ALPHABET[b] for b in text.encode())
    except UnicodeEncodeError as error:
        raise ScriptError(f"script {name!r}: not encodable as UTF-8 ({error.reason})") from error


def _byte_alphabet() -> tuple[str, ...]:
    """A printable character per byte, as GPT-2's ``bytes_to_unicode`` has it (the GGUF model ``gpt2``)."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    return tuple(chr(b) if b in printable else chr(next(spare)) for b in range(256))


_ALPHABET = _byte_alphabet()
_BYTES = {character: byte for byte, character in enumerate(_ALPHABET)}
_WHOLE = ("special", "marker")

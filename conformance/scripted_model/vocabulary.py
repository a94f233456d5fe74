"""The tokens of a scripted model: special tokens, markers, single bytes, and the pieces of the scripts.

There are no merges: engines cut a prompt into special tokens, markers and single bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from conformance.scripted_model.codes import COUNT
from conformance.scripted_model.cutting import LOOKBACK, Chain, ScriptError, Split, cut

TokenKind = Literal["control", "added", "marker", "byte", "piece"]
"""``control``: engines leave it out of the text unless asked (``special`` in Hugging Face's files)."""

MAX_SCRIPTS = 512
PAD = "<|endoftext|>"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_WHOLE = ("control", "added", "marker")


@dataclass(frozen=True, slots=True)
class Script:
    """What is written, and the special token that ends it."""

    text: str
    end: str


@dataclass(frozen=True, slots=True)
class Specials:
    """The special tokens of a model. Those in ``whole`` are single tokens in scripts, too."""

    control: tuple[str, ...]
    added: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """Token texts by id, and which ids make up which script (``()`` for an empty one).

    ``prompt`` is the end of the prompts that are expected.
    """

    tokens: tuple[bytes, ...]
    kinds: tuple[TokenKind, ...]
    markers: Mapping[str, int]
    chains: Mapping[str, tuple[int, ...]]
    ends: Mapping[str, int]
    prompt: tuple[int, ...]

    @cached_property
    def ids(self) -> Mapping[bytes, int]:
        return {token: number for number, token in enumerate(self.tokens)}

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return _any_of(t.decode() for t, kind in zip(self.tokens, self.kinds, strict=True) if kind in _WHOLE)

    def spelled(self, number: int) -> str:
        """A token as model files spell it: special ones as they are, others in the byte alphabet."""
        token = self.tokens[number]
        return token.decode() if self.kinds[number] in _WHOLE else "".join(ALPHABET[byte] for byte in token)

    def encode(self, prompt: str) -> list[int]:
        """Token ids of a prompt, as engines find them: special tokens and markers first, then bytes."""
        return [self.ids[token] for token in _prompt_tokens(prompt, self._whole)]

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of these tokens; bytes that are not UTF-8 become U+FFFD."""
        return b"".join(self.tokens[number] for number in numbers).decode(errors="replace")


def vocabulary(
    scripts: Mapping[str, Script], specials: Specials, split: Split, *, prompt: str = ""
) -> Vocabulary:
    """The vocabulary of these scripts, for prompts that end with ``prompt``; a pure function of all of these.

    Raises ``ScriptError`` for no scripts, more than 512, a name that can't stand in a marker, an end that is
    no control token, or a text that can't be cut.
    """
    if not scripts:
        raise ScriptError("no scripts: a scripted model needs at least one")
    if len(scripts) > MAX_SCRIPTS:
        raise ScriptError(f"{len(scripts)} scripts: at most {MAX_SCRIPTS} fit in one model, build several")
    for name in scripts:
        if not _NAME.fullmatch(name):
            raise ScriptError(f"script name {name!r}: only letters, digits and . _ / - can stand in a marker")
    control = list(dict.fromkeys((PAD, *specials.control)))
    named: dict[TokenKind, Sequence[str]] = {
        "control": control,
        "added": [token for token in dict.fromkeys(specials.added) if token not in control],
        "marker": [f"[[{name}]]" for name in scripts],
    }
    kinds: dict[bytes, TokenKind] = {text.encode(): kind for kind, texts in named.items() for text in texts}
    taken = {*kinds, MERGE}
    before = tuple(_prompt_tokens(prompt, _any_of(text for texts in named.values() for text in texts)))[
        -LOOKBACK:
    ]
    chains: dict[str, Chain] = {}
    for name, script in scripts.items():
        if script.end not in control:
            raise ScriptError(f"script {name!r}: its end {script.end!r} is no control token")
        try:
            chains[name] = cut(script.text, split, special=specials.whole, taken=taken, prompt=before)
        except ScriptError as error:
            raise ScriptError(f"script {name!r}: {error}") from error
    kinds.update(dict.fromkeys((*(bytes([byte]) for byte in range(256)), MERGE), "byte"))
    for chain in chains.values():
        for token in chain:
            kinds.setdefault(token, "piece")
    if len(kinds) > COUNT:
        raise ScriptError(f"{len(kinds)} tokens: at most {COUNT} fit in one model, build several")
    ids = {token: number for number, token in enumerate(kinds)}
    return Vocabulary(
        tokens=tuple(kinds),
        kinds=tuple(kinds.values()),
        markers={name: ids[f"[[{name}]]".encode()] for name in scripts},
        chains={name: tuple(ids[token] for token in chain) for name, chain in chains.items()},
        ends={name: ids[script.end.encode()] for name, script in scripts.items()},
        prompt=tuple(ids[token] for token in before),
    )


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    return re.compile("(" + "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) + ")")


def _prompt_tokens(prompt: str, whole: re.Pattern[str]) -> Iterator[bytes]:
    for number, part in enumerate(whole.split(prompt)):
        if number % 2:
            yield part.encode()
        else:
            yield from (bytes([byte]) for byte in part.encode())


def _byte_alphabet() -> tuple[str, ...]:
    """A printable character per byte, as GPT-2's ``bytes_to_unicode`` has it (the GGUF model ``gpt2``)."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    spare = iter(range(256, 512))
    return tuple(chr(b) if b in printable else chr(next(spare)) for b in range(256))


ALPHABET = _byte_alphabet()
MERGE = b"\0\0"
"""The result of the only BPE merge: loaders insist on a list, and two NULs never come up in a prompt."""

"""Small models, and prompts for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.scripted_model import Scripted
from conformance.scripted_model.cutting import LOOKBACK, Split
from conformance.scripted_model.vocabulary import Script, Specials, vocabulary
from conformance.scripted_model.weights import Model, compute

END = "<|im_end|>"
PROMPT = "<|im_start|>assistant\n"
MARKERS = ("<tool_call>", "</tool_call>", "<think>", "</think>")
SPECIAL = Specials(control=("<|im_start|>", END), added=MARKERS, whole=MARKERS)
TEXT = Specials(control=("<|im_start|>", END))
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "%s"}}\n</tool_call>'


def model_of(
    texts: Mapping[str, str],
    *,
    split: str = "random",
    specials: Specials = SPECIAL,
    ctx: int = 8192,
    prompt: str = PROMPT,
) -> Model:
    """A model that says these texts, each ended by ``END``."""
    scripts = {name: Script(text, END) for name, text in texts.items()}
    return compute(vocabulary(scripts, specials, Split.read(split), prompt=prompt), ctx=ctx)


def ambiguous(chain: Sequence[bytes], prompt: Sequence[bytes] = ()) -> bool:
    """Whether the same last tokens stand at two places of a script, with something else to follow."""
    follows: dict[tuple[bytes, ...], bytes | None] = {}
    whole = (*prompt, *chain)
    for end in range(len(prompt), len(whole) + 1):
        following = whole[end] if end < len(whole) else None
        if follows.setdefault(whole[max(0, end - LOOKBACK) : end], following) != following:
            return True
    return False


def scripted(texts: Mapping[str, str]) -> dict[str, Scripted]:
    return {name: Scripted(Script(text, END)) for name, text in texts.items()}


def asked(text: str) -> str:
    """A prompt of one user message."""
    return f"<|im_start|>user\n{text}{END}\n{PROMPT}"

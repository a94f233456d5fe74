"""Text-level tool-call formats: what models write where no server turns it into structured calls.

A dialect renders tools, calls, results and whole conversations as text, and reads calls back from text:
at once (``parse``) or piece by piece (``parser``). What is odd becomes a flag, never a guess; markup in
code, in reasoning and in prose is no call. ``leaked`` finds calls that a server's parser left in the
content. ``DIALECTS`` holds them all; the rows of ``conformance list dialects`` come from their attributes.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from conformance.dialects import leaks
from conformance.dialects.deepseek import DeepSeekV3, DeepSeekV31
from conformance.dialects.dialect import Dialect
from conformance.dialects.dsml import DeepSeekV32, DeepSeekV41
from conformance.dialects.function_tag import Glm45, LlamaFunctionTag, Qwen3Coder
from conformance.dialects.gemma import Gemma4
from conformance.dialects.harmony import Harmony
from conformance.dialects.hermes import FunctionCallTag, Hermes
from conformance.dialects.json_action import JsonAction
from conformance.dialects.kimi import KimiK2
from conformance.dialects.leaks import Leak
from conformance.dialects.llama import Llama3Json
from conformance.dialects.minimax import MiniMaxM2, MiniMaxM3
from conformance.dialects.mistral import MistralCompact, MistralJson
from conformance.dialects.parsed import FLAGS, Call, Flag, Parsed
from conformance.dialects.pythonic import Pythonic
from conformance.dialects.react import React
from conformance.dialects.rendering import Result, Sent
from conformance.types import Tool

__all__ = [
    "DIALECTS",
    "FLAGS",
    "Call",
    "Dialect",
    "Flag",
    "Leak",
    "Parsed",
    "Result",
    "Sent",
    "dialect",
    "leaked",
]

_ALL: tuple[Dialect, ...] = (
    Hermes(),
    Qwen3Coder(),
    React(),
    Llama3Json(),
    JsonAction(),
    LlamaFunctionTag(),
    DeepSeekV32(),
    KimiK2(),
    Harmony(),
    Pythonic(),
    Glm45(),
    MiniMaxM2(),
    MistralJson(),
    MistralCompact(),
    DeepSeekV3(),
    FunctionCallTag(),
    DeepSeekV31(),
    MiniMaxM3(),
    Gemma4(),
    DeepSeekV41(),
)
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in _ALL}
"""Every dialect by its name, in the order they are listed."""

_ALIASES = {alias: dialect for dialect in _ALL for alias in dialect.aliases}


def dialect(name: str) -> Dialect:
    """The dialect of that name or alias. Raises ``LookupError`` that says which ones come close."""
    known = DIALECTS.get(name) or _ALIASES.get(name)
    if known:
        return known
    close = difflib.get_close_matches(name, [*DIALECTS, *_ALIASES], n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise LookupError(f"no dialect {name}{hint} (there are {', '.join(DIALECTS)})")


def leaked(text: str, tools: Sequence[Tool]) -> tuple[Leak, ...]:
    """Calls of the offered tools that stand in visible content as markup, of whatever dialect, in order.

    Nothing where no tools were offered. Says nothing about code, quotations, prose about tags, or JSON
    that is an answer. Linear in the text; at most ``leaks.MAX_LEAKS``.
    """
    return leaks.find(text, tools, _ALL)

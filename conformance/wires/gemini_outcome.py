"""How a Gemini answer ends and what it cost, in OpenAI Chat's words and back.

A ``finishReason`` has no word for calls: an answer that ended of itself and holds any finished with
``tool_calls``. What is no end of the model's own and no cap is ``content_filter`` where something was
withheld, and ``stop`` otherwise; the word itself is then the ``native_finish_reason``.

Source: google-genai 3.6.1, ``types.FinishReason``, ``types.BlockedReason``,
``types.GenerateContentResponseUsageMetadata``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.types import Loss, Turn, Usage

_WITHHELD = (
    "SAFETY",  # first: what content_filter is said as
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
)
_OTHER = (
    "LANGUAGE",
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "IMAGE_OTHER",
    "NO_IMAGE",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "CONTINUATION",
)
FINISH: Mapping[str, str] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_WITHHELD, "content_filter"),
    **dict.fromkeys(_OTHER, "stop"),
}
"""A ``finishReason`` as Chat says it of an answer without calls."""

NUMBERS = (
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
    "IMAGE_SAFETY",
)
"""The words by their numbers, which ``$alt=json;enum-encoding=int`` asks for (googleapis,
generative_service.proto).
"""

BLOCKED = frozenset(
    {"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK"}
)
"""Why a prompt was not answered at all: a ``blockReason``."""

_SAID = {"stop": "STOP", "tool_calls": "STOP", "function_call": "STOP", "length": "MAX_TOKENS",
         "content_filter": "SAFETY"}  # fmt: skip

COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
)


def finish_of(word: str | None, *, calls: bool) -> tuple[str | None, str | None]:
    """``finish_reason`` and ``native_finish_reason`` of a ``finishReason``; an unknown one is both."""
    if word is None:
        return None, None
    reason = FINISH.get(word, word)
    if reason == "stop" and calls:
        reason = "tool_calls"
    return reason, None if _SAID.get(reason) == word else word


def say_finish(turn: Turn, at: str, losses: list[Loss]) -> str | None:
    """The ``finishReason`` of a turn: its native one where that says the same. Parts alone say calls."""
    reason, native, calls = turn.finish_reason, turn.native_finish_reason, bool(turn.calls)
    if reason is None:
        return None
    if native is not None and finish_of(native, calls=calls) == (reason, native):
        return native
    word = _SAID.get(reason, "OTHER")
    back = finish_of(word, calls=calls)[0]
    if back != reason:
        read = f", read as {back}" if word.lower() == reason else ""
        losses.append(Loss(f"{at}/finish_reason", f"{reason} said as {word}{read}", "form"))
    if native is not None:
        losses.append(Loss(f"{at}/native_finish_reason", f"{native} is no word of Gemini", "form"))
    return word


def usage_of(counts: Mapping[str, int]) -> Usage | None:
    """Gemini's counts as Chat counts: thoughts are a part of the completion, tool results of the prompt."""
    if not counts:
        return None

    def total(*keys: str) -> int | None:
        known = [counts[key] for key in keys if key in counts]
        return sum(known) if known else None

    return Usage(
        prompt_tokens=total("promptTokenCount", "toolUsePromptTokenCount"),
        completion_tokens=total("candidatesTokenCount", "thoughtsTokenCount"),
        total_tokens=counts.get("totalTokenCount"),
        cached_tokens=counts.get("cachedContentTokenCount"),
        reasoning_tokens=counts.get("thoughtsTokenCount"),
    )


def say_usage(usage: Usage, at: str, losses: list[Loss]) -> dict[str, Any]:
    """A ``usageMetadata``; a count that it can't say is lost."""
    completion, reasoning = usage.completion_tokens, usage.reasoning_tokens
    candidates = None if completion is None else max(0, completion - (reasoning or 0))
    said = {
        "promptTokenCount": usage.prompt_tokens,
        "candidatesTokenCount": candidates,
        "totalTokenCount": usage.total_tokens,
        "thoughtsTokenCount": reasoning,
        "cachedContentTokenCount": usage.cached_tokens,
    }
    counts = {key: count for key, count in said.items() if count is not None}
    back = usage_of(counts) or Usage()
    for name in Usage.__dataclass_fields__:
        if getattr(back, name) != getattr(usage, name):
            losses.append(Loss(f"{at}/{name}", f"{getattr(usage, name)} read back as {getattr(back, name)}"))
    return counts

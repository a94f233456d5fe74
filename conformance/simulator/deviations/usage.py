"""Deviations of what an answer says it cost."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.mutants.mutant import Answer, Change


def _usages(answer: Answer) -> Iterator[dict[str, Any]]:
    for document in documents(answer):
        if isinstance(document.get("usage"), dict):
            yield document["usage"]


def _in_every_chunk() -> Change:
    """Every chunk has the usage so far, and no chunk of its own has it; asked for or not."""

    def change(answer: Answer) -> None:
        chunks, total = _without_chunk_of_usage(answer)
        for number, document in enumerate(chunks):
            count = total["completion_tokens"] * (number + 1) // len(chunks)
            document["usage"] = total | {
                "completion_tokens": count,
                "total_tokens": total["prompt_tokens"] + count,
            }

    return change


def _with_finish() -> Change:
    """The last chunk with a choice has the usage, and no chunk of its own has it; asked for or not."""

    def change(answer: Answer) -> None:
        chunks, total = _without_chunk_of_usage(answer)
        for document in chunks:
            document.pop("usage", None)
        if chunks:
            chunks[-1]["usage"] = total

    return change


def _without_chunk_of_usage(answer: Answer) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The chunks of a stream that have choices, the others taken away, and what it costs.

    No chunks where the answer is no stream.
    """
    if answer.events is None or answer.status >= 300:
        return [], {}
    told = next(_usages(answer), None) or answer.cost
    if told is None:
        return [], {}
    answer.events[:] = [e for e in answer.events if not isinstance(e, dict) or e.get("choices")]
    chunks = list(documents(answer))
    return chunks, copy.deepcopy(dict(told))


def _cache_apart(hit: str, miss: str) -> Change:
    """What was read from a cache, and what was not, has members of its own in usage."""

    def change(answer: Answer) -> None:
        for usage in _usages(answer):
            cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            usage |= {hit: cached, miss: usage["prompt_tokens"] - cached}

    return change


def _more_reasoning(by: int) -> Change:
    """More tokens of reasoning are counted than of the whole completion; only where some are."""

    def change(answer: Answer) -> None:
        for usage in _usages(answer):
            details = usage.get("completion_tokens_details") or {}
            if details.get("reasoning_tokens"):
                details["reasoning_tokens"] = usage["completion_tokens"] + by

    return change


USAGE: Mapping[str, Maker] = dict(
    (
        deviation("usage-in-every-chunk", _in_every_chunk),
        deviation("usage-with-finish", _with_finish),
        deviation("cache-counted-apart", _cache_apart),
        deviation("reasoning-above-completion", _more_reasoning),
    )
)
"""Makers by name."""

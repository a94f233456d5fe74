"""Token counts: of whole answers here, of streams in ``stream_usage``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.rules.chat.views import Answer, Counted
from conformance.rules.examples import USAGE, answer
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import View, Violation

COMPLETION_USAGE = schema("CompletionUsage")
COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
DETAILS: Mapping[str, tuple[str, ...]] = {
    "prompt_tokens_details": ("cached_tokens", "audio_tokens"),
    "completion_tokens_details": (
        "reasoning_tokens",
        "audio_tokens",
        "accepted_prediction_tokens",
        "rejected_prediction_tokens",
    ),
}


@rule(
    "chat.response.usage-present",
    level="SHOULD",
    basis="schema",
    source=schema("CreateChatCompletionResponse"),
    violating=answer(usage=None),
    conforming=answer(),
    consequence="cost tracking and context budgeting have nothing to go by",
)
def present(reply: Answer) -> Iterator[Violation]:
    """The response has usage.

    Optional in the schema; every cost tracker needs it.
    """
    if reply.is_object and not isinstance(reply.get("usage"), dict):
        yield reply.found("usage", wanted="an object")


@rule(
    "chat.response.usage-required-keys",
    level="MUST",
    basis="schema",
    source=COMPLETION_USAGE,
    violating=answer(usage={"total_tokens": 12}),
    conforming=answer(),
    consequence="adding up None raises TypeError",
)
def required(reply: Answer) -> Iterator[Violation]:
    """usage has prompt_tokens, completion_tokens and total_tokens."""
    yield from missing_counts(reply)


@rule(
    "chat.response.usage-nonnegative-int",
    level="MUST",
    basis="schema",
    source=COMPLETION_USAGE,
    violating=answer(usage=USAGE | {"prompt_tokens": 9.5}),
    conforming=answer(),
    consequence="typed clients refuse the whole answer",
)
def integers(reply: Answer) -> Iterator[Violation]:
    """Every usage count is a non-negative integer.

    The counts are those the schema names: providers add prices and times of their own beside them.
    """
    yield from wrong_counts(reply)


@rule(
    "chat.response.usage-total-sum",
    level="MUST",
    basis="prose",
    source=f"{COMPLETION_USAGE} total_tokens",
    violating=answer(usage=USAGE | {"total_tokens": 99}),
    conforming=answer(),
    consequence="bills and budgets computed from the parts and from the total disagree",
)
def total(reply: Answer) -> Iterator[Violation]:
    """total_tokens equals prompt_tokens plus completion_tokens."""
    yield from wrong_total(reply)


@rule(
    "chat.response.usage-details-bounds",
    level="SHOULD",
    basis="prose",
    source=COMPLETION_USAGE,
    violating=answer(usage=USAGE | {"completion_tokens_details": {"reasoning_tokens": 50}}),
    conforming=answer(usage=USAGE | {"completion_tokens_details": {"reasoning_tokens": 2}}),
    consequence="visible tokens, computed as the difference, are negative",
)
def details(usage: Counted) -> Iterator[Violation]:
    """Detail counts do not exceed their parents.

    Of streams the last usage counts.
    """
    for whole, part, names in (
        (
            "completion_tokens",
            "completion_tokens_details",
            ("reasoning_tokens", "accepted_prediction_tokens", "rejected_prediction_tokens"),
        ),
        ("prompt_tokens", "prompt_tokens_details", ("cached_tokens",)),
    ):
        bound = usage.count(whole)
        summed = sum(usage.count(part, name) or 0 for name in names)
        if bound is not None and summed > bound:
            yield usage.found(part, wanted=f"at most {bound} ({whole}) in all")


@rule(
    "chat.response.usage-nonzero",
    level="SHOULD",
    basis="convention",
    source=COMPLETION_USAGE,
    violating=answer(usage=dict.fromkeys(COUNTS, 0)),
    conforming=answer(),
    consequence="the answer looks free of charge",
)
def nonzero(usage: Counted) -> Iterator[Violation]:
    """A non-empty answer has non-zero token counts.

    Of streams that came to their end the last usage counts.
    """
    if usage.said:
        for name in ("prompt_tokens", "completion_tokens"):
            if usage.get(name) == 0:
                yield usage.found(name, wanted="more than 0")


def missing_counts(view: View) -> Iterator[Violation]:
    """Counts that a ``usage`` object lacks."""
    usage = view.get("usage")
    for name in COUNTS if isinstance(usage, dict) else ():
        if name not in usage:
            yield view.found("usage", name, wanted="a count")


def wrong_counts(view: View) -> Iterator[Violation]:
    """Counts of a ``usage`` object that are no counts; a detail may be null."""
    usage = view.get("usage")
    if not isinstance(usage, dict):
        return
    for name in COUNTS:
        if name in usage and not _is_count(usage[name]):
            yield view.found("usage", name, wanted="an integer of 0 or more")
    for group, names in DETAILS.items():
        for name in names:
            value = view.get("usage", group, name)
            if value is not ABSENT and value is not None and not _is_count(value):
                yield view.found("usage", group, name, wanted="an integer of 0 or more")


def wrong_total(view: View) -> Iterator[Violation]:
    """A ``usage`` object whose total is not the sum of its parts."""
    prompt, completion, whole = (view.get("usage", name) for name in COUNTS)
    if type(prompt) is type(completion) is type(whole) is int and prompt + completion != whole:
        yield view.found("usage", "total_tokens", wanted=f"{prompt + completion} ({prompt} + {completion})")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0

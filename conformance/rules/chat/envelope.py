"""Members of a whole answer that are optional, or that only the eye of a careful client meets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.rules.chat.response import RESPONSE, is_unix_time
from conformance.rules.chat.streams import ChatStream
from conformance.rules.chat.views import Answer, Choice
from conformance.rules.examples import CREATED, Exchanges, answer
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Run, Violation

DAY = 86_400
TIERS = ("auto", "default", "flex", "scale", "priority", "fast")


def _at(started: float, exchanges: Exchanges) -> Exchanges:
    return tuple(replace(one, started=started) for one in exchanges)


def _two(*indexes: int) -> list[dict[str, Any]]:
    said = {"role": "assistant", "content": "Hello.", "refusal": None}
    return [{"index": i, "message": said, "logprobs": None, "finish_reason": "stop"} for i in indexes]


@rule(
    "chat.response.created-plausible",
    level="SHOULD",
    basis="convention",
    needs=("values",),
    source=RESPONSE,
    violating=_at(CREATED + 90 * DAY, answer()),
    conforming=_at(CREATED + 1, answer()),
    consequence="logs and stores that sort by time file the answer under another day",
)
def created_plausible(run: Run) -> Iterator[Violation]:
    """created lies within a day of the request time.

    Known where the exchange has the time of its request. Streams are held to it by their first chunk (no
    bookkeeping). What is no time at all is chat.response.created-unix-seconds'.
    """
    for view in [*run.views(Answer), *(first for s in run.views(ChatStream) if (first := s.opening))]:
        began, value = view.reading.exchange.started, view.get("created")
        if began > 0 and is_unix_time(value) and abs(value - began) > DAY:
            yield view.found("created", wanted=f"within a day of {began:.0f}, the time of the request")


@rule(
    "chat.response.choice-order",
    level="SHOULD",
    basis="convention",
    source=RESPONSE,
    violating=answer(asked={"n": 2}, choices=_two(1, 0)),
    conforming=answer(asked={"n": 2}, choices=_two(0, 1)),
    consequence="clients that read choices by position and by index disagree on which is which",
)
def choice_order(reply: Answer) -> Iterator[Violation]:
    """Choices are listed in index order."""
    indexes = [one.get("index") if isinstance(one, dict) else None for one in reply.choices]
    numbers = [index for index in indexes if type(index) is int]
    if len(numbers) == len(indexes) and numbers != sorted(numbers):
        place = next(p for p in range(1, len(numbers)) if numbers[p] < numbers[p - 1])
        yield reply.found("choices", place, "index", wanted="indexes in ascending order")


@rule(
    "chat.response.choice-no-delta",
    level="SHOULD",
    basis="convention",
    source=RESPONSE,
    violating=answer(choice={"delta": {"content": "Hello."}}),
    conforming=answer(),
    consequence="clients that tell chunks from answers by the member take this for a chunk",
)
def no_delta(choice: Choice) -> Iterator[Violation]:
    """A non-streaming choice does not carry delta."""
    if choice.get("delta") is not ABSENT:
        yield choice.found("delta", wanted="no such member in a whole answer")


@rule(
    "chat.response.service-tier-enum",
    level="SHOULD",
    basis="schema",
    source=schema("ServiceTier"),
    violating=answer(service_tier=3),
    conforming=answer(service_tier="default"),
    consequence="typed clients refuse the whole answer; cost trackers price it by no tier",
)
def service_tier(run: Run) -> Iterator[Violation]:
    """service_tier, if present, is a known tier or null."""
    for view in _envelopes(run):
        tier = view.get("service_tier")
        if not (tier is ABSENT or tier is None or (isinstance(tier, str) and tier in TIERS)):
            yield view.found("service_tier", wanted=" or ".join(TIERS))


@rule(
    "chat.response.system-fingerprint-type",
    level="SHOULD",
    basis="schema",
    source=RESPONSE,
    violating=answer(system_fingerprint=7),
    conforming=answer(system_fingerprint="fp_1"),
    consequence="typed clients refuse the whole answer",
)
def fingerprint_type(run: Run) -> Iterator[Violation]:
    """system_fingerprint, if present, is a string (null tolerated)."""
    for view in _envelopes(run):
        value = view.get("system_fingerprint")
        if value is not ABSENT and not isinstance(value, str | None):
            yield view.found("system_fingerprint", wanted="a string or null")


@rule(
    "chat.response.logprobs-key",
    level="MAY",
    strict_level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choice={"logprobs": ABSENT}),
    conforming=answer(choice={"logprobs": None}),
    consequence="none is known: openai-python takes its absence for null",
)
def logprobs_key(choice: Choice) -> Iterator[Violation]:
    """Each choice has a logprobs key (object or null).

    Corrected: MAY, not SHOULD. The schema requires the member, openai-python declares it optional, and most
    servers leave it out without harm to anyone; the literal rulebook says MUST.
    """
    if isinstance(choice.value, dict) and not isinstance(choice.get("logprobs"), dict | None):
        yield choice.found("logprobs", wanted="an object or null")


def _envelopes(run: Run) -> Iterator[Any]:
    yield from run.views(Answer)
    for one in run.views(ChatStream):
        yield from one.chunks

"""What two requests of a run prove that are alike: asked twice, or whole and streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from conformance.rules.chat.views import Counted, Message
from conformance.rules.examples import (
    USAGE,
    Exchanges,
    answer,
    chunk,
    conversation,
    piece,
    start,
    stream,
)
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import Run, Violation, lookup

AGAIN: dict[str, Any] = {"id": "chatcmpl-2", "headers": {"x-request-id": "req_2"}}
SEED = {"seed": 7}
SEED_PROBE, WHOLE_PROBE = "same-seed", "as-whole"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two exchanges in a row, of which the second's probe says that it asks the same as the first."""

    messages: tuple[Message | None, Message | None]
    usages: tuple[Counted | None, Counted | None]


def _pairs(run: Run, probe: str) -> Iterator[Pair]:
    places = [(a.index, b.index) for a, b in pairwise(run.readings) if b.exchange.probe == probe]
    if places:
        messages = {one.reading.index: one for one in run.views(Message)}
        usages = {one.reading.index: one for one in run.views(Counted)}
        for a, b in places:
            yield Pair((messages.get(a), messages.get(b)), (usages.get(a), usages.get(b)))


def _streamed(text: str, prompt_tokens: int = 9) -> Exchanges:
    usage = {**USAGE, "prompt_tokens": prompt_tokens, "total_tokens": prompt_tokens + 3}
    chunks = (start(), piece(content=text), piece("stop"), chunk(usage=usage))
    return stream(
        *({"usage": None, **one, "id": "chatcmpl-2"} for one in chunks),
        asked={"stream_options": {"include_usage": True}},
        probe=WHOLE_PROBE,
        expect="either",
    )


@rule(
    "chat.response.seed-repeats",
    level="MAY",
    basis="prose",
    needs=("purpose",),
    source=schema("CreateChatCompletionRequest seed"),
    violating=conversation(
        answer(asked=SEED), answer(asked=SEED, message={"content": "Hi."}, probe=SEED_PROBE, **AGAIN)
    ),
    conforming=conversation(answer(asked=SEED), answer(asked=SEED, probe=SEED_PROBE, **AGAIN)),
    consequence="an experiment cannot be repeated",
)
def seed_repeats(run: Run) -> Iterator[Violation]:
    """The same request with the same seed has the same answer, as far as the backend is the same.

    The rule is this suite's own. Best effort by the schema's own words, so MAY; answers with different
    system_fingerprint are not compared.
    """
    for pair in _pairs(run, SEED_PROBE):
        first, second = pair.messages
        if first and second and _fingerprint(first) == _fingerprint(second):
            yield from _differs(first, second, "the answer to the same seed")


@rule(
    "chat.stream.usage-equals-whole",
    level="SHOULD",
    basis="derived",
    needs=("purpose",),
    source=schema("CompletionUsage prompt_tokens"),
    violating=conversation(answer(), _streamed("Hello.", 1)),
    conforming=conversation(answer(), _streamed("Hello.")),
    consequence="what a conversation costs depends on whether anybody watches it being written",
)
def usage_equals(run: Run) -> Iterator[Violation]:
    """A streamed request has the prompt_tokens of the same request answered whole.

    The rule is this suite's own: prompt_tokens counts the tokens of the prompt, and that is the same.
    """
    for pair in _pairs(run, WHOLE_PROBE):
        whole, streamed = (one.count("prompt_tokens") if one else None for one in pair.usages)
        last = pair.usages[1]
        if last and whole and streamed is not None and whole != streamed:
            yield last.found("prompt_tokens", wanted=f"{whole}, as in the whole answer")


@rule(
    "chat.stream.text-equals-whole",
    level="MAY",
    basis="convention",
    needs=("purpose",),
    source="no normative text: at temperature 0 servers repeat themselves, as far as their arithmetic does",
    violating=conversation(answer(), _streamed("Hello")),
    conforming=conversation(answer(), _streamed("Hello.")),
    consequence="text or arguments that the stream lost or doubled, unless the model said something else",
)
def text_equals(run: Run) -> Iterator[Violation]:
    """A streamed answer at temperature 0 says what the same request's whole answer says.

    The rule is this suite's own, and MAY: no server promises it. Arguments are compared as JSON.
    """
    for pair in _pairs(run, WHOLE_PROBE):
        if pair.messages[0] and pair.messages[1]:
            yield from _differs(*pair.messages, "the whole answer")


def _differs(first: Message | None, second: Message | None, what: str) -> Iterator[Violation]:
    if first is None or second is None or not (first.settled and second.settled):
        return
    if first.content != second.content:
        yield second.found("content", wanted=f"{first.content} ({what})")
    if _calls(first) != _calls(second):
        names = ", ".join(call.name for call in first.calls) or "no calls"
        yield second.found("tool_calls", wanted=f"{names}, with the same arguments ({what})")


def _calls(message: Message) -> list[tuple[str, object]]:
    """Names and arguments; the ids are new with every call."""
    return [(one.name, read_json(one.arguments or "").value) for one in message.calls]


def _fingerprint(message: Message) -> object:
    found = lookup(message.reading.body.value, ("system_fingerprint",))
    return None if found is ABSENT else found

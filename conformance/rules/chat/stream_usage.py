"""Token counts in streams."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.streams import ChatStream
from conformance.rules.chat.usage import COMPLETION_USAGE, missing_counts, wrong_counts, wrong_total
from conformance.rules.examples import USAGE, chunk, piece, start, stream
from conformance.rules.registry import rule
from conformance.rules.sources import schema, sdk
from conformance.rules.views import Violation

OPTIONS = schema("ChatCompletionStreamOptions")
ASKED = {"stream_options": {"include_usage": True}}
TOTALS = chunk(usage=USAGE)
SAID = tuple(one | {"usage": None} for one in (start(), piece(content="Hello."), piece("stop")))
CLEAN = stream(*SAID, TOTALS, asked=ASKED)


@rule(
    "chat.stream.usage-absent-unless-asked",
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=f"{schema('CreateChatCompletionStreamResponse')} usage",
    violating=stream(start(), piece(content="Hello."), piece("stop"), TOTALS),
    conforming=stream(),
    consequence="clients that read choices[0] of every chunk crash on the extra one",
)
def absent_unless_asked(one: ChatStream) -> Iterator[Violation]:
    """Without include_usage no chunk carries a usage object."""
    if one.asked is not None and not one.asked.include_usage:
        for extra in one.usages:
            yield extra.found("usage", wanted="no usage (it was not asked for)")


@rule(
    "chat.stream.usage-chunk-present",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTIONS,
    violating=stream(*SAID, asked=ASKED),
    conforming=CLEAN,
    consequence="cost tracking and context budgeting have nothing to go by",
)
def present(one: ChatStream) -> Iterator[Violation]:
    """include_usage yields one chunk with the usage totals before [DONE]."""
    if one.finished and _asked(one) and not one.usages:
        yield one.found(
            wanted="a chunk with usage", saw=f"none in {sum(chunk.times for chunk in one.chunks)} chunks"
        )


@rule(
    "chat.stream.usage-chunk-choices-empty",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTIONS,
    violating=stream(*SAID[:2], piece("stop") | {"usage": USAGE}, asked=ASKED),
    conforming=CLEAN,
    consequence="clients that wait for the chunk without choices never see the totals",
)
def choices_empty(one: ChatStream) -> Iterator[Violation]:
    """The usage chunk has an empty choices array.

    Where several chunks carry usage, the last one counts.
    """
    if _asked(one) and one.usages and one.usages[-1].get("choices") != []:
        yield one.usages[-1].found("choices", wanted="[]")


@rule(
    "chat.stream.usage-chunk-last",
    level="MUST",
    basis="sdk",
    needs=("request",),
    source=(OPTIONS, sdk("lib/streaming/chat/_completions.py")),
    violating=stream(*SAID[:2], TOTALS, SAID[2], asked=ASKED),
    conforming=CLEAN,
    consequence="openai-python's helper takes usage from the last chunk: it ends up None",
)
def last(one: ChatStream) -> Iterator[Violation]:
    """No chunk follows the usage chunk."""
    if _asked(one) and one.usages and one.usages[-1] is not one.chunks[-1]:
        yield one.usages[-1].found(wanted="the last chunk", saw="a chunk that others follow")


@rule(
    "chat.stream.usage-null-elsewhere",
    level="SHOULD",
    strict_level="MUST",
    basis="prose",
    needs=("request",),
    source=OPTIONS,
    violating=stream(SAID[0], SAID[1] | {"usage": USAGE}, SAID[2], TOTALS, asked=ASKED),
    conforming=CLEAN,
    consequence="clients that add usage up count it twice; an absent member is harmless",
)
def null_elsewhere(one: ChatStream) -> Iterator[Violation]:
    """With include_usage all other chunks carry usage null.

    Stated in prose; its absence does not matter to the SDK, and Ollama leaves it out: hence SHOULD.
    """
    if _asked(one):
        final = one.usages[-1] if one.usages else None
        for other in one.chunks:
            if other is not final and other.get("usage") is not None:
                yield other.found("usage", wanted="null")


@rule(
    "chat.stream.usage-sum",
    level="MUST",
    basis="prose",
    source=COMPLETION_USAGE,
    violating=stream(*SAID, chunk(usage=USAGE | {"total_tokens": 99}), asked=ASKED),
    conforming=CLEAN,
    consequence="typed clients refuse a chunk that lacks a part; bills from the parts and from the total "
    "disagree",
)
def arithmetic(one: ChatStream) -> Iterator[Violation]:
    """Streamed usage satisfies the same arithmetic as the non-streamed one.

    Three counts, non-negative integers, whose total is the sum. Where several chunks carry usage, the last
    one counts.
    """
    for final in one.usages[-1:]:
        yield from missing_counts(final)
        yield from wrong_counts(final)
        yield from wrong_total(final)


def _asked(one: ChatStream) -> bool:
    return one.asked is not None and one.asked.include_usage

"""The end of a streamed message: why it stopped, what it counts, and that nothing follows."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.anthropic.examples import WIRES, stream, told
from conformance.rules.anthropic.stream import ACCUMULATE, STREAMING
from conformance.rules.anthropic.streams import MessageStream
from conformance.rules.eventlists import but, moved, with_event, without
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_sdk
from conformance.rules.views import Violation

DELTA_USAGE = anthropic_sdk("types/message_delta_usage.py")


@rule(
    "anth.stream.message-delta-present",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=STREAMING,
    violating=stream(without(told(), "message_delta")),
    conforming=stream(),
    consequence="anthropic 2.14.0's final message has stop_reason None: an agent loop cannot tell what to do",
)
def delta_present(one: MessageStream) -> Iterator[Violation]:
    """After the last block at least one message_delta carries a non-null stop_reason.

    Its usage is anth.stream.message-delta-usage's. A stream that was cut or failed has no end to speak of.
    """
    if one.whole and one.begun is not None and one.last_change is None and not one.resumed:
        saw = f"{len(one.changes)} of them, none with a reason" if one.changes else "none"
        yield one.found(wanted="a message_delta with a stop_reason", saw=saw)


@rule(
    "anth.stream.message-delta-usage",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(DELTA_USAGE, ACCUMULATE),
    violating=stream(but(told(), "message_delta", usage={})),
    conforming=stream(),
    consequence="without usage anthropic 2.14.0 raises AttributeError; without the count it is None",
)
def delta_usage(one: MessageStream) -> Iterator[Violation]:
    """message_delta.usage has output_tokens."""
    for event in one.changes:
        count = event.get("usage", "output_tokens")
        if not (type(count) is int and count >= 0):
            yield event.found("usage", "output_tokens", wanted="an integer of 0 or more")


@rule(
    "anth.stream.usage-cumulative",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=DELTA_USAGE,
    violating=stream(but(told(), "message_delta", usage={"output_tokens": 0})),
    conforming=stream(but(told(), "message_delta", usage={"output_tokens": 3})),
    consequence="anthropic 2.14.0 keeps the last count alone: tokens are lost from the bill",
)
def cumulative(one: MessageStream) -> Iterator[Violation]:
    """The counts of message_delta are cumulative totals, not increments.

    So output_tokens never falls, from message_start on. Not judged where the context was compacted on the
    way: what that took counts in message_start and not in the totals (types/beta/beta_usage.py iterations).
    """
    if any(block.type == "compaction" for block in one.blocks):
        return
    begun = one.begun.get("message", "usage", "output_tokens") if one.begun is not None else None
    before = begun if type(begun) is int else 0
    for event in one.changes:
        count = event.get("usage", "output_tokens")
        if type(count) is int:
            if count < before:
                yield event.found("usage", "output_tokens", wanted=f"at least {before}, as before")
            before = max(before, count)


@rule(
    "anth.stream.message-delta-after-blocks",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=STREAMING,
    violating=stream(moved(told(), "message_delta", 4)),
    conforming=stream(with_event(told(), 7, type="message_delta", delta={}, usage={"output_tokens": 4})),
    consequence="clients that act on the stop_reason at once miss what follows it",
)
def delta_after_blocks(one: MessageStream) -> Iterator[Violation]:
    """No event of a content block follows a message_delta with a stop_reason."""
    stopped = next(
        (event for event in one.changes if isinstance(event.get("delta", "stop_reason"), str)), None
    )
    if stopped is None or stopped.event is None:
        return
    for event in one.events:
        after = event.event is not None and event.event > stopped.event
        if after and event.type.startswith("content_block_"):
            yield event.found("type", wanted="no block after the stop_reason")
            return


@rule(
    "anth.stream.message-stop-last",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=STREAMING,
    violating=stream(without(told(), "message_stop")),
    conforming=stream(),
    consequence="clients cannot tell the end from a break; anthropic 2.14.0 tolerates that it is missing",
)
def stop_last(one: MessageStream) -> Iterator[Violation]:
    """message_stop is the last event, once.

    Where the connection breaks before it this is the rule that says so. A stream that ends in an error event,
    that stalled or that we closed is left alone. The end marker of other wires has a rule of its own.
    """
    cut = one.reading.exchange.ending == "cut"
    if one.begun is None or one.error is not None or not (one.ended or cut):
        return
    if not one.stops:
        events = f"{len(one.events)} events"
        saw = f"the connection broke after {events}" if cut else f"the end of the body after {events}"
        yield one.found(wanted="an event message_stop at the end", saw=saw)
    elif one.stops[0] is not one.events[-1]:
        after = (one.events[-1].event or 0) - (one.stops[0].event or 0)
        yield one.stops[0].found(wanted="the last event", saw=f"{after} more after it")

"""The events of a streamed message: framing, names, the beginning, errors."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.anthropic.envelope import LITERALS
from conformance.rules.anthropic.examples import WIRES, answer, stream, told
from conformance.rules.anthropic.streams import MessageEvent, MessageStream, is_error
from conformance.rules.anthropic.views import Reply, hidden_error
from conformance.rules.eventlists import but_in, with_event
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Violation

STREAMING = anthropic_docs("build-with-claude/streaming")
ACCUMULATE = anthropic_sdk("lib/streaming/_messages.py accumulate_event")
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
ERROR_LINE = (
    b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
)


@rule(
    "anth.stream.is-sse-when-asked",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request", "framing"),
    source=STREAMING,
    violating=answer(asked={"stream": True}),
    conforming=stream(),
    consequence="anthropic 2.14.0 finds no event in it: the stream ends before it began",
)
def is_sse(reply: Reply) -> Iterator[Violation]:
    """stream true yields an event stream, stream false or absent yields one JSON object.

    The rule is this suite's own; the catalogue has it for Chat alone.
    """
    if reply.asked is not None and not hidden_error(reply.reading):
        yield from reply.as_asked(reply.asked.stream)


@rule(
    "anth.stream.event-field-required",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("framing",),
    source=anthropic_sdk("_streaming.py Stream.__stream__"),
    violating=stream(named=False),
    conforming=stream(),
    consequence="anthropic 2.14.0 skips every event without a name: create(stream=True) yields nothing and "
    "stream() fails with AssertionError",
)
def event_field(event: MessageEvent) -> Iterator[Violation]:
    """Every event has an SSE event field."""
    if not event.name:
        yield event.found(wanted="an event field", saw="data alone")


@rule(
    "anth.stream.event-matches-type",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("framing",),
    source=STREAMING,
    violating=stream([*told()[:-1], b'event: end\ndata: {"type":"message_stop"}\n\n']),
    conforming=stream(),
    consequence="clients that dispatch by name and those that dispatch by type see two different streams",
)
def matches_type(event: MessageEvent) -> Iterator[Violation]:
    """The event field is the data's type.

    Pings and errors have rules of their own.
    """
    if not event.name or event.name == "ping" or is_error(event) or not isinstance(event.value, dict):
        return
    if event.get("type") != event.name:
        yield event.found("type", wanted=f'"{event.name}", as the event field says')


@rule(
    "anth.stream.message-start-first",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=stream([told()[1], told()[2], told()[0], *told()[3:]]),
    conforming=stream(told()),
    consequence="anthropic 2.14.0's stream() leaves out of the message what came before message_start: a "
    "delta of a block that it does not know raises IndexError",
)
def start_first(one: MessageStream) -> Iterator[Violation]:
    """The first event, pings aside, is message_start, and there is no other.

    A stream that fails before it has begun may be an error event alone. Of a second message_start the SDK
    takes no notice. Corrected: the helper does not fail at once, it passes on what comes too early.
    """
    events = [event for event in one.events if event.type != "ping"]
    if not events:
        if one.ended:
            yield one.found(wanted="message_start", saw="no event")
        return
    if events[0].type != "message_start" and not is_error(events[0]):
        yield events[0].found("type", wanted='"message_start"')
    for event in events[1:]:
        if event.type == "message_start" and event is not one.begun:
            yield event.found("type", wanted="one message_start")


@rule(
    "anth.stream.message-start-shape",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(STREAMING, ACCUMULATE),
    violating=stream(but_in(told(), "message_start", "message", usage=ABSENT)),
    conforming=stream(),
    consequence="anthropic 2.14.0 raises AttributeError: content to append to, or usage to count in, is not "
    "there",
)
def start_shape(one: MessageStream) -> Iterator[Violation]:
    """message_start has a message with id, type, role, model, content [] and usage with its two counts.

    Extended by the members that a whole message must have too, but for stop_reason
    (anth.stream.stop-reason-null-at-start). Corrected: a message that goes on with what a tool's code did on
    the server has that in its content already, and the reason why it stopped.
    """
    begun = one.begun
    if begun is None:
        return
    if not isinstance(begun.get("message"), dict):
        yield begun.found("message", wanted="a message object")
        return
    for name in ("id", "model"):
        value = begun.get("message", name)
        if not (isinstance(value, str) and value):
            yield begun.found("message", name, wanted="a non-empty string")
    for name, literal in LITERALS.items():
        if begun.get("message", name) != literal:
            yield begun.found("message", name, wanted=f'"{literal}"')
    if begun.get("message", "content") != [] and not one.resumed:
        yield begun.found("message", "content", wanted="[]")
    for name in ("input_tokens", "output_tokens"):
        count = begun.get("message", "usage", name)
        if not (type(count) is int and count >= 0):
            yield begun.found("message", "usage", name, wanted="an integer of 0 or more")


@rule(
    "anth.stream.stop-reason-null-at-start",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=anthropic_sdk("types/message.py stop_reason"),
    violating=stream(but_in(told(), "message_start", "message", stop_reason="end_turn")),
    conforming=stream(),
    consequence="a client that watches stop_reason takes the message for ended before it began",
)
def null_at_start(one: MessageStream) -> Iterator[Violation]:
    """stop_reason is null in message_start.

    That it is set later is anth.stream.message-delta-present's.
    """
    if one.begun is None or one.resumed:
        return
    if one.begun.get("message", "stop_reason") not in (None, ABSENT):
        yield one.begun.found("message", "stop_reason", wanted="null")


@rule(
    "anth.stream.ping-anywhere",
    wires=WIRES,
    level="MAY",
    basis="prose",
    needs=("framing",),
    source=STREAMING,
    violating=stream([*told()[:3], b"event: ping\ndata: {}\n\n", *told()[3:]]),
    conforming=stream(with_event(told(), 4, type="ping")),
    consequence="none is known: anthropic 2.14.0 goes by the name and never reads a ping's data",
)
def ping(one: MessageStream) -> Iterator[Violation]:
    """ping events may appear at any point; their data is {"type":"ping"}.

    One without data is not even dispatched.
    """
    yield from one.odd("empty-data-event", wanted='data {"type":"ping"}')
    for event in one.events:
        if event.name == "ping" and event.get("type") != "ping":
            yield event.found("type", wanted='"ping"')


@rule(
    "anth.stream.no-done-sentinel",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("framing",),
    source=STREAMING,
    violating=stream(end=b"data: [DONE]\n\n"),
    conforming=stream(),
    consequence="clients that read every event's data as JSON fail at it; anthropic 2.14.0 skips what has no "
    "name",
)
def no_done(one: MessageStream) -> Iterator[Violation]:
    """No data: [DONE] is sent.

    It is OpenAI's end marker; here message_stop is the end.
    """
    for event in one.done:
        yield event.found(wanted="nothing after message_stop", saw=event.raw.data)


@rule(
    "anth.stream.error-event",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(STREAMING, anthropic_sdk("_streaming.py Stream.__stream__")),
    violating=stream([*told()[:4], b'data: {"error":"Overloaded"}\n\n']),
    conforming=stream([*told()[:4], ERROR_LINE]),
    also=("anth.stream.event-field-required",),
    consequence="anthropic 2.14.0 only raises for an event that is named error: half a message is taken for "
    "the whole",
)
def error_event(one: MessageStream) -> Iterator[Violation]:
    """A failure in mid-stream is event: error with {type:error,error:{type,message}}."""
    event = one.error
    if event is None:
        return
    if event.name not in ("error", None):
        yield event.found(wanted="event: error", saw=f"event: {event.name}")
    if event.get("type") != "error":
        yield event.found("type", wanted='"error"')
    for name in ("type", "message"):
        told_of = event.get("error", name)
        if not (isinstance(told_of, str) and told_of):
            yield event.found("error", name, wanted="a non-empty string")

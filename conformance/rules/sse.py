"""Server-sent events, on any wire; the end marker is OpenAI Chat's."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.chat.streams import ChatStream
from conformance.rules.examples import piece, start, stream
from conformance.rules.reading import ABSENT, DONE, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import WHATWG, schema, sdk
from conformance.rules.views import OPENAI_WIRES, SSE_WIRES, EventStream, StreamEvent, Violation

STREAM = stream()
SAID = (piece(content="Hello."), piece("stop"))
assert STREAM[0].response is not None
BYTES = STREAM[0].response.body
REST = (
    b'"object":"chat.completion.chunk","created":1764000000,"model":"example-model",'
    b'"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":null}]}\n\n'
)
PARSING = f"{WHATWG} 9.2.5"
FIELDS = f"{WHATWG} 9.2.6"
SDK_DECODER = sdk("_streaming.py SSEDecoder")


@rule(
    "sse.content-type",
    wires=SSE_WIRES,
    level="MUST",
    basis="spec",
    source=(f"{WHATWG} 9.2.3", "openresponses/openresponses src/pages/specification.mdx"),
    violating=stream(headers={"content-type": "application/json"}),
    conforming=stream(),
    consequence="clients that look at the header parse the stream as one JSON text and fail",
)
def content_type(one: EventStream) -> Iterator[Violation]:
    """A streamed answer has media type text/event-stream."""
    if one.reading.media_type != "text/event-stream":
        yield one.http.found("headers", "content-type", wanted="text/event-stream")


@rule(
    "sse.no-content-length",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="convention",
    needs=("headers", "arrival"),
    source="RFC 9110 section 8.6: who sends Content-Length knows how long the content will be",
    violating=stream(headers={"content-length": "100000"}),
    conforming=stream(headers={"transfer-encoding": "chunked"}),
    consequence="the whole answer was made before its first byte went out: nothing streams",
)
def no_length(one: EventStream) -> Iterator[Violation]:
    """A streamed answer has no Content-Length.

    The rule is this suite's own: the length of an answer is unknown while it is generated. A recorder that
    joined the pieces may have written the length itself, beside Transfer-Encoding or in its place.
    """
    if one.http.header("content-length") is not None:
        yield one.http.found("headers", "content-length", wanted="no Content-Length: the length is not known")


@rule(
    "sse.utf8",
    wires=SSE_WIRES,
    level="MUST",
    basis="spec",
    source=PARSING,
    violating=stream(raw=b": caf\xe9\n\n" + BYTES),
    conforming=stream(),
    consequence="openai-python raises UnicodeDecodeError, other decoders put U+FFFD in the text",
)
def utf8(one: EventStream) -> Iterator[Violation]:
    """The event stream is valid UTF-8."""
    yield from one.odd("invalid-utf8", wanted="UTF-8")


@rule(
    "sse.no-bom",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="sdk",
    source=(PARSING, SDK_DECODER),
    violating=stream(raw=b"\xef\xbb\xbf" + BYTES),
    conforming=stream(),
    consequence="openai-python silently drops the first chunk (1.109.1, 2.54.0 and 3.57.0)",
)
def no_bom(one: EventStream) -> Iterator[Violation]:
    """The stream does not start with a byte-order mark.

    Legal, but openai-python does not strip it and loses the first event.
    """
    yield from one.odd("bom", wanted="no byte order mark")


@rule(
    "sse.event-separated-by-blank-line",
    wires=SSE_WIRES,
    level="MUST",
    basis="spec",
    source=f"{WHATWG} 9.2.5, 9.2.6",
    violating=stream(start(), b"data: {}\ndata: {}\n\n", *SAID),
    conforming=stream(),
    consequence="openai-python joins the lines and raises JSONDecodeError: Extra data",
)
def separated(event: StreamEvent) -> Iterator[Violation]:
    """Events are separated by an empty line."""
    if _run_together(event):
        yield event.found(wanted="one payload per event", saw=f"{event.raw.data_lines} payloads in one event")


@rule(
    "sse.final-event-terminated",
    wires=SSE_WIRES,
    level="MUST",
    basis="spec",
    source=f"{FIELDS} (an incomplete event at the end of a stream is discarded)",
    violating=stream(done=b"data: [DONE]\n"),
    conforming=stream(),
    consequence="openai-python drops the unterminated event without an error",
)
def terminated(one: EventStream) -> Iterator[Violation]:
    """The last event ends with an empty line before the connection closes.

    A connection that broke in the middle of an event is another matter.
    """
    if one.ended and not one.stream.terminated and one.stream.pending is not None:
        yield one.found(
            wanted="a blank line after the last event",
            saw=f"data: {one.stream.pending.data[:80]}, then the end",
        )


@rule(
    "sse.known-fields-only",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="spec",
    source=FIELDS,
    violating=stream(start(), b'error: {"message":"Out of memory."}\n\n', *SAID),
    conforming=stream(),
    consequence="openai-python ignores the line, and what it says is lost",
)
def known_fields(one: EventStream) -> Iterator[Violation]:
    """Every non-empty line is a comment or a data, event, id or retry field."""
    yield from one.odd("unknown-field", wanted="a comment, or a data, event, id or retry field")


@rule(
    "sse.space-after-colon",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="sdk",
    source=(FIELDS, "google-genai 3.6.1 google/genai/_api_client.py _iter_response_stream"),
    violating=stream(raw=BYTES.replace(b"data: ", b"data:")),
    conforming=stream(),
    consequence='google-genai 3.6.1 raises UnknownApiResponseError for "data:{"',
)
def space(one: EventStream) -> Iterator[Violation]:
    """The data field is written with one space after the colon.

    Optional in the standard; google-genai only knows "data: ".
    """
    yield from one.odd("no-space-after-colon", wanted='"data: "')


@rule(
    "sse.no-empty-data-event",
    wires=OPENAI_WIRES,
    level="MUST",
    basis="sdk",
    source=sdk("_streaming.py SSEDecoder.decode (dispatches when event, id or retry is set)"),
    violating=stream(start(), b"event: ping\n\n", *SAID),
    conforming=stream(start(), b": ping\n\n", *SAID),
    consequence='openai-python dispatches it and json.loads("") raises JSONDecodeError',
)
def no_empty_event(one: EventStream) -> Iterator[Violation]:
    """No event block carries event, id or retry without data.

    The standard ignores such a block; the official SDK does not. A comment makes a keep-alive.
    """
    yield from one.odd("empty-data-event", wanted="data in every event")


@rule(
    "sse.no-id-field",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="sdk",
    source=("openresponses/openresponses src/pages/specification.mdx", SDK_DECODER),
    violating=stream(raw=b"id: 1\n" + BYTES),
    conforming=stream(),
    consequence="with comment heartbeats openai-python then raises JSONDecodeError at every blank line",
)
def no_id(one: EventStream) -> Iterator[Violation]:
    """The stream has no id field.

    openai-python keeps the last id and dispatches an empty event at every later blank line.
    """
    yield from one.odd("id-field", wanted="no id field")


@rule(
    "sse.no-retry-field",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="sdk",
    source=SDK_DECODER,
    violating=stream(raw=b"retry: 100\n" + BYTES),
    conforming=stream(),
    consequence="a block of retry alone makes openai-python raise JSONDecodeError (1.109.1, 2.54.0, 3.57.0)",
)
def no_retry(one: EventStream) -> Iterator[Violation]:
    """The stream has no retry field.

    Within an event it does no harm; in a block of its own it is sse.no-empty-data-event's too.
    """
    yield from one.odd("retry-field", wanted="no retry field")


@rule(
    "sse.consistent-line-ends",
    needs_end=True,
    wires=SSE_WIRES,
    level="SHOULD",
    basis="convention",
    source=PARSING,
    violating=stream(raw=BYTES.replace(b"\n\n", b"\r\n\n", 1)),
    conforming=stream(raw=BYTES.replace(b"\n", b"\r\n")),
    consequence="clients that split at one kind of blank line join events or miss them",
)
def line_ends(one: EventStream) -> Iterator[Violation]:
    """One line terminator is used throughout."""
    yield from one.odd("mixed-line-ends", wanted="one kind of line end")


@rule(
    "sse.single-line-json",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="convention",
    source=FIELDS,
    violating=stream(start(), b'data: {"id":"chatcmpl-1",\ndata: ' + REST, piece("stop")),
    conforming=stream(),
    consequence="clients that read line by line fail to parse each half; openai-python joins them",
)
def single_line(event: StreamEvent) -> Iterator[Violation]:
    """The JSON payload is on one data line.

    Several lines are legal in the standard.
    """
    if event.raw.data_lines > 1 and isinstance(event.value, dict):
        yield event.found(wanted="one data line", saw=f"{event.raw.data_lines} data lines")


@rule(
    "sse.one-json-object-per-event",
    wires=SSE_WIRES,
    level="MUST",
    basis="sdk",
    source=f"{SDK_DECODER} json",
    violating=stream(start(), b"data: pong\n\n", *SAID),
    conforming=stream(),
    consequence="openai-python raises JSONDecodeError in the middle of the stream",
)
def one_object(event: StreamEvent) -> Iterator[Violation]:
    """Each data payload, except a documented sentinel, is exactly one JSON object."""
    if not isinstance(event.value, dict) and not event.is_done and not _run_together(event):
        problem = event.payload.problem
        yield event.found(wanted="one JSON object", saw=f"{problem}: {event.raw.data}" if problem else None)


@rule(
    "sse.done-sentinel",
    needs_end=True,
    level="MUST",
    basis="prose",
    source=(f"{schema('ChatCompletionStreamOptions')} include_usage", sdk("_streaming.py Stream")),
    violating=stream(done=b""),
    conforming=stream(),
    consequence="clients cannot tell the end from a break; openai-python tolerates a missing marker",
)
def done(one: ChatStream) -> Iterator[Violation]:
    """The OpenAI chat stream ends with an event whose data is exactly [DONE].

    Where the connection breaks before it (ending "cut") this is the rule that says so. A stream that ends
    in an error event, that stalled or that we closed is left alone; a marker without its blank line is
    sse.final-event-terminated's.
    """
    cut = one.reading.exchange.ending == "cut"
    pending = one.stream.pending is not None and one.stream.pending.data.strip() == DONE
    if one.error is not None or not (one.ended or cut) or pending:
        return
    if not one.done:
        events = f"{len(one.stream.events)} events"
        saw = f"the connection broke after {events}" if cut else f"the end of the body after {events}"
        yield one.found(wanted="an event [DONE] at the end", saw=saw)
    for event in one.done:
        if event.raw.data != DONE:
            yield event.found(wanted="[DONE] exactly", saw=f'"{event.raw.data}"')


@rule(
    "sse.done-once-and-last",
    level="MUST",
    basis="derived",
    source=sdk("_streaming.py Stream"),
    violating=stream(start(), piece(content="Hello."), b"data: [DONE]\n\n", piece("stop"), done=b""),
    conforming=stream(),
    consequence="clients stop reading at the marker: what follows is lost",
)
def done_last(one: ChatStream) -> Iterator[Violation]:
    """[DONE] occurs once and nothing but comments follows it."""
    if one.done:
        marker, after = one.done[0], len(one.stream.events) - 1 - (one.done[0].event or 0)
        if after:
            yield marker.found(wanted="the last event", saw=f"{after} more events after [DONE]")


def _run_together(event: StreamEvent) -> bool:
    """Whether several payloads stand in one event, for want of a blank line."""
    if event.raw.data_lines < 2 or event.value is not ABSENT:
        return False
    lines = event.raw.data.split("\n")
    return all(line.strip() == DONE or isinstance(read_json(line).value, dict) for line in lines)

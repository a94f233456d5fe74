"""Streams: how they are framed, what each chunk is, how they end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.examples import dumped
from conformance.rules.gemini.answers import Answer, Reply, Response
from conformance.rules.gemini.examples import STATUSES, WIRES, call, response, said, stream, text, told
from conformance.rules.gemini.views import Candidate, Piece, Usage
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import gemini_docs, gemini_sdk
from conformance.rules.views import EventStream, StreamEvent, View, Violation, event_at

LINES = gemini_sdk("_api_client.py HttpResponse._iter_response_stream")
KNOWN = frozenset(
    {
        *("candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId", "createTime"),
        *("modelStatus", "sdkHttpResponse", "automaticFunctionCallingHistory", "error"),
    }
)
"""Members of a response, and that of an error."""
FALLEN = {"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10}
BROKEN = {"error": {"code": 503, "message": "It broke.", "status": STATUSES[503]}}
PARTIAL: dict[str, Any] = {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Os"}], "willContinue": True}
FEWEST_SNAPSHOTS = 3


@rule(
    "gem.stream.sse-when-alt-sse",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("request", "headers", "framing"),
    source=(gemini_sdk("models.py Models.generate_content_stream"), LINES),
    violating=stream(raw=dumped(told()), headers={"content-type": "application/json"}),
    conforming=stream(),
    consequence="google-genai 3.6.1 raises UnknownApiResponseError where a body is no events",
)
def sse_when_asked(reply: Reply) -> Iterator[Violation]:
    """streamGenerateContent?alt=sse answers with text/event-stream, framed so.

    Corrected: a JSON array makes google-genai raise, where an older one made one empty chunk of it.
    """
    if not (reply.reading.succeeded and reply.asked.streams and reply.asked.events):
        return
    if reply.reading.media_type != "text/event-stream":
        yield reply.found("headers", "content-type", wanted="text/event-stream")
    elif reply.reading.stream is None:
        yield reply.found("body", wanted="events", saw="a body that is not framed as events")


@rule(
    "gem.stream.array-without-alt-sse",
    wires=WIRES,
    needs_end=True,
    level="SHOULD",
    basis="convention",
    needs=("request", "framing", "purpose"),
    source=(
        gemini_docs("api/generate-content streamGenerateContent"),
        "Google Cloud docs system parameters alt",
    ),
    violating=stream(array=True, raw=dumped(response())),
    conforming=stream(*told(), array=True),
    consequence="clients that read the array element by element find none",
)
def array(one: Answer) -> Iterator[Violation]:
    """streamGenerateContent without alt=sse answers with one JSON array of responses.

    Not in the catalogue. The default of alt is json, and the stream's messages are the array's elements.
    Recorders leave alt out with the key in the query, so that only our own recordings tell.
    """
    if not one.asked.streams or one.asked.events:
        return
    if one.framing == "events" or one.reading.body.problem or not isinstance(one.value, list):
        problem = one.reading.body.problem
        yield one.found(wanted="one JSON array of responses", saw=problem or None)
        return
    for place, value in enumerate(one.value):
        if not isinstance(value, dict):
            yield one.found(place, wanted="a response")


@rule(
    "gem.stream.data-prefix-with-space",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("framing",),
    source=LINES,
    violating=stream(
        b'data:{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}],'
        b'"modelVersion":"m","responseId":"r_1"}\r\n\r\n',
        *told()[1:],
    ),
    conforming=stream(),
    consequence="google-genai 3.6.1 raises UnknownApiResponseError",
    also=("sse.space-after-colon",),
)
def data_prefix(one: EventStream) -> Iterator[Violation]:
    """Every data line begins with "data: ", the space included."""
    yield from one.odd("no-space-after-colon", wanted='"data: "')


@rule(
    "gem.stream.no-comments",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("framing",),
    source=LINES,
    violating=stream(b": ping\r\n\r\n", *told()),
    conforming=stream(),
    consequence="google-genai 3.6.1 raises UnknownApiResponseError: it knows data lines alone",
)
def no_comments(one: EventStream) -> Iterator[Violation]:
    """There are no lines but data lines: no comments, no event, id or retry fields."""
    if one.stream.comments:
        yield one.found(wanted="data lines alone", saw=f"{one.stream.comments} comment lines")
    for event in one.stream.events:
        named = [name for name in ("id", "retry") if getattr(event, name) is not None]
        named += ["event"] if event.name is not None else []
        if named:
            view = View(one.reading, event_at(one.reading, event.number), ABSENT, event.number)
            yield view.found(wanted="data lines alone", saw=f"a field {' and '.join(named)}")
    yield from one.odd("empty-data-event", wanted="data lines alone")


@rule(
    "gem.stream.no-done-sentinel",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("framing",),
    source=LINES,
    violating=stream(*told(), b"data: [DONE]\r\n\r\n"),
    conforming=stream(),
    consequence="google-genai 3.6.1 raises UnknownApiResponseError behind the last word of every answer",
)
def no_done(event: StreamEvent) -> Iterator[Violation]:
    """There is no [DONE]: a stream ends with its last chunk."""
    if event.is_done:
        yield event.found(wanted="no end marker", saw=event.raw.data)


@rule(
    "gem.stream.chunk-is-response",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=gemini_sdk("types.py GenerateContentResponse"),
    violating=stream({"delta": "Hel"}, *told()[1:]),
    conforming=stream(said(text("Hel")), response(candidates=ABSENT), *told()[1:]),
    consequence="google-genai makes an empty response of it: that piece of the answer is lost",
    also=("gem.response.model-version", "gem.response.response-id"),
)
def chunk_is_response(one: Response) -> Iterator[Violation]:
    """Every chunk is a GenerateContentResponse: it has members of one, and an array of candidates.

    Of a whole answer gem.response.candidates-or-feedback tells.
    """
    if not _is_chunk(one):
        return
    if KNOWN.isdisjoint(one.value) and not _has_snakes(one):
        yield one.found(wanted="a response", saw="members " + ", ".join(list(one.value)[:8]))
    candidates = one.get("candidates")
    if candidates is ABSENT:
        return
    if not isinstance(candidates, list) or not all(isinstance(value, dict) for value in candidates):
        yield one.found("candidates", wanted="an array of candidates")


@rule(
    "gem.stream.text-fragments",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=gemini_sdk("chats.py Chat.send_message_stream"),
    violating=stream(*told("He", "Hello", "Hello.")),
    conforming=stream(),
    consequence="clients join the texts of the chunks: the answer comes out once per chunk",
)
def fragments(one: Candidate) -> Iterator[Violation]:
    """The texts of successive chunks are fragments, not growing snapshots.

    At least three, each of which repeats the whole text so far: one repetition may be the text's own.
    """
    said_parts = [part for part in one.parts if part.text and not part.is_thought]
    if (
        len(one.pieces) >= FEWEST_SNAPSHOTS
        and len(said_parts) >= FEWEST_SNAPSHOTS
        and all(
            len(later.text) > len(earlier.text) and later.text.startswith(earlier.text)
            for earlier, later in pairwise(said_parts)
        )
    ):
        yield said_parts[1].found("text", wanted="only what is new")


@rule(
    "gem.stream.function-call-whole",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source=gemini_sdk("types.py FunctionCallingConfig.stream_function_call_arguments"),
    violating=stream(said(call(**PARTIAL)), said(call(2), finish="STOP")),
    conforming=stream(said(call()), said(call(2), finish="STOP")),
    consequence="clients that did not ask for pieces run the call with half of its arguments",
)
def call_whole(one: Candidate) -> Iterator[Violation]:
    """A functionCall arrives whole, in one part, unless its arguments were asked for in pieces."""
    for part in one.calls:
        pieces = [
            name for name in ("partialArgs", "willContinue") if part.get("functionCall", name) is not ABSENT
        ]
        if pieces and not one.asked.streams_arguments:
            yield part.found(
                "functionCall", wanted="a whole call", saw=f"a piece, with {' and '.join(pieces)}"
            )


@rule(
    "gem.stream.finish-reason-last",
    wires=WIRES,
    level="MUST",
    basis="derived",
    source=gemini_sdk("types.py FinishReason (if empty, the model has not stopped)"),
    violating=stream(said(text("Hel"), finish="STOP"), said(text("lo."), finish="STOP")),
    conforming=stream(),
    consequence="clients that stop reading at the finishReason lose what follows",
)
def finish_last(one: Candidate) -> Iterator[Violation]:
    """finishReason is on the last chunk of a candidate and on no other.

    Behind it there may be chunks without parts, such as one with the final counts.
    """
    ended: Piece | None = None
    for piece in one.pieces:
        if ended is not None and (piece.parts or piece.finish is not None):
            yield ended.found(
                "finishReason", wanted="nothing of the candidate behind it", saw=str(ended.finish)
            )
            return
        if piece.finish is not None:
            ended = piece


@rule(
    "gem.stream.usage-monotone",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=gemini_sdk("types.py GenerateContentResponseUsageMetadata"),
    violating=stream(*told()[:1], said(text("lo."), finish="STOP", usageMetadata=FALLEN)),
    conforming=stream(said(text("Hel"), usageMetadata=FALLEN), *told()[1:]),
    consequence="a client that keeps the last counts bills too little",
)
def monotone(one: Usage) -> Iterator[Violation]:
    """The counts never fall from chunk to chunk.

    Judged against the chunk before; that the last one has the totals is gem.response.usage-metadata's.
    """
    for name in ("candidatesTokenCount", "totalTokenCount"):
        before, now = one.before(name), one.count(name)
        if before is not None and now is not None and now < before:
            yield one.found(name, wanted=f"at least {before}, as before")


@rule(
    "gem.stream.error-object",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("request",),
    source=(gemini_sdk("errors.py APIError.raise_error"), LINES),
    violating=stream(*told()[:1], {"error": {"message": "It broke."}}),
    conforming=stream(*told()[:1], BROKEN),
    consequence="google-genai 3.6.1 fails on the error, a TypeError or an AttributeError",
)
def error_object(one: Answer) -> Iterator[Violation]:
    """A stream that fails says so in an object {error: {code, message, status}}, code a number."""
    for view in one.errors if one.asked.streams else ():
        for name, wanted, kind in (
            ("code", "an integer", int),
            ("message", "a text", str),
            ("status", "a text", str),
        ):
            if type(view.get("error", name)) is not kind:
                yield view.found("error", name, wanted=wanted)


def _is_chunk(one: Response) -> bool:
    return one.event is not None or not one.at.endswith("/body")


def _has_snakes(one: Response) -> bool:
    return any("_" in name for name in one.value)

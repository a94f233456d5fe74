"""A stream as a whole: how its events are named and numbered, and how it begins."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.eventlists import but, but_in
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.asked import asked_in
from conformance.rules.responses.examples import (
    WIRES,
    answer,
    message,
    moved,
    open_responses,
    open_run,
    reasoning,
    stream,
    told,
    without,
)
from conformance.rules.responses.streams import (
    COMPLETED,
    CREATED,
    IN_PROGRESS,
    LIFECYCLE,
    ResponseStream,
    Typed,
    is_error,
)
from conformance.rules.responses.views import Reply, hidden_error
from conformance.rules.sources import docs, schema, sdk
from conformance.rules.sources import open_responses as prose
from conformance.rules.views import Violation

STATE = sdk("lib/streaming/responses/_responses.py ResponseStreamState")
STREAMING = prose("Streaming HTTP Responses")
NUMBERED_SINCE = 1_747_785_600
"""21 May 2025, in Unix seconds."""
EVENTS = told()
THOUGHT = told(reasoning("Greet."), message())
GAPS = [event | {"sequence_number": 3 * place} for place, event in enumerate(EVENTS)]


@rule(
    "resp.stream.is-sse-when-asked",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request", "framing"),
    source=(schema("CreateResponse stream (default: false)"), STREAMING),
    violating=answer(asked={"stream": True}),
    conforming=stream(),
    consequence="a client that waits for one JSON object gets events in its place, or the other way round",
)
def is_sse(reply: Reply) -> Iterator[Violation]:
    """stream true yields an event stream, stream false or absent yields one JSON object."""
    asked = asked_in(reply.reading)
    if asked is not None and not hidden_error(reply.reading):
        yield from reply.as_asked(asked.stream)


@rule(
    "resp.stream.event-name-matches-type-openai",
    wires=WIRES,
    flavour="openai",
    level="SHOULD",
    basis="convention",
    needs=("framing",),
    source=docs("api-reference/responses-streaming"),
    violating=stream(named=False),
    conforming=stream(),
    consequence="browsers' EventSource hands every event to onmessage; openai-python reads the type only",
)
def name_openai(event: Typed) -> Iterator[Violation]:
    """The event field of an event is the type in its data.

    OpenAI's reference shows it so and every recording has it; its schema speaks of the data only.
    """
    yield from _named(event)


@rule(
    "resp.stream.event-name-matches-type-open-responses",
    wires=WIRES,
    flavour="open-responses",
    level="MUST",
    basis="prose",
    needs=("framing",),
    source=STREAMING,
    violating=open_run(open_responses(THOUGHT, named=False)),
    conforming=open_run(open_responses(THOUGHT)),
    consequence="clients that dispatch by the event field see no event at all",
)
def name_open(event: Typed) -> Iterator[Violation]:
    """The event field of an event is the type in its data, as Open Responses demands."""
    yield from _named(event)


@rule(
    "resp.stream.sequence-number-present",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("ResponseTextDeltaEvent"),
    violating=stream(but(EVENTS, CREATED, sequence_number=ABSENT)),
    conforming=stream(),
    consequence="a client that resumes a stream with starting_after has nothing to name; openai-python's "
    "helper then raises TypeError",
)
def sequence_present(one: ResponseStream) -> Iterator[Violation]:
    """Every event has an integer as sequence_number.

    Not asked of responses made before 21 May 2025: the schema had none then (openai-python 1.79.0; 1.81.0 of
    that day has it), and OpenAI's streams of March 2025 have none.
    """
    if one.made_before(NUMBERED_SINCE):
        return
    for event in one.events:
        if event.number("sequence_number") is None:
            yield event.found("sequence_number", wanted="an integer")


@rule(
    "resp.stream.sequence-number-increasing",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=prose("Extending streaming events"),
    violating=stream(but(EVENTS, COMPLETED, sequence_number=1)),
    conforming=stream(),
    consequence="clients that drop what they have seen, or sort, lose or shuffle events",
)
def sequence_increasing(one: ResponseStream) -> Iterator[Violation]:
    """sequence_number increases from event to event."""
    before: int | None = None
    for event in one.events:
        number = event.number("sequence_number")
        if number is None:
            continue
        if before is not None and number <= before:
            yield event.found("sequence_number", wanted=f"more than {before}")
        before = number


@rule(
    "resp.stream.sequence-number-dense",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=prose("Extending streaming events (detect gaps)"),
    violating=stream(GAPS),
    conforming=stream(),
    consequence="a client that looks for gaps believes that it lost events",
)
def sequence_dense(one: ResponseStream) -> Iterator[Violation]:
    """sequence_number grows by one, from 0 or 1."""
    before: int | None = None
    for event in one.events:
        number = event.number("sequence_number")
        if number is None:
            continue
        expected = (0, 1) if before is None else (before + 1,)
        if number > expected[-1] or (before is None and number < 0):
            yield event.found("sequence_number", wanted=" or ".join(map(str, expected)))
            return
        before = number


@rule(
    "resp.stream.created-first",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=f"{STATE}._create_initial_response",
    violating=stream(without(EVENTS, CREATED)),
    conforming=stream(),
    consequence="openai-python's helper raises RuntimeError: Expected to have received `response.created`",
)
def created_first(one: ResponseStream) -> Iterator[Violation]:
    """The first event is response.created.

    A stream that only tells of an error is left alone.
    """
    for event in one.events[:1]:
        if event.type != CREATED and not is_error(event):
            yield event.found("type", wanted=CREATED)


@rule(
    "resp.stream.created-status",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=schema("ResponseCreatedEvent"),
    violating=stream(but_in(EVENTS, CREATED, "response", status="completed")),
    conforming=stream(),
    consequence="a client that reads the status believes that all is said before the first word",
)
def created_status(event: Typed) -> Iterator[Violation]:
    """response.created has the status in_progress or queued, and no output yet."""
    if event.type != CREATED or event.response is None:
        return
    if event.get("response", "status") not in ("in_progress", "queued"):
        yield event.found("response", "status", wanted="in_progress or queued")
    if event.get("response", "output") not in ([], ABSENT):
        yield event.found("response", "output", wanted="[]")


@rule(
    "resp.stream.in-progress-second",
    wires=WIRES,
    level="MAY",
    basis="convention",
    source=schema("ResponseInProgressEvent"),
    violating=stream(moved(EVENTS, IN_PROGRESS, 3)),
    conforming=stream(without(EVENTS, IN_PROGRESS)),
    consequence="none is known: openai-python works without it, and with it anywhere",
)
def in_progress_second(one: ResponseStream) -> Iterator[Violation]:
    """response.in_progress comes once at most, before the first item."""
    seen = False
    for event in one.events:
        if event.type == IN_PROGRESS and seen:
            yield event.found("type", wanted="response.in_progress once at most, before the first item")
        seen = seen or event.type == IN_PROGRESS or event.number("output_index") is not None


@rule(
    "resp.stream.response-id-constant",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("values",),
    source=STATE,
    violating=stream(but_in(EVENTS, COMPLETED, "response", id="resp_2")),
    conforming=stream(),
    consequence="openai-python 3.57.0's helper raises RuntimeError: Lifecycle response identity changed "
    "(1.109.1 and 2.54.0 accept it)",
)
def id_constant(one: ResponseStream) -> Iterator[Violation]:
    """Every event that carries the response has the same response.id."""
    first: str | None = None
    for event in one.events:
        given = event.get("response", "id") if event.type in LIFECYCLE else None
        if not isinstance(given, str):
            continue
        if first is not None and given != first:
            yield event.found("response", "id", wanted=f'"{first}", as before')
        first = first or given


def _named(event: Typed) -> Iterator[Violation]:
    if event.reading.stream is not None and event.event is not None:
        name = event.reading.stream.events[event.event].name
        if name != event.type:
            yield event.found("type", wanted=f"event: {event.type}", saw=f"event: {name}")

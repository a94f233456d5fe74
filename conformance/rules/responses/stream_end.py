"""How a stream ends: the response's own end, the marker behind it, an error in place of it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.eventlists import but_in
from conformance.rules.reading import ABSENT, DONE
from conformance.rules.registry import rule
from conformance.rules.responses.examples import (
    DONE_MARKER,
    WIRES,
    failing,
    message,
    moved,
    open_responses,
    open_run,
    reasoning,
    stream,
    told,
    without,
)
from conformance.rules.responses.streams import COMPLETED, TERMINAL, ResponseStream, Typed
from conformance.rules.sources import open_responses as prose
from conformance.rules.sources import open_schema, schema, sdk
from conformance.rules.views import Violation

STATE = sdk("lib/streaming/responses/_responses.py ResponseStreamState")
STREAMING = prose("Streaming HTTP Responses")
EVENTS = told()
THOUGHT = told(reasoning("Greet."), message())
BROKEN = {"type": "server_error", "code": None, "message": "It broke.", "param": None}


@rule(
    "resp.stream.done-sentinel-openai",
    wires=WIRES,
    flavour="openai",
    level="SHOULD",
    basis="derived",
    needs=("framing",),
    source=schema("ResponseStreamEvent"),
    violating=stream(told(store=ABSENT), end=DONE_MARKER),
    conforming=stream(told(store=ABSENT)),
    consequence="clients that parse the data of every event as JSON fail at the marker; openai-python 3.57.0 "
    "stops there",
)
def done_openai(one: ResponseStream) -> Iterator[Violation]:
    """Every event of a stream is a JSON object of the schema: there is no [DONE].

    The response's own last event ends it. None of 64 recorded streams of OpenAI's has a marker.
    """
    for event in one.done:
        yield event.found(wanted="no event behind the response's last one", saw=event.raw.data)


@rule(
    "resp.stream.done-sentinel-open-responses",
    wires=WIRES,
    flavour="open-responses",
    needs_end=True,
    level="MUST",
    basis="prose",
    needs=("framing",),
    source=STREAMING,
    violating=open_run(open_responses(THOUGHT, end=b"")),
    conforming=open_run(open_responses(THOUGHT)),
    consequence="clients that wait for the marker take the end for a break",
)
def done_open(one: ResponseStream) -> Iterator[Violation]:
    """The last event of a stream is the literal [DONE], as Open Responses demands.

    A stream that broke off, or that we closed, is left alone.
    """
    if not one.ended:
        return
    events = one.stream.events
    if not events or events[-1].data != DONE:
        yield one.found(wanted="an event [DONE] at the end", saw=f"the end after {len(events)} events")


@rule(
    "resp.stream.one-terminal-event",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="derived",
    source=(schema("ResponseCompletedEvent"), STATE),
    violating=stream(without(EVENTS, COMPLETED)),
    conforming=stream(),
    consequence="openai-python's helper raises RuntimeError: Didn't receive a `response.completed` event",
)
def one_terminal(one: ResponseStream) -> Iterator[Violation]:
    """Exactly one response.completed, response.incomplete or response.failed ends the stream, or an error.

    A stream that broke off, or that we closed, is left alone.
    """
    terminals = one.terminals
    if not terminals and one.ended and one.error is None:
        yield one.found(wanted="an event that ends the response", saw=f"{len(one.events)} events without one")
    for event in terminals[1:]:
        yield event.found("type", wanted="one event that ends the response")


@rule(
    "resp.stream.event-before-terminal-only",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=prose("State machines"),
    violating=stream(moved(EVENTS, "response.content_part.done", len(EVENTS) - 1)),
    conforming=stream(),
    also=("resp.stream.item-done-last",),
    consequence="clients stop reading at the response's end: what follows is lost",
)
def nothing_behind(one: ResponseStream) -> Iterator[Violation]:
    """No event of an item follows the event that ends the response."""
    ended = False
    for event in one.events:
        if ended and event.number("output_index") is not None:
            yield event.found("type", wanted="nothing of an item behind the response's end")
        ended = ended or event.type in TERMINAL


@rule(
    "resp.stream.terminal-status-matches",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=prose("State machine events"),
    violating=stream(
        but_in(
            EVENTS,
            COMPLETED,
            "response",
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        )
    ),
    conforming=stream(told(status="incomplete", incomplete_details={"reason": "max_output_tokens"})),
    consequence="whether the answer is whole depends on where a client looks",
)
def terminal_status(event: Typed) -> Iterator[Violation]:
    """The event that ends the response is named for the response's status."""
    wanted = event.type.removeprefix("response.")
    if event.type in TERMINAL and event.get("response", "status") not in (wanted, ABSENT):
        yield event.found("response", "status", wanted=f'"{wanted}", as in {event.type}')


@rule(
    "resp.stream.error-event-openai",
    wires=WIRES,
    flavour="openai",
    level="MUST",
    basis="schema",
    source=(schema("ResponseErrorEvent"), sdk("_streaming.py Stream.__stream__")),
    violating=stream(failing({"message": "It broke.", "param": None})),
    conforming=stream(failing({"error": BROKEN})),
    consequence="clients show an error without its code or its text, or none",
)
def error_openai(one: ResponseStream) -> Iterator[Violation]:
    """An error event has code, message and param, at its top or in an object error.

    A text each, or null but for the message. Corrected: OpenAI's schema has them at the top, but its streams
    have had them in error in every recording found (July 2025 to August 2026), and openai-python raises
    APIError for that shape only: it hands out the other as an event like any other.
    """
    if one.error is None:
        return
    nested = isinstance(one.error.get("error"), dict)
    holder = ("error",) if nested else ()
    wrong = _no_texts(one.error.get(*holder) if nested else one.error.value, "code", "param", text="message")
    if wrong is not None:
        yield one.error.found(*holder, wrong, wanted="a text at the top of the event, or in its error")


@rule(
    "resp.stream.error-event-open-responses",
    wires=WIRES,
    flavour="open-responses",
    level="MUST",
    basis="schema",
    source=open_schema("ErrorStreamingEvent"),
    violating=open_run(open_responses(failing({"error": {"message": "It broke."}}))),
    conforming=open_run(),
    consequence="clients generated from the Open Responses schema fail at the event that tells why",
)
def error_open(one: ResponseStream) -> Iterator[Violation]:
    """An error event has an object error with type, code, message and param, as Open Responses demands."""
    if one.error is not None:
        wrong = _no_texts(one.error.get("error"), "code", "param", text="message")
        if wrong is None and isinstance(one.error.get("error", "type"), str):
            return
        yield one.error.found("error", wanted="an object with type, code, message and param")


@rule(
    "resp.stream.failed-after-error",
    wires=WIRES,
    flavour="open-responses",
    needs_end=True,
    level="SHOULD",
    basis="prose",
    source=prose("Errors"),
    violating=open_run(open_responses(failing({"error": BROKEN})[:-1])),
    conforming=open_run(open_responses(failing({"error": BROKEN}))),
    consequence="a client that waits for the response's own end waits for ever",
)
def failed_after_error(one: ResponseStream) -> Iterator[Violation]:
    """An error during streaming is followed by response.failed, as Open Responses says."""
    if one.error is not None and one.ended and not one.terminals:
        yield one.error.found(wanted="response.failed behind it", saw="the end of the stream")


def _no_texts(holder: object, *nullable: str, text: str) -> str | None:
    """The first of the members that is not what it should be, if the holder is an object that has them."""
    if not isinstance(holder, dict):
        return text
    if not isinstance(holder.get(text), str):
        return text
    return next(
        (name for name in nullable if name not in holder or not isinstance(holder[name], str | None)), None
    )

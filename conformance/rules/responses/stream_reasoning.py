"""Streamed reasoning: summaries, and raw reasoning in the words of either specification."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.eventlists import but
from conformance.rules.registry import rule
from conformance.rules.responses.examples import (
    WIRES,
    message,
    open_responses,
    open_run,
    reasoning,
    stream,
    told,
    without,
)
from conformance.rules.responses.stream_text import bent
from conformance.rules.responses.streams import (
    OPEN_REASONING,
    REASONING,
    SUMMARY,
    ResponseStream,
    StreamedPart,
    Typed,
)
from conformance.rules.sources import open_schema, schema
from conformance.rules.views import Violation

SUMMARY_ADDED = "response.reasoning_summary_part.added"
SUMMARY_DONE = "response.reasoning_summary_part.done"
SUMMED = told(reasoning(summary=("A greeting.",)), message())
THOUGHT = told(reasoning("Greet."), message())


@rule(
    "resp.stream.reasoning-summary-pairing",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(
        schema("ResponseReasoningSummaryPartAddedEvent"),
        schema("ResponseReasoningSummaryTextDoneEvent"),
    ),
    violating=stream(without(SUMMED, SUMMARY_ADDED)),
    conforming=stream(SUMMED),
    consequence="clients that show a summary by its parts show none of it, or go on with the one before",
)
def summary_pairing(part: StreamedPart) -> Iterator[Violation]:
    """A summary part is added, told in deltas, its text is ended with what they add up to, and it is ended.

    That all of it came is asked for where the stream came to a completed or incomplete response.
    """
    if part.kind != "summary":
        return
    if part.events[0].type != SUMMARY_ADDED:
        yield part.found("type", wanted=f"{SUMMARY_ADDED} first")
    for name in (SUMMARY.done, SUMMARY_DONE) if part.finished else ():
        if len(part.named.get(name, ())) != 1:
            yield part.found(wanted=f"one {name}", saw=f"{len(part.named.get(name, ()))} of them")
    yield from bent(part, SUMMARY)


@rule(
    "resp.stream.reasoning-text-concat",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(schema("ResponseReasoningTextDoneEvent"), open_schema("ResponseReasoningDoneStreamingEvent")),
    violating=stream(but(THOUGHT, REASONING.delta, delta="Be rude")),
    conforming=stream(THOUGHT),
    consequence="what was shown while it streamed is not what is kept",
)
def reasoning_concat(part: StreamedPart) -> Iterator[Violation]:
    """The end of streamed reasoning has the text that its deltas add up to."""
    for spelling in (REASONING, OPEN_REASONING):
        yield from bent(part, spelling)


@rule(
    "resp.stream.reasoning-events-openai",
    wires=WIRES,
    flavour="openai",
    level="MUST",
    basis="schema",
    source=(schema("ResponseReasoningTextDeltaEvent"), schema("ResponseStreamEvent")),
    violating=open_responses(THOUGHT, end=b"", named=False),
    conforming=stream(THOUGHT),
    also=("resp.stream.event-name-matches-type-openai",),
    consequence="openai-python 3.57.0 knows no such event: clients that match on its types show no reasoning",
)
def reasoning_openai(one: ResponseStream) -> Iterator[Violation]:
    """Raw reasoning is streamed as response.reasoning_text.delta and .done.

    So OpenAI's schema names them; Open Responses says response.reasoning.delta and .done.
    """
    yield from _misnamed(one, OPEN_REASONING.delta, REASONING.delta)


@rule(
    "resp.stream.reasoning-events-open-responses",
    wires=WIRES,
    flavour="open-responses",
    level="MUST",
    basis="schema",
    source=open_schema("ResponseReasoningDeltaStreamingEvent"),
    violating=open_run(stream(THOUGHT, end=b"data: [DONE]\n\n")),
    conforming=open_run(open_responses(THOUGHT)),
    consequence="clients generated from the Open Responses schema know no such event, and show no reasoning",
)
def reasoning_open(one: ResponseStream) -> Iterator[Violation]:
    """Raw reasoning is streamed as response.reasoning.delta and .done, in the words of Open Responses."""
    yield from _misnamed(one, REASONING.delta, OPEN_REASONING.delta)


def _misnamed(one: ResponseStream, other: str, own: str) -> Iterator[Violation]:
    events: list[Typed] = [event for event in one.events if event.type == other]
    for event in events[:1]:
        yield event.found("type", wanted=own)

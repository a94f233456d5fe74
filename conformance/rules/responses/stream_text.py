"""Streamed text: the parts of a message, their pieces, and the ends that repeat them."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.eventlists import Event, but, but_in
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.examples import WIRES, message, moved, output_text, stream, told, without
from conformance.rules.responses.streams import (
    DONE,
    PART_ADDED,
    PART_DONE,
    REFUSAL,
    TEXT,
    ResponseStream,
    Slot,
    Spelling,
    StreamedPart,
    Typed,
    joined,
)
from conformance.rules.sources import open_responses, open_schema, schema, sdk
from conformance.rules.views import Violation

STATE = sdk("lib/streaming/responses/_responses.py ResponseStreamState")
STREAMABLE = open_responses("Items are streamable")
EVENTS = told()
REFUSED = told(message({"type": "refusal", "refusal": "I won't."}))
NOTE = {
    "type": "url_citation",
    "url": "https://example.com/",
    "title": "Example",
    "start_index": 0,
    "end_index": 5,
}
CITED = told(message(output_text(annotations=[NOTE])))
ANNOTATED = "response.output_text.annotation.added"
TEXT_DELTAS = (TEXT.delta, REFUSAL.delta)
LOGPROBS_SINCE = 1_753_833_600
"""30 July 2025, in Unix seconds."""


def _renumbered(events: list[Event], by: int) -> list[Event]:
    """The events with every ``content_index`` that much higher."""
    return [e | ({"content_index": e["content_index"] + by} if "content_index" in e else {}) for e in events]


@rule(
    "resp.stream.content-part-added-first",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(STREAMABLE, STATE),
    violating=stream(moved(EVENTS, PART_ADDED, 4)),
    conforming=stream(),
    consequence="openai-python's helper raises IndexError: list index out of range",
)
def part_added_first(part: StreamedPart) -> Iterator[Violation]:
    """Deltas of text and refusals follow the response.content_part.added of their part."""
    for event in part.events:
        if event.type == PART_ADDED:
            return
        if event.type in TEXT_DELTAS:
            yield event.found("content_index", wanted=f"{PART_ADDED} of this part before it")
            return


@rule(
    "resp.stream.content-part-done-paired",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=STREAMABLE,
    violating=stream(without(EVENTS, PART_DONE)),
    conforming=stream(),
    consequence="clients that show a part when it is finished never show it",
)
def part_done(part: StreamedPart) -> Iterator[Violation]:
    """Each part that is added gets one response.content_part.done, after the end of its text or refusal.

    Asked for where the stream came to a completed or incomplete response.
    """
    added, ends = part.named.get(PART_ADDED), part.named.get(PART_DONE, ())
    if not part.finished or not added or part.item_type != "message":
        return
    last = max(
        (event.event or 0 for event in part.events if event.type in (TEXT.done, REFUSAL.done)), default=0
    )
    if len(ends) != 1 or (ends[0].event or 0) < last:
        where = ends[-1] if ends else added[0]
        yield where.found(wanted=f"one {PART_DONE}, after the text's end", saw=f"{len(ends)}, or too early")


@rule(
    "resp.stream.content-index-contiguous",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=f"{STATE} (appends to a list, reads by content_index)",
    violating=stream(_renumbered(EVENTS, 1)),
    conforming=stream(told(message(output_text("Hello."), output_text("Bye.")))),
    also=("resp.stream.text-part-item-agree",),
    consequence="openai-python's helper raises IndexError for a first index of 1",
)
def index_contiguous(slot: Slot) -> Iterator[Violation]:
    """content_index begins at 0 and grows by one within a message."""
    parts = [part for part in slot.parts if part.kind == "content"] if slot.item_type == "message" else []
    for expected, part in enumerate(parts):
        if part.index != expected:
            yield part.found("content_index", wanted=f"{expected}, the next index")
            return


@rule(
    "resp.stream.text-done-once",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=STREAMABLE,
    violating=stream(without(EVENTS, TEXT.done)),
    conforming=stream(),
    consequence="clients that take the text from the event never get it",
)
def text_done(part: StreamedPart) -> Iterator[Violation]:
    """Each text part gets one response.output_text.done, after its last delta.

    Asked for where the stream came to a completed or incomplete response.
    """
    deltas, ends = part.named.get(TEXT.delta, ()), part.named.get(TEXT.done, ())
    added = next(iter(part.named.get(PART_ADDED, ())), None)
    is_text = bool(deltas) or (added is not None and added.get("part", "type") == "output_text")
    if not part.finished or not is_text:
        return
    if len(ends) != 1 or (deltas and (deltas[-1].event or 0) > (ends[0].event or 0)):
        where = ends[-1] if ends else part
        yield where.found(wanted=f"one {TEXT.done}, after the last delta", saw=f"{len(ends)}, or too early")


@rule(
    "resp.stream.text-delta-string",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(schema("ResponseTextDeltaEvent"), schema("ResponseRefusalDeltaEvent")),
    violating=stream(but(EVENTS, TEXT.delta, delta=None)),
    conforming=stream(),
    consequence="openai-python's helper raises TypeError: can only concatenate str",
)
def delta_string(event: Typed) -> Iterator[Violation]:
    """The delta of a text or a refusal is a string."""
    if event.type in TEXT_DELTAS and not isinstance(event.get("delta"), str):
        yield event.found("delta", wanted="a string")


@rule(
    "resp.stream.text-concat",
    wires=WIRES,
    level="MUST",
    basis="derived",
    source=schema("ResponseTextDoneEvent"),
    violating=stream(but(EVENTS, TEXT.delta, delta="Bye")),
    conforming=stream(),
    consequence="what was shown while it streamed is not what is kept; openai-python does not compare them",
)
def text_concat(part: StreamedPart) -> Iterator[Violation]:
    """The text of response.output_text.done is what its deltas add up to."""
    yield from bent(part, TEXT)


@rule(
    "resp.stream.refusal-concat",
    wires=WIRES,
    level="MUST",
    basis="derived",
    source=schema("ResponseRefusalDoneEvent"),
    violating=stream(but(REFUSED, REFUSAL.delta, delta="You ")),
    conforming=stream(REFUSED),
    consequence="what was shown while it streamed is not what is kept",
)
def refusal_concat(part: StreamedPart) -> Iterator[Violation]:
    """The refusal of response.refusal.done is what its deltas add up to."""
    yield from bent(part, REFUSAL)


@rule(
    "resp.stream.text-part-item-agree",
    wires=WIRES,
    level="MUST",
    basis="derived",
    source=(schema("ResponseContentPartDoneEvent"), schema("ResponseOutputItemDoneEvent")),
    violating=stream(but_in(EVENTS, DONE, "item", content=[output_text("Good day.")])),
    conforming=stream(),
    consequence="which text is kept depends on the event that a client takes it from",
)
def texts_agree(one: ResponseStream) -> Iterator[Violation]:
    """response.output_text.done, the ended part, the ended item and the final response have the same text.

    In the final response it is looked for in the item of the same id.
    """
    final = one.final
    output = final.get("response", "output") if final is not None else None
    places = {
        item["id"]: place
        for place, item in enumerate(output if isinstance(output, list) else ())
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    for slot in one.slots:
        for part in slot.parts:
            said = next((event.get(TEXT.whole) for event in part.named.get(TEXT.done, ())), ABSENT)
            if part.kind != "content" or not isinstance(said, str):
                continue
            path: tuple[str | int, ...] = ("content", part.index, "text")
            told_in: list[tuple[Typed, tuple[str | int, ...]]] = [
                (event, ("part", "text")) for event in part.named.get(PART_DONE, ())[:1]
            ]
            done = slot.done
            if done is not None:
                told_in.append((done, ("item", *path)))
                place = places.get(str(done.get("item", "id")))
                if final is not None and place is not None:
                    told_in.append((final, ("response", "output", place, *path)))
            for event, where in told_in:
                if event.get(*where) != said:
                    yield event.found(*where, wanted=f'"{said}", as in {TEXT.done}')


@rule(
    "resp.stream.text-delta-logprobs",
    wires=WIRES,
    flavour="openai",
    level="SHOULD",
    strict_level="MUST",
    basis="schema",
    source=(
        f"{schema('ResponseTextDeltaEvent')} required",
        open_schema("ResponseOutputTextDeltaStreamingEvent"),
    ),
    violating=stream(but(EVENTS, TEXT.delta, logprobs=ABSENT)),
    conforming=stream(),
    consequence="typed clients refuse the event; openai-python's logprobs is None",
)
def delta_logprobs(one: ResponseStream) -> Iterator[Violation]:
    """The deltas and the end of a text have an array of logprobs, which may be empty.

    Required by OpenAI's schema, optional in that of Open Responses. Not asked of responses made before 30
    July 2025: the schema had none then (openai-python 1.97.0; 1.98.0 of that day has them).
    """
    if one.made_before(LOGPROBS_SINCE):
        return
    for event in one.events:
        if event.type in (TEXT.delta, TEXT.done) and not isinstance(event.get("logprobs"), list):
            yield event.found("logprobs", wanted="an array")


@rule(
    "resp.stream.annotation-added",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=schema("ResponseOutputTextAnnotationAddedEvent"),
    violating=stream(but(CITED, ANNOTATED, annotation_index=1)),
    conforming=stream(CITED),
    consequence="a citation that was shown is gone at the end, or a list has a hole",
)
def annotation_added(part: StreamedPart) -> Iterator[Violation]:
    """Annotations are added with indexes from 0, one by one, and all of them are in the ended part."""
    added = part.named.get(ANNOTATED, ())
    for expected, event in enumerate(added):
        if event.number("annotation_index") != expected:
            yield event.found("annotation_index", wanted=f"{expected}, the next index")
            return
    for end in part.named.get(PART_DONE, ())[:1] if added else ():
        kept = end.get("part", "annotations")
        if not isinstance(kept, list) or len(kept) < len(added):
            yield end.found("part", "annotations", wanted=f"the {len(added)} annotations that were added")


@rule(
    "resp.stream.obfuscation",
    wires=WIRES,
    level="MAY",
    basis="prose",
    needs=("request",),
    source=schema("ResponseStreamOptions"),
    violating=stream(but(EVENTS, TEXT.delta, obfuscation=1)),
    conforming=stream(but(EVENTS, TEXT.delta, obfuscation="aZ9")),
    consequence="none is known: clients ignore it, and pay for its bytes",
)
def obfuscation(one: ResponseStream) -> Iterator[Violation]:
    """obfuscation of a delta is a string, and is not there where include_obfuscation is false."""
    off = one.asked is not None and one.asked.obfuscation_off
    for event in one.events:
        value = event.get("obfuscation")
        if value is not ABSENT and (off or not isinstance(value, str)):
            yield event.found("obfuscation", wanted="nothing" if off else "a string")


def bent(part: StreamedPart | Slot, spelling: Spelling) -> Iterator[Violation]:
    """The end of a streamed text where that is not what its pieces add up to."""
    text = joined(part.named.get(spelling.delta, ()))
    for end in part.named.get(spelling.done, ())[:1]:
        whole = end.get(spelling.whole)
        if text is not None and whole != text:
            yield end.found(spelling.whole, wanted=f'"{text}", what the deltas add up to')

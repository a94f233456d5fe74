"""Streamed items: how each one is added, told and ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.eventlists import Event, at, but, but_in
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.asked import CALLS
from conformance.rules.responses.examples import (
    WIRES,
    call,
    message,
    moved,
    stream,
    told,
    with_event,
    without,
)
from conformance.rules.responses.shapes import is_text
from conformance.rules.responses.streams import (
    ADDED,
    COMPLETED,
    DONE,
    INCOMPLETE,
    ResponseStream,
    Slot,
    Typed,
)
from conformance.rules.sources import open_responses, schema, sdk
from conformance.rules.views import Violation

STATE = sdk("lib/streaming/responses/_responses.py ResponseStreamState")
STREAMABLE = open_responses("Items are streamable")
MACHINES = open_responses("Items are state machines")
ENDED = ("completed", "incomplete", "failed")
WITHOUT_ID = (ADDED, DONE, "response.shell_call_command.")
"""How the events begin that are about an item and whose schema has no ``item_id``."""
TEXTS = {"message": ("content", []), "function_call": ("arguments", "")}
"""What an item of a type begins with, and that empty."""
EVENTS = told()
CALLED = told(call())
BOTH = told(message(), call())


def _shifted(events: list[Event], by: int) -> list[Event]:
    """The events with every ``output_index`` that much higher."""
    return [e | ({"output_index": e["output_index"] + by} if "output_index" in e else {}) for e in events]


@rule(
    "resp.stream.terminal-output-complete",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=f"{STATE} get_final_response",
    violating=stream(but_in(EVENTS, COMPLETED, "response", output=[])),
    conforming=stream(BOTH),
    consequence="the final response of openai-python's helper is empty although the text was streamed",
)
def terminal_output(one: ResponseStream) -> Iterator[Violation]:
    """The output of the response at a stream's end has every item that the stream ended, in their order."""
    final = one.final
    output = final.get("response", "output") if final is not None else None
    if final is None or final.type not in (COMPLETED, INCOMPLETE) or not isinstance(output, list):
        return
    ended = [slot.done.item for slot in sorted(one.slots, key=lambda slot: slot.index) if slot.done]
    rest = iter(output)
    for item in ended:
        wanted = _identity(item)
        if not any(isinstance(given, dict) and _identity(given) == wanted for given in rest):
            name = f"{wanted[0]} {wanted[1]}"
            yield final.found("response", "output", wanted=f"the items in their order: {name} is not there")
            return


@rule(
    "resp.stream.item-added-first",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(STREAMABLE, STATE),
    violating=stream(moved(EVENTS, ADDED, 3)),
    conforming=stream(),
    consequence="openai-python 3.57.0's helper raises RuntimeError: Received a content event before "
    "receiving its output item (1.109.1 and 2.54.0: IndexError)",
)
def added_first(slot: Slot) -> Iterator[Violation]:
    """The first event of an item is response.output_item.added."""
    if slot.events[0].type != ADDED:
        yield slot.found("type", wanted=f"{ADDED} before all else of output_index {slot.index}")


@rule(
    "resp.stream.item-added-once",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=STATE,
    violating=stream(with_event(EVENTS, 3, **EVENTS[2])),
    conforming=stream(),
    consequence="openai-python 3.57.0's helper raises RuntimeError: Duplicate response output index "
    "(1.109.1 and 2.54.0 accept it)",
)
def added_once(slot: Slot) -> Iterator[Violation]:
    """An output_index is added once."""
    for event in slot.named.get(ADDED, ())[1:]:
        yield event.found("output_index", wanted="an index that was not added before")


@rule(
    "resp.stream.no-empty-added-item",
    wires=WIRES,
    level="SHOULD",
    basis="sdk",
    source=f"{STATE} (an item of null is dropped)",
    violating=stream(with_event(EVENTS, len(EVENTS) - 1, type=ADDED, output_index=1, item=None)),
    conforming=stream(),
    consequence="openai-python 3.57.0's helper drops the event: an index without an item",
)
def added_object(event: Typed) -> Iterator[Violation]:
    """response.output_item.added has an item, which is an object."""
    if event.type == ADDED and event.item is None:
        yield event.found("item", wanted="an object")


@rule(
    "resp.stream.item-added-names",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=STREAMABLE,
    violating=stream(but_in(CALLED, ADDED, "item", name=ABSENT)),
    conforming=stream(CALLED),
    consequence="clients that show which tool is being called show none, or fail",
)
def added_names(slot: Slot) -> Iterator[Violation]:
    """A message is added with its role, a function_call with its name and call_id."""
    added = slot.added
    needed = {"message": ("role",), "function_call": ("name", "call_id")}.get(slot.item_type, ())
    for name in needed if added is not None else ():
        if added is not None and not is_text(added.get("item", name)):
            yield added.found("item", name, wanted="a non-empty string")


@rule(
    "resp.stream.item-added-zero-values",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(f"{STREAMABLE} (zero values)", STATE),
    violating=stream(but_in(CALLED, ADDED, "item", arguments=None)),
    conforming=stream(CALLED),
    consequence="openai-python's helper raises TypeError at the first delta (arguments), or AttributeError "
    "(content)",
)
def added_zero(slot: Slot) -> Iterator[Violation]:
    """A message is added with an array as content, a function_call with a string as arguments."""
    added, text = slot.added, TEXTS.get(slot.item_type)
    if added is not None and text is not None and not isinstance(added.get("item", text[0]), type(text[1])):
        yield added.found("item", text[0], wanted="[]" if text[1] == [] else '""')


@rule(
    "resp.stream.item-added-in-progress",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=STREAMABLE,
    violating=stream(but_in(EVENTS, ADDED, "item", status="completed")),
    conforming=stream(),
    consequence="a client that reads the item believes that it is finished, and clients that add the deltas "
    "to what is there have it twice",
)
def added_in_progress(slot: Slot) -> Iterator[Violation]:
    """An item is added in_progress, without content or arguments yet."""
    added, text = slot.added, TEXTS.get(slot.item_type)
    if added is None or text is None:
        return
    if added.get("item", "status") not in ("in_progress", ABSENT):
        yield added.found("item", "status", wanted='"in_progress"')
    elif isinstance(given := added.get("item", text[0]), list | str) and given:
        yield added.found("item", text[0], wanted="nothing yet")


@rule(
    "resp.stream.item-done-paired",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=STREAMABLE,
    violating=stream(without(EVENTS, DONE)),
    conforming=stream(),
    consequence="clients that act on the finished item never run the call; openai-python takes it from the "
    "final response",
)
def done_paired(slot: Slot) -> Iterator[Violation]:
    """Each item that is added gets one response.output_item.done.

    Asked for where the stream came to a completed or incomplete response.
    """
    ends = slot.named.get(DONE, ())
    if slot.finished and slot.added is not None and len(ends) != 1:
        where = ends[1] if ends else slot.added
        yield where.found(wanted=f"one {DONE} of output_index {slot.index}", saw=f"{len(ends)} of them")


@rule(
    "resp.stream.item-done-last",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=MACHINES,
    violating=stream(moved(EVENTS, "response.content_part.done", len(EVENTS) - 2)),
    conforming=stream(),
    consequence="clients that act on the finished item miss what comes late",
)
def done_last(slot: Slot) -> Iterator[Violation]:
    """No event of an item follows its response.output_item.done."""
    ended = False
    for event in slot.events:
        if ended and event.type != DONE:
            yield event.found("type", wanted=f"nothing more of output_index {slot.index}")
        ended = ended or event.type == DONE


@rule(
    "resp.stream.item-identity-stable",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("values",),
    source=f"{STATE} _output_identity",
    violating=stream(but_in(CALLED, ADDED, "item", call_id="call_9")),
    conforming=stream(but_in(CALLED, ADDED, "item", id="fc_1")),
    consequence="openai-python 3.57.0's helper raises RuntimeError: Completed output item identity changed "
    "(1.109.1 and 2.54.0 accept it)",
)
def identity(slot: Slot) -> Iterator[Violation]:
    """An item is ended with the id, type and call_id with which it was added.

    A call may be added without an id.
    """
    added, done = slot.added, slot.done
    if added is None or done is None:
        return
    for name in ("id", "type", "call_id"):
        before, after = added.get("item", name), done.get("item", name)
        unnamed = name == "id" and before in (None, ABSENT) and slot.item_type in CALLS
        if before != after and not unnamed:
            yield done.found("item", name, wanted=f'"{before}", as added')


@rule(
    "resp.stream.item-done-final",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=MACHINES,
    violating=stream(but_in(EVENTS, DONE, "item", status="in_progress")),
    conforming=stream(),
    consequence="a client that reads the finished item believes that it goes on",
)
def done_final(slot: Slot) -> Iterator[Violation]:
    """A message or function_call is ended with the status completed, incomplete or failed.

    Corrected: that it is ended with all of its text is resp.stream.text-part-item-agree's and
    resp.stream.args-concat's. A call that a program makes goes on until its result is there.
    """
    done = slot.done
    if done is None or slot.item_type not in TEXTS or done.get("item", "caller", "type") == "program":
        return
    if done.get("item", "status") not in (*ENDED, ABSENT):
        yield done.found("item", "status", wanted=" or ".join(ENDED))


@rule(
    "resp.stream.output-index-contiguous",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(
        schema("ResponseOutputItemAddedEvent"),
        "openai-python 2.54.0 openai/lib/streaming/responses/_responses.py (snapshot.output by output_index)",
    ),
    violating=stream(_shifted(EVENTS, 3)),
    conforming=stream(BOTH),
    consequence="openai-python 1.109.1 and 2.54.0 raise IndexError for a first index of 3; 3.57.0 does not",
)
def index_contiguous(one: ResponseStream) -> Iterator[Violation]:
    """output_index begins at 0 and grows by one from item to item."""
    for expected, slot in enumerate(one.slots):
        if slot.index != expected:
            yield slot.found("output_index", wanted=f"{expected}, the next index")
            return


@rule(
    "resp.stream.item-id-consistent",
    wires=WIRES,
    level="MUST",
    basis="schema",
    needs=("values",),
    source=schema("ResponseTextDeltaEvent item_id"),
    violating=stream(but(EVENTS, "response.output_text.delta", item_id="msg_9")),
    conforming=stream(),
    consequence="clients that keep items by id add the delta to another one, or to none",
)
def item_id(slot: Slot) -> Iterator[Violation]:
    """Every event about an item has, as item_id, the id of the item at its output_index.

    Not so those of a shell call's commands: ResponseShellCallCommandAddedEvent and its like have no item_id.
    """
    known = slot.added.get("item", "id") if slot.added is not None else None
    if not is_text(known):
        return
    for event in slot.events:
        if not event.type.startswith(WITHOUT_ID) and event.get("item_id") != known:
            yield event.found("item_id", wanted=f'"{known}"')


@rule(
    "resp.stream.args-only-on-function-call",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=f"{STATE} (asserts)",
    violating=stream(
        with_event(
            EVENTS,
            at(EVENTS, DONE),
            type="response.function_call_arguments.delta",
            item_id="msg_1",
            output_index=0,
            delta="{}",
        )
    ),
    conforming=stream(BOTH),
    consequence="openai-python's helper raises AssertionError, and other clients add text to a call",
)
def right_kind(slot: Slot) -> Iterator[Violation]:
    """Deltas of arguments are of a function_call, deltas of text and refusals of a message."""
    if not slot.item_type:
        return
    for event in slot.events:
        kind = _kind_of(event.type)
        if kind and kind != slot.item_type:
            yield event.found("type", wanted=f"an event of a {slot.item_type}")


def _kind_of(type: str) -> str:
    """The item that an event's type is about."""
    if type.startswith("response.function_call_arguments."):
        return "function_call"
    return "message" if type.startswith(("response.output_text.", "response.refusal.")) else ""


def _identity(item: Any) -> tuple[Any, Any]:
    """What an item is told from others by: its type and id, or the call_id of a call."""
    kind = item.get("type")
    return str(kind), item.get("call_id") if kind in CALLS else item.get("id")

"""The blocks of a streamed message: start, deltas, stop, and what the deltas add up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from conformance.rules.anthropic.examples import THINKING, WIRES, stream, text, thinking, told, tool_use
from conformance.rules.anthropic.stream import ACCUMULATE, STREAMING
from conformance.rules.anthropic.streams import INPUT, JOINED, BlockStream, MessageEvent, MessageStream
from conformance.rules.anthropic.views import CUT_SHORT
from conformance.rules.eventlists import but_in, moved, with_event
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_sdk
from conformance.rules.views import Violation, show

BLOCK = "content_block_start"
DELTA = "content_block_delta"
BELONGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "text_delta": ("text",),
        "citations_delta": ("text",),
        "input_json_delta": INPUT,
        "thinking_delta": ("thinking",),
        "signature_delta": ("thinking",),
    }
)
"""The types of blocks that each type of delta adds to."""
KNOWN = frozenset({"text", "thinking", "redacted_thinking", *INPUT})
EMPTY: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {"text": ("text", ""), "thinking": ("thinking", ""), **dict.fromkeys(INPUT, ("input", {}))}
)
"""The member that deltas add to, and its value before any of them."""


def _called(**delta: Any) -> list[dict[str, Any]]:
    """The stream of a call whose first delta is patched."""
    return but_in(told(tool_use()), DELTA, "delta", **delta)


def _thought(*deltas: Any) -> list[dict[str, Any]]:
    """The stream of a thinking block with these deltas, and a text."""
    events = [
        event for event in told(thinking(), text()) if not (event["type"] == DELTA and not event["index"])
    ]
    for place, delta in enumerate(deltas, 3):
        events = with_event(events, place, type=DELTA, index=0, delta=delta)
    return events


@rule(
    "anth.stream.block-order",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(STREAMING, ACCUMULATE),
    violating=stream(moved(told(), DELTA, 2)),
    conforming=stream(told(text(), tool_use())),
    consequence="anthropic 2.14.0 raises IndexError at a delta without its start",
)
def block_order(one: MessageStream) -> Iterator[Violation]:
    """For each index: one content_block_start, deltas, one content_block_stop.

    A message that was cut may leave its last block open.
    """
    seen: dict[int, bool] = {}
    for event in one.events:
        slot = event.slot
        if not event.type.startswith("content_block_") or slot is None:
            continue
        if event.type == BLOCK:
            if slot in seen:
                yield event.found("index", wanted="an index that no other block had")
            seen[slot] = True
        elif not seen.get(slot):
            state = "stopped already" if slot in seen else "not started"
            yield event.found("index", wanted="the index of an open block", saw=f"{slot}, {state}")
        elif event.type == "content_block_stop":
            seen[slot] = False
    for block in one.blocks if one.whole and one.last_change is not None else ():
        if block.stop is None and block.slot is not None and seen.get(block.slot):
            yield block.found(wanted="a content_block_stop", saw="none")


@rule(
    "anth.stream.blocks-sequential",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=STREAMING,
    violating=stream(moved(told(text(), tool_use()), "content_block_stop", 6)),
    conforming=stream(told(text(), tool_use())),
    consequence="clients that show one block at a time mix the two",
)
def sequential(one: MessageStream) -> Iterator[Violation]:
    """Blocks do not overlap: one stops before the next starts."""
    for before, block in zip(one.blocks, one.blocks[1:], strict=False):
        stop = before.stop.event if before.stop is not None else None
        if stop is not None and block.event is not None and stop > block.event:
            yield block.found(
                wanted=f"the end of block {before.slot} first", saw="a block beside an open one"
            )


@rule(
    "anth.stream.index-contiguous",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=f"{ACCUMULATE} (content[event.index])",
    violating=stream([{**event, "index": 1} if "index" in event else event for event in told()]),
    conforming=stream(told(text(), tool_use())),
    consequence="anthropic 2.14.0 raises IndexError: list index out of range",
)
def contiguous(one: MessageStream) -> Iterator[Violation]:
    """Block indexes are 0, 1, 2 ... in start order.

    Every event of a block has one. Where the message began with blocks (``MessageStream.resumed``) nothing
    says where the others start.
    """
    if one.resumed:
        return
    started = 0
    for event in one.events:
        if event.type == BLOCK:
            if event.slot != started:
                yield event.found("index", wanted=str(started))
            started += 1
        elif event.type.startswith("content_block_") and event.slot is None:
            yield event.found("index", wanted="an integer")


@rule(
    "anth.stream.block-start-zero-values",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(STREAMING, anthropic_sdk("types/raw_content_block_start_event.py"), ACCUMULATE),
    violating=stream(but_in(told(), BLOCK, "content_block", text=ABSENT)),
    conforming=stream(),
    consequence="anthropic 2.14.0 raises TypeError when it adds the first text delta to what is not there; "
    "typed clients refuse a tool_use without input",
)
def zero_values(block: BlockStream) -> Iterator[Violation]:
    """content_block_start carries a text, thinking or input that deltas can be added to.

    Corrected: the basis is the schema of the blocks, since the SDK minds only the texts. That it is empty
    is a rule of its own (anth.stream.block-start-empty), since the SDK goes on from whatever is there;
    and no signature is needed, since the SDK sets it.
    """
    if not isinstance(block.start, dict) or not block.type:
        yield block.found(wanted="an object with a type", saw=show(block.start))
    elif block.type in EMPTY:
        name, empty = EMPTY[block.type]
        if type(block.start.get(name)) is not type(empty):
            wanted = "an object" if empty == {} else "a string"
            yield block.found(name, wanted=wanted, saw=show(block.start.get(name, ABSENT)))


@rule(
    "anth.stream.block-start-empty",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=STREAMING,
    violating=stream(but_in(told(), BLOCK, "content_block", text="Well. ")),
    conforming=stream(),
    consequence="clients that only read the deltas lose the beginning; anthropic 2.14.0 goes on from it",
)
def start_empty(block: BlockStream) -> Iterator[Violation]:
    """The text, thinking or input of a content_block_start is empty.

    Split off from anth.stream.block-start-zero-values: every published example has it so, and no text demands
    it.
    """
    if isinstance(block.start, dict) and block.type in EMPTY:
        name, empty = EMPTY[block.type]
        value = block.start.get(name)
        if type(value) is type(empty) and value:
            yield block.found(name, wanted="{}" if empty == {} else '""', saw="a part of the answer")


@rule(
    "anth.stream.tool-start-identity",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/tool_use_block.py"),
    violating=stream(but_in(told(tool_use()), BLOCK, "content_block", id=ABSENT)),
    conforming=stream(told(tool_use())),
    consequence="the call cannot be answered: its result has no id to name",
)
def tool_identity(block: BlockStream) -> Iterator[Violation]:
    """The start of a tool_use block has id and name.

    Its input is anth.stream.block-start-zero-values's.
    """
    for name in ("id", "name") if block.type == "tool_use" else ():
        value = block.start.get(name) if isinstance(block.start, dict) else None
        if not (isinstance(value, str) and value):
            yield block.found(name, wanted="a non-empty string")


@rule(
    "anth.stream.delta-type-matches-block",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=stream(
        with_event(told(), 4, type=DELTA, index=0, delta={"type": "input_json_delta", "partial_json": "{}"})
    ),
    conforming=stream(told(text(), tool_use())),
    consequence="anthropic 2.14.0 drops a delta of another kind than its block without a word",
)
def delta_matches(block: BlockStream) -> Iterator[Violation]:
    """Each delta is of its block's kind.

    text_delta and citations_delta go to text, input_json_delta to tool_use (the server's own tools too),
    thinking_delta and signature_delta to thinking. Kinds that are not known are left alone.
    """
    for delta in block.deltas:
        blocks = BELONGS.get(delta.delta_type)
        if blocks is not None and block.type in KNOWN and block.type not in blocks:
            yield delta.found("delta", "type", wanted=f"a delta for a block of type {block.type}")


@rule(
    "anth.stream.text-delta-string",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=tuple(anthropic_sdk(f"types/{name}.py") for name in JOINED),
    violating=stream(but_in(told(), DELTA, "delta", text=None)),
    conforming=stream(),
    consequence='anthropic 2.14.0 raises TypeError: can only concatenate str (not "NoneType") to str',
)
def delta_string(event: MessageEvent) -> Iterator[Violation]:
    """text_delta.text is a string.

    So are thinking_delta.thinking and signature_delta.signature.
    """
    name = JOINED.get(event.delta_type) if event.type == DELTA else None
    if name is not None and not isinstance(event.get("delta", name), str):
        yield event.found("delta", name, wanted="a string")


@rule(
    "anth.stream.partial-json-string",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/input_json_delta.py"),
    violating=stream(_called(partial_json={})),
    conforming=stream(told(tool_use())),
    also=("anth.stream.partial-json-concat",),
    consequence="anthropic 2.14.0 raises TypeError: encoding without a string argument",
)
def partial_string(event: MessageEvent) -> Iterator[Violation]:
    """input_json_delta.partial_json is a string."""
    partial = event.type == DELTA and event.delta_type == "input_json_delta"
    if partial and not isinstance(event.get("delta", "partial_json"), str):
        yield event.found("delta", "partial_json", wanted="a string")


@rule(
    "anth.stream.partial-json-concat",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("request",),
    source=(ACCUMULATE, STREAMING),
    violating=stream(_called(partial_json='{"city" "Os')),
    conforming=stream(told(tool_use())),
    consequence="anthropic 2.14.0 raises ValueError: Unable to parse tool parameter JSON; what breaks "
    "off passes as an input that lacks it",
)
def partial_concat(one: MessageStream) -> Iterator[Violation]:
    """The concatenated partial_json is empty or a JSON object at content_block_stop.

    Not so in a message that was cut, nor where the client asked for input that is not checked
    (eager_input_streaming, fine-grained-tool-streaming).
    """
    change = one.last_change
    reason = change.get("delta", "stop_reason") if change is not None else None
    if reason in CUT_SHORT or (one.asked is not None and one.asked.streams_eagerly):
        return
    for block in one.blocks:
        if block.stop is None or block.type not in INPUT or not block.partial:
            continue
        read = read_json(block.partial)
        if not isinstance(read.value, dict) and not read.beyond:
            yield block.found(
                "input", wanted="a JSON object in pieces", saw=f"{read.problem}: {block.partial}"
            )


@rule(
    "anth.stream.thinking-signature",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=anthropic_sdk("types/signature_delta.py"),
    violating=stream(_thought({"type": "thinking_delta", "thinking": "Hm."}), asked=THINKING),
    conforming=stream(told(thinking(), text()), asked=THINKING),
    consequence="the block cannot go back to the API; of several signatures anthropic 2.14.0 keeps the last",
)
def thinking_signature(block: BlockStream) -> Iterator[Violation]:
    """A thinking block gets exactly one signature_delta, just before its content_block_stop."""
    if block.type != "thinking" or block.stop is None:
        return
    kinds = [delta.delta_type for delta in block.deltas]
    if kinds.count("signature_delta") != 1 or kinds[-1] != "signature_delta":
        saw = f"{kinds.count('signature_delta')} of them, the last delta a {kinds[-1] if kinds else 'none'}"
        yield block.found("signature", wanted="one signature_delta, last", saw=saw)
    elif not block.value.get("signature"):
        yield block.deltas[-1].found("delta", "signature", wanted="a non-empty string")

"""Why a message stopped, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.anthropic.envelope import MESSAGE
from conformance.rules.anthropic.examples import (
    USAGE,
    WIRES,
    answer,
    stream,
    text,
    told,
    tool_use,
)
from conformance.rules.anthropic.views import Block, Message
from conformance.rules.examples import conversation
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Run, Violation

CALLS = anthropic_docs("agents-and-tools/tool-use/handle-tool-calls")
CAP_PROBE = "token-cap"
CACHE_PROBE = "cached-prefix"
AT_CAP = USAGE | {"output_tokens": 16}
CAP = {"max_tokens": 16}
STOP = {"stop_sequences": ["END"]}
CACHED = USAGE | {"cache_read_input_tokens": 2000}
OF_THE_SERVER = ("server_tool_use", "mcp_tool_use")
"""Calls that the server answers itself, and then goes on."""
SLACK = 0.02
"""How far the totals of a prompt may lie apart: an id in it may cost another token or two."""


@rule(
    "anth.response.stop-tool-use-iff",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=CALLS,
    violating=answer(tool_use(), stop_reason="end_turn"),
    conforming=answer(tool_use()),
    consequence="agent loops that branch on stop_reason never run the call, or look for one and find none",
)
def tool_use_iff(message: Message) -> Iterator[Violation]:
    """stop_reason is tool_use exactly when a client tool_use block is present.

    A message that was cut (max_tokens, model_context_window_exceeded, refusal, pause_turn, compaction) may
    have calls too, and so may one that tells of calls which a tool's own code made (caller), and which were
    answered.
    """
    if message.end is None or not message.settled:
        return
    if message.stop_reason == "tool_use" and not message.calls:
        yield message.end.found("stop_reason", wanted="another reason, since there is no call")
    elif any(map(_is_direct, message.calls)) and message.stop_reason in ("end_turn", "stop_sequence"):
        yield message.end.found("stop_reason", wanted='"tool_use", since there is a call')


def _is_direct(call: Block) -> bool:
    """Whether the model made the call itself."""
    return call.get("caller", "type") in (ABSENT, "direct")


@rule(
    "anth.response.stop-max-tokens",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request", "purpose"),
    source=f"{MESSAGE} stop_reason",
    violating=answer(asked=CAP, usage=AT_CAP, probe=CAP_PROBE),
    conforming=answer(asked=CAP, usage=AT_CAP, stop_reason="max_tokens", probe=CAP_PROBE),
    consequence="a cut answer looks like an ended one: half a text is believed",
)
def at_cap(message: Message) -> Iterator[Violation]:
    """Output cut by max_tokens has stop_reason max_tokens.

    An answer may come to its own end exactly at the cap, so it must have been asked for more than the cap
    allows (probe token-cap).
    """
    cap = message.asked.cap if message.asked else None
    spent = message.count("output_tokens")
    if message.reading.exchange.probe != CAP_PROBE or message.end is None or not message.settled:
        return
    if cap is not None and spent is not None and spent >= cap:
        yield message.end.found("stop_reason", wanted=f'"max_tokens" after {spent} of {cap} tokens')


@rule(
    "anth.response.max-tokens-respected",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/message_create_params.py max_tokens"),
    violating=answer(asked=CAP, usage=USAGE | {"output_tokens": 40}, stop_reason="max_tokens"),
    conforming=answer(asked=CAP, usage=AT_CAP, stop_reason="max_tokens"),
    consequence="the bill is higher than the request allows",
)
def cap_respected(message: Message) -> Iterator[Violation]:
    """output_tokens does not exceed max_tokens.

    The rule is this suite's own; the catalogue has it for Chat alone. Tools of the server's own make it
    sample several times, each within the cap.
    """
    cap = message.asked.cap if message.asked else None
    spent = message.count("output_tokens")
    several = any(block.type in OF_THE_SERVER for block in message.blocks)
    if cap is not None and spent is not None and spent > cap and message.usage is not None and not several:
        yield message.usage.found("output_tokens", wanted=f"at most {cap}")


@rule(
    "anth.response.stop-sequence-value",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{MESSAGE} stop_sequence",
    violating=answer(asked=STOP, stop_reason="stop_sequence"),
    conforming=answer(asked=STOP, stop_reason="stop_sequence", stop_sequence="END"),
    consequence="a client with several sequences cannot tell where in its own grammar the text ended",
)
def stop_value(message: Message) -> Iterator[Violation]:
    """stop_reason stop_sequence comes with the matched string in stop_sequence, otherwise it is null."""
    if message.end is None or message.stop_reason is None:
        return
    matched = message.end.get("stop_sequence")
    if message.stop_reason != "stop_sequence":
        if matched not in (None, ABSENT):
            yield message.end.found("stop_sequence", wanted=f"null beside {message.stop_reason}")
    elif message.asked is not None and matched not in message.asked.stop:
        yield message.end.found("stop_sequence", wanted="one of the request's stop_sequences")


@rule(
    "anth.response.stop-sequence-excluded",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=anthropic_sdk("types/message_create_params.py stop_sequences"),
    violating=answer(text("a END"), asked=STOP),
    conforming=stream(told(text("a"), stop_reason="stop_sequence", stop_sequence="END"), asked=STOP),
    consequence="clients that asked for the text up to a mark get the mark too, or what follows it",
)
def stop_excluded(message: Message) -> Iterator[Violation]:
    """With stop sequences the text ends before the sequence.

    The rule is this suite's own; the catalogue has it for Chat alone. Judged is each text block by itself.
    """
    for sequence in message.asked.stop if message.asked else ():
        for block in message.blocks:
            words = block.get("text") if block.type == "text" else None
            if isinstance(words, str) and sequence and sequence in words:
                place = words.index(sequence)
                around = words[max(0, place - 40) : place + len(sequence) + 40]
                yield block.found("text", wanted=f"text that ends before {sequence}", saw=around)
                return


@rule(
    "anth.response.usage-cache-disjoint",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("purpose",),
    source=f"{MESSAGE} usage (total input tokens)",
    violating=conversation(
        answer(usage=USAGE | {"input_tokens": 2009}, probe=CACHE_PROBE),
        answer(usage=CACHED | {"input_tokens": 2009}, id="msg_2", probe=CACHE_PROBE),
    ),
    conforming=conversation(
        answer(usage=USAGE | {"cache_creation_input_tokens": 2000}, probe=CACHE_PROBE),
        answer(usage=CACHED, id="msg_2", probe=CACHE_PROBE),
    ),
    consequence="tools that price a request count its cached tokens twice",
)
def cache_disjoint(run: Run) -> Iterator[Violation]:
    """input_tokens excludes cache_read and cache_creation tokens.

    Shown by a prompt sent several times (probe cached-prefix): whatever was cached of it, the three add up to
    the same.
    """
    first: int | None = None
    for message in run.views(Message):
        total = message.input_total
        if message.reading.exchange.probe != CACHE_PROBE or total is None or message.usage is None:
            continue
        if first is None:
            first = total
        elif abs(total - first) > first * SLACK:
            saw = f"{total} with what was cached"
            yield message.usage.found("input_tokens", wanted=f"{first} in all, as before", saw=saw)


@rule(
    "anth.response.usage-thinking-bound",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=anthropic_sdk("types/output_tokens_details.py"),
    violating=answer(usage=USAGE | {"output_tokens_details": {"thinking_tokens": 9}}),
    conforming=answer(usage=USAGE | {"output_tokens_details": {"thinking_tokens": 2}}),
    consequence="what is left for the visible answer comes out below zero",
)
def thinking_bound(message: Message) -> Iterator[Violation]:
    """output_tokens_details.thinking_tokens does not exceed output_tokens."""
    spent = message.count("output_tokens")
    thought = message.count("output_tokens_details", "thinking_tokens")
    if spent is not None and thought is not None and thought > spent and message.usage is not None:
        yield message.usage.found("output_tokens_details", "thinking_tokens", wanted=f"at most {spent}")

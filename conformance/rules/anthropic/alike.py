"""What several requests of a run prove together: whole and streamed, at once, with a picture and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.anthropic.envelope import MESSAGE
from conformance.rules.anthropic.examples import (
    USAGE,
    WIRES,
    answer,
    stream,
    text,
    thinking,
    told,
    user,
)
from conformance.rules.anthropic.views import Message
from conformance.rules.crowds import foreign_codes
from conformance.rules.examples import Exchanges, conversation
from conformance.rules.registry import rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Run, Violation, lookup

WHOLE_PROBE, CROWD_PROBE = "as-whole", "concurrent"
WITHOUT = {"without-image": "image", "without-attachment": "document"}
"""Probes that ask the same as a request before them, without what it had attached."""
OFF = {"thinking": {"type": "disabled"}}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
SEEN = {"messages": [user(text("What is it?"), PICTURE)]}
UNSEEN = {"messages": [user(text("What is it?"))]}


def _streamed(words: str, input_tokens: int = 9) -> Exchanges:
    usage = USAGE | {"input_tokens": input_tokens}
    return stream(told(text(words), id="msg_2", usage=usage), probe=WHOLE_PROBE, expect="either")


def _crowd(said: str) -> Exchanges:
    """Two requests at once, each with a code of its own; the second is answered with ``said``."""
    first, second = "canary-00000001", "canary-00000002"
    return conversation(
        answer(text(first), asked={"messages": [user(text(first))]}, probe=CROWD_PROBE),
        answer(text(said), asked={"messages": [user(text(second))]}, probe=CROWD_PROBE, id="msg_2"),
    )


@rule(
    "anth.stream.usage-equals-whole",
    wires=WIRES,
    level="SHOULD",
    basis="derived",
    needs=("purpose",),
    source=f"{MESSAGE} usage",
    violating=conversation(answer(), _streamed("Hello.", 1)),
    conforming=conversation(answer(), _streamed("Hello.")),
    consequence="what a conversation costs depends on whether anybody watches it being written",
)
def usage_equals(run: Run) -> Iterator[Violation]:
    """A streamed request has the input tokens of the same request answered whole.

    The rule is this suite's own. Those read from a cache and written to it are counted in.
    """
    for whole, streamed in _pairs(run, WHOLE_PROBE):
        before, after = whole.input_total, streamed.input_total
        if before and after is not None and before != after and streamed.usage is not None:
            yield streamed.usage.found("input_tokens", wanted=f"{before} in all, as in the whole answer")


@rule(
    "anth.stream.text-equals-whole",
    wires=WIRES,
    level="MAY",
    basis="convention",
    needs=("purpose",),
    source="no normative text: at temperature 0 servers repeat themselves, as far as their arithmetic does",
    violating=conversation(answer(), _streamed("Hello")),
    conforming=conversation(answer(), _streamed("Hello.")),
    consequence="text or inputs that the stream lost or doubled, unless the model said something else",
)
def text_equals(run: Run) -> Iterator[Violation]:
    """A streamed answer at temperature 0 says what the same request's whole answer says.

    The rule is this suite's own, and MAY: no server promises it. Ids are left aside.
    """
    for whole, streamed in _pairs(run, WHOLE_PROBE):
        if whole.settled and streamed.settled and _said(whole) != _said(streamed):
            yield streamed.found(
                "content", wanted=f"{json.dumps(_said(whole), ensure_ascii=False)}, as whole"
            )


@rule(
    "anth.response.own-answer",
    wires=WIRES,
    level="MUST",
    basis="derived",
    needs=("request", "purpose"),
    source=MESSAGE,
    violating=_crowd("canary-00000001"),
    conforming=_crowd("canary-00000002"),
    consequence="one user reads what another asked",
)
def own_answer(run: Run) -> Iterator[Violation]:
    """Of several requests at once, none is answered with what another one says.

    The rule is this suite's own. Each request of the probe concurrent holds a code that nobody can guess; a
    model that fails to repeat its own is no violation, one that knows another's is.
    """
    crowd = [m for m in run.views(Message) if m.reading.exchange.probe == CROWD_PROBE]
    yield from foreign_codes(crowd, (message.reading for message in crowd))


@rule(
    "anth.request.attachment-not-ignored",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    source=(anthropic_docs("build-with-claude/vision"), anthropic_docs("build-with-claude/pdf-support")),
    violating=conversation(
        answer(asked=SEEN), answer(asked=UNSEEN, probe="without-image", expect="either", id="msg_2")
    ),
    conforming=conversation(
        answer(asked=SEEN, usage=USAGE | {"input_tokens": 94}),
        answer(asked=UNSEEN, probe="without-image", expect="either", id="msg_2"),
    ),
    consequence="the model describes a picture, or a document, that it never saw",
)
def attachment_ignored(run: Run) -> Iterator[Violation]:
    """An image or a document in a request is read or refused, never dropped.

    The rule is this suite's own. It costs input tokens: an answer that has no more of them than the same
    question without it was made without it.
    """
    messages = [m for m in run.views(Message) if m.input_total is not None]
    for bare in messages:
        kind, least = WITHOUT.get(bare.reading.exchange.probe or ""), bare.input_total or 0
        for message in messages if kind else ():
            if _sends(message, kind) and (message.input_total or 0) <= least and message.usage is not None:
                wanted = f"more than the {least} of the question without its {kind}"
                saw = f"{message.input_total}, those from and for the cache included"
                yield message.usage.found("input_tokens", wanted=wanted, saw=saw)


@rule(
    "anth.response.thinking-off",
    wires=WIRES,
    level="SHOULD",
    basis="derived",
    needs=("request",),
    source=anthropic_sdk("types/thinking_config_disabled_param.py"),
    violating=answer(thinking(), text(), asked=OFF),
    conforming=answer(text(), asked=OFF),
    consequence="a client that switched thinking off pays and waits for it",
)
def thinking_off(message: Message) -> Iterator[Violation]:
    """With thinking disabled no block of it comes.

    The rule is this suite's own. Where a request leaves the member out, the model decides.
    """
    if message.asked is not None and message.asked.thinks_not:
        for block in message.blocks:
            if block.type in ("thinking", "redacted_thinking"):
                yield block.found(wanted="no thinking")


def _pairs(run: Run, probe: str) -> Iterator[tuple[Message, Message]]:
    """Two messages of exchanges in a row, of which the second's probe says that it asks the same."""
    messages = {message.reading.index: message for message in run.views(Message)}
    for one, other in pairwise(run.readings):
        if other.exchange.probe == probe and one.index in messages and other.index in messages:
            yield messages[one.index], messages[other.index]


def _said(message: Message) -> list[Any]:
    return [
        block.get("text") if block.type == "text" else [block.get("name"), block.get("input")]
        for block in message.blocks
        if block.type in ("text", "tool_use")
    ]


def _sends(message: Message, kind: str | None) -> bool:
    messages = lookup(message.reading.asked, ("messages",))
    for one in messages if isinstance(messages, list) else ():
        content = lookup(one, ("content",))
        if isinstance(content, list) and any(lookup(block, ("type",)) == kind for block in content):
            return True
    return False

"""Where the reasoning of an answer goes, and whether there is any."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from conformance.quirks.paths import places
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import (
    Deviation,
    Maker,
    condition,
    deviation,
    documents,
    labelled,
)
from conformance.simulator.deviations.messages import (
    Message,
    apart,
    chunk_like,
    each_message,
    stopping,
)
from conformance.simulator.deviations.turning import TurnChange, turning
from conformance.simulator.mutants.mutant import Answer, Change
from conformance.simulator.request import ChatRequest
from conformance.simulator.turns import spent
from conformance.types import Part, Reasoning, Text, Turn, Usage, WireName

_THOUGHT = "Let me think about what is asked."
_SEALED = "c2VhbGVkIHRob3VnaHRz"


# ------------------------------------------------------------------------------- in what is said


def _unthought(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
    return replace(turn, parts=tuple(part for part in turn.parts if not isinstance(part, Reasoning)))


def _thought(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
    return turn if turn.reasoning else replace(turn, parts=(Reasoning(_THOUGHT), *turn.parts))


def _always() -> TurnChange:
    """Every turn has reasoning; where the request does not meet the condition, none has."""
    return _thought


def _shown() -> TurnChange:
    """Turns have reasoning."""
    return _thought


def _dropped() -> TurnChange:
    """No turn has reasoning; what it has cost is counted all the same."""

    def change(request: ChatRequest, turn: Turn) -> Turn:
        if not turn.reasoning:
            return turn
        paid = replace(turn.usage or Usage(), completion_tokens=spent(turn))
        return replace(_unthought(request, turn), usage=paid)

    return change


def _inline(*, closed: bool = True) -> TurnChange:
    """Reasoning stands in the text, between tags or after one that never closes."""
    end = "</think>\n\n" if closed else "\n\n"

    def part(old: Part) -> Part:
        return Text(f"<think>{old.text}{end}") if isinstance(old, Reasoning) else old

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        return replace(turn, parts=tuple(map(part, turn.parts)))

    return change


# ------------------------------------------------------------------------------- in Chat's messages


def _moved(new: str, message: Message) -> None:
    if isinstance(message.get("reasoning_content"), str):
        message[new] = message.pop("reasoning_content")


def _named(member: str) -> Change:
    """Reasoning comes in a member of this name."""
    return each_message(partial(_moved, member))


def _alone() -> Change:
    """A message that has reasoning has nothing else, and stops."""

    def whole(message: Message) -> None:
        if "reasoning_content" in message:
            message["content"] = ""
            message.pop("tool_calls", None)

    def streamed(chunks: list[Message]) -> list[Message]:
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        if not any("reasoning_content" in delta for delta in deltas):
            return chunks
        said = zip(chunks, deltas, strict=True)
        return [chunk for chunk, delta in said if not (delta.get("content") or delta.get("tool_calls"))]

    return stopping("reasoning_content", whole, streamed)


def _swallowed(message: Message) -> None:
    text = message.get("content")
    if isinstance(text, str) and text:
        message["reasoning_content"] = message.get("reasoning_content", "") + text
        message["content"] = ""


def _swallows() -> Change:
    """What was to be the text comes as reasoning, and is counted as such; the text is empty."""

    def change(answer: Answer) -> None:
        each_message(_swallowed)(answer)
        for document in documents(answer):
            if isinstance(usage := document.get("usage"), dict):
                usage["completion_tokens_details"]["reasoning_tokens"] = usage["completion_tokens"]

    return change


def _blocks() -> Change:
    """Where there is reasoning, the content is a list of blocks that holds it, too."""

    def thinking(text: str) -> Message:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}

    def whole(message: Message) -> None:
        thought = message.pop("reasoning_content", None)
        if thought is not None:
            text = message["content"]
            said = [{"type": "text", "text": text}] if text else []
            message["content"] = [thinking(thought), *said]

    def streamed(chunks: list[Message]) -> list[Message]:
        for chunk in chunks:
            delta = chunk["choices"][0]["delta"]
            if "reasoning_content" in delta:
                delta["content"] = [thinking(delta.pop("reasoning_content"))]
        return chunks

    return apart(whole, streamed)


@dataclass(frozen=True, slots=True)
class _TakenBack(Deviation):
    """Blocks of thinking that come back in the history are passed over."""

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        blocks = list(places(body, "/messages/*/content/*[type=thinking]")) if wire in self.wires else []
        if not blocks:
            return body
        rest = copy.deepcopy(body)
        for place in reversed(blocks):
            _, number, _, index = place.path
            message = rest["messages"][number]
            del message["content"][index]
            message["content"] = message["content"] or (None if message.get("tool_calls") else "")
        return rest


def _as_blocks(when: Sequence[Mapping[str, Any]] | None = None) -> Behaviour:
    return _TakenBack(labelled("content-as-blocks", when=when), _blocks(), condition(when))


def _details() -> Change:
    """Reasoning comes as ``reasoning_details`` as well, whose text and sealed entries share an index."""

    def entry(kind: str, **members: str) -> Message:
        return {"type": f"reasoning.{kind}", **members, "format": "google-gemini-v1", "index": 0}

    def whole(message: Message) -> None:
        thought = message.pop("reasoning_content", None)
        if thought is not None:
            message["reasoning"] = thought
            message["reasoning_details"] = [entry("text", text=thought), entry("encrypted", data=_SEALED)]

    def streamed(chunks: list[Message]) -> list[Message]:
        last = None
        for number, chunk in enumerate(chunks):
            delta = chunk["choices"][0]["delta"]
            if "reasoning_content" in delta:
                last = number
                delta["reasoning"] = delta.pop("reasoning_content")
                delta["reasoning_details"] = [entry("text", text=delta["reasoning"])]
        if last is None:
            return chunks
        sealed = chunk_like(chunks[last], {"reasoning_details": [entry("encrypted", data=_SEALED)]})
        return [*chunks[: last + 1], sealed, *chunks[last + 1 :]]

    return apart(whole, streamed)


REASONING: Mapping[str, Maker] = dict(
    (
        turning("reasoning-always", _always, otherwise=_unthought),
        turning("reasoning-shown", _shown),
        turning("reasoning-dropped", _dropped),
        turning("reasoning-inline", _inline),
        deviation("reasoning-alone", _alone),
        deviation("reasoning-named", _named),
        deviation("text-as-reasoning", _swallows),
        ("content-as-blocks", _as_blocks),
        deviation("reasoning-details-share-index", _details),
    )
)
"""Makers by name."""

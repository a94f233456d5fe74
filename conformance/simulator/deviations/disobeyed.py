"""Deviations in which something that was asked for is not done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.quirks.paths import places
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.deviations.messages import Message, messages_of, stopping
from conformance.simulator.deviations.streamed_calls import deltas_by_call
from conformance.simulator.deviations.turning import TurnChange, turning
from conformance.simulator.improvise import call_of
from conformance.simulator.mutants.mutant import Answer, Change
from conformance.simulator.request import ChatRequest
from conformance.simulator.schemas import Unsatisfiable
from conformance.types import ToolCall, Turn, WireName

_UNASKED = '{"unasked":true'


def _another() -> TurnChange:
    """A turn that calls one function calls the next one that is offered, too."""

    def change(request: ChatRequest, turn: Turn) -> Turn:
        called = {part.name for part in turn.parts if isinstance(part, ToolCall)}
        other = next((tool for tool in request.tools if tool.name not in called), None)
        if len(called) != 1 or other is None:
            return turn
        try:
            return Turn((*turn.parts, call_of(other)), turn.finish_reason)
        except Unsatisfiable:
            return turn

    return change


def _dropped() -> Change:
    """The calls of a Chat answer are not there, and no text stands in for them."""

    def whole(message: Message) -> None:
        if message.pop("tool_calls", None):
            message["content"] = message["content"] or ""

    def streamed(chunks: list[Message]) -> list[Message]:
        return [chunk for chunk in chunks if not chunk["choices"][0]["delta"].get("tool_calls")]

    return stopping("tool_calls", whole, streamed)


def _loose() -> Change:
    """The arguments of strict tools have a member that their schemas don't know."""

    def change(answer: Answer) -> None:
        strict = {place.value.get("name") for place in places(answer.asked, "/tools/*/function[strict=true]")}
        for pieces in (*_whole(answer), *_streamed(answer)):
            if pieces[0].get("name") in strict:
                _add_unasked(pieces)

    return change


def _whole(answer: Answer) -> Iterator[list[dict[str, Any]]]:
    for document in documents(answer) if answer.events is None else ():
        for message in messages_of(document):
            yield from ([call["function"]] for call in message.get("tool_calls") or ())


def _streamed(answer: Answer) -> Iterator[list[dict[str, Any]]]:
    yield from ([delta.function for delta in deltas] for deltas in deltas_by_call(answer))


def _add_unasked(pieces: list[dict[str, Any]]) -> None:
    """The first brace of the arguments, in whichever piece it is, opens an object of one member more."""
    text = "".join(piece.get("arguments") or "" for piece in pieces)
    opened = _UNASKED if text.replace(" ", "") == "{}" else _UNASKED + ","
    for piece in pieces:
        if "{" in (piece.get("arguments") or ""):
            piece["arguments"] = piece["arguments"].replace("{", opened, 1)
            return


@dataclass(frozen=True, slots=True)
class InstructionsFirst(Behaviour):
    """System and developer messages of Chat Completions are read as one, before all others."""

    name: str = "instructions-first"

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        given = body.get("messages")
        if wire != "openai-chat" or not isinstance(given, list):
            return body
        hoisted = [message for message in given if _instructs(message)]
        others = [message for message in given if not _instructs(message)]
        if not hoisted or given == [hoisted[0], *others]:
            return body
        text = "\n".join(message["content"] for message in hoisted)
        return {**body, "messages": [{"role": "system", "content": text}, *others]}


def _instructs(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in ("system", "developer")
        and isinstance(message.get("content"), str)
    )


DISOBEYED: Mapping[str, Maker] = {
    **dict(
        (
            deviation("arguments-loose", _loose),
            deviation("calls-dropped", _dropped),
            turning("another-call", _another),
        )
    ),
    "instructions-first": InstructionsFirst,
}
"""Makers by name."""

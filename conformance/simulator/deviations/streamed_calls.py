"""Deviations of how the deltas of a Chat stream tell a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.simulator.arguments import as_value
from conformance.simulator.chat import fresh_id
from conformance.simulator.deviations.deviation import Maker, deviation
from conformance.simulator.mutants.mutant import Answer, Change


@dataclass(frozen=True, slots=True)
class CallDelta:
    """One delta of a call, and the chunk and choice it is in; honest chunks hold no more than one."""

    chunk: Any
    choice: Any
    call: Any

    @property
    def function(self) -> Any:
        """The function of the call, as far as this delta tells it."""
        return self.call["function"]

    @property
    def arguments(self) -> str:
        """The piece of the arguments; empty where it is no text."""
        piece = self.function.get("arguments")
        return piece if isinstance(piece, str) else ""


def drop(answer: Answer, chunks: Iterable[Any]) -> None:
    """These chunks of a stream don't come."""
    gone = {id(chunk) for chunk in chunks}
    if answer.events is not None and gone:
        answer.events[:] = [event for event in answer.events if id(event) not in gone]


def deltas_by_call(answer: Answer) -> list[list[CallDelta]]:
    """The deltas of each call of a stream, in order; none of whole answers. A new id begins a call."""
    found: list[list[CallDelta]] = []
    open_calls: dict[tuple[int, int], list[CallDelta]] = {}
    for chunk in answer.events or () if answer.status < 300 else ():
        for choice in (chunk.get("choices") or ()) if isinstance(chunk, dict) else ():
            for call in (choice.get("delta") or {}).get("tool_calls") or ():
                if "function" not in call:
                    continue
                at = (choice["index"], call.get("index", 0))
                known = open_calls[at][0].call.get("id") if at in open_calls else None
                if at not in open_calls or call.get("id") not in (None, "", known):
                    open_calls[at] = []
                    found.append(open_calls[at])
                open_calls[at].append(CallDelta(chunk, choice, call))
    return found


def _continued(members: Mapping[str, Any], deltas: Literal["all", "last"] = "all") -> Change:
    """Deltas after a call's first carry these members as well, the function's ``name`` among them.

    ``"{same}"`` stands for what the first delta has, ``"{fresh}"`` for a new id.
    """

    def change(answer: Answer) -> None:
        for first, *others in deltas_by_call(answer):
            for delta in others if deltas == "all" else others[-1:]:
                for member, value in members.items():
                    source, target = (first.call, delta.call)
                    if member == "name":
                        source, target = first.function, delta.function
                    target[member] = source[member] if value == "{same}" else _fresh(value)

    return change


def _fresh(value: Any) -> Any:
    return fresh_id("call_", 24) if value == "{fresh}" else value


def _late_name() -> Change:
    """The name of a function comes with the second delta, the arguments begin with the first."""

    def change(answer: Answer) -> None:
        for first, *others in deltas_by_call(answer):
            if others:
                first.function["arguments"] = others[0].arguments
                others[0].call["function"] = {"name": first.function.pop("name"), "arguments": ""}

    return change


def _whole(*, as_objects: bool = False) -> Change:
    """A call comes in one delta; ``as_objects`` with its arguments as a JSON value in place of text."""

    def change(answer: Answer) -> None:
        gone: list[Any] = []
        for first, *others in deltas_by_call(answer):
            text = "".join(delta.arguments for delta in (first, *others))
            first.function["arguments"] = as_value(text) if as_objects else text
            gone += (delta.chunk for delta in others)
        drop(answer, gone)

    return change


def _head_lost(characters: int) -> Change:
    """The arguments of a call begin so many characters late; in messages of Anthropic's, too."""

    def change(answer: Answer) -> None:
        for deltas in deltas_by_call(answer):
            _shorten([(delta.function, "arguments") for delta in deltas], characters)
        blocks: dict[int, list[tuple[Any, str]]] = {}
        for event in answer.events or ():
            if isinstance(event, dict) and "partial_json" in event.get("delta", {}):
                blocks.setdefault(event["index"], []).append((event["delta"], "partial_json"))
        for pieces in blocks.values():
            _shorten(pieces, characters)

    return change


def _shorten(pieces: list[tuple[Any, str]], characters: int) -> None:
    for holder, key in pieces:
        cut = min(characters, len(holder[key]))
        holder[key] = holder[key][cut:]
        characters -= cut


def _announced(member: str) -> Change:
    """While a call is made its chunks are empty but for a member that says so; then it comes whole."""

    def change(answer: Answer) -> None:
        for deltas in deltas_by_call(answer):
            first, *others = deltas
            if not others:
                continue
            text = "".join(delta.arguments for delta in deltas)
            call = {**first.call, "function": {**first.function, "arguments": text}}
            for delta in deltas[:-1]:
                delta.choice["delta"].pop("tool_calls")
                delta.chunk[member] = True
            deltas[-1].choice["delta"]["tool_calls"] = [call]

    return change


STREAMED_CALLS: Mapping[str, Maker] = dict(
    (
        deviation("call-deltas-carry", _continued),
        deviation("call-name-late", _late_name),
        deviation("calls-in-one-delta", _whole),
        deviation("arguments-head-lost", _head_lost),
        deviation("calls-announced", _announced),
    )
)
"""Makers by name."""

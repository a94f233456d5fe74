"""Deviations of the chunks that a stream consists of, whatever they tell."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from conformance.simulator.chat import fresh_id
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.deviations.streamed_calls import drop
from conformance.simulator.mutants.mutant import Answer, Change

Where = Literal["first", "after-text", "before-finish"]


def _fresh_ids() -> Change:
    """Every chunk has an id of its own."""

    def change(answer: Answer) -> None:
        for document in documents(answer) if answer.events is not None else ():
            document["id"] = fresh_id("chatcmpl-", 29)

    return change


def _created_now() -> Change:
    """``created`` is the time of the chunk: half of them come a second later."""

    def change(answer: Answer) -> None:
        chunks = [one for one in documents(answer) if answer.events is not None and "created" in one]
        for document in chunks[len(chunks) // 2 :]:
            document["created"] += 1

    return change


def _added(chunk: Mapping[str, Any], place: Where = "first") -> Change:
    """A chunk more, at that place."""

    def change(answer: Answer) -> None:
        if answer.events and answer.status < 300:
            answer.events.insert(_number(answer.events, place), copy.deepcopy(dict(chunk)))

    return change


def _breaks_off(chunk: Mapping[str, Any], *, enveloped: bool = False, done: bool = False) -> Change:
    """After the first piece of text or of a call, this chunk ends the stream, perhaps with ``[DONE]``.

    One that is ``enveloped`` has the id, model and time of the others.
    """

    def change(answer: Answer) -> None:
        if answer.events and isinstance(answer.events[0], dict) and answer.status < 300:
            envelope = _envelope(answer.events[0]) if enveloped else {}
            del answer.events[_number(answer.events, "after-text") :]
            answer.events.append(envelope | copy.deepcopy(dict(chunk)))
            answer.events += ["[DONE]"] if done else []

    return change


def _envelope(chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in chunk.items() if key not in ("choices", "usage", "obfuscation")}


def _number(events: list[Any], place: Where) -> int:
    deltas = [
        (number, choice)
        for number, event in enumerate(events)
        for choice in (event.get("choices") or () if isinstance(event, dict) else ())
    ]
    match place:
        case "first":
            return 0
        case "after-text":
            said = [n for n, c in deltas if _says(c.get("delta") or {})]
            return said[0] + 1 if said else 1
        case "before-finish":
            return min((n for n, c in deltas if c.get("finish_reason")), default=len(events))


def _says(delta: Mapping[str, Any]) -> bool:
    return bool(delta.get("content") or delta.get("tool_calls"))


def _so_far(object_name: str | None = None) -> Change:
    """Each choice has the message so far beside its delta; ``object`` may have another name, too."""

    def change(answer: Answer) -> None:
        said: dict[int, str] = {}
        for document in documents(answer) if answer.events is not None else ():
            for choice in document.get("choices") or ():
                index = choice["index"]
                said[index] = said.get(index, "") + (choice["delta"].get("content") or "")
                choice["message"] = {"role": "assistant", "content": said[index]}
                if object_name:
                    document["object"] = object_name

    return change


def _text_at_once() -> Change:
    """All text of a choice comes in one delta."""

    def change(answer: Answer) -> None:
        first: dict[int, Any] = {}
        pieces: dict[int, list[str]] = {}
        gone: list[Any] = []
        for document in documents(answer) if answer.events is not None else ():
            for choice in document.get("choices") or ():
                text = (choice.get("delta") or {}).get("content")
                if text:
                    gone += [document] if choice["index"] in first else []
                    first.setdefault(choice["index"], choice["delta"])
                    pieces.setdefault(choice["index"], []).append(text)
        for index, delta in first.items():
            delta["content"] = "".join(pieces[index])
        drop(answer, gone)

    return change


def _in_any_order() -> Change:
    """What the second choice says comes before what the first one says."""

    def change(answer: Answer) -> None:
        if answer.events is not None and answer.status < 300:
            answer.events.sort(key=_choice_reversed)

    return change


def _done() -> Change:
    """``[DONE]`` ends a stream, whatever the wire."""

    def change(answer: Answer) -> None:
        if answer.events is not None and answer.status < 300:
            answer.events.append("[DONE]")

    return change


def _lost(holding: str) -> Change:
    """The events of a stream in which the pattern is found, as JSON that escapes nothing, don't come."""
    pattern = re.compile(holding)

    def change(answer: Answer) -> None:
        if answer.events is not None and answer.status < 300:
            drop(answer, [e for e in answer.events if pattern.search(json.dumps(e, ensure_ascii=False))])

    return change


def _choice_reversed(event: Any) -> int:
    choices = event.get("choices") if isinstance(event, dict) else None
    return -choices[0]["index"] if choices else 1


CHUNKS: Mapping[str, Maker] = dict(
    (
        deviation("chunk-ids-fresh", _fresh_ids),
        deviation("created-of-each-chunk", _created_now),
        deviation("chunk-added", _added),
        deviation("stream-ends-with", _breaks_off),
        deviation("message-so-far", _so_far),
        deviation("text-in-one-delta", _text_at_once),
        deviation("choices-in-any-order", _in_any_order),
        deviation("events-lost", _lost),
        deviation("done-added", _done),
    )
)
"""Makers by name."""

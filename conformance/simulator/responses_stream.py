"""The events of a response.

Source: ``ResponseStreamEvent`` of openai-python 3.57.0; their order is that of recordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from conformance.simulator.answer import STREAM_TYPE, Action, Event, Head, Pause
from conformance.simulator.chat import fresh_id
from conformance.simulator.responses_answer import Answer, logprobs_of
from conformance.simulator.responses_request import ResponsesRequest
from conformance.simulator.tokens import groups, tokens

_Told: TypeAlias = "tuple[str, dict[str, Any]]"
_PADDING = 16
_EMPTY: Mapping[str, tuple[str, Any]] = {
    "message": ("content", []),
    "reasoning": ("summary", []),
    "function_call": ("arguments", ""),
}


def stream(answer: Answer, request: ResponsesRequest, gap_s: float) -> Iterator[Action]:
    """The events that tell ``answer``, numbered from 0, ``gap_s`` seconds between the pieces of its texts."""
    yield Head(200, STREAM_TYPE)
    for number, (name, members) in enumerate(_events(answer, request)):
        yield Event({"type": name, **members, "sequence_number": number}, name)
        if name.endswith(".delta"):
            yield Pause(gap_s)


def _events(answer: Answer, request: ResponsesRequest) -> Iterator[_Told]:
    yield "response.created", {"response": answer.begun}
    yield "response.in_progress", {"response": answer.begun}
    for index, item in enumerate(answer.ended["output"]):
        where = {"item_id": item["id"], "output_index": index}
        yield "response.output_item.added", {"item": _begun(item), "output_index": index}
        match item["type"]:
            case "message":
                for position, part in enumerate(item["content"]):
                    yield from _part(part, where | {"content_index": position}, request)
            case "reasoning":
                for position, part in enumerate(item["summary"]):
                    yield from _summary(part, where | {"summary_index": position}, request)
            case _:
                yield from _arguments(item["arguments"], where, request)
        yield "response.output_item.done", {"item": item, "output_index": index}
    yield answer.event, {"response": answer.ended}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it is announced, with nothing in it yet."""
    name, nothing = _EMPTY[item["type"]]
    return {**item, "status": "in_progress", name: nothing}


def _part(part: dict[str, Any], where: dict[str, Any], request: ResponsesRequest) -> Iterator[_Told]:
    if part["type"] == "refusal":
        yield "response.content_part.added", {**where, "part": {**part, "refusal": ""}}
        for piece, _ in _pieces(part["refusal"]):
            yield "response.refusal.delta", {**where, **_delta(piece, request)}
        yield "response.refusal.done", {**where, "refusal": part["refusal"]}
    else:
        yield "response.content_part.added", {**where, "part": {**part, "text": "", "logprobs": []}}
        for piece, shown in _pieces(part["text"]):
            logprobs = logprobs_of(shown, request)
            yield "response.output_text.delta", {**where, **_delta(piece, request), "logprobs": logprobs}
        yield "response.output_text.done", {**where, "text": part["text"], "logprobs": part["logprobs"]}
    yield "response.content_part.done", {**where, "part": part}


def _summary(part: dict[str, Any], where: dict[str, Any], request: ResponsesRequest) -> Iterator[_Told]:
    yield "response.reasoning_summary_part.added", {**where, "part": {**part, "text": ""}}
    for piece, _ in _pieces(part["text"]):
        yield "response.reasoning_summary_text.delta", {**where, **_delta(piece, request)}
    yield "response.reasoning_summary_text.done", {**where, "text": part["text"]}
    yield "response.reasoning_summary_part.done", {**where, "part": part}


def _arguments(arguments: str, where: dict[str, Any], request: ResponsesRequest) -> Iterator[_Told]:
    for piece, _ in _pieces(arguments):
        yield "response.function_call_arguments.delta", {**where, **_delta(piece, request)}
    yield "response.function_call_arguments.done", {**where, "arguments": arguments}


def _pieces(text: str) -> Iterator[tuple[str, list[str]]]:
    for group in groups(tokens(text)):
        yield "".join(group), group


def _delta(piece: str, request: ResponsesRequest) -> dict[str, Any]:
    """A piece, with letters that hide its length (``include_obfuscation``)."""
    padding = {"obfuscation": fresh_id("", _PADDING - len(piece) % _PADDING)} if request.obfuscate else {}
    return {"delta": piece, **padding}

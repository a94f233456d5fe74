"""The words that changes of responses and their streams are written in, beside those of ``edits``."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from conformance.simulator.mutants.edits import Edit, Step, events, put, together
from conformance.simulator.mutants.mutant import Answer, Change, Mutant
from conformance.types import WireName

RESPONSES: WireName = "openai-responses"
ITEM: tuple[Step, ...] = ("output", 0)
PART: tuple[Step, ...] = (*ITEM, "content", 0)
TERMINAL = ("response.completed", "response.incomplete", "response.failed")
CREATED = "response.created"
ADDED, DONE = "response.output_item.added", "response.output_item.done"
PART_ADDED, PART_DONE = "response.content_part.added", "response.content_part.done"
TEXT_DELTA, TEXT_DONE = "response.output_text.delta", "response.output_text.done"
ARGS_DELTA, ARGS_DONE = "response.function_call_arguments.delta", "response.function_call_arguments.done"
PROVIDERS_ITEM = {"type": "acme:trace", "id": "trace_1"}
FAILURE = {"code": "server_error", "message": "The server failed."}

mutant = partial(Mutant, wire=RESPONSES)
"""A mutant of this wire."""


# ------------------------------------------------------------------------------------------ streams

Retelling: TypeAlias = Callable[[list[Any]], None]
"""Edits the events of a stream, in place."""


def place(given: list[Any], name: str) -> int:
    """Where the first event of that type is."""
    return next(i for i, event in enumerate(given) if event["type"] == name)


def numbered(given: list[Any]) -> None:
    """The events get their numbers anew."""
    for number, event in enumerate(given):
        event["sequence_number"] = number


def retold(*retellings: Retelling) -> Change:
    """Edits the events of a stream, which may share what they have, and numbers them anew."""

    def change(given: list[Any]) -> None:
        given[:] = [copy.deepcopy(event) for event in given]
        for retelling in retellings:
            retelling(given)
        numbered(given)

    return events(change)


def in_open_responses(*retellings: Retelling) -> Change:
    """The stream in the words of Open Responses, edited, with its end marker."""
    return together(retold(raw_reasoning, *retellings), events(marker))


def of(name: str, edit: Edit) -> Retelling:
    """Edits the first event of that type."""
    return lambda given: edit(given[place(given, name)])


def end(edit: Edit) -> Retelling:
    """Edits the response in the event that ends it."""
    return lambda given: edit(given[-1]["response"])


def lean(given: list[Any]) -> None:
    """The response is without what only Open Responses demands, wherever it is told."""
    without_everywhere("store")(given)


def without_everywhere(member: str) -> Retelling:
    """The response is without this member, wherever it is told."""

    def retelling(given: list[Any]) -> None:
        for event in given:
            event.get("response", {}).pop(member, None)

    return retelling


def without(name: str) -> Retelling:
    """Takes the first event of that type away."""

    def retelling(given: list[Any]) -> None:
        del given[place(given, name)]

    return retelling


def moved(name: str, where: Callable[[list[Any]], int]) -> Retelling:
    """Moves the first event of that type to where it is told, in what is left."""

    def retelling(given: list[Any]) -> None:
        event = given.pop(place(given, name))
        given.insert(where(given), event)

    return retelling


def twice(name: str) -> Retelling:
    """Says the first event of that type once more, right behind it."""

    def retelling(given: list[Any]) -> None:
        number = place(given, name)
        given.insert(number, copy.deepcopy(given[number]))

    return retelling


def broken(error: dict[str, Any], *, failed: bool = True) -> Retelling:
    """The stream breaks with an error event in place of its end, perhaps with a failed response behind it."""

    def retelling(given: list[Any]) -> None:
        last = given.pop()
        given.append({"type": "error", **error})
        if failed:
            response = last["response"] | {"status": "failed", "error": FAILURE}
            given.append({"type": "response.failed", "response": response})

    return retelling


def marker(given: list[Any]) -> None:
    """Open Responses' end."""
    given.append("[DONE]")


def raw_reasoning(given: list[Any]) -> None:
    """What was told as a summary is told as raw reasoning, in the words of Open Responses."""
    _raw(given, "reasoning")


def raw_reasoning_of_openai(given: list[Any]) -> None:
    """What was told as a summary is told as raw reasoning, in OpenAI's words."""
    _raw(given, "reasoning_text")


def raw_reasoning_twice(given: list[Any]) -> None:
    """Every event of raw reasoning comes in the words of Open Responses, and again in OpenAI's."""
    raw_reasoning(given)
    again = {f"response.reasoning.{end}": f"response.reasoning_text.{end}" for end in ("delta", "done")}
    for number in reversed(range(len(given))):
        if given[number]["type"] in again:
            given.insert(number + 1, given[number] | {"type": again[given[number]["type"]]})


def _raw(given: list[Any], word: str) -> None:
    given[:] = [event for event in given if "reasoning_summary_part" not in event["type"]]
    for event in given:
        if event["type"].startswith("response.reasoning_summary_text."):
            event["type"] = event["type"].replace("reasoning_summary_text", word)
            event["content_index"] = event.pop("summary_index")
    for item in items(given):
        if item["type"] == "reasoning":
            content = [{**part, "type": "reasoning_text"} for part in item["summary"]]
            item |= {"content": content, "summary": []}


def items(given: list[Any]) -> list[Any]:
    """Every item that the events have."""
    found = []
    for event in given:
        found += [event["item"]] if event.get("item") else []
        found += event.get("response", {}).get("output", ())
    return found


# ---------------------------------------------------------------------------------- other answers


def responded(text: str, **members: Any) -> Change:
    """A request is answered with this text, whatever is wrong with it."""

    def change(answer: Answer) -> None:
        repeated = {"tools": answer.asked.get("tools", [])}
        answer.become(200, response(text) | repeated | members)

    return change


def says(text: str) -> Edit:
    """The message of a response says this."""
    return put("output", -1, "content", 0, "text", value=text)


def response(text: str) -> dict[str, Any]:
    """A response that says this."""
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    message = {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": content,
    }
    now = int(time.time())
    nothing = (
        "error",
        "incomplete_details",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "safety_identifier",
    )
    return dict.fromkeys(nothing) | {
        "id": "resp_1",
        "object": "response",
        "created_at": now,
        "completed_at": now,
        "status": "completed",
        "background": False,
        "frequency_penalty": 0.0,
        "metadata": {},
        "model": "reference",
        "output": [message],
        "parallel_tool_calls": True,
        "presence_penalty": 0.0,
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 11,
        },
    }

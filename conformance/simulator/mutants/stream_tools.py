"""Mutants of streamed tool calls.

The honest stream is: the role, the call's first delta, the pieces of its arguments, the finishing chunk.
"""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import DELTA, TOOL, drop, event, events, put
from conformance.simulator.mutants.mutant import Mutant

ONE = "stream.arguments"
TWO = "stream.parallel-calls"
OPENED, SECOND = 1, 2


def _calls(given: list[Any]) -> list[dict[str, Any]]:
    """Every tool call delta, in order."""
    found = []
    for document in given:
        for choice in document["choices"] if isinstance(document, dict) else ():
            found += choice["delta"].get("tool_calls", ())
    return found


def _of_every_call(edit: Any) -> Any:
    def change(given: list[Any]) -> None:
        for call in _calls(given):
            edit(call)

    return events(change)


def _snapshot(given: list[Any]) -> None:
    calls = _calls(given)
    whole = "".join(call["function"]["arguments"] for call in calls)
    calls[-1]["function"]["arguments"] = whole


def _bent(given: list[Any]) -> None:
    calls = _calls(given)
    calls[-1]["function"]["arguments"] += "!"


def _name_later(given: list[Any]) -> None:
    first, second = (call["function"] for call in _calls(given)[:2])
    second["name"] = first.pop("name")


def _one_based(call: dict[str, Any]) -> None:
    call["index"] += 1


def _same_index(call: dict[str, Any]) -> None:
    call["index"] = 0


def _back_to_the_first(given: list[Any]) -> None:
    """The last piece of the first call's arguments comes after the second call has begun."""
    last = max(i for i, e in enumerate(given[:-1]) for c in _calls([e]) if c["index"] == 0)
    begun = next(i for i, e in enumerate(given[:-1]) for c in _calls([e]) if c["index"] == 1)
    given.insert(begun, given.pop(last))


STREAM_TOOLS = (
    Mutant("chat.stream.finish-tool-calls", ONE, event(-2, put("choices", 0, "finish_reason", value="stop"))),
    Mutant("chat.stream.tool-index-present", ONE, event(SECOND, drop(*TOOL, "index"))),
    Mutant("chat.stream.tool-index-integer", ONE, event(SECOND, put(*TOOL, "index", value="0"))),
    Mutant("chat.stream.tool-index-contiguous", ONE, _of_every_call(_one_based)),
    Mutant("chat.stream.tool-index-distinct", TWO, _of_every_call(_same_index)),
    Mutant("chat.stream.tool-first-has-id", ONE, event(OPENED, drop(*TOOL, "id"))),
    Mutant("chat.stream.tool-first-has-type", ONE, event(OPENED, drop(*TOOL, "type"))),
    Mutant("chat.stream.tool-first-has-name", ONE, events(_name_later)),
    Mutant(
        "chat.stream.tool-id-once",
        ONE,
        events(lambda given: given[SECOND]["choices"][0]["delta"]["tool_calls"][0].update(_id(given))),
    ),
    Mutant(
        "chat.stream.tool-name-once", ONE, event(SECOND, put(*TOOL, "function", "name", value="get_weather"))
    ),
    Mutant("chat.stream.tool-type-never-nulled", ONE, event(SECOND, put(*TOOL, "type", value=None))),
    Mutant(
        "chat.stream.tool-function-present",
        ONE,
        events(lambda given: given.insert(SECOND, _without_function(given[SECOND]))),
    ),
    Mutant(
        "chat.stream.tool-arguments-string",
        ONE,
        event(OPENED, put(*TOOL, "function", "arguments", value=None)),
    ),
    Mutant(
        "chat.stream.tool-arguments-fragment",
        ONE,
        events(_snapshot),
        also=("chat.stream.tool-arguments-concat-json",),
        because="what is said twice is no JSON",
    ),
    Mutant("chat.stream.tool-arguments-concat-json", ONE, events(_bent)),
    Mutant("chat.stream.tool-no-return-to-earlier-index", TWO, events(_back_to_the_first)),
    Mutant("chat.stream.tool-calls-not-null", ONE, event(-2, put(*DELTA, "tool_calls", value=None))),
)


def _id(given: list[Any]) -> dict[str, Any]:
    return {"id": _calls(given)[0]["id"]}


def _without_function(document: Any) -> Any:
    delta = {"tool_calls": [{"index": 0}]}
    return document | {"choices": [document["choices"][0] | {"delta": delta}]}

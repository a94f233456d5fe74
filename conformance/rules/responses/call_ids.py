"""Ids of calls over a whole conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.registry import rule
from conformance.rules.responses.examples import WIRES, answer, call
from conformance.rules.responses.views import Result
from conformance.rules.sources import schema
from conformance.rules.views import Violation

EARLIER: dict[str, Any] = {
    "input": [call(1), {"type": "function_call_output", "call_id": "call_1", "output": "18"}]
}


@rule(
    "resp.response.call-id-unique-conversation",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request", "values"),
    source=(schema("FunctionToolCall call_id"), "pydantic/pydantic-ai issue 6536"),
    violating=answer(call(2, call_id="call_1"), asked=EARLIER),
    conforming=answer(call(2), asked=EARLIER),
    consequence="clients that keep calls in a table by id overwrite an earlier one and its output",
)
def call_id_conversation(result: Result) -> Iterator[Violation]:
    """The call_id of a call is not that of an earlier call of the conversation.

    Seen in one exchange: the input that was sent has a call of that id already.
    """
    given = result.asked.body.get("input") if result.asked else None
    used = {
        item["call_id"]
        for item in (given if isinstance(given, list) else ())
        if isinstance(item, dict)
        and item.get("type") == "function_call"
        and isinstance(item.get("call_id"), str)
    }
    for item in result.calls:
        if item.get("call_id") in used:
            yield item.found("call_id", wanted="an id that no earlier call of the conversation has")

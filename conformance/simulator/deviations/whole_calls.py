"""Deviations of the calls in a whole completion, and of where they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.quirks.declarations import filled
from conformance.simulator import schemas
from conformance.simulator.arguments import as_value
from conformance.simulator.chat import fresh_id
from conformance.simulator.deviations.deviation import Maker, deviation, documents
from conformance.simulator.deviations.streamed_calls import deltas_by_call, drop
from conformance.simulator.mutants.mutant import Answer, Change

_LINE_END = re.compile(r"(?<!\\)\\n")


def _messages(answer: Answer) -> Iterator[dict[str, Any]]:
    """The messages of a whole completion."""
    if answer.events is None:
        for document in documents(answer):
            yield from (
                choice["message"] for choice in document.get("choices") or () if choice.get("message")
            )


def _ids(counted_from: str) -> Change:
    """Ids of calls are this and a number, which begins at 0 in every answer.

    In responses, too, whole and streamed.
    """

    def change(answer: Answer) -> None:
        numbered: dict[str, str] = {}
        for document in documents(answer):
            for call in _identified(document):
                key = "call_id" if "call_id" in call else "id"
                if call[key] not in numbered.values():  # events of a response share their items
                    call[key] = numbered.setdefault(call[key], f"{counted_from}{len(numbered)}")

    return change


def _identified(document: Any) -> Iterator[dict[str, Any]]:
    """The calls in a document that have an id: of completions, their chunks, responses and their events."""
    for choice in document.get("choices") or ():
        said = choice.get("message") or choice.get("delta") or {}
        yield from (call for call in said.get("tool_calls") or () if call.get("id"))
    items = [document.get("item"), *(document.get("response") or document).get("output", ())]
    yield from (item for item in items if isinstance(item, dict) and item.get("call_id"))


def _without_arguments_are(value: str) -> Change:
    """The arguments of a call without any are this text."""

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            for call in message.get("tool_calls") or ():
                if call["function"]["arguments"] == "{}":
                    call["function"]["arguments"] = value
        for deltas in deltas_by_call(answer):
            if "".join(delta.arguments for delta in deltas) == "{}":
                deltas[0].function["arguments"] = value
                drop(answer, (delta.chunk for delta in deltas[1:]))

    return change


def _unescaped() -> Change:
    """Line ends in arguments are not escaped."""

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            for call in message.get("tool_calls") or ():
                call["function"]["arguments"] = _LINE_END.sub("\n", call["function"]["arguments"])

    return change


def _wrapped(name: str) -> Change:
    """Several calls are one of a function that nobody offered, whose arguments hold them."""

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            calls = message.get("tool_calls") or []
            if len(calls) > 1:
                written = [_written(call) for call in calls]
                uses = [
                    {"recipient_name": f"functions.{call['name']}", "parameters": call["parameters"]}
                    for call in written
                ]
                arguments = json.dumps({"tool_uses": uses}, ensure_ascii=False)
                function = {"name": name, "arguments": arguments}
                message["tool_calls"] = [{"id": calls[0]["id"], "type": "function", "function": function}]

    return change


def _apart() -> Change:
    """The calls beside a text are in a choice of their own."""

    def change(answer: Answer) -> None:
        if answer.events is not None:
            return
        for document in documents(answer):
            for choice in list(document.get("choices") or ()):
                message = choice["message"]
                if message.get("content") and message.get("tool_calls"):
                    moved = {"role": "assistant", "content": None, "tool_calls": message.pop("tool_calls")}
                    other = {**choice, "index": len(document["choices"]), "message": moved}
                    document["choices"].append(other)

    return change


def _lost() -> Change:
    """Of calls only the finish reason and an empty list are left."""

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            if message.get("tool_calls"):
                message |= {"content": message["content"] or "", "tool_calls": []}

    return change


def _checked(body: Any) -> Change:
    """A whole answer with calls whose arguments are not as the tool's schema says is refused.

    ``{calls}`` in the body stands for what the model wrote.
    """

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            calls = message.get("tool_calls") or []
            if not all(_fits(call, answer.asked) for call in calls):
                written = json.dumps([_written(call) for call in calls], ensure_ascii=False)
                answer.become(400, filled(body, {"{calls}": written}))
                return

    return change


def _fits(call: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        return False
    tools: Sequence[Any] = asked.get("tools") or ()
    offered = {tool["function"]["name"]: tool["function"] for tool in tools if "function" in tool}
    schema = offered.get(call["function"]["name"], {}).get("parameters") or {}
    return isinstance(arguments, dict) and schemas.conforms(schema, arguments)


def _written(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as models write it; arguments that are no JSON stay the text they are."""
    return {"name": call["function"]["name"], "parameters": as_value(call["function"]["arguments"])}


def _ids_again() -> Change:
    """Every call of a message has the id of its first one."""

    def change(answer: Answer) -> None:
        for message in _messages(answer):
            for call in message.get("tool_calls") or ():
                call["id"] = message["tool_calls"][0]["id"]
        first: Any = None
        for deltas in deltas_by_call(answer):
            first = first or deltas[0].call["id"]
            deltas[0].call["id"] = first

    return change


def _rotated() -> Change:
    """Every event about an item of a response has another id for it."""

    def change(answer: Answer) -> None:
        for document in documents(answer) if answer.events is not None else ():
            if isinstance(item := document.get("item"), dict) and "id" in item:
                item["id"] = fresh_id("", 40)
            if "item_id" in document:
                document["item_id"] = fresh_id("", 40)
            for item in document.get("response", {}).get("output", ()):
                item["id"] = fresh_id("", 40)

    return change


WHOLE_CALLS: Mapping[str, Maker] = dict(
    (
        deviation("call-ids-counted", _ids),
        deviation("call-ids-again", _ids_again),
        deviation("item-ids-rotate", _rotated),
        deviation("empty-arguments-are", _without_arguments_are),
        deviation("arguments-unescaped", _unescaped),
        deviation("calls-wrapped", _wrapped),
        deviation("calls-apart", _apart),
        deviation("calls-lost", _lost),
        deviation("calls-checked", _checked),
    )
)
"""Makers by name."""

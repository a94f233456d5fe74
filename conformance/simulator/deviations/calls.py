"""Calls and tools: written as text, signed, left unfinished, merged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.simulator import chance
from conformance.simulator.arguments import as_object
from conformance.simulator.behaviour import Behaviour
from conformance.simulator.deviations.deviation import Maker, deviation, documents, labelled
from conformance.simulator.deviations.messages import Message, chunk_like, messages_of, stopping
from conformance.simulator.deviations.turning import TurnChange, turning
from conformance.simulator.improvise import call_of
from conformance.simulator.mutants.mutant import Answer, Change
from conformance.simulator.request import ChatRequest
from conformance.simulator.schemas import Unsatisfiable
from conformance.types import Part, Text, ToolCall, Turn, WireName


def _spelt(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _qwen(call: ToolCall) -> str:
    """As Qwen3-Coder writes a call (its chat template)."""
    given = "".join(
        f"<parameter={name}>\n{_spelt(value)}\n</parameter>\n"
        for name, value in (as_object(call.arguments) or {}).items()
    )
    return f"<tool_call>\n<function={call.name}>\n{given}</function>\n</tool_call>"


def _dsml(call: ToolCall) -> str:
    """As DeepSeek V4 writes a call (sgl-project/sglang issue 35736)."""
    given = "".join(
        f'<｜DSML｜parameter name="{name}" string="{str(isinstance(value, str)).lower()}">'
        f"{_spelt(value)}</｜DSML｜parameter>\n"
        for name, value in (as_object(call.arguments) or {}).items()
    )
    invoke = f'<｜DSML｜invoke name="{call.name}">\n{given}</｜DSML｜invoke>'
    return f"<｜DSML｜tool_calls>\n{invoke}\n</｜DSML｜tool_calls>"


_MARKUP: Mapping[str, Callable[[ToolCall], str]] = {"qwen3-coder": _qwen, "dsml": _dsml}


def _as_text(markup: str) -> Change:
    """The calls of a Chat answer come as text in this markup, also where they were forced."""
    write = _MARKUP[markup]

    def text_of(calls: Sequence[Any]) -> str:
        return "\n".join(
            write(ToolCall("", call["function"]["name"], call["function"]["arguments"])) for call in calls
        )

    def whole(message: Message) -> None:
        calls = message.pop("tool_calls", None)
        if calls:
            message["content"] = (message["content"] or "") + text_of(calls)

    def streamed(chunks: list[Message]) -> list[Message]:
        calls: dict[int, Message] = {}
        kept: list[Message] = []
        for chunk in chunks:
            pieces = chunk["choices"][0]["delta"].get("tool_calls")
            for piece in pieces or ():
                call = calls.setdefault(piece["index"], {"function": {"name": "", "arguments": ""}})
                for member, given in piece["function"].items():
                    call["function"][member] += given
            if not pieces:
                kept.append(chunk)
        if not calls:
            return chunks
        said = chunk_like(kept[0], {"content": text_of(list(calls.values()))})
        return [*kept[:-1], said, kept[-1]]

    return stopping("tool_calls", whole, streamed)


def _leaks(markup: str) -> TurnChange:
    """The text is a call of the first tool, in this markup."""

    def change(request: ChatRequest, turn: Turn) -> Turn:
        if not request.tools:
            return turn
        try:
            call = call_of(request.tools[0])
        except Unsatisfiable:
            return turn
        return Turn((Text(_MARKUP[markup](call)),), finish_reason="stop")

    return change


def _garbled() -> TurnChange:
    """The text makes no sense."""

    def part(old: Part) -> Part:
        return Text(" ".join(word[::-1] for word in old.text.split(" "))) if isinstance(old, Text) else old

    def change(request: ChatRequest, turn: Turn) -> Turn:  # noqa: ARG001
        return replace(turn, parts=tuple(map(part, turn.parts)))

    return change


def _signed() -> Change:
    """The first call of a Chat answer carries a thought signature of Gemini's."""

    def change(answer: Answer) -> None:
        for document in documents(answer):
            for message in messages_of(document):
                for call in message.get("tool_calls") or ():
                    if call.get("id") and not call.get("index"):
                        call["extra_content"] = {"google": {"thought_signature": chance.token_hex(24)}}
                        break

    return change


def _unfinished() -> Change:
    """A response that calls one of the client's functions stays incomplete, and no reason is given."""

    def change(answer: Answer) -> None:
        last: dict[str, Any] = (list(documents(answer)) or [{}])[-1]
        response = last.get("response", last)
        if any(item.get("type") == "function_call" for item in response.get("output") or ()):
            response |= {"status": "incomplete", "completed_at": None}
            if answer.events is not None:
                last["type"] = "response.incomplete"

    return change


@dataclass(frozen=True, slots=True)
class _Merged(Behaviour):
    """Of several tools of one name only one is read."""

    wins: str = "first"

    def disregard(self, wire: WireName, body: dict[str, Any], model: str) -> dict[str, Any]:  # noqa: ARG002
        tools = body.get("tools")
        if not isinstance(tools, list):
            return body
        given = tools if self.wins == "first" else tools[::-1]
        found: dict[str, Any] = {}
        for number, tool in enumerate(given):
            found.setdefault(_name(tool) or f"\0{number}", tool)
        if len(found) == len(tools):
            return body
        kept = list(found.values())
        return {**body, "tools": kept if self.wins == "first" else kept[::-1]}


def _name(tool: Any) -> str | None:
    """The name of a tool as Chat, Responses, Messages or Ollama spell it."""
    holder = tool.get("function", tool) if isinstance(tool, dict) else None
    name = holder.get("name") if isinstance(holder, dict) else None
    return name if isinstance(name, str) else None


def _merging(wins: str = "first") -> Behaviour:
    return _Merged(labelled("tools-merged", wins=wins), wins)


CALLS: Mapping[str, Maker] = dict(
    (
        deviation("calls-as-text", _as_text),
        deviation("calls-signed", _signed),
        deviation("response-unfinished", _unfinished),
        turning("markup-leaks", _leaks),
        turning("text-garbled", _garbled),
        ("tools-merged", _merging),
    )
)
"""Makers by name."""

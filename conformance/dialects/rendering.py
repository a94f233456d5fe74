"""What rendering a conversation as text needs, whatever the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from conformance.dialects.jsontext import compact, load_object
from conformance.types import NamedChoice, Part, Refusal, Text, Tool, ToolCall

Choice: TypeAlias = Literal["none", "auto", "required"] | NamedChoice | None

JOINER = "\u200d"
"""ZERO WIDTH JOINER: invisible, and no tokenizer reads a marker with it inside as the marker."""

CONTROL = re.compile(
    r"<\|[A-Za-z_][\w ]*\|>"  # <|im_end|>, <|eot_id|>, <|start|>
    r"|<\|\w+>|<\w+\|>"  # Gemma 4: <|turn>, <turn|>
    r"|<｜[^｜<>\n]{1,40}｜>|</?｜DSML｜"  # DeepSeek
    r"|</?(?:start|end)_of_turn>|<(?:start|end)_of_turn>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS)\]|<</?SYS>>"
    r"|\]~!?b[\]\[]|\[e~\["  # MiniMax
    r"|</?s>"
)
"""Control tokens of chat templates: text that holds one could end a turn and begin another."""


@dataclass(frozen=True, slots=True)
class Written:
    """A call to be written: ``json`` is a JSON object, ``args`` what it decodes to.

    ``sound``: the arguments were an object; others are written as ``{"__raw": "..."}``. ``number`` counts
    the calls of the conversation, from 0. ``schema``: the parameters of the tool, where it is known.
    ``breaking``: what a raw value must not contain, as it would end there.
    """

    name: str
    json: str
    args: Mapping[str, Any]
    id: str
    number: int
    schema: Any = None
    sound: bool = True
    breaking: re.Pattern[str] = CONTROL

    @classmethod
    def of(cls, call: ToolCall, number: int, schema: Any = None) -> Written:
        """The call as it was received, its JSON untouched where that is an object."""
        if call.arguments.strip() in ("", "null"):
            return cls(call.name, "{}", {}, call.id, number, schema)
        args = load_object(call.arguments)
        if args is not None:
            return cls(call.name, call.arguments.strip(), args, call.id, number, schema)
        raw = {"__raw": call.arguments}
        return cls(call.name, compact(raw), raw, call.id, number, schema, sound=False)

    def raw(self, value: Any) -> str:
        """A value as formats without quotes write it: text as it is, if that can be, all else as JSON."""
        if isinstance(value, str):
            return neutralised(value, self.breaking)[0]
        return escaped(compact(value), self.breaking)


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back. ``name`` is ``""`` where the call is not known."""

    name: str
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """How results go back: the role the model's own chat template has for them, and the text."""

    role: str
    text: str


def neutralised(text: str, marks: re.Pattern[str]) -> tuple[str, int]:
    """The text with a joiner inside each mark (it reads the same and forges nothing), and how many."""
    return marks.subn(lambda m: m.group()[0] + JOINER + m.group()[1:], text)


def escaped(json: str, marks: re.Pattern[str]) -> str:
    """The same JSON without marks in its strings: their first character is written as ``\\u003c``."""
    return marks.sub(lambda m: f"\\u{ord(m.group()[0]):04x}{m.group()[1:]}", json)


def visible(part: Part) -> str:
    """The visible text of a part, with refusals read as text; empty for other parts."""
    return part.text if isinstance(part, Text | Refusal) else ""


def marks_of(literals: Iterable[str]) -> re.Pattern[str]:
    """Control tokens and a dialect's own markers."""
    own = sorted({re.escape(literal) for literal in literals}, key=len, reverse=True)
    return re.compile("|".join([*own, CONTROL.pattern]))


def function_json(tool: Tool) -> dict[str, Any]:
    """A tool as Chat Completions declares it."""
    return {"type": "function", "function": bare_json(tool)}


def bare_json(tool: Tool) -> dict[str, Any]:
    """A tool as name, description and parameters."""
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def lines_of(tools: Sequence[Tool], *, bare: bool = False) -> str:
    """One JSON object per line."""
    return "\n".join(compact(bare_json(tool) if bare else function_json(tool)) for tool in tools)


def chosen(choice: Choice, parallel: bool | None) -> str:
    """``tool_choice`` and ``parallel_tool_calls`` in words, as text has no field for them."""
    said = []
    if choice == "required":
        said.append("You must call at least one function in your next answer.")
    elif isinstance(choice, NamedChoice):
        said.append(f"You must call the function {choice.name} in your next answer.")
    if parallel is False:
        said.append("Call at most one function per answer.")
    return " ".join(said)


def paragraphs(*texts: str) -> str:
    """The texts that are not empty, a blank line between them."""
    return "\n\n".join(text for text in texts if text)

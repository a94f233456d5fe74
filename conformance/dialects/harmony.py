"""gpt-oss harmony: messages on channels, a recipient in the header makes one a call.

``<|call|>`` and ``<|return|>`` are stop tokens: engines strip them, so a call without one is whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.dialects.calls import Undecodable, arguments, decode
from conformance.dialects.dialect import Dialect, Run
from conformance.dialects.grammar import WAIT, Context, Found, Markers, Missed, Outcome, Think, Wait, flags
from conformance.dialects.jsontext import compact, skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.rendering import Result, Sent, Written
from conformance.dialects.schema_types import resolved, types
from conformance.dialects.tagged import cut, quoted
from conformance.types import Tool

START, CHANNEL, MESSAGE = "<|start|>assistant", "<|channel|>", "<|message|>"
_RESULT = "<|start|>functions."
ENDS = ("<|call|>", "<|end|>", "<|return|>")
_RECIPIENT = r"(?:\s+to=(?P<{}>[^\s<]{{1,256}}))?"
_HEAD = re.compile(
    rf"(?:<\|start\|>assistant{_RECIPIENT.format('first')})?\s*+"
    rf"(?:<\|channel\|>\s*+(?P<channel>\w{{1,64}}){_RECIPIENT.format('second')})?\s*+"
    r"(?:<\|constrain\|>\s*+\w{1,64}|\w{1,64})?\s*+<\|message\|>"
)
_BEGUN = re.compile(
    r"(?:<\|start\|>assistant)?(?:\s+to=\S*)?\s*+"
    r"(?:<\|channel\|>\s*+\w*+\s*+(?:to=\S*)?\s*+(?:<\|.*)?)?"
)
_NEXT = re.compile(r"<\|(?:call|end|return)\|>|<\|start\|>assistant|<\|channel\|>")
_LONGEST_HEAD = 600


class Harmony(Dialect):
    """``analysis`` is reasoning, ``commentary`` a preamble, ``final`` the answer; a recipient gets JSON."""

    name = "harmony"
    title = "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>"
    families = ("gpt-oss-20b", "gpt-oss-120b")
    source = "openai/harmony docs/format.md; vLLM openai; SGLang gpt-oss"
    results_as = "<|start|>functions.NAME to=assistant<|channel|>commentary<|message|>TEXT<|end|>"
    aliases = ("gpt-oss",)
    markers = Markers(open=(START, CHANNEL, _RESULT), swallow=ENDS, think=())
    forging = ("<|start|>", MESSAGE, "<|constrain|>")
    keeps_reasoning = True
    think = ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant")
    before_calls = ""

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(_RESULT, at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return quoted(at + len(_RESULT))
        window = text[at : at + _LONGEST_HEAD]
        inside = at + (len(START) if text.startswith(START, at) else len(CHANNEL))
        if MESSAGE not in window:
            if len(window) == _LONGEST_HEAD:
                return quoted(inside)
            if not context.final:
                return WAIT
            return cut(text) if _BEGUN.fullmatch(window) else quoted(inside)
        head = _HEAD.match(text, at)
        if head is None:
            return quoted(inside)
        recipient = head.group("first") or head.group("second")
        channel = head.group("channel")
        if recipient and recipient != "assistant":
            return _call(text, at, head.end(), recipient, context)
        if channel == "analysis":
            return Think(head.end(), "analysis", ENDS, (START, CHANNEL), must_close=False)
        return Found(head.end())

    def list_tools(self, tools: Sequence[Tool]) -> str:
        listed = "\n\n".join(_declaration(tool) for tool in tools)
        return f"# Tools\n\n## functions\n\nnamespace functions {{\n\n{listed}\n\n}} // namespace functions"

    def how_to_call(self) -> str:
        return (
            "Calls to these tools go to the commentary channel, the arguments as JSON:\n"
            f"{CHANNEL}commentary to=functions.name <|constrain|>json{MESSAGE}{{<arguments-object>}}<|call|>"
        )

    def join(self, runs: Sequence[Run]) -> str:
        if not any(run.calls for run in runs):
            return super().join(runs)
        said = f"{CHANNEL}commentary{MESSAGE}"
        return START.join(run.text if run.calls else f"{said}{run.text}<|end|>" for run in runs)

    def write_calls(self, calls: Sequence[Written]) -> str:
        return START.join(self.write_call(call) for call in calls)

    def write_call(self, call: Written) -> str:
        return f"{CHANNEL}commentary to=functions.{call.name} <|constrain|>json{MESSAGE}{call.json}<|call|>"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        said = f"{CHANNEL}commentary{MESSAGE}"
        return tuple(
            Sent("tool", f"{_RESULT}{result.name} to=assistant{said}{result.text}<|end|>")
            for result in results
        )


def _call(text: str, at: int, start: int, recipient: str, context: Context) -> Outcome:
    body = skip_space(text, start)
    if body == len(text):
        return cut(text) if context.final else WAIT
    name = recipient.removeprefix("functions.")
    found: frozenset[Flag] = flags() if name != recipient else flags("builtin")
    if text[body] not in "{[" and name == recipient:
        return _raw(text, at, start, name, context)
    got = decode(text, body, final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, start, "malformed")
    read = arguments(got.value, None if got.repaired else text[body : got.end])
    if read is None:
        return Missed(start, flags("malformed"), got.end)
    if got.repaired:
        found |= {"repaired"}
    end = skip_space(text, got.end)
    closing = next((m for m in ENDS if text.startswith(m, end)), "")
    if not closing and not text.startswith((START, CHANNEL), end):
        rest = text[end : end + len(START)]
        if any(len(rest) < len(m) and m.startswith(rest) for m in (*ENDS, START, CHANNEL)):
            if not context.final:
                return WAIT
        else:
            found |= {"unclosed"}
    end += len(closing)
    return Found(end, (Call(name, read[1], read[0], None, at, end),), found | read[2])


def _raw(text: str, at: int, start: int, name: str, context: Context) -> Outcome:
    """A call of a built-in tool whose input is no JSON, as ``python``'s is code."""
    close = _NEXT.search(text, start)
    if close is None and not context.final:
        return WAIT
    end = close.start() if close else len(text)
    args: Mapping[str, Any] = {"__input": text[start:end].strip()}
    if close and close.group() in ENDS:
        end = close.end()
    return Found(end, (Call(name, compact(args), args, None, at, end),), flags("builtin"))


_TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def _declaration(tool: Tool) -> str:
    """A tool as a TypeScript type, which is how gpt-oss knows them."""
    properties = tool.parameters.get("properties")
    comment = "".join(f"// {line}\n" for line in tool.description.splitlines())
    if not isinstance(properties, Mapping) or not properties:
        return f"{comment}type {tool.name} = () => any;"
    return f"{comment}type {tool.name} = (_: {_type(tool.parameters, tool.parameters, 0)}) => any;"


def _type(schema: Any, root: Any, depth: int) -> str:
    schema = resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > 8:
        return "any"
    if isinstance(schema.get("enum"), list):
        return " | ".join(compact(value) for value in schema["enum"])
    allowed = types(schema, root)
    names = []
    for name in sorted(allowed):
        if name == "object" and isinstance(schema.get("properties"), Mapping):
            names.append(_object(schema, root, depth))
        elif name == "array":
            names.append(f"{_type(schema.get('items'), root, depth + 1)}[]")
        else:
            names.append(_TYPES.get(name, "object"))
    return " | ".join(names) or "any"


def _object(schema: Mapping[str, Any], root: Any, depth: int) -> str:
    needed = schema.get("required")
    lines = ["{"]
    for key, inner in schema["properties"].items():
        said = inner.get("description") if isinstance(inner, Mapping) else None
        if isinstance(said, str) and said:
            lines.append(f"// {said}")
        mark = "" if isinstance(needed, list) and key in needed else "?"
        lines.append(f"{key}{mark}: {_type(inner, root, depth + 1)},")
    return "\n".join([*lines, "}"])

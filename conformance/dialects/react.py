"""ReAct: a thought, an action and its input on lines of their own, or in tags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.dialects.calls import Undecodable, arguments, decode, raw_call
from conformance.dialects.dialect import Dialect, Run
from conformance.dialects.grammar import (
    NO_FLAGS,
    WAIT,
    Context,
    Found,
    Markers,
    Missed,
    Outcome,
    Pattern,
    Wait,
    flags,
    may_become,
)
from conformance.dialects.jsontext import scan, skip_space
from conformance.dialects.parsed import Call, Flag, Piece
from conformance.dialects.rendering import Result, Sent, Written, lines_of, paragraphs
from conformance.dialects.schema_types import child, types
from conformance.dialects.tagged import cut, quoted
from conformance.types import Text, Tool

INPUT = "__input"
"""The argument a free text becomes, where the tool has not exactly one text parameter."""

OBSERVATION, FINAL = "Observation:", "Final Answer:"
_ACTION = Pattern(r"Action(?: \d{1,3})?:", r"A(?:c(?:t(?:i(?:o(?:n(?: (?:\d{1,3})?)?)?)?)?)?)?")
_INPUT_LABEL = re.compile(r"Action(?: \d{1,3})? Input(?: \d{1,3})?:")
_INPUT_BEGUN = re.compile(
    r"(?:A(?:c(?:t(?:i(?:o(?:n(?: (?:\d{1,3}(?: (?:I(?:n(?:p(?:u(?:t(?: (?:\d{1,3})?)?)?)?)?)?)?)?"
    r"|I(?:n(?:p(?:u(?:t(?: (?:\d{1,3})?)?)?)?)?)?)?)?)?)?)?)?)?)?"
)
_NEXT = re.compile(r"^(?:Observation:|Final Answer:|Thought:|Action(?: \d{1,3})?:)", re.MULTILINE)
_OPEN_FENCE = re.compile(r"```(?:json)?\s*")
_TAG_ACTION = re.compile(r"<action>\s{0,16}([^<>\n]{1,256}?)\s{0,16}</action>\s{0,16}<input>\s*")
_TAG_BEGUN = re.compile(
    r"<action>\s{0,16}[^<>\n]{0,256}\s{0,16}(?:</?[a-z]{0,6}(?:>\s{0,16}(?:<[a-z]{0,5})?)?)?"
)


class React(Dialect):
    """Several actions in a row are several calls; an action with a final answer is neither."""

    name = "react"
    title = "Action: NAME, Action Input: {...} on lines; or <action>NAME</action><input>{...}</input>"
    families = ("any model, prompted (LangChain, LlamaIndex, smolagents)",)
    source = "ReAct (Yao et al. 2022); langchain-classic ReActSingleInputOutputParser"
    results_as = "role user: Observation: TEXT"
    markers = Markers(open=("<action>",), lines=(_ACTION, FINAL, OBSERVATION, "<observation>"))
    forging_lines = re.compile(
        r"^[ \t]*(?:Thought|Action(?: \d+)?(?: Input)?|Observation|Final Answer)(?=:)", re.MULTILINE
    )
    stop = ("\nObservation:",)
    text_first = True

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith("<action>", at):
            return _tags(text, at, context)
        if text.startswith(FINAL, at):
            odd = flags("final", "malformed") if context.calls else flags("final")
            return Found(at + len(FINAL), (), odd, "verbatim")
        if text.startswith((OBSERVATION, "<observation>"), at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return Missed(at)
        return _actions(text, at, context)

    def verdict(self, pieces: Sequence[Piece], found: frozenset[Flag]) -> frozenset[Flag]:
        """Text without an action or a final answer does not follow the format."""
        acted = any(isinstance(piece, Call) for piece in pieces) or "final" in found
        said = any(isinstance(piece, Text) for piece in pieces)
        return found if acted or not said else found | {"malformed"}

    def list_tools(self, tools: Sequence[Tool]) -> str:
        return paragraphs("You have these tools:", lines_of(tools, bare=True))

    def how_to_call(self) -> str:
        return (
            "To use a tool, write these lines, and then stop:\n"
            "Thought: what to do\nAction: the name of the tool\n"
            "Action Input: its arguments as a JSON object\n"
            "The result follows as Observation. When you know the answer, write:\n"
            "Thought: I know the answer\nFinal Answer: the answer"
        )

    def join(self, runs: Sequence[Run]) -> str:
        text = super().join(runs)
        return text if not text or any(run.calls for run in runs) else f"{FINAL} {text}"

    def write_call(self, call: Written) -> str:
        return f"Action: {call.name}\nAction Input: {call.json}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return (Sent("user", "\n".join(f"Observation: {result.text}" for result in results)),)


# ------------------------------------------------------------------------------------------ lines


@dataclass(slots=True)
class _Steps:
    """What a run of actions has brought."""

    pieces: list[Call | Text] = field(default_factory=list)
    flags: frozenset[Flag] = NO_FLAGS


def _actions(text: str, at: int, context: Context) -> Outcome:
    """Everything from the first action on: what follows it may make it malformed."""
    steps = _Steps()
    position = at
    while True:
        end = _action(text, position, context, steps)
        if isinstance(end, Wait) or (isinstance(end, Missed) and not steps.pieces):
            return end
        if isinstance(end, Missed):  # what came before it stands
            return Found(position, tuple(steps.pieces), steps.flags | flags("malformed"))
        following = _NEXT.search(text, end)
        if following is None:
            if not context.final:
                return WAIT
            steps.pieces.append(Text(text[end:]))
            return Found(len(text), tuple(steps.pieces), steps.flags)
        steps.pieces.append(Text(text[end : following.start()]))
        position = following.start()
        if following.group() == OBSERVATION:
            steps.flags |= {"hallucinated-observation"}
            return Found(len(text), tuple(steps.pieces), steps.flags, "dropped")
        if following.group() == FINAL:
            return Missed(following.end(), flags("malformed"), rest="verbatim")
        if following.group() == "Thought:":
            after = _NEXT.search(text, following.end())
            if after is None:
                if not context.final:
                    return WAIT
                steps.pieces.append(Text(text[position:]))
                return Found(len(text), tuple(steps.pieces), steps.flags)
            steps.pieces.append(Text(text[position : after.start()]))
            position = after.start()
            if not text.startswith("Action", position):
                return _after_thought(position, after.group(), steps)


def _after_thought(position: int, label: str, steps: _Steps) -> Outcome:
    if label == FINAL:
        return Missed(position + len(FINAL), flags("malformed"), rest="verbatim")
    if label == OBSERVATION:
        steps.flags |= {"hallucinated-observation"}
        return Found(position, tuple(steps.pieces), steps.flags, "dropped")
    return Found(position, tuple(steps.pieces), steps.flags)


def _action(text: str, at: int, context: Context, steps: _Steps) -> int | Missed | Wait:
    """Read an action and its input; say where that ends."""
    label = re.compile(_ACTION.whole).match(text, at)
    assert label is not None
    newline = text.find("\n", label.end())
    if newline < 0:
        return cut(text) if context.final else WAIT
    name = text[label.end() : newline].strip()
    if not name:
        return Missed(newline + 1, flags("malformed"))
    start = skip_space(text, newline + 1)
    head = _INPUT_LABEL.match(text, start)
    if head is None:
        if not context.final and _INPUT_BEGUN.fullmatch(text, start):
            return WAIT
        return Missed(newline + 1, flags("malformed"))
    start = skip_space(text, head.end())
    fence = _OPEN_FENCE.match(text, start)
    body = fence.end() if fence else start
    if body == len(text) or (not fence and may_become(text, start, ("```json",))):
        if not context.final:
            return WAIT
        if not fence:
            body = len(text)
    if body < len(text) and text[body] == "{":
        return _json_input(text, at, body, name, fence is not None, context, steps)
    return _text_input(text, at, head.end(), name, context, steps)


def _json_input(
    text: str, at: int, body: int, name: str, fenced: bool, context: Context, steps: _Steps
) -> int | Missed | Wait:
    got = decode(text, body, final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, body, "malformed")
    read = arguments(got.value, None if got.repaired else text[body : got.end])
    if read is None:
        return Missed(got.end, flags("malformed"))
    end = got.end
    if fenced:
        close = skip_space(text, end)
        if not context.final and (close == len(text) or may_become(text, close, ("```",))):
            return WAIT
        end = close + 3 if text.startswith("```", close) else end
    steps.pieces.append(Call(name, read[1], read[0], None, at, end))
    steps.flags |= read[2] | (flags("repaired") if got.repaired else NO_FLAGS)
    return end


def _text_input(
    text: str, at: int, start: int, name: str, context: Context, steps: _Steps
) -> int | Missed | Wait:
    following = _NEXT.search(text, start)
    if following is None and not context.final:
        return WAIT
    end = following.start() if following else len(text)
    args = text_arguments(text[start:end], context.schema(name))
    call = raw_call(name, args, at, end)
    if call is None:
        return Missed(end, flags("malformed"))
    steps.pieces.append(call)
    return end


def text_arguments(raw: str, schema: object) -> dict[str, Any]:
    """The arguments a free text stands for: the tool's only text parameter, or ``__input``."""
    text = raw.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3].removeprefix("json").strip()
    if text in ("", "null", "None"):
        return {}
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        got = scan(text, 0, python=True)
        text = got.value if getattr(got, "end", 0) == len(text) else text[1:-1]  # type: ignore[union-attr]
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping) and len(properties) == 1:
        (key,) = properties
        if types(child(schema, key), schema) == {"string"}:
            return {key: text}
    return {INPUT: text}


# ------------------------------------------------------------------------------------------- tags


def _tags(text: str, at: int, context: Context) -> Outcome:
    inside = at + len("<action>")
    head = _TAG_ACTION.match(text, at)
    if head is None:
        if not _TAG_BEGUN.fullmatch(text, at):
            return quoted(inside)
        return cut(text) if context.final else WAIT
    start = head.end()
    if start == len(text):
        return cut(text) if context.final else WAIT
    steps = _Steps()
    if text[start] == "{":
        end = _json_input(text, at, start, head.group(1), False, context, steps)
        if isinstance(end, Missed | Wait):
            return end
        close = skip_space(text, end)
        if text.startswith("</input>", close):
            return Found(close + len("</input>"), tuple(steps.pieces), steps.flags)
        if not context.final and (close == len(text) or may_become(text, close, ("</input>",))):
            return WAIT
        return Found(end, tuple(steps.pieces), steps.flags | {"unclosed"})
    close = text.find("</input>", start)
    if close < 0:
        return cut(text) if context.final else WAIT
    args = text_arguments(text[start:close], context.schema(head.group(1)))
    end = close + len("</input>")
    call = raw_call(head.group(1), args, at, end)
    return Found(end, (call,)) if call else Missed(end, flags("malformed"), end)

"""JSON actions: ``{"action", "action_input"}`` or ``{"tool", "parameters"}``, or a list; often fenced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.dialects.calls import Decoded, Undecodable, arguments, decode, raw_call
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
from conformance.dialects.jsontext import compact, skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.react import OBSERVATION, text_arguments
from conformance.dialects.rendering import Result, Sent, Written, lines_of, paragraphs
from conformance.types import Text, Tool

FINAL = "Final Answer"
_BLOB = Pattern(
    r"(?:Action:\s{0,16})?(?:```(?:json|JSON)?\s{0,16})?[{\[](?=\s{0,16}[{\[\"'}\]])",
    r"(?:A(?:c(?:t(?:i(?:o(?:n(?::\s{0,16})?)?)?)?)?)?)?(?:`{1,3}|```(?:j(?:s(?:on?)?)?|J(?:S(?:ON?)?)?)?\s{0,16})?"
    r"(?:[{\[]\s{0,16})?",
)
_HEAD = re.compile(r"(Action:\s*)?(```(?:json|JSON)?\s*)?")
_PAIRS = (("action", "action_input"), ("tool", "parameters"))


class JsonAction(Dialect):
    """The first blob counts. Text on both sides makes it an example, unless ``Action:`` announces it."""

    name = "json-action"
    title = '{"action", "action_input"} or {"tool", "parameters"}, bare or fenced, or a list'
    families = ("any model, prompted (LangChain JSON and structured chat agents)",)
    source = "langchain-classic JSONAgentOutputParser, StructuredChatOutputParser"
    results_as = "role user: Observation: TEXT"
    markers = Markers(lines=(_BLOB, OBSERVATION), fences=True)
    forging_lines = re.compile(r"^[ \t]*(?:Observation|Action)(?=:)", re.MULTILINE)
    stop = ("\nObservation:",)
    text_first = True

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(OBSERVATION, at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return Missed(at)
        head = _HEAD.match(text, at)
        assert head is not None
        got = decode(text, head.end(), final=context.final)
        if isinstance(got, Wait):
            return WAIT
        if isinstance(got, Undecodable):
            meant = any(key in got.keys for pair in _PAIRS for key in pair[:1])
            return got.missed(text, at, *(("malformed",) if meant else ()))
        read = _read(got, text, at, context)
        if read is None:
            return Missed(at if head.group(2) else got.end, NO_FLAGS, got.end)
        return self._with_rest(text, got.end, head, read, context)

    def _with_rest(
        self,
        text: str,
        end: int,
        head: re.Match[str],
        read: tuple[tuple[Call | Text, ...], frozenset[Flag]],
        context: Context,
    ) -> Outcome:
        """What stands behind the blob says whether it is a call, and whether the model went on by itself."""
        if head.group(2):
            close = skip_space(text, end)
            if not context.final and (close == len(text) or may_become(text, close, ("```",))):
                return WAIT
            end = close + 3 if text.startswith("```", close) else end
        pieces, found = read
        if len({type(piece) for piece in pieces}) > 1:  # an action beside a final answer
            return Missed(end, flags("malformed"), end)
        rest = skip_space(text, end)
        if rest == len(text):
            return Found(end, pieces, found, "verbatim", "ambiguous") if context.final else WAIT
        if text.startswith(OBSERVATION, rest):
            return Found(len(text), pieces, found | {"hallucinated-observation"}, "dropped")
        if not context.final and may_become(text, rest, (OBSERVATION,)):
            return WAIT
        if context.said and not head.group(1):
            return Missed(end, flags("quoted"), end)
        return Found(end, pieces, found, "verbatim", "ambiguous")

    def list_tools(self, tools: Sequence[Tool]) -> str:
        return paragraphs("You have these tools:", lines_of(tools, bare=True))

    def how_to_call(self) -> str:
        return (
            "To use a tool, write one JSON object in a fenced block (or a list of them for several calls), "
            "and then stop:\n"
            '```json\n{"action": <tool-name>, "action_input": <arguments-object>}\n```\n'
            f'To answer, use "{FINAL}" as the action and the answer as its input.'
        )

    def join(self, runs: Sequence[Run]) -> str:
        text = super().join(runs)
        if not text or any(run.calls for run in runs):
            return text
        return f'```json\n{{"action": "{FINAL}", "action_input": {compact(text)}}}\n```'

    def write_calls(self, calls: Sequence[Written]) -> str:
        inside = ", ".join(self.write_call(call) for call in calls)
        return f"```json\n{inside if len(calls) == 1 else f'[{inside}]'}\n```"

    def write_call(self, call: Written) -> str:
        return f'{{"action": {compact(call.name)}, "action_input": {call.json}}}'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return (Sent("user", "\n".join(f"Observation: {result.text}" for result in results)),)


def _read(
    got: Decoded, text: str, at: int, context: Context
) -> tuple[tuple[Call | Text, ...], frozenset[Flag]] | None:
    values = got.value if isinstance(got.value, list) else [got.value]
    pieces: list[Call | Text] = []
    found: frozenset[Flag] = flags("repaired") if got.repaired else NO_FLAGS
    for value in values:
        pair = next(
            (p for p in _PAIRS if isinstance(value, Mapping) and isinstance(value.get(p[0]), str)), None
        )
        if pair is None:
            return None
        name, given = value[pair[0]], value.get(pair[1])
        if name == FINAL:
            pieces.append(Text(given if isinstance(given, str) else compact(given)))
            found |= {"final"}
            continue
        if pair[1] not in value and name not in context.tools:
            return None
        call = _call(name, given, got, value, pair[1], text, at, context)
        if call is None:
            return None
        pieces.append(call)
    return (tuple(pieces), found) if pieces else None


def _call(
    name: str, given: Any, got: Decoded, value: Any, key: str, text: str, at: int, context: Context
) -> Call | None:
    where = got.spans.get(id(value), {}).get(key)
    if isinstance(given, str):
        return raw_call(name, text_arguments(given, context.schema(name)), at, got.end)
    read = arguments(given, text[slice(*where)] if where and not got.repaired else None)
    return Call(name, read[1], read[0], None, at, got.end) if read else None

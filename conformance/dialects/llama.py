"""Llama 3.1 to 3.3: JSON as the whole output, or behind ``<|python_tag|>``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.dialects.calls import LLAMA, Undecodable, calls_of, decode, raw_call
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import (
    WAIT,
    Context,
    Found,
    Markers,
    Missed,
    Outcome,
    Wait,
    flags,
    may_become,
)
from conformance.dialects.jsontext import compact, skip_space
from conformance.dialects.parsed import Call, Flag
from conformance.dialects.python_calls import PythonCall, Unfinished, python_call
from conformance.dialects.rendering import Result, Sent, Written, lines_of, paragraphs
from conformance.dialects.tagged import cut
from conformance.types import Tool

TAG = "<|python_tag|>"
_STOP = ("<|eom_id|>", "<|eot_id|>")
_BUILTIN = re.compile(r"[A-Za-z_][\w.]{0,255}")


class Llama3Json(Dialect):
    """Objects with ``name`` and ``parameters``, a semicolon between several.

    Without the tag the calls must be the whole output: JSON that is no call is an answer.
    """

    name = "llama3-json"
    title = '{"name", "parameters"}, alone or behind <|python_tag|>'
    families = ("Llama 3.1", "Llama 3.2", "Llama 3.3")
    source = "Llama 3.1 prompt format; vLLM llama3_json, llama4_json; SGLang llama3; llama.cpp Llama 3.x"
    results_as = 'role ipython: {"output": TEXT}'
    aliases = ("llama3",)
    markers = Markers(open=(TAG,), first=("{",), stop=_STOP)
    between_calls = "; "
    text_first = True
    before_calls = ""

    def region(self, text: str, at: int, context: Context) -> Outcome:
        tagged = text.startswith(TAG, at)
        inside = at + (len(TAG) if tagged else 1)
        start = skip_space(text, at + len(TAG)) if tagged else at
        if start == len(text):
            return cut(text) if context.final else WAIT
        if text[start] != "{":
            return _builtin(text, at, start, inside, context)
        return _objects(text, at, start, inside, tagged, context)

    def list_tools(self, tools: Sequence[Tool]) -> str:
        return paragraphs("# Tools\n\nYou may call these functions:", lines_of(tools))

    def how_to_call(self) -> str:
        return (
            "To call a function, answer with a JSON object with its name and arguments, and nothing else:\n"
            '{"name": <function-name>, "parameters": <arguments-object>}\n'
            "Write a semicolon between several calls."
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return TAG + super().write_calls(calls)

    def write_call(self, call: Written) -> str:
        return f'{{"name": {compact(call.name)}, "parameters": {call.json}}}'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(Sent("ipython", compact({"output": result.text})) for result in results)


def _objects(text: str, at: int, start: int, inside: int, tagged: bool, context: Context) -> Outcome:
    calls: list[Call] = []
    found: frozenset[Flag] = flags()
    position = end = start
    while True:
        got = decode(text, position, final=context.final)
        if isinstance(got, Wait):
            return WAIT
        if isinstance(got, Undecodable):
            if calls and tagged:
                return Found(end, tuple(calls), found | {"malformed"})
            meant = tagged or bool(calls) or "name" in got.keys
            return got.missed(text, inside, *(("malformed",) if meant else ()))
        read = calls_of(text, got, at, LLAMA) if isinstance(got.value, dict) else None
        if read is None:
            if calls and tagged:
                return Found(end, tuple(calls), found | {"malformed"})
            return Missed(got.end, flags("malformed") if tagged or calls else flags(), got.end)
        calls += read[0]
        found |= read[1]
        end = got.end
        position = skip_space(text, end)
        if position == len(text) and not context.final:
            return WAIT
        if text.startswith(";", position):
            position = skip_space(text, position + 1)
            if position == len(text) and not context.final:
                return WAIT
        elif text.startswith("{", position):
            found |= {"repaired"}  # the semicolon was left out
        if not text.startswith("{", position):
            break
    if tagged:
        return Found(position, tuple(calls), found)
    stop = next((m for m in _STOP if text.startswith(m, position)), "")
    if skip_space(text, position + len(stop)) == len(text):
        return Found(len(text), tuple(calls), found) if context.final else WAIT
    if not context.final and may_become(text, position, _STOP):
        return WAIT
    return Missed(end, flags("quoted"))


def _builtin(text: str, at: int, start: int, inside: int, context: Context) -> Outcome:
    """``brave_search.call(query="...")``: the syntax of the tools Llama 3.1 brings along."""
    name = _BUILTIN.match(text, start)
    if name is None:
        return Missed(inside, flags("quoted"))
    read = python_call(text, start)
    if isinstance(read, Unfinished):
        return cut(text) if context.final else WAIT
    if not isinstance(read, PythonCall) or not read.name.endswith(".call"):
        return Missed(inside, flags("quoted"))
    call = raw_call(read.name.removesuffix(".call"), read.args, at, read.end)
    if call is None:
        return Missed(read.end, flags("malformed"), read.end)
    return Found(read.end, (call,), flags("builtin", "repaired") if read.repaired else flags("builtin"))

"""Calls as a Python list: ``[get_weather(city="Oslo"), get_time()]``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.dialects.calls import raw_call
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import (
    WAIT,
    Context,
    Found,
    Markers,
    Missed,
    Outcome,
    Pattern,
    flags,
    may_become,
)
from conformance.dialects.jsontext import compact, skip_space
from conformance.dialects.parsed import Call
from conformance.dialects.python_calls import NoCall, PythonCall, Unfinished, python_call, python_text
from conformance.dialects.rendering import Result, Sent, Written, escaped, lines_of, paragraphs
from conformance.dialects.tagged import cut
from conformance.types import Tool

START, END = "<|python_start|>", "<|python_end|>"
_LIST = Pattern(r"\[\s{0,16}[A-Za-z_][\w.-]{0,127}\(", r"\[\s{0,16}(?:[A-Za-z_][\w.-]{0,127})?")


class Pythonic(Dialect):
    """Without its markers the list must end the text, or it is an example (*quoted*)."""

    name = "pythonic"
    title = '[NAME(key="value"), NAME()]'
    families = ("Llama 3.2", "Llama 4", "ToolACE", "LFM2 (inside its own markers)")
    source = "Llama 4 prompt format; vLLM pythonic, llama4_pythonic; SGLang pythonic"
    results_as = "role ipython, the text of the result"
    aliases = ("llama4-pythonic",)
    markers = Markers(
        open=(START, _LIST), close=(END,), stop=("<|eom|>", "<|eot|>", "<|eot_id|>", "<|eom_id|>")
    )
    between_calls = ", "
    text_first = True

    def region(self, text: str, at: int, context: Context) -> Outcome:
        marked = text.startswith(START, at)
        start = skip_space(text, at + len(START)) if marked else at
        inside = at + len(START) if marked else at + 1
        if start == len(text):
            return cut(text) if context.final else WAIT
        if text[start] != "[":
            return Missed(inside, flags("quoted"))
        calls: list[Call] = []
        found = flags()
        position = skip_space(text, start + 1)
        while True:
            read = python_call(text, position)
            if isinstance(read, Unfinished):
                if not context.final:
                    return WAIT
                return cut(text) if marked or self._declared(text, start, context) else Missed(len(text))
            if isinstance(read, NoCall):
                odd = marked or read.name in context.tools or bool(calls)
                return Missed(inside, flags("malformed") if odd else flags(), read.at)
            assert isinstance(read, PythonCall)
            call = raw_call(read.name, read.args, at, read.end)
            if call is None:
                return Missed(inside, flags("malformed"), read.end)
            calls.append(call)
            found |= flags("repaired") if read.repaired else flags()
            position = skip_space(text, read.end)
            if text.startswith(",", position):
                position = skip_space(text, position + 1)
            elif text.startswith("]", position):
                break
            elif position < len(text):
                return Missed(inside, flags("malformed"), position)
        end = position + 1
        calls = [replace(call, end=end) for call in calls]
        after = skip_space(text, end)
        if marked:
            if text.startswith(END, after):
                return Found(after + len(END), tuple(calls), found)
            if not context.final and (after == len(text) or may_become(text, after, (END,))):
                return WAIT
            return Found(end, tuple(calls), found | {"unclosed"})
        stop = next((m for m in self.markers.stop if text.startswith(m, after)), "")
        last = skip_space(text, after + len(stop))
        if last == len(text):
            return Found(len(text), tuple(calls), found) if context.final else WAIT
        if not context.final and may_become(text, after, self.markers.stop):
            return WAIT
        return Missed(end, flags("quoted"))

    def _declared(self, text: str, start: int, context: Context) -> bool:
        name = text[start + 1 :].lstrip().partition("(")[0] if context.tools else ""
        return name in context.tools

    def list_tools(self, tools: Sequence[Tool]) -> str:
        return paragraphs("# Tools\n\nYou may call these functions:", lines_of(tools, bare=True))

    def how_to_call(self) -> str:
        return (
            "To call functions, write a list of Python calls with keyword arguments and literal values, "
            "and nothing else:\n[function_name(key=value), other_function(key=value)]"
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return f"[{super().write_calls(calls)}]"

    def write_call(self, call: Written) -> str:
        return escaped(python_text(call.name, call.args), self.marks)

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(Sent("ipython", compact({"output": result.text})) for result in results)

"""Kimi K2: calls between special tokens, each with an id that is text and has to be echoed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.dialects.blocks import block
from conformance.dialects.calls import Undecodable, arguments, decode
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
from conformance.dialects.jsontext import skip_space
from conformance.dialects.parsed import Call
from conformance.dialects.rendering import Result, Sent, Written
from conformance.dialects.tagged import Body, BodyOrNot, cut, quoted

SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CALL, CALL_END = "<|tool_call_begin|>", "<|tool_call_end|>"
ARGUMENTS = "<|tool_call_argument_begin|>"
_HEAD = re.compile(rf"{re.escape(CALL)}\s*([^<>\s]{{1,300}})\s*{re.escape(ARGUMENTS)}\s*")
_BEGUN = re.compile(r"\s*[^<>\s]*\s*(?:<[^>]*)?")
_ID = re.compile(r"(functions\.)?(?=[^:]*[^\d:])([^:]+):(\d+)")
_LONGEST_HEAD = 700


class KimiK2(Dialect):
    """The id is ``functions.NAME:COUNTER``; the counter counts the calls of the conversation."""

    name = "kimi-k2"
    title = "<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>"
    families = ("Kimi K2", "Kimi K2 Thinking", "Kimi K2.5")
    source = "Kimi-K2 docs/tool_call_guidance.md; vLLM kimi_k2; SGLang kimi_k2"
    results_as = "role tool: ## Return of ID, then the text"
    aliases = ("kimi",)
    markers = Markers(open=(SECTION, CALL), close=(SECTION_END, CALL_END, ARGUMENTS), stop=("<|im_end|>",))
    keeps_reasoning = True
    between_calls = ""
    before_calls = ""

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(SECTION, at):
            return block(text, at + len(SECTION), SECTION_END, CALL, self._item, context)
        body = self._item(text, at, context)
        if isinstance(body, Body):
            return Found(body.end, (body.call,), body.flags | {"repaired"})
        return body

    def _item(self, text: str, at: int, context: Context) -> BodyOrNot:
        head = _HEAD.match(text, at)
        if head is None or head.end() == len(text):
            if head is None and len(text) - at >= _LONGEST_HEAD:
                return quoted(at + len(CALL))
            if not context.final:
                return WAIT
            return cut(text) if head or _BEGUN.fullmatch(text, at + len(CALL)) else quoted(at + len(CALL))
        parts = _ID.fullmatch(head.group(1))
        if parts is None:
            return Missed(at + len(CALL), flags("malformed"), head.end())
        got = decode(text, head.end(), final=context.final)
        if isinstance(got, Wait):
            return WAIT
        if isinstance(got, Undecodable):
            return got.missed(text, at + len(CALL), "malformed")
        read = arguments(got.value, None if got.repaired else text[head.end() : got.end])
        if read is None:
            return Missed(at + len(CALL), flags("malformed"), got.end)
        found = read[2] | (flags("repaired") if got.repaired or not parts.group(1) else flags())
        end = skip_space(text, got.end)
        if text.startswith(CALL_END, end):
            end += len(CALL_END)
        elif not context.final and (end == len(text) or may_become(text, end, (CALL_END,))):
            return WAIT
        else:
            end, found = got.end, found | {"unclosed"}
        return Body(Call(parts.group(2), read[1], read[0], head.group(1), at, end), end, found)

    def how_to_call(self) -> str:
        return (
            "To call functions, write, counting the calls of the conversation from 0:\n"
            f"{SECTION}{CALL}functions.function-name:0{ARGUMENTS}{{<arguments-object>}}{CALL_END}{SECTION_END}\n"
            f"For several calls repeat the part from {CALL} to {CALL_END}."
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return SECTION + super().write_calls(calls) + SECTION_END

    def id_in_text(self, call: Written) -> str:
        known = _ID.fullmatch(call.id)
        return call.id if known and known.group(2) == call.name else f"functions.{call.name}:{call.number}"

    def write_call(self, call: Written) -> str:
        return f"{CALL}{self.id_in_text(call)}{ARGUMENTS}{call.json}{CALL_END}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(Sent("tool", f"## Return of {result.id}\n{result.text}") for result in results)

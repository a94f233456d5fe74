"""Mistral's ``[TOOL_CALLS]``: a JSON array (tokenizers v2, v3, v7), or a name and ``[ARGS]`` (v11 on)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.dialects.calls import NAME, Keys, Undecodable, arguments, calls_of, decode
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import (
    THINK,
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
from conformance.dialects.parsed import Call
from conformance.dialects.rendering import Result, Sent, Written, bare_json
from conformance.dialects.tagged import cut, quoted
from conformance.types import Tool

CALLS, ARGS, CALL_ID = "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"
_NAME = re.compile(NAME)
_ID = re.compile(r"\[CALL_ID\]([A-Za-z0-9]{1,64})")
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_LONGEST_HEAD = 400
_KEYS = Keys()


class _Mistral(Dialect):
    ids = "mistral"
    markers = Markers(
        open=(CALLS,),
        lines=("[TOOL_RESULTS]",),
        close=(ARGS, CALL_ID),
        stop=("</s>",),
        think=(*THINK, ("[THINK]", "[/THINK]")),
    )
    forging = ("[/TOOL_RESULTS]", "[TOOL_RESULTS]", "[TOOL_CONTENT]")
    think = ("[THINK]", "[/THINK]")
    before_calls = ""
    array: bool

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith("[TOOL_RESULTS]", at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return Missed(at)
        inside = at + len(CALLS)
        start = skip_space(text, inside)
        if start == len(text):
            return cut(text) if context.final else WAIT
        if text[start] in "[{":
            return self._own(_array(text, at, start, inside, context), array=True)
        return self._own(_compact(text, at, start, inside, context), array=False)

    def _own(self, outcome: Outcome, *, array: bool) -> Outcome:
        if isinstance(outcome, Found) and array != self.array:
            return Found(outcome.end, outcome.pieces, outcome.flags | {"ambiguous", "repaired"})
        return outcome

    def list_tools(self, tools: Sequence[Tool]) -> str:
        listed = compact([{"type": "function", "function": bare_json(tool)} for tool in tools])
        return f"[AVAILABLE_TOOLS]{listed}[/AVAILABLE_TOOLS]"


def _array(text: str, at: int, start: int, resume: int, context: Context) -> Outcome:
    got = decode(text, start, final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, resume, "malformed")
    read = calls_of(text, got, at, _KEYS, lists=True)
    if read is None:
        return Missed(resume, flags("malformed"), got.end)
    single = flags() if isinstance(got.value, list) else flags("repaired")
    return Found(got.end, read[0], read[1] | single)


def _compact(text: str, at: int, start: int, resume: int, context: Context) -> Outcome:
    name = _NAME.match(text, start)
    if name is None:
        return quoted(resume)
    position = name.end()
    own = _ID.match(text, position)
    if own:
        position = own.end()
    open_id = own is None and text.startswith(CALL_ID, position)
    if open_id or position == len(text) or may_become(text, position, (ARGS, CALL_ID)):
        if not context.final and len(text) - at < _LONGEST_HEAD:
            return WAIT
        return cut(text) if context.final and len(text) - at < _LONGEST_HEAD else quoted(resume)
    bracket = text.startswith(ARGS, position)
    body = skip_space(text, position + len(ARGS)) if bracket else position
    if body == len(text):
        return cut(text) if context.final else WAIT
    if not bracket and text[body] != "{":
        return quoted(resume)
    got = decode(text, body, final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, resume, "malformed")
    read = arguments(got.value, None if got.repaired else text[body : got.end])
    if read is None:
        return Missed(resume, flags("malformed"), got.end)
    found = read[2] | (flags() if bracket and not got.repaired else flags("repaired"))
    call = Call(name.group(), read[1], read[0], own.group(1) if own else None, at, got.end)
    return Found(got.end, (call,), found)


class MistralJson(_Mistral):
    """An array of objects; from v3 on each has an ``id`` of nine letters or digits."""

    name = "mistral-json"
    title = '[TOOL_CALLS] [{"name", "arguments", "id"}]'
    families = ("Mistral 7B v0.3", "Mixtral 8x22B", "Mistral Nemo, Small, Large 2 (tokenizers v2, v3, v7)")
    source = "mistral-common 1.13.1 tokens/tokenizers; vLLM mistral; SGLang mistral"
    results_as = '[TOOL_RESULTS]{"content", "call_id"}[/TOOL_RESULTS] per result'
    aliases = ("mistral",)
    array = True

    def how_to_call(self) -> str:
        return (
            "To call functions, write a JSON array with one object per call, and nothing behind it:\n"
            f'{CALLS} [{{"name": <function-name>, "arguments": <arguments-object>}}]'
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return f"{CALLS} [{', '.join(self.write_call(call) for call in calls)}]"

    def write_call(self, call: Written) -> str:
        own = f', "id": "{call.id}"' if _NINE.fullmatch(call.id) else ""
        return f'{{"name": {compact(call.name)}, "arguments": {call.json}{own}}}'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(
            Sent("tool", f"[TOOL_RESULTS]{compact(_row(result))}[/TOOL_RESULTS]") for result in results
        )


def _row(result: Result) -> dict[str, str]:
    """v3 knows a result by its id, v2 by the name of its tool."""
    if _NINE.fullmatch(result.id):
        return {"content": result.text, "call_id": result.id}
    return {"name": result.name, "content": result.text}


class MistralCompact(_Mistral):
    """One marker per call; ``[CALL_ID]`` only in v11."""

    name = "mistral-compact"
    title = "[TOOL_CALLS]NAME[ARGS]{...}"
    families = ("Mistral Medium 3, Small 3.2, Magistral, Devstral (tokenizers v11, v13, v15)",)
    source = "mistral-common 1.13.1 tokens/tokenizers; vLLM mistral; SGLang mistral"
    results_as = "[TOOL_RESULTS]TEXT[/TOOL_RESULTS] per result, in call order"
    aliases = ("mistral-v11", "mistral-v13")
    array = False
    between_calls = ""

    def how_to_call(self) -> str:
        return f"To call a function, write for each call:\n{CALLS}function-name{ARGS}{{<arguments-object>}}"

    def write_call(self, call: Written) -> str:
        return f"{CALLS}{call.name}{ARGS}{call.json}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(Sent("tool", f"[TOOL_RESULTS]{result.text}[/TOOL_RESULTS]") for result in results)

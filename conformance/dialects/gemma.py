"""Gemma 4: calls in a notation of its own: bare keys, strings between ``<|"|>`` tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from conformance.dialects.calls import NAME, raw_call
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import (
    THINK,
    WAIT,
    Context,
    Found,
    Markers,
    Missed,
    Outcome,
    flags,
    may_become,
)
from conformance.dialects.jsontext import MAX_DEPTH, Broken, Incomplete, Value, compact, scan, skip_space
from conformance.dialects.rendering import Result, Sent, Written
from conformance.dialects.tagged import cut, quoted

CALL, CALL_END = "<|tool_call>", "<tool_call|>"
RESPONSE, RESPONSE_END = "<|tool_response>", "<tool_response|>"
QUOTE = '<|"|>'
_HEAD = re.compile(rf"{re.escape(CALL)}\s*call:({NAME})\s*(?=\{{)")
_BEGUN = re.compile(r"\s*(?:c(?:a(?:l(?:l(?::[^\s{]*\s*)?)?)?)?)?")
_KEY = re.compile(r"[^\s:,{}\[\]<>\"']{1,256}")
_LONGEST_HEAD = 400


class Gemma4(Dialect):
    """The whole exchange of calls and results is one turn of the model."""

    name = "gemma4"
    title = '<|tool_call>call:NAME{key:<|"|>text<|"|>,n:3}<tool_call|>'
    families = ("Gemma 4",)
    source = "Gemma 4 chat template; vLLM gemma4; SGLang gemma4"
    results_as = '<|tool_response>response:NAME{value:<|"|>TEXT<|"|>}<tool_response|> per result'
    aliases = ("gemma",)
    markers = Markers(
        open=(CALL,),
        lines=(RESPONSE,),
        close=(CALL_END,),
        stop=("<turn|>", "<end_of_turn>"),
        think=(*THINK, ("<|channel>thought", "<channel|>")),
    )
    forging = (QUOTE, RESPONSE_END)
    value_ends = (QUOTE,)
    think = ("<|channel>thought\n", "<channel|>")
    keeps_reasoning = True
    between_calls = ""
    before_calls = ""

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(RESPONSE, at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return Missed(at)
        head = _HEAD.match(text, at)
        inside = at + len(CALL)
        if head is None:
            if not context.final and len(text) - at < _LONGEST_HEAD and _BEGUN.fullmatch(text, inside):
                return WAIT
            return cut(text) if context.final and _BEGUN.fullmatch(text, inside) else quoted(inside)
        read = _Reader(text)
        try:
            args, end = read.value(head.end())
        except _End:
            return cut(text) if context.final else WAIT
        except _Bad as bad:
            return Missed(inside, flags("malformed"), bad.at)
        close = skip_space(text, end)
        found = flags("repaired") if read.repaired else flags()
        if text.startswith(CALL_END, close):
            end = close + len(CALL_END)
        elif not context.final and (close == len(text) or may_become(text, close, (CALL_END,))):
            return WAIT
        else:
            found |= {"unclosed"}
        call = raw_call(head.group(1), args, at, end)
        return Found(end, (call,), found) if call else Missed(end, flags("malformed"), end)

    def how_to_call(self) -> str:
        return (
            "To call a function, write for each call:\n"
            f"{CALL}call:function-name{{key:{QUOTE}text{QUOTE},other-key:3}}{CALL_END}\n"
            f"Keys have no quotes, strings stand between {QUOTE}, all other values are JSON."
        )

    def write_call(self, call: Written) -> str:
        return f"{CALL}call:{call.name}{_written(dict(call.args), call)}{CALL_END}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        each = "".join(
            f"{RESPONSE}response:{result.name}{_written({'value': result.text})}{RESPONSE_END}"
            for result in results
        )
        return (Sent("tool", each),)


def _written(value: Any, call: Written | None = None) -> str:
    if isinstance(value, str):
        return f"{QUOTE}{call.raw(value) if call else value}{QUOTE}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_written(v, call)}" for key, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(v, call) for v in value) + "]"
    return compact(value)


class _End(Exception):
    pass


class _Bad(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


class _Reader:
    """Reads a value of the notation; JSON spelling of keys and strings is a repair. Does not recurse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repaired = False

    def value(self, at: int) -> tuple[Any, int]:
        around: list[tuple[Any, str]] = []  # containers, with the key each has in its parent
        key = ""
        while True:
            at = skip_space(self.text, at)
            char = self._char(at)
            if char in "{[":
                if len(around) == MAX_DEPTH:
                    raise _Bad(at)
                around.append(({} if char == "{" else [], key))
                at = skip_space(self.text, at + 1)
                if self._char(at) != ("}" if char == "{" else "]"):
                    if char == "{":
                        key, at = self._key(at)
                    continue
                value, key = around.pop()
                at += 1
            else:
                value, at = self._scalar(at)
            while True:
                if not around:
                    return value, at
                container = around[-1][0]
                if isinstance(container, dict):
                    self.repaired |= key in container
                    container[key] = value
                else:
                    container.append(value)
                at = skip_space(self.text, at)
                char = self._char(at)
                if char == ",":
                    at = skip_space(self.text, at + 1)
                    if isinstance(container, dict):
                        key, at = self._key(at)
                    break
                if char != ("}" if isinstance(container, dict) else "]"):
                    raise _Bad(at)
                value, key = around.pop()
                at += 1

    def _key(self, at: int) -> tuple[str, int]:
        if self._char(at) == '"' or self.text.startswith(QUOTE, at):
            key, end = self._scalar(at)
            self.repaired = True
        else:
            if may_become(self.text, at, (QUOTE,)):
                raise _End
            match = _KEY.match(self.text, at)
            if match is None:
                raise _Bad(at)
            key, end = match.group(), match.end()
        end = skip_space(self.text, end)
        if self._char(end) != ":":
            raise _Bad(end)
        return key, end + 1

    def _scalar(self, at: int) -> tuple[Any, int]:
        if self.text.startswith(QUOTE, at):
            end = self.text.find(QUOTE, at + len(QUOTE))
            if end < 0:
                raise _End
            return self.text[at + len(QUOTE) : end], end + len(QUOTE)
        if may_become(self.text, at, (QUOTE,)):
            raise _End
        got = scan(self.text, at)
        if isinstance(got, Incomplete):
            raise _End
        if isinstance(got, Broken):
            raise _Bad(got.at)
        assert isinstance(got, Value)
        if got.end == len(self.text):
            raise _End
        self.repaired |= isinstance(got.value, str)
        return got.value, got.end

    def _char(self, at: int) -> str:
        if at >= len(self.text):
            raise _End
        return self.text[at]

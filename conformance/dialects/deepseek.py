"""DeepSeek V3 and V3.1: calls between special tokens. Their bars are U+FF5C and their gaps U+2581.

ASCII look-alikes are other strings: a parser leaves them alone, ``leaks`` knows them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.dialects.blocks import block
from conformance.dialects.calls import NAME, Undecodable, arguments, decode
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

CALLS, CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
SEP = "<｜tool▁sep｜>"
_END = "<｜end▁of▁sentence｜>"
_LONGEST_HEAD = 700

_FENCED = re.compile(rf"{CALL}\s*function{SEP}\s*({NAME})\s*```(?:json)?\s*(?=\{{)")
_PLAIN = re.compile(rf"{CALL}\s*({NAME}){SEP}\s*(?=\{{)")
_BEGUN = re.compile(rf"\s*[^<>\s]*(?:{SEP}[^{{]*|<[^>]*)?")
_MARKERS = Markers(
    open=(CALLS, CALL),
    lines=("<｜tool▁outputs▁begin｜>", "<｜tool▁output▁begin｜>"),
    close=(CALLS_END, CALL_END),
    stop=(_END,),
)


def _read(text: str, at: int, context: Context, *, fenced: bool) -> BodyOrNot:
    """One call; the other version's body is read too."""
    head = _FENCED.match(text, at)
    own = (head is not None) == fenced
    head = head or _PLAIN.match(text, at)
    if head is None or head.end() == len(text):
        if head is None and len(text) - at >= _LONGEST_HEAD:
            return quoted(at + len(CALL))
        if not context.final:
            return WAIT
        return cut(text) if head or _BEGUN.fullmatch(text, at + len(CALL)) else quoted(at + len(CALL))
    got = decode(text, head.end(), final=context.final)
    if isinstance(got, Wait):
        return WAIT
    if isinstance(got, Undecodable):
        return got.missed(text, at + len(CALL), "malformed")
    read = arguments(got.value, None if got.repaired else text[head.end() : got.end])
    if read is None:
        return Missed(at + len(CALL), flags("malformed"), got.end)
    found = read[2] | (flags("repaired") if got.repaired else flags())
    if not own:
        found |= {"ambiguous", "repaired"}
    end = got.end
    for closing in ("```", CALL_END) if "```" in head.group() else (CALL_END,):
        after = skip_space(text, end)
        if text.startswith(closing, after):
            end = after + len(closing)
        elif not context.final and (after == len(text) or may_become(text, after, (closing,))):
            return WAIT
        else:
            found |= {"unclosed"}
            break
    return Body(Call(head.group(1), read[1], read[0], None, at, end), end, found)


class _DeepSeek(Dialect):
    markers = _MARKERS
    results_as = "<｜tool▁output▁begin｜>TEXT<｜tool▁output▁end｜> per result, in call order"
    between_calls = ""
    before_calls = ""
    fenced: bool

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(CALLS, at):
            return block(text, at + len(CALLS), CALLS_END, CALL, self._item, context)
        if text.startswith(CALL, at):  # the section's opening token was left out
            body = self._item(text, at, context)
            if isinstance(body, Body):
                return Found(body.end, (body.call,), body.flags | {"repaired"})
            return body
        if context.calls:
            return Found(len(text), (), flags("hallucinated-observation"), "dropped")
        return Missed(at)

    def _item(self, text: str, at: int, context: Context) -> BodyOrNot:
        return _read(text, at, context, fenced=self.fenced)

    def write_calls(self, calls: Sequence[Written]) -> str:
        return CALLS + super().write_calls(calls) + CALLS_END


class DeepSeekV3(_DeepSeek):
    """``function``, a separator, the name, and the arguments in a fenced block."""

    name = "deepseek-v3"
    title = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME and fenced JSON"
    families = ("DeepSeek V3, V3-0324", "DeepSeek R1-0528")
    source = "DeepSeek-V3 chat template; vLLM deepseek_v3; SGLang deepseekv3; llama.cpp DeepSeek R1"
    results_as = "<｜tool▁outputs▁begin｜>, then " + _DeepSeek.results_as
    between_calls = "\n"
    fenced = True

    def how_to_call(self) -> str:
        return (
            "To call functions, write, without anything behind it:\n"
            f"{CALLS}{CALL}function{SEP}function-name\n```json\n{{<arguments-object>}}\n```{CALL_END}{CALLS_END}\n"
            f"For several calls repeat the part from {CALL} to {CALL_END}."
        )

    def write_call(self, call: Written) -> str:
        return f"{CALL}function{SEP}{call.name}\n```json\n{call.json}\n```{CALL_END}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        each = "".join(f"<｜tool▁output▁begin｜>{result.text}<｜tool▁output▁end｜>" for result in results)
        return (Sent("tool", f"<｜tool▁outputs▁begin｜>{each}<｜tool▁outputs▁end｜>"),)


class DeepSeekV31(_DeepSeek):
    """The name, a separator, the arguments; only outside of thinking mode."""

    name = "deepseek-v31"
    title = "<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{...}<｜tool▁call▁end｜>"
    families = ("DeepSeek V3.1, without thinking",)
    source = "DeepSeek-V3.1 chat template; vLLM deepseek_v31; SGLang deepseekv31"
    fenced = False

    def how_to_call(self) -> str:
        return (
            "To call functions, write, without anything behind it:\n"
            f"{CALLS}{CALL}function-name{SEP}{{<arguments-object>}}{CALL_END}{CALLS_END}\n"
            f"For several calls repeat the part from {CALL} to {CALL_END}."
        )

    def write_call(self, call: Written) -> str:
        return f"{CALL}{call.name}{SEP}{call.json}{CALL_END}"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        each = "".join(f"<｜tool▁output▁begin｜>{result.text}<｜tool▁output▁end｜>" for result in results)
        return (Sent("tool", each),)

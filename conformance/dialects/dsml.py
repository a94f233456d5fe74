"""DeepSeek's markup language of V3.2, V4 and V4.1: every parameter says whether it is text or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from conformance.dialects.blocks import block
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import THINK, Context, Found, Markers, Missed, Outcome, flags
from conformance.dialects.invokes import Tags, invoke
from conformance.dialects.rendering import Result, Sent, Written
from conformance.dialects.tagged import Body, BodyOrNot

_D = "｜DSML｜"


def _tags(gap: str) -> Tags:
    return Tags(
        f"<{_D}{gap}invoke",
        f"<{_D}{gap}parameter",
        f"</{_D}{gap}invoke>",
        f"</{_D}{gap}parameter>",
        told=True,
    )


_BLOCKS = {
    f"<{_D}function_calls>": f"</{_D}function_calls>",
    f"<{_D}tool_calls>": f"</{_D}tool_calls>",
    f"<{_D} calls>": f"</{_D} calls>",
    f"<{_D} tool_calls>": f"</{_D} tool_calls>",
}


class DeepSeekV32(Dialect):
    """A block of invokes; V4 names the block ``tool_calls``."""

    name = "deepseek-v32"
    title = '<｜DSML｜function_calls><｜DSML｜invoke name="N"><｜DSML｜parameter name="K" string="true">value'
    families: ClassVar[tuple[str, ...]] = ("DeepSeek V3.2", "DeepSeek V4")
    source = "DeepSeek-V3.2 encoding_dsv32.py; vLLM deepseek_v32, deepseek_v4; SGLang deepseekv32, deepseekv4"
    results_as = "<function_results><result>TEXT</result>...</function_results>"
    aliases: ClassVar[tuple[str, ...]] = ("deepseek-v4",)
    value_ends = (f"</{_D}",)
    gap = ""
    outer = "function_calls"
    keeps_reasoning = True
    think = ("<think>", "</think>")
    before_calls = "\n\n"
    markers = Markers(
        open=(*_BLOCKS, f"<{_D}invoke", f"<{_D} invoke"),
        lines=("<function_results>",),
        close=(
            *_BLOCKS.values(),
            *(f"</{_D}{gap}{tag}>" for gap in ("", " ") for tag in ("invoke", "parameter")),
        ),
        stop=("<｜end▁of▁sentence｜>",),
        think=THINK,
    )
    forging = ("</function_results>", "<result>", "</result>", f"<{_D}", f"</{_D}")

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith("<function_results>", at):
            if context.calls:
                return Found(len(text), (), flags("hallucinated-observation"), "dropped")
            return Missed(at)
        opening = next((o for o in _BLOCKS if text.startswith(o, at)), None)
        gap = " " if text.startswith(f"<{_D} ", at) else ""
        if opening is None:  # the block's tag was left out
            body = self._item(text, at, context, gap)
            if isinstance(body, Body):
                return self._own(Found(body.end, (body.call,), body.flags | {"repaired"}), gap)
            return body
        outcome = block(
            text,
            at + len(opening),
            _BLOCKS[opening],
            _TAGS[gap].invoke,
            lambda t, i, c: self._item(t, i, c, gap),
            context,
        )
        return self._own(outcome, gap)

    def _own(self, outcome: Outcome, gap: str) -> Outcome:
        if isinstance(outcome, Found) and gap != self.gap:
            return Found(outcome.end, outcome.pieces, outcome.flags | {"ambiguous", "repaired"})
        return outcome

    def _item(self, text: str, at: int, context: Context, gap: str) -> BodyOrNot:
        return invoke(text, at, context, _TAGS[gap])

    def how_to_call(self) -> str:
        g = self.gap
        return (
            "To call functions, write a block like this, one invoke per call:\n"
            f'<{_D}{g}{self.outer}>\n<{_D}{g}invoke name="function-name">\n'
            f'<{_D}{g}parameter name="parameter-name" string="true|false">value</{_D}{g}parameter>\n'
            f"</{_D}{g}invoke>\n</{_D}{g}{self.outer}>\n"
            'With string="true" the value is text as it is, with string="false" it is JSON.'
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        inside = super().write_calls(calls)
        return f"<{_D}{self.gap}{self.outer}>\n{inside}\n</{_D}{self.gap}{self.outer}>"

    def write_call(self, call: Written) -> str:
        g = self.gap
        parameters = "".join(
            f'<{_D}{g}parameter name="{key}" string="{str(isinstance(value, str)).lower()}">'
            f"{call.raw(value)}</{_D}{g}parameter>\n"
            for key, value in call.args.items()
        )
        return f'<{_D}{g}invoke name="{call.name}">\n{parameters}</{_D}{g}invoke>'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        inside = "\n".join(f"<result>{result.text}</result>" for result in results)
        return (Sent("tool", f"<function_results>\n{inside}\n</function_results>"),)


_TAGS = {gap: _tags(gap) for gap in ("", " ")}


class DeepSeekV41(DeepSeekV32):
    """The same with a space before every tag name, which is intended (SGLang says so)."""

    name = "deepseek-v41"
    title = '<｜DSML｜ calls><｜DSML｜ invoke name="N"><｜DSML｜ parameter name="K" string="true">value'
    families = ("DeepSeek V4.1",)
    source = "SGLang deepseekv41; vLLM deepseekv41_engine"
    aliases = ()
    gap = " "
    outer = "calls"

"""MiniMax M2 (elements with attributes) and M3 (every tag behind a namespace token, keys as tag names)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from conformance.dialects.blocks import block
from conformance.dialects.calls import NAME, raw_call
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import THINK, WAIT, Context, Found, Markers, Missed, Outcome, flags
from conformance.dialects.invokes import Tags, invoke
from conformance.dialects.jsontext import MAX_DEPTH
from conformance.dialects.parsed import Flag
from conformance.dialects.rendering import Result, Sent, Written
from conformance.dialects.schema_types import child, item, typed, types
from conformance.dialects.tagged import Body, BodyOrNot, cut, quoted

M2, M2_END = "<minimax:tool_call>", "</minimax:tool_call>"
_M2_TAGS = Tags("<invoke", "<parameter", "</invoke>", "</parameter>")


class _MiniMax(Dialect):
    keeps_reasoning = True
    results_as = "role tool (]~b]tool): <response>TEXT</response> per result"
    forging: ClassVar[tuple[str, ...]] = ("</response>", "<response>")

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return (Sent("tool", "\n".join(f"<response>{result.text}</response>" for result in results)),)


class MiniMaxM2(_MiniMax):
    """Several invokes in one block; values are raw text, typed by the schema."""

    name = "minimax-m2"
    title = '<minimax:tool_call><invoke name="N"><parameter name="K">value</parameter></invoke>'
    families = ("MiniMax M2", "MiniMax M2.5")
    source = "MiniMax-M2 docs/tool_calling_guide.md; vLLM minimax_m2; SGLang minimax-m2"
    aliases = ("minimax",)
    value_ends = ("</parameter>",)
    markers = Markers(open=(M2, "<invoke name="), close=(M2_END, "</invoke>", "</parameter>"), stop=("[e~[",))

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(M2, at):
            return block(text, at + len(M2), M2_END, "<invoke", _m2_item, context)
        body = _m2_item(text, at, context)  # the block's tag was left out
        if isinstance(body, Body):
            return Found(body.end, (body.call,), body.flags | {"repaired"})
        return body

    def how_to_call(self) -> str:
        return (
            "To call functions, write a block like this, one invoke per call:\n"
            '<minimax:tool_call>\n<invoke name="function-name">\n'
            '<parameter name="parameter-name">value</parameter>\n</invoke>\n</minimax:tool_call>\n'
            "Strings are written as they are, all other values as JSON."
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return f"{M2}\n{super().write_calls(calls)}\n{M2_END}"

    def write_call(self, call: Written) -> str:
        parameters = "".join(
            f'<parameter name="{key}">{call.raw(value)}</parameter>\n' for key, value in call.args.items()
        )
        return f'<invoke name="{call.name}">\n{parameters}</invoke>'


def _m2_item(text: str, at: int, context: Context) -> BodyOrNot:
    return invoke(text, at, context, _M2_TAGS)


# --------------------------------------------------------------------------------------------- M3

NS = "]<]minimax[>["
M3, M3_END = f"{NS}<tool_call>", f"{NS}</tool_call>"
_INVOKE, _INVOKE_END = f"{NS}<invoke", f"{NS}</invoke>"
_M3_HEAD = re.compile(rf'{re.escape(_INVOKE)}\s+name="({NAME})"\s*>')
_M3_TAG = re.compile(rf"{re.escape(NS)}\s*<(/?)([^<>\s/]{{1,256}})>")
_LONGEST_TAG = 300


class MiniMaxM3(_MiniMax):
    """Nested elements are objects; ``<item>`` elements are the members of an array."""

    name = "minimax-m3"
    title = f'{NS}<invoke name="N">{NS}<KEY>value{NS}</KEY>{NS}</invoke>'
    families = ("MiniMax M3",)
    source = "SGLang minimax_m3.py; vLLM minimax_m3; llama.cpp common/parsers/minimax-m3.cpp"
    think = ("<mm:think>", "</mm:think>")
    markers = Markers(
        open=(M3, _INVOKE),
        close=(M3_END, _INVOKE_END),
        stop=("[e~[",),
        think=(*THINK, ("<mm:think>", "</mm:think>")),
    )
    value_ends = (NS,)
    forging = (*_MiniMax.forging, NS)

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(M3, at):
            return block(text, at + len(M3), M3_END, _INVOKE, _m3_item, context)
        body = _m3_item(text, at, context)
        if isinstance(body, Body):
            return Found(body.end, (body.call,), body.flags | {"repaired"})
        return body

    def how_to_call(self) -> str:
        return (
            "To call functions, write a block like this, one invoke per call, a tag per parameter:\n"
            f'{M3}{_INVOKE} name="function-name">{NS}<parameter-name>value{NS}</parameter-name>'
            f"{_INVOKE_END}{M3_END}\n"
            "Members of objects are tags inside, members of arrays are <item> tags, strings have no quotes."
        )

    def write_calls(self, calls: Sequence[Written]) -> str:
        return M3 + "".join(self.write_call(call) for call in calls) + M3_END

    def write_call(self, call: Written) -> str:
        root = call.schema
        inside = "".join(_element(call, k, v, child(root, k)) for k, v in call.args.items())
        return f'{_INVOKE} name="{call.name}">{inside}{_INVOKE_END}'


def _element(call: Written, tag: str, value: Any, schema: Any) -> str:
    inside = call.raw(value)
    root = call.schema
    if value and isinstance(value, dict) and _described(value, schema, root):
        inside = "".join(_element(call, k, v, child(schema, k, root)) for k, v in value.items())
    elif value and isinstance(value, list) and _described(value, schema, root):
        inside = "".join(_element(call, "item", v, item(schema, root)) for v in value)
    return f"{NS}<{tag}>{inside}{NS}</{tag}>"


def _described(value: Any, schema: Any, root: Any) -> bool:
    """Whether the schema tells the type of everything in a value; otherwise it is written as JSON."""
    allowed = types(schema, root)
    if isinstance(value, dict):
        return "object" in allowed and all(
            _described(v, child(schema, k, root), root) for k, v in value.items()
        )
    if isinstance(value, list):
        return "array" in allowed and all(_described(v, item(schema, root), root) for v in value)
    return bool(allowed)


def _m3_item(text: str, at: int, context: Context) -> BodyOrNot:
    head = _M3_HEAD.match(text, at)
    if head is None:
        short = len(text) - at < _LONGEST_TAG and ">" not in text[at + len(_INVOKE) :]
        if short:
            return cut(text) if context.final else WAIT
        return quoted(at + len(_INVOKE))
    name, schema = head.group(1), context.schema(head.group(1))
    found: set[Flag] = set()
    # open elements: tag, schema, members so far ([] of key and value), where its own text begins
    stack: list[tuple[str, Any, list[tuple[str, Any]], int]] = [("", schema, [], head.end())]
    position = head.end()
    while True:
        mark = text.find(NS, position)
        tag = _M3_TAG.match(text, mark) if mark >= 0 else None
        if tag is None:
            if mark < 0 or len(text) - mark < _LONGEST_TAG:
                return cut(text) if context.final else WAIT
            return Missed(head.end(), flags("malformed"), mark)
        position = tag.end()
        closing, key = tag.group(1), tag.group(2)
        own_tag, own_schema, members, own_start = stack[-1]
        if closing and len(stack) == 1 and key == "invoke":
            break
        if closing and key == own_tag:
            stack.pop()
            if members:
                value = _container(members, own_schema, schema)
            else:
                value, odd = typed(text[own_start:mark], own_schema, schema)
                found |= odd
            stack[-1][2].append((key, value))
        elif closing or len(stack) > MAX_DEPTH:
            return Missed(head.end(), flags("malformed"), mark)
        else:
            inner = (
                item(own_schema, schema) if key == "item" and "array" in types(own_schema, schema) else None
            )
            stack.append((key, inner or child(own_schema, key, schema), [], tag.end()))
    args = dict(stack[0][2])
    if len(args) < len(stack[0][2]):
        found.add("repaired")
    call = raw_call(name, args, at, position)
    return Body(call, position, frozenset(found)) if call else Missed(position, flags("malformed"), position)


def _container(members: list[tuple[str, Any]], schema: Any, root: Any) -> Any:
    allowed = types(schema, root)
    if "array" in allowed or ("object" not in allowed and all(key == "item" for key, _ in members)):
        return [value for _, value in members]
    return dict(members)

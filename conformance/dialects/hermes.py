"""Hermes ChatML: JSON in ``<tool_call>``, and its kin with other tags around the same JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.dialects import tagged
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import THINK, WAIT, Context, Found, Markers, Missed, Outcome, flags
from conformance.dialects.jsontext import compact, load_object, skip_space
from conformance.dialects.rendering import Result, Sent, Written

RESPONSE_TAGS = ("<tool_response>", "<tool_result>")
_RESPONSE = re.compile(r"<(tool_response|tool_result)>")


def own_result(text: str, at: int, context: Context) -> Outcome:
    """``<tool_response>`` in the model's own answer: after a call, it went on as if it were the tool."""
    if context.calls:
        return Found(len(text), (), flags("hallucinated-observation"), "dropped")
    return Missed(at)


class Hermes(Dialect):
    """``<tool_call>`` with ``{"name", "arguments"}``; one element per call."""

    name = "hermes"
    title = '<tool_call>{"name", "arguments"}</tool_call>'
    families = ("Hermes 2 Pro, 3, 4", "Qwen2.5", "Qwen3", "many fine-tunes")
    source = "NousResearch/Hermes-Function-Calling README.md, utils.py; vLLM hermes; SGLang hermes, qwen25"
    results_as = 'role tool: <tool_response>{"name", "content"}</tool_response>'
    aliases = ("qwen", "qwen25", "qwen3")
    markers = Markers(
        open=(tagged.CALL,),
        lines=RESPONSE_TAGS,
        close=(tagged.CALL_END,),
        stop=("<|im_end|>",),
        think=(*THINK, ("<scratch_pad>", "</scratch_pad>")),
    )
    forging = ("</tool_response>", "</tool_result>", "<tools>", "</tools>")

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(RESPONSE_TAGS, at):
            return own_result(text, at, context)
        return tagged.tool_call(text, at, context, "json")

    def how_to_call(self) -> str:
        return (
            "To call functions, write for each call a JSON object with name and arguments in these tags:\n"
            '<tool_call>\n{"name": <function-name>, "arguments": <arguments-object>}\n</tool_call>\n'
            "The results come back in <tool_response> tags, in the order of the calls."
        )

    def write_call(self, call: Written) -> str:
        return f'<tool_call>\n{{"name": {compact(call.name)}, "arguments": {call.json}}}\n</tool_call>'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return (Sent("tool", "\n".join(self._response(result) for result in results)),)

    def _response(self, result: Result) -> str:
        body = compact({"name": result.name, "content": result.text})
        return f"<tool_response>\n{body}\n</tool_response>"

    def read_results(self, text: str) -> tuple[Result, ...]:
        """The results in a history message, in ``<tool_response>`` or ``<tool_result>``, named or not."""
        results = []
        opening = _RESPONSE.search(text)
        while opening:
            end = text.find(f"</{opening.group(1)}>", opening.end())
            if end < 0:
                break
            results.append(_read_result(text[opening.end() : end]))
            opening = _RESPONSE.search(text, end)
        return tuple(results)


def _read_result(body: str) -> Result:
    body = body.removeprefix("\n").removesuffix("\n")
    read = load_object(body)
    if read is None or "content" not in read or set(read) - {"name", "content"}:
        return Result("", body)
    name, content = read.get("name"), read["content"]
    return Result(
        name if isinstance(name, str) else "", content if isinstance(content, str) else compact(content)
    )


class FunctionCallTag(Dialect):
    """``<function_call>`` with the same JSON; its closing tag is optional, as Granite never writes it."""

    name = "function-call-tag"
    title = '<function_call>{"name", "arguments"}</function_call>, or <tool_call> with an integer "id"'
    families = ("Granite 20B function calling", "Llama-3-Groq-Tool-Use", "assorted fine-tunes")
    source = "vLLM granite-20b-fc; model card of Llama-3-Groq-70B-Tool-Use"
    results_as = "role function_response, the text of each result"
    aliases = ("granite", "llama-groq")
    markers = Markers(
        open=("<function_call>", tagged.CALL),
        lines=("<function_response>", *RESPONSE_TAGS),
        close=("</function_call>", tagged.CALL_END),
        stop=("<|endoftext|>", "<|eot_id|>"),
    )
    forging = ("</function_response>",)

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(tagged.CALL, at):
            return tagged.tool_call(text, at, context, "json")
        if text.startswith("<function_call>", at):
            return self._function_call(text, at, context)
        return own_result(text, at, context)

    def _function_call(self, text: str, at: int, context: Context) -> Outcome:
        inside = at + len("<function_call>")
        start = skip_space(text, inside)
        if start == len(text):
            return tagged.cut(text) if context.final else WAIT
        if text[start] not in "{[":
            return tagged.quoted(inside)
        return tagged.json_body(text, at, inside, start, "</function_call>", context, optional=True)

    def how_to_call(self) -> str:
        return (
            "To call functions, write for each call a JSON object with name and arguments in these tags:\n"
            '<function_call>{"name": <function-name>, "arguments": <arguments-object>}</function_call>'
        )

    def write_call(self, call: Written) -> str:
        return f'<function_call>{{"name": {compact(call.name)}, "arguments": {call.json}}}</function_call>'

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(
            Sent("function_response", f"<function_response>\n{result.text}\n</function_response>")
            for result in results
        )

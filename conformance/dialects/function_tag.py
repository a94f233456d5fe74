"""``<function=NAME>``: Qwen3-Coder with raw parameters, Llama 3.1 and Functionary with JSON."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.dialects import tagged
from conformance.dialects.dialect import Dialect
from conformance.dialects.grammar import Context, Markers, Outcome
from conformance.dialects.hermes import RESPONSE_TAGS, own_result
from conformance.dialects.rendering import Result, Sent, Written


def plain_responses(results: Sequence[Result]) -> tuple[Sent, ...]:
    """Qwen's way: one user turn, a block per result, no names; the order pairs them."""
    blocks = [f"<tool_response>\n{result.text}\n</tool_response>" for result in results]
    return (Sent("user", "\n".join(blocks)),)


class Qwen3Coder(Dialect):
    """Raw values, a line break around each; the outer ``<tool_call>`` is often left out (repaired)."""

    name = "qwen3-coder"
    title = "<tool_call><function=NAME><parameter=KEY>value</parameter></function></tool_call>"
    families = ("Qwen3-Coder", "Qwen3.5", "Step 3.5", "Nanbeige")
    source = "Qwen3-Coder chat template; vLLM qwen3_coder, qwen3_xml; SGLang qwen3_coder"
    results_as = "role user: <tool_response>TEXT</tool_response> per result, in one turn"
    aliases = ("qwen3-xml",)
    markers = Markers(
        open=(tagged.CALL, tagged.FUNCTION),
        lines=RESPONSE_TAGS,
        close=(tagged.CALL_END, tagged.FUNCTION_END),
        stop=("<|im_end|>",),
    )
    forging = ("</tool_response>", "</tool_result>", "<tools>", "</tools>", "</parameter>", "<parameter=")
    value_ends = ("</parameter>", "<parameter=", "</function>")

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(tagged.CALL, at):
            return tagged.tool_call(text, at, context, "function")
        if text.startswith(tagged.FUNCTION, at):
            return tagged.functions(text, at, context, "function", wrapped=False)
        return own_result(text, at, context)

    def how_to_call(self) -> str:
        return (
            "To call a function, write for each call, values as they are and on lines of their own:\n"
            "<tool_call>\n<function=function-name>\n<parameter=parameter-name>\nvalue\n</parameter>\n"
            "</function>\n</tool_call>\n"
            "Values that are no strings are written as JSON."
        )

    def write_call(self, call: Written) -> str:
        parameters = "".join(
            f"<parameter={key}>\n{call.raw(value)}\n</parameter>\n" for key, value in call.args.items()
        )
        return f"<tool_call>\n<function={call.name}>\n{parameters}</function>\n</tool_call>"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return plain_responses(results)


class LlamaFunctionTag(Dialect):
    """JSON in ``<function=NAME>``; Groq puts failed ones into ``error.failed_generation``."""

    name = "llama-function-tag"
    title = '<function=NAME>{"key": value}</function>'
    families = ("Llama 3.1 custom tools", "Functionary 3.1", "Llama on Groq")
    source = "Llama 3.1 model card (custom tools); llama.cpp Functionary v3.1"
    results_as = "role ipython, the text of the result"
    aliases = ("functionary-v3.1",)
    markers = Markers(
        open=(tagged.FUNCTION, tagged.FUNCTION_ATTRIBUTE),
        close=(tagged.FUNCTION_END,),
        stop=("<|eom_id|>", "<|eot_id|>"),
    )

    def region(self, text: str, at: int, context: Context) -> Outcome:
        return tagged.functions(text, at, context, "function-json", wrapped=False)

    def how_to_call(self) -> str:
        return (
            "To call functions, write for each call the name in the tag and the arguments as a JSON object:\n"
            "<function=function-name>{<arguments-object>}</function>"
        )

    def write_call(self, call: Written) -> str:
        return f"<function={call.name}>{call.json}</function>"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        return tuple(Sent("ipython", result.text) for result in results)


class Glm45(Dialect):
    """A bare name, then keys and raw values in elements of their own; GLM-4.7 and 5 drop the line breaks."""

    name = "glm45"
    title = "<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value></tool_call>"
    families = ("GLM-4.5", "GLM-4.6", "GLM-4.7", "GLM-5")
    source = "GLM-4.5 chat template; vLLM glm45, glm47; SGLang glm45, glm47"
    results_as = "role observation: <tool_response>TEXT</tool_response> per result"
    aliases = ("glm47", "glm")
    markers = Markers(
        open=(tagged.CALL,),
        lines=RESPONSE_TAGS,
        close=(tagged.CALL_END, "</arg_value>", "</arg_key>"),
        stop=("<|observation|>", "<|user|>", "<|endoftext|>"),
    )
    forging = ("</tool_response>", "</tool_result>", "<arg_key>", "<arg_value>")
    value_ends = ("</arg_value>",)
    keeps_reasoning = True

    def region(self, text: str, at: int, context: Context) -> Outcome:
        if text.startswith(RESPONSE_TAGS, at):
            return own_result(text, at, context)
        return tagged.tool_call(text, at, context, "arg-key")

    def how_to_call(self) -> str:
        return (
            "To call a function, write for each call:\n"
            "<tool_call>function-name\n<arg_key>key</arg_key>\n<arg_value>value</arg_value>\n</tool_call>\n"
            "Strings are written without quotes, all other values as JSON."
        )

    def write_call(self, call: Written) -> str:
        values = "".join(
            f"<arg_key>{key}</arg_key>\n<arg_value>{call.raw(value)}</arg_value>\n"
            for key, value in call.args.items()
        )
        return f"<tool_call>{call.name}\n{values}</tool_call>"

    def render_results(self, results: Sequence[Result]) -> tuple[Sent, ...]:
        blocks = "".join(f"\n<tool_response>\n{result.text}\n</tool_response>" for result in results)
        return (Sent("observation", blocks.lstrip("\n")),)

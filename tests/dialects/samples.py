"""What the tests of the dialects share: tools, and a table of texts with what they mean."""

# ruff: noqa: E501  (a row of the table is a line)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.dialects import Flag, Parsed
from conformance.types import Tool

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "n": {"type": "integer"},
        "on": {"type": "boolean"},
        "tags": {"type": "array"},
        "opts": {"type": "object"},
    },
}
TOOLS = tuple(Tool(name, "A tool.", PARAMETERS) for name in ("get_weather", "get_time", "f"))


@dataclass(frozen=True)
class Sample:
    """A text of a dialect, and what it reads as. ``calls`` are names with arguments."""

    dialect: str
    id: str
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    content: str | None = None
    flags: frozenset[Flag] = frozenset()
    reasoning: str | None = None

    def __str__(self) -> str:
        return f"{self.dialect}-{self.id}"


def read(parsed: Parsed) -> tuple[Any, ...]:
    """What a sample says, of a parsed text."""
    calls = tuple((call.name, dict(call.args)) for call in parsed.calls)
    return calls, parsed.content, parsed.flags, parsed.reasoning


def wanted(sample: Sample) -> tuple[Any, ...]:
    """The same of the sample."""
    return sample.calls, sample.content, sample.flags, sample.reasoning


_LIMA = (("get_time", {"city": "Lima"}),)
_CUT = frozenset[Flag]({"malformed"})
_B = "<｜tool▁calls▁begin｜>"
_E = "<｜tool▁calls▁end｜>"
_CB = "<｜tool▁call▁begin｜>"
_CE = "<｜tool▁call▁end｜>"
_S = "<｜tool▁sep｜>"
_NS = "]<]minimax[>["


def _flags(*names: Flag) -> frozenset[Flag]:
    return frozenset(names)


# fmt: off
SAMPLES: tuple[Sample, ...] = (
    # hermes
    Sample("hermes", "call", '<tool_call>\n{"name": "get_time", "arguments": {"city": "Lima"}}\n</tool_call>', _LIMA),
    Sample(
        "hermes",
        "text-around",
        'One.<tool_call>{"name": "f", "arguments": {}}</tool_call>Two.',
        (("f", {}),),
        "One.\nTwo.",
    ),
    Sample("hermes", "empty-string-arguments", '<tool_call>{"name":"f","arguments":""}</tool_call>', (("f", {}),), None, _flags("repaired")),
    Sample("hermes", "null-arguments", '<tool_call>{"name":"f","arguments":null}</tool_call>', (("f", {}),)),
    Sample("hermes", "list-arguments", '<tool_call>{"name":"f","arguments":[]}</tool_call>', (), '<tool_call>{"name":"f","arguments":[]}</tool_call>', _CUT),
    Sample("hermes", "repeated-key", '<tool_call>{"name":"f","arguments":{"n":1,"n":2}}</tool_call>', (("f", {"n": 2}),), None, _flags("repaired")),
    Sample("hermes", "nan", '<tool_call>{"name":"f","arguments":{"n":NaN}}</tool_call>', (), '<tool_call>{"name":"f","arguments":{"n":NaN}}</tool_call>', _CUT),
    Sample("hermes", "beyond-float", '<tool_call>{"name":"f","arguments":{"n":1e400}}</tool_call>', (), '<tool_call>{"name":"f","arguments":{"n":1e400}}</tool_call>', _CUT),
    Sample("hermes", "lone-surrogate", '<tool_call>{"name":"f","arguments":{"city":"\\ud83d"}}</tool_call>', (), '<tool_call>{"name":"f","arguments":{"city":"\\ud83d"}}</tool_call>', _CUT),
    Sample("hermes", "big-integer", '<tool_call>{"name":"f","arguments":{"n":9007199254740993}}</tool_call>', (("f", {"n": 9007199254740993}),)),
    Sample("hermes", "unknown-escape", '<tool_call>{"name":"f","arguments":{"city":"\\d+"}}</tool_call>', (("f", {"city": "\\d+"}),), None, _flags("repaired")),
    Sample("hermes", "second-restarts", '<tool_call>{"name":"f", <tool_call>{"name":"f","arguments":{}}</tool_call>', (("f", {}),), '<tool_call>{"name":"f",', _CUT),
    Sample("hermes", "next-without-close", '<tool_call>{"name":"f"}\n<tool_call>{"name":"f"}</tool_call>', (("f", {}), ("f", {})), None, _flags("unclosed")),
    Sample("hermes", "inline-code", 'Write `<tool_call>{"name":"f"}</tool_call>` so.', (), 'Write `<tool_call>{"name":"f"}</tool_call>` so.', _flags("quoted")),
    Sample("hermes", "tilde-fence", '~~~\n<tool_call>{"name":"f"}</tool_call>\n~~~\nSo.', (), '~~~\n<tool_call>{"name":"f"}</tool_call>\n~~~\nSo.', _flags("quoted")),
    Sample("hermes", "fence-is-all", '```\n<tool_call>{"name":"f"}</tool_call>\n```', (("f", {}),), None, _flags("repaired")),
    Sample("hermes", "open-fence", 'So:\n```\n<tool_call>{"name":"f"}</tool_call>', (), 'So:\n```\n<tool_call>{"name":"f"}</tool_call>', _flags("quoted")),
    Sample("hermes", "after-fence", '```\nx\n```\n<tool_call>{"name":"f"}</tool_call>', (("f", {}),), "```\nx\n```"),
    Sample("hermes", "backtick-in-argument", 'Run <tool_call>{"name":"f","arguments":{"city":"`a`"}}</tool_call>', (("f", {"city": "`a`"}),), "Run"),
    Sample("hermes", "think-first", "<think>Hm.</think>\n\nHello", (), "Hello", _flags(), "Hm."),
    Sample("hermes", "think-open", "<think>Hm", (), None, _flags("unclosed"), "Hm"),
    Sample("hermes", "think-between", 'A\n<think>b</think><tool_call>{"name":"f"}</tool_call>', (("f", {}),), "A", _flags(), "b"),
    Sample("hermes", "think-in-prose", "The tag <think> opens.", (), "The tag <think> opens."),
    Sample("hermes", "think-close-alone", "Hm.</think>Hello", (), "Hm.</think>Hello", _CUT),
    Sample("hermes", "scratch-pad", "<scratch_pad>a</scratch_pad>b", (), "b", _flags(), "a"),
    Sample("hermes", "own-result", '<tool_call>{"name":"f"}</tool_call>\n<tool_response>3</tool_response>\nIt is 3.', (("f", {}),), None, _flags("hallucinated-observation")),
    Sample("hermes", "stop-token", '<tool_call>{"name":"f"}</tool_call><|im_end|>\n', (("f", {}),)),
    Sample("hermes", "qwen-body", "<tool_call>\n<function=f>\n</function>\n</tool_call>", (("f", {}),), None, _flags("ambiguous", "repaired")),
    Sample("hermes", "opening-tag-is-all", "<tool_call>", (), "<tool_call>", _CUT),
    Sample("hermes", "openai-object", '<tool_call>{"type":"function","function":{"name":"f","arguments":"{}"}}</tool_call>', (("f", {}),), None, _flags("repaired")),
    # qwen3-coder
    Sample("qwen3-coder", "typed", "<tool_call>\n<function=f>\n<parameter=n>\n3\n</parameter>\n<parameter=city>\n3\n</parameter>\n</function>\n</tool_call>", (("f", {"n": 3, "city": "3"}),)),
    Sample("qwen3-coder", "unknown-parameter-is-text", "<function=f>\n<parameter=zip>\n0815\n</parameter>\n</function>", (("f", {"zip": "0815"}),), None, _flags("repaired")),
    Sample("qwen3-coder", "python-boolean", "<tool_call><function=f><parameter=on>True</parameter></function></tool_call>", (("f", {"on": True}),), None, _flags("repaired")),
    Sample("qwen3-coder", "function-not-closed", "<tool_call><function=f><parameter=n>1</parameter></tool_call>", (("f", {"n": 1}),), None, _flags("repaired")),
    Sample("qwen3-coder", "several-in-one", "<tool_call><function=f></function><function=get_time></function></tool_call>", (("f", {}), ("get_time", {}))),
    Sample("qwen3-coder", "prose", "Use <function=name> for it.", (), "Use <function=name> for it.", _flags("quoted")),
    Sample("qwen3-coder", "json-body", '<tool_call>{"name":"f","arguments":{}}</tool_call>', (("f", {}),), None, _flags("ambiguous", "repaired")),
    # react
    Sample("react", "step", 'Thought: t\nAction: get_time\nAction Input: {"city": "Lima"}', _LIMA, "Thought: t"),
    Sample("react", "two-actions", "Action: f\nAction Input: {}\nAction: get_time\nAction Input: {}", (("f", {}), ("get_time", {}))),
    Sample("react", "thought-between", "Action: f\nAction Input: {}\nThought: more\nAction: f\nAction Input: {}", (("f", {}), ("f", {})), "Thought: more"),
    Sample("react", "truncated-json", 'Action: f\nAction Input: {"city": "L', (), 'Action: f\nAction Input: {"city": "L', _CUT),
    Sample("react", "second-cut", 'Action: f\nAction Input: {}\nAction: f\nAction Input: {"city', (("f", {}),), 'Action: f\nAction Input: {"city', _CUT),
    Sample("react", "empty-input", "Action: f\nAction Input:", (("f", {}),)),
    Sample("react", "observation-in-thought-loop", "Action: f\nAction Input: {}\nThought: x\nObservation: 3", (("f", {}),), "Thought: x", _flags("hallucinated-observation")),
    Sample("react", "action-behind-answer", "Final Answer: 3\nAction: f\nAction Input: {}", (), "3\nAction: f\nAction Input: {}", _flags("final", "malformed")),
    Sample("react", "in-fence", "So:\n```\nAction: f\nAction Input: {}\n```\nFinal Answer: ok", (), "So:\n```\nAction: f\nAction Input: {}\n```\nok", _flags("quoted", "final")),
    Sample("react", "tag-text", "<action>f</action><input>Lima</input>", (("f", {"__input": "Lima"}),)),
    # llama3-json
    Sample("llama3-json", "bare", '{"name": "get_time", "parameters": {"city": "Lima"}}', _LIMA),
    Sample("llama3-json", "name-alone-is-an-answer", '{"name": "Ann"}', (), '{"name": "Ann"}'),
    Sample("llama3-json", "text-behind-bare", '{"name": "f", "parameters": {}} is a call.', (), '{"name": "f", "parameters": {}} is a call.', _flags("quoted")),
    Sample("llama3-json", "not-at-the-beginning", 'Look: {"name": "f", "parameters": {}}', (), 'Look: {"name": "f", "parameters": {}}'),
    Sample("llama3-json", "stop-token", '{"name": "f", "parameters": {}}<|eom_id|>', (("f", {}),)),
    Sample("llama3-json", "cut-answer", '{"temperature": 3, "un', (), '{"temperature": 3, "un'),
    Sample("llama3-json", "tag-before-code", "<|python_tag|>print(1)", (), "<|python_tag|>print(1)", _flags("quoted")),
    # json-action
    Sample("json-action", "fenced", '```json\n{"action": "get_time", "action_input": {"city": "Lima"}}\n```', _LIMA),
    Sample("json-action", "other-json", '{"action": "buy", "amount": 3}', (), '{"action": "buy", "amount": 3}'),
    Sample("json-action", "example-in-prose", 'So:\n```\n{"action": "f", "action_input": {}}\n```\nThat is it.', (), 'So:\n```\n{"action": "f", "action_input": {}}\n```\nThat is it.', _flags("quoted")),
    Sample("json-action", "announced", 'Action:\n```\n{"action": "f", "action_input": {}}\n```\nI wait.', (("f", {}),), "I wait."),
    Sample("json-action", "second-does-not-count", '{"tool": "f", "parameters": {}}\n{"tool": "get_time", "parameters": {}}', (("f", {}),), '{"tool": "get_time", "parameters": {}}', _flags("ambiguous")),
    Sample("json-action", "truncated", '```json\n{"action": "f", "action_in', (), '```json\n{"action": "f", "action_in', _CUT),
    Sample("json-action", "action-beside-final", '[{"action": "f", "action_input": {}}, {"action": "Final Answer", "action_input": "x"}]', (), '[{"action": "f", "action_input": {}}, {"action": "Final Answer", "action_input": "x"}]', _CUT),
    Sample("json-action", "plain-code", "```python\nx = {}\n```", (), "```python\nx = {}\n```"),
    # llama-function-tag
    Sample("llama-function-tag", "call", '<function=get_time>{"city": "Lima"}</function>', _LIMA),
    Sample("llama-function-tag", "no-arguments", "<function=f></function>", (("f", {}),)),
    Sample("llama-function-tag", "prose", "The tag <function=f> opens.", (), "The tag <function=f> opens.", _flags("quoted")),
    # function-call-tag
    Sample("function-call-tag", "never-closed", '<function_call>{"name":"get_time","arguments":{"city":"Lima"}}', _LIMA),
    # mistral
    Sample("mistral-json", "array", '[TOOL_CALLS] [{"name": "get_time", "arguments": {"city": "Lima"}, "id": "a1b2c3d4e"}]', _LIMA),
    Sample("mistral-json", "prose", "The token [TOOL_CALLS] comes first.", (), "The token [TOOL_CALLS] comes first.", _flags("quoted")),
    Sample("mistral-json", "compact-body", "[TOOL_CALLS]f[ARGS]{}", (("f", {}),), None, _flags("ambiguous", "repaired")),
    Sample("mistral-compact", "call", '[TOOL_CALLS]get_time[ARGS]{"city": "Lima"}', _LIMA),
    Sample("mistral-compact", "think", "[THINK]Hm.[/THINK]Hello", (), "Hello", _flags(), "Hm."),
    # deepseek
    Sample("deepseek-v3", "call", f'{_B}{_CB}function{_S}get_time\n```json\n{{"city": "Lima"}}\n```{_CE}{_E}', _LIMA),
    Sample("deepseek-v3", "v31-body", f"{_B}{_CB}f{_S}{{}}{_CE}{_E}", (("f", {}),), None, _flags("ambiguous", "repaired")),
    Sample("deepseek-v3", "truncated", f'{_B}{_CB}function{_S}f\n```json\n{{"city"', (), f'{_B}{_CB}function{_S}f\n```json\n{{"city"', _CUT),
    Sample("deepseek-v31", "call", f'{_B}{_CB}get_time{_S}{{"city": "Lima"}}{_CE}{_E}', _LIMA),
    Sample("deepseek-v31", "second-broken", f"{_B}{_CB}f{_S}{{}}{_CE}{_CB}f{_S}{{x}}{_CE}{_E}", (("f", {}),), f"{_CB}f{_S}{{x}}{_CE}{_E}", _CUT),
    Sample("deepseek-v32", "call", '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_time">\n<｜DSML｜parameter name="city" string="true">Lima</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>', _LIMA),
    Sample("deepseek-v32", "not-json", '<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="n" string="false">three</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>', (("f", {"n": "three"}),), None, _flags("type-mismatch")),
    Sample("deepseek-v32", "block-not-closed", '<｜DSML｜function_calls><｜DSML｜invoke name="f"/>', (("f", {}),), None, _flags("unclosed")),
    Sample("deepseek-v41", "call", '<｜DSML｜ calls>\n<｜DSML｜ invoke name="get_time">\n<｜DSML｜ parameter name="city" string="true">Lima</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>', _LIMA),
    Sample("deepseek-v41", "v32-spelling", '<｜DSML｜function_calls><｜DSML｜invoke name="f"/></｜DSML｜function_calls>', (("f", {}),), None, _flags("ambiguous", "repaired")),
    # kimi-k2
    Sample("kimi-k2", "call", '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:4<|tool_call_argument_begin|>{"city": "Lima"}<|tool_call_end|><|tool_calls_section_end|>', _LIMA),
    Sample("kimi-k2", "prose", "The token <|tool_call_begin|> opens a call.", (), "The token <|tool_call_begin|> opens a call.", _flags("quoted")),
    # harmony
    Sample("harmony", "call", '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{"city": "Lima"}<|call|>', _LIMA, None, _flags(), "Hm."),
    Sample("harmony", "final", "<|channel|>final<|message|>Hello.", (), "Hello."),
    Sample("harmony", "builtin", "<|channel|>analysis to=python code<|message|>print(1)<|call|>", (("python", {"__input": "print(1)"}),), None, _flags("builtin", "unknown-tool")),
    Sample("harmony", "cut-header", "<|channel|>commentary to=func", (), "<|channel|>commentary to=func", _CUT),
    Sample("harmony", "prose", "The token <|channel|> names the channel.", (), "The token <|channel|> names the channel.", _flags("quoted")),
    Sample("harmony", "own-result", "<|channel|>commentary to=functions.f<|message|>{}<|call|><|start|>functions.f to=assistant<|channel|>commentary<|message|>3<|end|>", (("f", {}),), None, _flags("hallucinated-observation")),
    # pythonic
    Sample("pythonic", "call", '[get_time(city="Lima")]', _LIMA),
    Sample("pythonic", "json-words", "[f(on=true)]", (("f", {"on": True}),), None, _flags("repaired")),
    Sample("pythonic", "text-behind", "[f(n=1)] is a call.", (), "[f(n=1)] is a call.", _flags("quoted")),
    Sample("pythonic", "positional", "[f(1)]", (), "[f(1)]", _CUT),
    Sample("pythonic", "link", "See [sin(x)](page).", (), "See [sin(x)](page)."),
    Sample("pythonic", "keyword-injection", '[f(city=__import__("os").system("x"))]', (), '[f(city=__import__("os").system("x"))]', _CUT),
    # glm45
    Sample("glm45", "call", "<tool_call>get_time\n<arg_key>city</arg_key>\n<arg_value>Lima</arg_value>\n</tool_call>", _LIMA),
    Sample("glm45", "prose", "Wrap it in <tool_call> tags.", (), "Wrap it in <tool_call> tags.", _flags("quoted")),
    # minimax
    Sample("minimax-m2", "call", '<minimax:tool_call>\n<invoke name="get_time">\n<parameter name="city">Lima</parameter>\n</invoke>\n</minimax:tool_call>', _LIMA),
    Sample("minimax-m2", "second-cut", '<minimax:tool_call><invoke name="f"></invoke><invoke name="f"><parameter name="n">1', (("f", {}),), '<invoke name="f"><parameter name="n">1', _CUT),
    Sample("minimax-m3", "call", f'{_NS}<tool_call>{_NS}<invoke name="get_time">{_NS}<city>Lima{_NS}</city>{_NS}</invoke>{_NS}</tool_call>', _LIMA),
    Sample("minimax-m3", "nested", f'{_NS}<tool_call>{_NS}<invoke name="f">{_NS}<tags>{_NS}<item>a{_NS}</item>{_NS}<item>b{_NS}</item>{_NS}</tags>{_NS}<opts>{_NS}<k>v{_NS}</k>{_NS}</opts>{_NS}</invoke>{_NS}</tool_call>', (("f", {"tags": ["a", "b"], "opts": {"k": "v"}}),)),
    # gemma4
    Sample("gemma4", "call", '<|tool_call>call:get_time{city:<|"|>Lima<|"|>}<tool_call|>', _LIMA),
    Sample("gemma4", "json-strings", '<|tool_call>call:f{"city":"Lima"}<tool_call|>', (("f", {"city": "Lima"}),), None, _flags("repaired")),
    Sample("gemma4", "thought", "<|channel>thought\nHm.<channel|>Hello", (), "Hello", _flags(), "Hm."),
    Sample("gemma4", "nested", '<|tool_call>call:f{opts:{a:[1,{b:<|"|>}<|"|>}]},on:false}<tool_call|>', (("f", {"opts": {"a": [1, {"b": "}"}]}, "on": False}),)),
)

# How the results "3" of f (with a Mistral id) and "4" of g are sent: roles and texts.
RESULTS: tuple[tuple[str, list[tuple[str, str]]], ...] = (
    ("hermes", [("tool", '<tool_response>\n{"name":"f","content":"3"}\n</tool_response>\n<tool_response>\n{"name":"g","content":"4"}\n</tool_response>')]),
    ("qwen3-coder", [("user", "<tool_response>\n3\n</tool_response>\n<tool_response>\n4\n</tool_response>")]),
    ("llama3-json", [("ipython", '{"output":"3"}'), ("ipython", '{"output":"4"}')]),
    ("mistral-json", [("tool", '[TOOL_RESULTS]{"content":"3","call_id":"a1b2c3d4e"}[/TOOL_RESULTS]'), ("tool", '[TOOL_RESULTS]{"name":"g","content":"4"}[/TOOL_RESULTS]')]),
    ("mistral-compact", [("tool", "[TOOL_RESULTS]3[/TOOL_RESULTS]"), ("tool", "[TOOL_RESULTS]4[/TOOL_RESULTS]")]),
    ("deepseek-v3", [("tool", "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>3<｜tool▁output▁end｜><｜tool▁output▁begin｜>4<｜tool▁output▁end｜><｜tool▁outputs▁end｜>")]),
    ("deepseek-v31", [("tool", "<｜tool▁output▁begin｜>3<｜tool▁output▁end｜><｜tool▁output▁begin｜>4<｜tool▁output▁end｜>")]),
    ("deepseek-v32", [("tool", "<function_results>\n<result>3</result>\n<result>4</result>\n</function_results>")]),
    ("glm45", [("observation", "<tool_response>\n3\n</tool_response>\n<tool_response>\n4\n</tool_response>")]),
    ("minimax-m2", [("tool", "<response>3</response>\n<response>4</response>")]),
    ("harmony", [("tool", "<|start|>functions.f to=assistant<|channel|>commentary<|message|>3<|end|>"), ("tool", "<|start|>functions.g to=assistant<|channel|>commentary<|message|>4<|end|>")]),
    ("gemma4", [("tool", '<|tool_response>response:f{value:<|"|>3<|"|>}<tool_response|><|tool_response>response:g{value:<|"|>4<|"|>}<tool_response|>')]),
    ("react", [("user", "Observation: 3\nObservation: 4")]),
)
# fmt: on

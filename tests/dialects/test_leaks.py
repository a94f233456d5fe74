"""Markup that a server's parser left in the content: what is one, and above all what is none."""

from __future__ import annotations

import pytest

from conformance.dialects import DIALECTS, leaked
from conformance.dialects.leaks import MAX_LEAKS
from conformance.types import Tool, ToolCall, Turn

from .samples import SAMPLES, TOOLS, Sample

CALL = '<tool_call>{"name": "f", "arguments": {"n": 1}}</tool_call>'
INVOKE = '<|DSML|invoke name="f"><|DSML|parameter name="n" string="false">1</|DSML|parameter></|DSML|invoke>'
ASCII = '<|tool_call_begin|>function<|tool_sep|>f\n```json\n{"n":1}\n```<|tool_call_end|>'
_MARKED = sorted(set(DIALECTS) - {"json-action"})


@pytest.mark.parametrize("name", _MARKED)
def test_a_whole_call_is_a_leak_that_names_dialect_and_call(name: str) -> None:
    text = DIALECTS[name].render_calls(Turn((ToolCall("c", "f", '{"n":1}'),)), TOOLS)
    (leak,) = leaked(text, TOOLS)
    assert (leak.dialect, leak.name) == (name, "f")
    assert leak.arguments == '{"n":1}'
    assert text[leak.start : leak.end].startswith(leak.excerpt)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (f"ok <|DSML|tool_calls>{INVOKE}</|DSML|tool_calls>", "deepseek-v32"),
        (f"ok {INVOKE}", "deepseek-v32"),
        (f"ok {INVOKE.replace('|', '｜')}", "deepseek-v32"),
        (f"<|tool_calls_begin|>{ASCII}<|tool_calls_end|>", "deepseek-v3"),
        ('assistantcommentary to=functions.f json{"n":1}', "harmony"),
        ('functions.f:0{"n":1}', "kimi-k2"),
        ('[{"name": "f", "arguments": {"n":1}}]', "mistral-json"),
        ('{"name": "f", "arguments": {"n":1}}', "llama3-json"),
        ('{"action": "f", "action_input": {"n":1}}', "json-action"),
        ('Thought: x\nAction: f\nAction Input: {"n":1}', "react"),
        ("On it.\n<tool_call>{'name': 'f', 'arguments': {'n': 1}}</tool_call>", "hermes"),
        ('<tool_call>{"name": "f", "arguments": {"n":1}}', "hermes"),
    ],
)
def test_stripped_tokens_lookalikes_and_bare_forms_are_leaks(text: str, dialect: str) -> None:
    (leak,) = leaked(text, TOOLS)
    assert (leak.dialect, leak.name, leak.arguments) == (dialect, "f", '{"n":1}')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello.",
        "Wrap calls in <tool_call> tags, as in <function=name>.",
        f"So:\n```\n{CALL}\n```\nThat is it.",
        f"```\n{CALL}\n```",
        f"`{CALL}`",
        f"The model writes `{CALL}` then.",
        f'The model writes "{CALL}" then.',
        f"The model writes “{CALL}” then.",
        f"> {CALL}",
        f"<think>{CALL}</think>Hello",
        CALL.replace('"f"', '"other"'),
        CALL[:-20],
        '{"name": "f"}',
        '{"name": "Ann", "arguments": {}}',
        '{"action": "buy", "action_input": {}}',
        'Here: {"name": "f", "arguments": {}}',
        '{"name": "f", "arguments": {}} is a call.',
        '```json\n{"action": "f", "action_input": {}}\n```',
        '[{"name": "f", "arguments": {}}, {"name": "Ann", "arguments": {}}]',
        '[{"name": "f"}]',
        "[1, 2, 3]",
        "[f(n=1)] is how.",
        "See [f(x)](page).",
        "Action: f",
        "Action: f\nAction Input: Oslo",
        'Action: other\nAction Input: {"n":1}',
        'Action: f\nAction Input: {"n":1}\nFinal Answer: 3',
        "It goes to=functions.f of course.",
        "```\nto=functions.f {}\n```",
        "Call functions.f:0 first.",
        "The token [TOOL_CALLS] precedes f.",
        "]<]minimax[>[ is a token.",
    ],
)
def test_what_is_no_leak(text: str) -> None:
    assert leaked(text, TOOLS) == ()


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_nothing_leaks_where_no_tools_were_offered(sample: Sample) -> None:
    assert leaked(sample.text, ()) == ()


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.calls], ids=str)
def test_a_text_without_calls_leaks_none(sample: Sample) -> None:
    assert leaked(sample.text, TOOLS) == ()


def test_several_leaks_come_in_their_order_and_not_without_end() -> None:
    text = CALL + DIALECTS["kimi-k2"].render_calls(Turn((ToolCall("c", "f", "{}"),)), TOOLS)
    assert [leak.dialect for leak in leaked(text, TOOLS)] == ["hermes", "kimi-k2"]
    assert len(leaked(CALL * 100, TOOLS)) == MAX_LEAKS


def test_a_tool_of_any_name_can_leak() -> None:
    (leak,) = leaked(
        '<tool_call>{"name": "ns.tool-1", "arguments": {}}</tool_call>', [Tool("ns.tool-1", "", {})]
    )
    assert leak.name == "ns.tool-1"

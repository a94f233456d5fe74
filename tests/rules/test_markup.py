"""Raw tool-call markup and think tags in content: found in every family's form, not in talk about them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from conformance.rules.leaks import leaks_in
from conformance.rules.markup import call_markup, think_markup, without_json_strings

CASES = Path(__file__).parents[3] / "shared" / "catalogue" / "text-formats-cases.json"
UNMARKED = {"json-action", "llama3-json", "pythonic", "react"}
"""Formats whose calls are plain text: nothing tells them from an answer that is JSON or prose."""


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
        "<tool_call>\n<function=get_weather>\n<parameter=city>",
        "<tool_call>get_weather\n<arg_key>city</arg_key>",
        '<function=get_weather>{"city": "Oslo"}</function>',
        '<|python_tag|>{"name": "get_weather"}',
        '<function_call> {"name": "get_weather"}',
        '[TOOL_CALLS] [{"name": "get_weather"}]',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0",
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">',
        '<|DSML|tool_calls><|DSML|invoke name="alpha">',
        '<minimax:tool_call>\n<invoke name="get_weather">',
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{}",
    ],
)
def test_the_markup_of_each_family_is_found(text: str) -> None:
    assert list(call_markup(f"Sure. {text}"))


@pytest.mark.parametrize(
    "text",
    [
        "Wrap calls in <tool_call> tags.",
        'Like this:\n```\n<tool_call>{"name": "f"}</tool_call>\n```\nThat is all.',
        "The token `[TOOL_CALLS]` opens a list.",
        '{"name": "get_weather", "arguments": {}}',
        "An unclosed fence ```\n[TOOL_CALLS]",
        "",
    ],
)
def test_talk_about_markup_is_no_leak(text: str) -> None:
    assert list(call_markup(text)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<think>Hm.</think>Hello.", True),
        ("Hm.</think>Hello.", True),
        ("<thinking>Hm.", True),
        ("I think so.", False),
        ("The tag `<think>` opens a thought.", False),
    ],
)
def test_think_tags_are_found_outside_code(text: str, found: bool) -> None:
    assert (think_markup(text) is not None) is found


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ('{"city":"H<tool_call>[<tool_call>[', False),
        ('{"note": "they write \\"[TOOL_CALLS]\\" first"}', False),
        ('{"note": "cut\\', False),
        ('{"city": "Oslo"} <tool_call>{"name": "get_weather"}</tool_call>', True),
        ('"<tool_call>{}" said he', True),
    ],
)
def test_in_a_json_object_markup_within_strings_is_data(text: str, leaks: bool) -> None:
    assert bool(list(leaks_in(text, ()))) is leaks


@pytest.mark.parametrize("text", ['{"' + '\\"' * 100_000 + "\\", "{" + '"' * 200_001])
def test_strings_are_emptied_in_linear_time(text: str) -> None:
    began = time.process_time()
    without_json_strings(text)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text",
    ["<tool_call>" * 20_000, "<tool_call>" + " " * 200_000, "<tool_call>" + "a" * 200_000, "`" * 200_001],
)
def test_hostile_text_is_searched_in_linear_time(text: str) -> None:
    began = time.process_time()
    list(call_markup(text))
    assert time.process_time() - began < 5


@pytest.mark.skipif(
    not CASES.is_file(), reason="the catalogue of text formats (../shared/catalogue) is not here"
)
def test_every_plain_case_of_the_format_catalogue_is_found() -> None:
    cases = [case for case in json.loads(CASES.read_text())["cases"] if case["kind"] == "positive"]
    marked = [case for case in cases if case["calls"] and case["format"] not in UNMARKED]
    assert len(marked) > 30
    assert [case["id"] for case in marked if not list(call_markup(case["input"]))] == []

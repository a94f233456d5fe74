"""Canonical turns as Hermes text."""

from __future__ import annotations

import pytest

from conformance.scripted_model import render_hermes
from conformance.types import Image, Part, Reasoning, Refusal, Text, ToolCall, Turn

WEATHER = ToolCall("call_1", "get_weather", '{"city": "Zürich 🌦"}')
TIME = ToolCall("call_2", "get_time", "{}")
WEATHER_TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich 🌦"}}\n</tool_call>'
TIME_TEXT = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        ((Text("Hello.\n"),), "Hello.\n"),
        ((WEATHER,), WEATHER_TEXT),
        ((WEATHER, TIME), f"{WEATHER_TEXT}\n{TIME_TEXT}"),
        ((Text("Let me see."), WEATHER), f"Let me see.{WEATHER_TEXT}"),
        ((Reasoning("Hm."), Text("42.")), "<think>\nHm.</think>\n\n42."),
        ((Reasoning("Hm."), WEATHER), f"<think>\nHm.</think>\n\n{WEATHER_TEXT}"),
    ],
    ids=[
        "nothing",
        "text",
        "call",
        "parallel-calls",
        "text-and-call",
        "reasoning-and-text",
        "reasoning-and-call",
    ],
)
def test_parts_become_text_in_order(parts: tuple[Part, ...], text: str) -> None:
    assert render_hermes(Turn(parts)) == text


def test_arguments_are_never_re_encoded() -> None:
    arguments = '{"a":1.50, "b": "\\u00fc"}'
    assert arguments in render_hermes(Turn((ToolCall("", "f", arguments),)))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Refusal("No."), "Refusal"),
        (Image("https://example.com/a.png"), "Image"),
        (ToolCall("", "f", "{"), "'f' are not JSON"),
        (ToolCall("", "f", "[1]"), "'f' are not a JSON object"),
        (ToolCall("", "f", ""), "'f' are not JSON"),
    ],
)
def test_what_has_no_hermes_form_is_refused(part: Part, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_hermes(Turn((part,)))

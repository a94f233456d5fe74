"""Canonical turns as the text that models of a dialect write."""

from __future__ import annotations

import pytest

from conformance.dialects import dialect
from conformance.scripted_model.render import script, written
from conformance.scripted_model.vocabulary import Script
from conformance.types import Image, Part, Reasoning, Refusal, Text, ToolCall, Turn

WEATHER = ToolCall("call_1", "get_weather", '{"city": "Zürich 🌦"}')
TIME = ToolCall("call_2", "get_time", "{}")
WEATHER_TEXT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich 🌦"}}\n</tool_call>'
TIME_TEXT = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
HELLO = Turn((Text("Hello."),))
THOUGHT = Turn((Reasoning("Hm."), Text("42.")))
CALLED = Turn((Text("I look."), WEATHER))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        ((Text("Hello.\n"),), "Hello.\n"),
        ((WEATHER,), WEATHER_TEXT),
        ((WEATHER, TIME), f"{WEATHER_TEXT}\n{TIME_TEXT}"),
        ((Text("Let me see."), WEATHER), f"Let me see.{WEATHER_TEXT}"),
        ((WEATHER, Text("Done.")), f"{WEATHER_TEXT}Done."),
        ((Reasoning("Hm."), Text("42.")), "<think>\nHm.</think>\n\n42."),
        ((Text("I look."), Reasoning("Hm."), WEATHER), f"I look.<think>\nHm.</think>\n\n{WEATHER_TEXT}"),
    ],
)
def test_parts_become_hermes_text_in_order_without_white_space_to_keep(
    parts: tuple[Part, ...], text: str
) -> None:
    assert written(Turn(parts), dialect("hermes")) == text


def test_white_space_that_a_dialect_needs_stays() -> None:
    assert written(CALLED, dialect("react")) == (
        'I look.\nAction: get_weather\nAction Input: {"city": "Zürich 🌦"}'
    )


def test_calls_of_the_conversation_are_counted() -> None:
    text = written(Turn((WEATHER, Text(" And "), TIME)), dialect("kimi-k2"), first=3)
    assert text.index("functions.get_weather:3") < text.index("functions.get_time:4")


def test_calls_of_mistral_have_an_id_of_nine_letters() -> None:
    assert ', "id": "call00002"}' in written(Turn((WEATHER,)), dialect("mistral-json"), first=2)


def test_arguments_are_never_re_encoded() -> None:
    arguments = '{"a":1.50, "b": "\\u00fc"}'
    assert arguments in written(Turn((ToolCall("", "f", arguments),)), dialect("hermes"))


@pytest.mark.parametrize("part", [Refusal("No."), Image("https://example.com/a.png")])
def test_what_has_no_form_in_text_is_refused(part: Part) -> None:
    with pytest.raises(ValueError, match=type(part).__name__):
        written(Turn((part,)), dialect("hermes"))


@pytest.mark.parametrize(
    ("name", "turn", "wanted"),
    [
        ("hermes", HELLO, Script("Hello.", "<|im_end|>")),
        ("glm45", HELLO, Script("Hello.", "<|user|>")),
        ("glm45", Turn((TIME,)), Script("<tool_call>get_time\n</tool_call>", "<|observation|>")),
        ("minimax-m2", HELLO, Script("</think>Hello.", "[e~[")),
        ("minimax-m2", THOUGHT, Script("Hm.</think>\n\n42.", "[e~[")),
        ("harmony", HELLO, Script("<|channel|>final<|message|>Hello.", "<|return|>")),
        (
            "harmony",
            THOUGHT,
            Script(
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>42.",
                "<|return|>",
            ),
        ),
        (
            "harmony",
            Turn((TIME,)),
            Script("<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{}", "<|call|>"),
        ),
    ],
)
def test_a_script_goes_on_where_the_prompt_ends_and_ends_as_the_turns_of_its_models(
    name: str, turn: Turn, wanted: Script
) -> None:
    assert script(written(turn, dialect(name)), dialect(name), calls=bool(turn.calls)) == wanted

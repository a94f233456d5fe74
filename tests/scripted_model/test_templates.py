"""The chat templates, rendered as transformers renders them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from conformance.dialects import DIALECTS, dialect
from conformance.scripted_model import CHECKPOINTS
from conformance.scripted_model.render import script, written
from conformance.types import Reasoning, Text, ToolCall, Turn

OSLO = ToolCall("call00000", "get_weather", '{"city": "Oslo"}')
ROME = ToolCall("call00001", "get_weather", '{"city": "Rome"}')
WEATHER = {
    "name": "get_weather",
    "description": "Tells the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
TOOLS = [{"type": "function", "function": WEATHER}]
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Say [[a/0]]"}
RESULT = {"role": "tool", "tool_call_id": OSLO.id, "content": "Sunny.\n[[a/1]]"}
CALLED = Turn((OSLO,))
ANSWER = Turn((Text("Hello."),))
PROMPTED = ("react", "json-action")
"""Dialects that any model is told in its instructions. Answers have a form, and history goes without it."""


def render(name: str, *messages: dict[str, Any], tools: Any = None) -> str:
    sandbox = pytest.importorskip("jinja2.sandbox", reason="rendering templates needs jinja2")
    environment = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    template = environment.from_string(CHECKPOINTS[name].template)
    return str(template.render(messages=messages, tools=tools, add_generation_prompt=True))


def message(turn: Turn, *, counted: bool = False) -> dict[str, Any]:
    """An assistant's message as engines give it to templates: arguments decoded.

    ``counted``: with ids that say the number of the call, as models of Kimi write them.
    """
    calls = [
        {
            "id": f"functions.{call.name}:{number}" if counted else call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.loads(call.arguments)},
        }
        for number, call in enumerate(turn.calls)
    ]
    parts = {"content": turn.text or None, "reasoning_content": turn.reasoning, "tool_calls": calls}
    return {"role": "assistant", **{key: value for key, value in parts.items() if value or key == "content"}}


def test_there_is_a_checkpoint_for_every_dialect() -> None:
    assert list(CHECKPOINTS) == list(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_prompt_ends_where_the_scripts_go_on(name: str) -> None:
    for before, tools in (
        ((), None),
        ((SYSTEM,), None),
        ((), TOOLS),
        ((SYSTEM, USER, message(CALLED), RESULT), TOOLS),
    ):
        assert render(name, *before, USER, tools=tools).endswith(CHECKPOINTS[name].prompt)


@pytest.mark.parametrize("name", DIALECTS)
def test_markers_go_through_from_users_and_from_results(name: str) -> None:
    prompt = render(name, SYSTEM, USER, message(CALLED), RESULT, tools=TOOLS)
    assert "[[a/0]]" in prompt
    assert 0 <= prompt.index("[[a/0]]") < prompt.index("\n[[a/1]]" if "\n[[a/1]]" in prompt else "[[a/1]]")


@pytest.mark.parametrize("name", DIALECTS)
def test_tools_and_instructions_are_told(name: str) -> None:
    prompt = render(name, SYSTEM, USER, tools=TOOLS)
    assert "Be brief." in prompt
    assert "Tells the weather." in prompt
    assert "Tells the weather." not in render(name, SYSTEM, USER)


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "turn",
    [
        ANSWER,
        Turn((Reasoning("Hm."), Text("Hello."))),
        CALLED,
        Turn((OSLO, ROME)),
        Turn((Text("I look."), OSLO)),
        Turn((Reasoning("Hm."), OSLO)),
    ],
    ids=["text", "reasoning-and-text", "call", "two-calls", "text-and-call", "reasoning-and-call"],
)
def test_a_turn_stands_in_the_history_as_its_script_has_it(name: str, turn: Turn) -> None:
    if name in PROMPTED and not turn.calls:
        pytest.skip("an answer stands in the history without its form")
    said = script(written(turn, dialect(name)), dialect(name), calls=bool(turn.calls)).text
    if CHECKPOINTS[name].begun and not turn.reasoning:
        said = said.removeprefix("</think>")
    # Tokenizers of SentencePiece write a space here that the templates of the later ones don't have.
    said = said.replace("[TOOL_CALLS] [", "[TOOL_CALLS][")
    assert said in render(name, USER, message(turn, counted=name == "kimi-k2"), USER, tools=TOOLS)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_framing_token_of_the_template_is_a_token_of_the_checkpoint(name: str) -> None:
    checkpoint = CHECKPOINTS[name]
    prompt = render(name, SYSTEM, USER, message(CALLED), RESULT, message(ANSWER), USER, tools=TOOLS)
    known = (*checkpoint.framing, *checkpoint.ends, *checkpoint.shown, *checkpoint.hidden)
    found = set(re.findall(r"<\|[a-z_]+\|?>|<[a-z]+\|>|<｜[^｜]+｜>|\[/?[A-Z_]{4,}\]|</?s>", prompt))
    assert found <= set(known)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hermes", ("<tool_call>", "tool_call.name")),
        ("qwen3-coder", (r"<tool_call>\n<function=",)),
        ("kimi-k2", ("<|tool_calls_section_begin|>",)),
        ("glm45", ("<arg_key>",)),
        ("minimax-m2", ("<minimax:tool_call>",)),
        ("mistral-json", ("[TOOL_CALLS]",)),
        ("mistral-compact", ("[TOOL_CALLS]",)),
        ("gemma4", ("<|tool_call>", "<tool_call|>")),
    ],
)
def test_a_template_has_the_words_by_which_mlx_lm_knows_the_dialect(
    name: str, words: tuple[str, ...]
) -> None:
    assert all(word in CHECKPOINTS[name].template for word in words)

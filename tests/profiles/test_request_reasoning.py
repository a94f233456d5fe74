"""Reasoning, effort and thinking flags: what goes back, and in whose words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.types import (
    JSON,
    Message,
    NamedChoice,
    Reasoning,
    Request,
    ToolCall,
)

from .support import (
    ALPHA,
    CALL,
    HELLO,
    LOOP,
    THOUGHT_LOOP,
    USER,
    WITH_ALPHA,
    asked,
    assistant,
    result,
    said,
    sent,
)

# ------------------------------------------------------------------------------------------- reasoning


def test_deepseeks_thinking_flag_is_always_said() -> None:
    assert sent("deepseek", HELLO)["thinking"] == {"type": "enabled"}
    assert sent("deepseek", asked(reasoning_effort="none"))["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize("choice", ["required", NamedChoice("alpha")])
def test_beside_a_forced_call_thinking_is_off(choice: Any) -> None:
    forced = replace(WITH_ALPHA, tool_choice=choice)
    assert sent("deepseek", forced)["thinking"] == {"type": "disabled"}
    streamed = replace(forced, stream=True, extra={"enable_thinking": True})
    assert sent("alibaba", streamed)["enable_thinking"] is False


@pytest.mark.parametrize("name", ["deepseek", "xiaomi-mimo", "moonshot"])
def test_reasoning_goes_back_with_every_turn_that_of_a_text_in_between_too(name: str) -> None:
    again = ToolCall("c2", "alpha", "{}")
    history = (USER, said("", CALL, thought="hm"), result(CALL), said("So."), said("", again, thought="aha"))
    body = sent(name, Request((*history, result(again)), tools=(ALPHA,)))
    echoed = [m["reasoning_content"] for m in body["messages"] if m["role"] == "assistant"]
    assert echoed == ["hm", " ", "aha"]


def test_lost_reasoning_is_one_space_never_an_empty_string() -> None:
    history = Request((USER, Message("assistant", (Reasoning(""), CALL)), result(CALL)), tools=(ALPHA,))
    assert assistant(sent("deepseek", history))["reasoning_content"] == " "


def test_with_thinking_off_nothing_is_made_up() -> None:
    off = replace(LOOP, extra={"thinking": {"type": "disabled"}})
    assert "reasoning_content" not in assistant(sent("deepseek", off))


def test_reasoning_that_came_under_another_name_goes_back_as_reasoning_content() -> None:
    other = Message("assistant", (Reasoning("hm", "reasoning"), CALL))
    body = sent("deepseek", replace(LOOP, messages=(USER, other, result(CALL))))
    assert (assistant(body)["reasoning_content"], "reasoning" in assistant(body)) == ("hm", False)


@pytest.mark.parametrize("name", ["openrouter", "vllm", "ollama"])
def test_elsewhere_reasoning_goes_back_under_the_name_it_came_under(name: str) -> None:
    other = Message("assistant", (Reasoning("hm", "reasoning"), CALL))
    assert assistant(sent(name, replace(LOOP, messages=(USER, other, result(CALL)))))["reasoning"] == "hm"


@pytest.mark.parametrize("name", ["groq", "aggregator", "fireworks", "mistral"])
def test_who_refuses_reasoning_gets_none(name: str) -> None:
    body = sent(name, replace(THOUGHT_LOOP, echo_reasoning=True), "kimi-k2")
    assert not [key for key in assistant(body) if key.startswith("reasoning")]


def test_cerebras_gets_glms_reasoning_as_text_and_no_other() -> None:
    body = sent("cerebras", THOUGHT_LOOP, "zai-glm-4.7")
    assert assistant(body)["content"] == "<think>hm</think>"
    assert body["clear_thinking"] is False
    assert assistant(sent("cerebras", THOUGHT_LOOP, "gpt-oss-120b"))["content"] == ""


EFFORTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("moonshot", "kimi-k2.6", {"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
    (
        "moonshot",
        "kimi-k2.6",
        {"reasoning_effort": "medium", "thinking": {"type": "enabled"}},
        {"reasoning_effort": "medium"},
    ),
    ("moonshot", "k3", {"reasoning_effort": "medium"}, {"reasoning_effort": "low"}),
    ("zai", "glm-5.2", {"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
    ("zai", "glm-5.3", {"reasoning_effort": "ultra"}, {"reasoning_effort": "max"}),
    ("ollama", "qwen3", {"reasoning_effort": "minimal"}, {"reasoning_effort": "none"}),
    ("ollama", "qwen3", {"think": False}, {"reasoning_effort": "none"}),
    ("xai", "grok-4.5", {"reasoning_effort": "none"}, {"reasoning_effort": "low"}),
    ("xai", "grok-4-non-reasoning", {"reasoning_effort": "low"}, {}),
    ("openai", "gpt-5.6", {"reasoning_effort": "minimal"}, {"reasoning_effort": "none"}),
    ("openai", "gpt-5-mini", {"reasoning_effort": "xhigh"}, {"reasoning_effort": "high"}),
    ("cerebras", "gpt-oss-120b", {"reasoning_effort": "none", "disable_reasoning": True}, {}),
    ("openrouter", "x/y", {"reasoning": {"enabled": False}}, {}),
    ("alibaba", "qwen3", {"reasoning": {"enabled": True, "effort": "medium"}},
     {"reasoning_effort": "medium", "enable_thinking": False}),
    ("minimax", "MiniMax-M3", {"thinking": {"type": "enabled"}},
     {"reasoning_split": True, "thinking": {"type": "adaptive"}}),
    ("minimax", "MiniMax-M3.1", {"thinking": {"type": "disabled"}}, {"reasoning_split": True}),
    ("opencode", "kimi-k2", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
     {"reasoning_effort": "low"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "model", "given", "wanted"), EFFORTS)
def test_effort_and_thinking_are_said_in_the_models_words(
    name: str, model: str, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    body = sent(name, asked(**given), model)
    assert {k: v for k, v in body.items() if k not in ("model", "messages")} == wanted


@pytest.mark.parametrize(("stream", "on"), [(True, True), (False, False)])
def test_qwen_thinks_in_streams_alone(stream: bool, on: bool) -> None:
    request = replace(asked(enable_thinking=True), stream=stream)
    assert sent("alibaba", request)["enable_thinking"] is on


def test_anthropic_thinks_only_where_no_call_is_forced() -> None:
    native: dict[str, JSON] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    forced = replace(WITH_ALPHA, tool_choice="required", native={"anthropic-messages": native})
    assert "thinking" not in sent("anthropic", forced, over="anthropic-messages")
    free = replace(WITH_ALPHA, native={"anthropic-messages": native})
    assert "thinking" in sent("anthropic", free, over="anthropic-messages")

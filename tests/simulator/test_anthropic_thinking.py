"""Thinking: when it shows, and that it comes back as it was."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .anthropic_support import THINKING, TIME, WEATHER, Messages, assistant, result, text, use, user

TOOLS = [WEATHER, TIME]
ADAPTIVE = {"type": "adaptive"}
INTERLEAVED = "interleaved-thinking-2025-05-14"
REDACT = (
    "ANTHROPIC_MAGIC_STRING_TRIGGER_REDACTED_THINKING_"
    "46C9A13E193C177646C7398A98432ECCCE4C1253D5E2D82641AC0E52CC2876CB"
)


def kinds(message: Any) -> list[str]:
    return [block["type"] for block in message["content"]]


@pytest.mark.parametrize("thinking", [None, {"type": "disabled"}])
def test_without_thinking_none_shows(messages: Messages, thinking: Any) -> None:
    assert kinds(messages.message("[[thinking]]", thinking=thinking)) == ["text"]


@pytest.mark.parametrize("thinking", [THINKING, ADAPTIVE, {**ADAPTIVE, "display": "summarized"}])
def test_with_thinking_it_shows_signed(messages: Messages, thinking: Any) -> None:
    block, said = messages.message("[[thinking]]", thinking=thinking)["content"]
    assert (block["thinking"], said["text"]) == ("First, the facts.", "So it is.")
    assert base64.b64decode(block["signature"], validate=True)


def test_omitted_thinking_has_only_its_signature_and_still_costs(messages: Messages) -> None:
    shown = messages.message("[[thinking]]", thinking=ADAPTIVE)
    omitted = messages.message("[[thinking]]", thinking={**ADAPTIVE, "display": "omitted"})
    assert omitted["content"][0]["thinking"] == ""
    assert omitted["content"][0]["signature"]
    assert omitted["usage"] == shown["usage"]


def test_thinking_and_calls_keep_their_order(messages: Messages) -> None:
    answered = messages.message("[[interleaved]]", tools=TOOLS, thinking=ADAPTIVE)
    assert kinds(answered) == ["thinking", "text", "tool_use", "thinking", "tool_use"]


def continued(messages: Messages, first: Any, prompt: str, **members: Any) -> Any:
    """The answer to the results of every call in ``first``."""
    calls = [block["id"] for block in first["content"] if block["type"] == "tool_use"]
    turns = [user(prompt), assistant(*first["content"]), user(*[result(i, "[[done/1]]") for i in calls])]
    return messages.ask(*turns, tools=TOOLS, **members)


@pytest.mark.parametrize("prompt", ["[[interleaved]]", "[[parallel]]", f"[[interleaved]] {REDACT}"])
@pytest.mark.parametrize("thinking", [THINKING, ADAPTIVE, {**THINKING, "display": "omitted"}])
def test_an_answer_is_accepted_back_as_it_was(messages: Messages, prompt: str, thinking: Any) -> None:
    first = messages.message(prompt, tools=TOOLS, thinking=thinking)
    assert continued(messages, first, prompt, thinking=thinking).status_code == 200


ALTERED = [
    ("signature", "c2lnbmF0dXJl"),
    ("signature", ""),
    ("signature", "not base64!"),
    ("thinking", "Something else."),
]


@pytest.mark.parametrize(("member", "value"), ALTERED)
@pytest.mark.parametrize("thinking", [THINKING, None])
def test_altered_thinking_is_refused(messages: Messages, member: str, value: str, thinking: Any) -> None:
    first = messages.message("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    first["content"][0][member] = value
    response = continued(messages, first, "Hi", thinking=thinking)
    assert response.status_code == 400
    assert "messages.1.content.0.signature: Invalid `signature` in `thinking` block" in response.text


def test_a_signature_is_of_its_own_text_only(messages: Messages) -> None:
    first = messages.message("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    early, late = (block for block in first["content"] if block["type"] == "thinking")
    early["signature"], late["signature"] = late["signature"], early["signature"]
    assert continued(messages, first, "Hi", thinking=THINKING).status_code == 400


def test_thinking_with_a_budget_must_come_back_with_its_calls(messages: Messages) -> None:
    first = messages.message("[[interleaved]]", tools=TOOLS, thinking=THINKING)
    first["content"] = [block for block in first["content"] if block["type"] != "thinking"]
    refused = continued(messages, first, "Hi", thinking=THINKING)
    assert refused.status_code == 400
    assert "Expected `thinking` or `redacted_thinking`, but found `text`" in refused.text
    assert continued(messages, first, "Hi", thinking=ADAPTIVE).status_code == 200


def test_with_a_budget_every_call_comes_after_a_thinking_block(messages: Messages) -> None:
    answered = messages.message("[[parallel]]", tools=TOOLS, thinking=THINKING)
    assert kinds(answered) == ["thinking", "tool_use", "tool_use"]
    assert answered["usage"]["output_tokens_details"] == {"thinking_tokens": 0}


def test_older_turns_need_no_thinking(messages: Messages) -> None:
    turns = ["Hi", assistant(use("a")), user(result("a")), assistant("Cold."), "And now?"]
    assert messages.ask(*turns, tools=TOOLS, thinking=THINKING).status_code == 200


def test_a_budget_beyond_the_cap_needs_interleaved_thinking(messages: Messages) -> None:
    asked: dict[str, Any] = {"tools": TOOLS, "thinking": {**THINKING, "budget_tokens": 9000}}
    assert messages.error("Hi", **asked).startswith("max_tokens: ")
    assert messages.ask("Hi", beta=INTERLEAVED, **asked).status_code == 200


def test_the_published_words_redact_thinking(messages: Messages) -> None:
    block, said = messages.message(f"[[thinking]] {REDACT}", thinking=THINKING)["content"]
    assert set(block) == {"type", "data"}
    assert block["type"] == "redacted_thinking"
    turns = [user("Hi"), assistant(block, said), user("Well?")]
    assert messages.ask(*turns, thinking=THINKING).status_code == 200
    block["data"] = block["data"][:-4] + "AAA="
    assert messages.error(*turns).startswith("messages.1.content.0.data: Invalid `data`")


def test_a_conversation_cannot_end_in_thinking(messages: Messages) -> None:
    block = messages.message("[[thinking]]", thinking=THINKING)["content"][0]
    refused = messages.error("Hi", assistant(text("So"), block))
    assert refused.startswith("messages.1: The final block in an assistant message cannot be `thinking`")


def test_a_cap_in_the_thinking_leaves_it_signed(messages: Messages) -> None:
    answered = messages.message("[[thinking]]", thinking=ADAPTIVE, max_tokens=2)
    assert (kinds(answered), answered["stop_reason"]) == (["thinking"], "max_tokens")
    assert answered["content"][0]["signature"]

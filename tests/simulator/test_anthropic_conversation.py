"""Anthropic's rules about the conversation: roles, tool results, what the model reads of it."""

from __future__ import annotations

from typing import Any

import pytest

from .anthropic_support import NEW, OLD, TIME, WEATHER, Messages, assistant, result, system, text, use, user

TOOLS = [WEATHER, TIME]
CALLED = assistant(text("Let me look."), use("a", city="Oslo"), use("b", "get_time"))
PNG = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="}}
NOTE = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a note"}}
FOUND = {"type": "search_result", "source": "https://x", "title": "X", "content": [text("found")]}

ACCEPTED: list[tuple[str, list[Any]]] = [
    ("string", ["Hi"]),
    ("blocks", [user(text("Hi"), PNG, PDF, NOTE, FOUND)]),
    ("neighbours", ["Hi", "Hello?", assistant("Yes."), assistant("What is it?"), "This."]),
    ("results", ["Hi", CALLED, user(result("a"), result("b"))]),
    ("results-in-any-order", ["Hi", CALLED, user(result("b"), result("a"))]),
    ("results-of-neighbours", ["Hi", CALLED, user(result("a")), user(result("b"))]),
    ("text-after-results", ["Hi", CALLED, user(result("a"), result("b"), text("Well?"))]),
    ("user-after-results", ["Hi", CALLED, user(result("a"), result("b")), "Well?"]),
    ("result-without-content", ["Hi", CALLED, user(result("a", None), result("b", ""))]),
    ("result-blocks", ["Hi", CALLED, user(result("a", [text("x"), PNG, NOTE, FOUND]), result("b", []))]),
    ("result-error", ["Hi", CALLED, user(result("a", is_error=True), result("b", is_error=False))]),
    ("caller", ["Hi", assistant({**use("a"), "caller": {"type": "direct"}}), user(result("a"))]),
    ("blank-assistant", ["Hi", assistant(text(" "), use("a")), user(result("a"))]),
    ("system-last", ["Hi", system("Be brief.")]),
    ("system-between", ["Hi", system("Be brief."), assistant("Yes."), "Well?"]),
    ("system-after-results", ["Hi", CALLED, user(result("a"), result("b")), system("Be brief.")]),
    ("empty-final-assistant", ["Hi", {"role": "assistant", "content": ""}]),
]


@pytest.mark.parametrize("turns", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_conversations_that_are_answered(messages: Messages, turns: list[Any]) -> None:
    assert messages.message(*turns, tools=TOOLS)["content"]


REFUSED: list[tuple[str, list[Any], str]] = [
    ("assistant-first", [assistant("Hi"), "Hello"], 'messages: first message must use the "user" role'),
    ("no-results", ["Hi", CALLED, "Well?"], "messages.1: `tool_use` ids were found without `tool_result`"),
    ("one-result", ["Hi", CALLED, user(result("a"))], "messages.1: `tool_use` ids were found without"),
    ("ends-with-calls", ["Hi", CALLED], "messages.1: `tool_use` ids were found without `tool_result`"),
    ("text-first", ["Hi", CALLED, user(text("So"), result("a"), result("b"))], "messages.1: `tool_use` ids"),
    (
        "text-between",
        ["Hi", CALLED, user(result("a"), text("So"), result("b"))],
        "messages.1: `tool_use` ids",
    ),
    ("gap", ["Hi", CALLED, "So", assistant("Hm"), user(result("a"), result("b"))], "messages.1: `tool_use`"),
    ("text-before-neighbour", ["Hi", CALLED, "So", user(result("a"), result("b"))], "messages.1: `tool_use`"),
    ("orphan", [user(result("a"))], "messages.0.content.0: unexpected `tool_use_id` found in `tool_result`"),
    (
        "stranger",
        ["Hi", CALLED, user(result("a"), result("b"), result("c"))],
        "messages.2.content.2: unexpected",
    ),
    (
        "twice",
        ["Hi", CALLED, user(result("a"), result("b"), result("a"))],
        "messages.2.content.0: each tool_use",
    ),
    (
        "same-ids",
        ["Hi", assistant(use("a"), use("a")), user(result("a"))],
        "messages.1.content.1: `tool_use` ids",
    ),
    ("bad-id", ["Hi", assistant(use("a b")), user(result("a b"))], "messages.1.content.0.id: String should"),
    ("bad-name", ["Hi", assistant(use("a", "f g")), user(result("a"))], "messages.1.content.0.name: String"),
    (
        "text-input",
        ["Hi", assistant({**use("a"), "input": "{}"}), user(result("a"))],
        "messages.1.content.0.input",
    ),
    (
        "no-input",
        ["Hi", assistant({**use("a"), "input": None}), user(result("a"))],
        "messages.1.content.0.input",
    ),
    ("user-calls", [user(use("a"))], "messages.0.content.0.type: "),
    ("assistant-results", ["Hi", assistant(result("a"))], "messages.1.content.0.type: "),
    (
        "result-tool-use",
        ["Hi", CALLED, user(result("a", [use("c")]), result("b"))],
        "messages.2.content.0.content",
    ),
    (
        "empty-assistant",
        ["Hi", {"role": "assistant", "content": ""}, "Well?"],
        "messages.1: all messages must",
    ),
    ("system-first", [system("Be brief."), "Hi"], "messages.0: role 'system' must follow a 'user' message"),
    (
        "system-after-assistant",
        ["Hi", assistant("Yes."), system("x"), "Hm"],
        "messages.2: role 'system' must follow",
    ),
    (
        "system-before-user",
        ["Hi", system("x"), "Hm"],
        "messages.1: role 'system' must precede an 'assistant'",
    ),
    ("system-image", ["Hi", system(PNG)], "messages.1.content.0.type: "),
    ("prefill-space", ["Hi", assistant("So ")], "messages: final assistant content cannot end with trailing"),
]


@pytest.mark.parametrize(("turns", "begins"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_conversations_that_are_refused(messages: Messages, turns: list[Any], begins: str) -> None:
    assert messages.error(*turns, tools=TOOLS).startswith(begins)


def test_documents_of_the_assistant_ended_with_version_2026_10_21(messages: Messages) -> None:
    turns = ["Hi", assistant(NOTE), "Well?"]
    assert messages.ask(*turns, version=OLD).status_code == 200
    assert messages.error(*turns, version=NEW).startswith("messages.1.content.0.type: ")


def test_the_model_reads_each_result_beside_its_call(messages: Messages) -> None:
    answered = messages.message(
        "Hi", CALLED, user(result("b", "noon"), result("a", [text("co"), text("ld")]))
    )
    assert answered["content"][0]["text"] == (
        'get_weather({"city":"Oslo"}) returned: cold\nget_time({}) returned: noon'
    )


def test_the_last_marker_counts_wherever_the_user_or_a_tool_says_it(messages: Messages) -> None:
    turns = [user("[[call]]"), assistant(use("a")), user(result("a", "[[done/1]]"))]
    assert messages.message(*turns, tools=TOOLS)["content"][0]["text"] == "It is sunny."


@pytest.mark.parametrize("spoken", ["Be brief.", [text("Be "), text("brief.")], ""])
def test_the_system_prompt_is_a_string_or_blocks(messages: Messages, spoken: Any) -> None:
    assert messages.message("Hi", system=spoken)["stop_reason"] == "end_turn"


def test_a_longer_prompt_costs_more(messages: Messages) -> None:
    short = messages.message("Hi")["usage"]["input_tokens"]
    for longer in ({"system": "Be brief."}, {"tools": [TIME]}):
        assert messages.message("Hi", **longer)["usage"]["input_tokens"] > short


def test_an_answer_goes_on_from_a_prefill(messages: Messages) -> None:
    answered = messages.message("[[done/1]]", assistant("It is"))
    assert answered["content"] == [{"type": "text", "text": " sunny."}]
    assert answered["usage"]["output_tokens"] < messages.message("[[done/1]]")["usage"]["output_tokens"]


@pytest.mark.parametrize(
    "members",
    [
        {"thinking": {"type": "adaptive"}},
        {"output_config": {"format": {"type": "json_schema", "schema": {"type": "string"}}}},
    ],
)
def test_some_requests_take_no_prefill(messages: Messages, members: dict[str, Any]) -> None:
    assert "prefill is not supported" in messages.error("Hi", assistant("So"), **members)

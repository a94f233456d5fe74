"""Per workaround of a request: the smallest one that is refused, and what is sent in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles import profile
from conformance.profiles.messages import BRIDGE, NO_RESULT, ORPHAN
from conformance.profiles.tools import NUDGE, NUDGE_NAMED, PLACEHOLDER
from conformance.types import (
    JSON,
    File,
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    WireName,
)

from .support import ALPHA, BETA, CALL, HELLO, WITH_ALPHA, result, said, sent, sent_for

USER = Message.user("Hello.")
LOOP = Request((USER, said("", CALL), result(CALL)), tools=(ALPHA,))
THOUGHT_LOOP = replace(LOOP, messages=(USER, said("", CALL, thought="hm"), result(CALL)))


def asked(**members: Any) -> Request:
    """A plain request with further words of Chat."""
    return replace(HELLO, extra=members)


def roles(body: dict[str, Any]) -> list[str]:
    return [message["role"] for message in body["messages"]]


def names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def assistant(body: dict[str, Any]) -> dict[str, Any]:
    """The first assistant message."""
    return next(message for message in body["messages"] if message["role"] == "assistant")


# ------------------------------------------------------------------------------------------------ tools

TWICE = Tool("alpha", "Another.", {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    "name", ["deepseek", "xiaomi-mimo", "moonshot", "zai", "minimax", "azure", "bedrock"]
)
def test_a_tool_name_that_comes_twice_is_sent_once_and_the_first_wins(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tools=(ALPHA, BETA, TWICE)))
    assert names(body) == ["alpha", "beta"]
    assert body["tools"][0]["function"]["description"] == "First."


def function(name: str, text: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": text, "parameters": {}}}


INJECTED: dict[str, tuple[WireName, Request, Callable[[dict[str, Any]], Any]]] = {
    "Chat's own words": (
        "openai-chat",
        asked(tools=[function("a", "1"), function("a", "2")]),
        lambda body: [t["function"]["description"] for t in body["tools"]],
    ),
    "beside the request's": (
        "openai-chat",
        replace(asked(tools=[function("alpha", "2"), function("b", "3")]), tools=(ALPHA,)),
        names,
    ),
    "Responses' flat form": (
        "openai-responses",
        replace(HELLO, native={"openai-responses": {"tools": [
            {"type": "function", "name": "a", "description": "1"},
            {"type": "function", "name": "a", "description": "2"}, {"type": "web_search"}]}}),
        lambda body: [t.get("description", t["type"]) for t in body["tools"]],
    ),
    "a namespace": (
        "openai-responses",
        replace(HELLO, native={"openai-responses": {"tools": [
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "a"}]},
            {"type": "function", "name": "a"}]}}),
        lambda body: [t["type"] for t in body["tools"]],
    ),
    "Gemini's declarations": (
        "gemini",
        replace(HELLO, native={"gemini": {"tools": [
            {"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]}}),
        lambda body: [d["name"] for t in body["tools"] for d in t["functionDeclarations"]],
    ),
}  # fmt: skip
ONCE: dict[str, Any] = {
    "Chat's own words": ["1"],
    "beside the request's": ["b"],
    "Responses' flat form": ["1", "web_search"],
    "a namespace": ["namespace"],
    "Gemini's declarations": ["a"],
}


@pytest.mark.parametrize("path", INJECTED)
def test_tools_are_deduplicated_on_every_path_they_come_in_on(path: str) -> None:
    over, request, read = INJECTED[path]
    assert read(sent("google-gemini" if over == "gemini" else "compatible", request, over=over)) == ONCE[path]


def test_the_callers_own_tool_list_is_never_touched() -> None:
    given = [function("a", "1"), function("a", "2")]
    sent("compatible", asked(tools=given))
    assert len(given) == 2


def test_names_of_past_calls_are_coerced_and_live_ones_never() -> None:
    odd = ToolCall("c1", "ls -la", "{}")
    history = Request((USER, said("", odd), result(odd)), tools=(Tool("a.b", "", {}),))
    body = sent("openai", history)
    assert assistant(body)["tool_calls"][0]["function"]["name"] == "ls_-la"
    assert names(body) == ["a.b"]


def test_128_tools_are_the_most_and_those_that_were_called_stay() -> None:
    many = tuple(Tool(f"t{i}", "", {}) for i in range(130))
    called = ToolCall("c1", "t129", "{}")
    body = sent("openai", Request((USER, said("", called), result(called)), tools=many))
    assert (len(body["tools"]), names(body)[-1]) == (128, "t129")


def test_a_turn_of_more_than_128_calls_becomes_several_each_with_its_results() -> None:
    calls = tuple(ToolCall(f"c{i}", "alpha", "{}") for i in range(200))
    history = Request((USER, said("", *calls), *map(result, calls)), tools=(ALPHA,))
    body = sent("openai", history)
    turns = [m for m in body["messages"] if m["role"] == "assistant"]
    assert [len(turn["tool_calls"]) for turn in turns] == [128, 72]
    assert body["messages"][129 + 1]["role"] == "assistant"


@pytest.mark.parametrize(
    "request_", [replace(HELLO, tool_choice="auto"), asked(tools=[], tool_choice="auto")], ids=["none", "[]"]
)
def test_without_tools_neither_an_empty_list_nor_a_choice_is_sent(request_: Request) -> None:
    assert not {"tools", "tool_choice"} & sent("compatible", request_).keys()


@pytest.mark.parametrize(
    ("name", "tool"), [("opencode", "search_files"), ("xai", "tool_search"), ("xai", "web_search")]
)
def test_a_reserved_tool_name_has_another_one_on_the_wire(name: str, tool: str) -> None:
    reserved = Tool(tool, "", {})
    history = Request(
        (USER, said("", ToolCall("c1", tool, "{}"))), tools=(reserved,), tool_choice=NamedChoice(tool)
    )
    body = sent(name, history)
    assert names(body) == [f"x_{tool}"]
    assert assistant(body)["tool_calls"][0]["function"]["name"] == f"x_{tool}"
    assert body["tool_choice"]["function"]["name"] == f"x_{tool}"


def test_a_history_of_calls_without_tools_gets_an_inert_one() -> None:
    assert names(sent("bedrock", replace(LOOP, tools=()))) == [PLACEHOLDER.name]


# --------------------------------------------------------------------------------------------- choices


@pytest.mark.parametrize("name", ["moonshot", "google-gemini"])
def test_required_is_softened_to_auto_and_asked_for_in_words(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tool_choice="required"))
    assert body["tool_choice"] == "auto"
    assert body["messages"][0] == {"role": "system", "content": NUDGE}


def test_a_named_choice_is_softened_to_one_tool_and_words() -> None:
    body = sent("google-gemini", replace(WITH_ALPHA, tool_choice=NamedChoice("beta")))
    assert (body["tool_choice"], names(body)) == ("auto", ["beta"])
    assert NUDGE_NAMED.format(name="beta") in body["messages"][0]["content"]


def test_geminis_own_wire_keeps_its_mode_any() -> None:
    body = sent("google-gemini", replace(WITH_ALPHA, tool_choice="required"), over="gemini")
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


def test_a_named_choice_is_required_among_one_tool_at_lm_studio() -> None:
    body = sent("lm-studio", replace(WITH_ALPHA, tool_choice=NamedChoice("beta")))
    assert (body["tool_choice"], names(body)) == ("required", ["beta"])


@pytest.mark.parametrize("name", ["mistral", "sglang"])
def test_tools_that_may_not_be_called_are_not_offered(name: str) -> None:
    body = sent(name, replace(WITH_ALPHA, tool_choice="none"))
    assert not {"tools", "tool_choice"} & body.keys()


@pytest.mark.parametrize("model", ["gemini-3-pro", "anthropic/claude-x"])
def test_openrouter_asks_in_words_where_forcing_costs_something(model: str) -> None:
    forced = replace(WITH_ALPHA, tool_choice="required", extra={"reasoning": {"enabled": True}})
    assert sent("openrouter", forced, model)["tool_choice"] == "auto"
    assert sent("openrouter", forced, "qwen/q")["tool_choice"] == "required"


def test_claude_models_that_refuse_forcing_are_asked_in_words() -> None:
    forced = replace(WITH_ALPHA, tool_choice="required")
    assert sent("anthropic", forced, "claude-mythos-1", "anthropic-messages")["tool_choice"]["type"] == "auto"
    assert sent("anthropic", forced, "claude-haiku-4-5", "anthropic-messages")["tool_choice"]["type"] == "any"


@pytest.mark.parametrize(("name", "choice"), [("lm-studio", "required"), ("openrouter", "required")])
def test_allowed_tools_are_all_that_is_offered_where_no_choice_names_any(name: str, choice: str) -> None:
    item = {"type": "function", "function": {"name": "beta"}}
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [item]}}
    body = sent(name, replace(WITH_ALPHA, extra={"tool_choice": allowed}), "x/y")
    assert (body["tool_choice"], names(body)) == (choice, ["beta"])


@pytest.mark.parametrize("name", ["google-gemini", "cerebras"])
def test_parallel_false_is_not_said_where_it_is_refused(name: str) -> None:
    assert "parallel_tool_calls" not in sent(name, replace(WITH_ALPHA, parallel_tool_calls=False))


# ------------------------------------------------------------------------------------------- reasoning


def test_deepseeks_thinking_flag_is_always_said() -> None:
    assert sent("deepseek", HELLO)["thinking"] == {"type": "enabled"}
    assert sent("deepseek", asked(reasoning_effort="none"))["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize("choice", ["required", NamedChoice("alpha")])
def test_beside_a_forced_call_thinking_is_off(choice: Any) -> None:
    forced = replace(WITH_ALPHA, tool_choice=choice)
    assert sent("deepseek", forced)["thinking"] == {"type": "disabled"}
    streamed = replace(forced, stream=True, extra={"enable_thinking": True})
    assert sent("alibaba-dashscope", streamed)["enable_thinking"] is False


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
    ("alibaba-dashscope", "qwen3", {"reasoning": {"enabled": True, "effort": "medium"}},
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
    assert sent("alibaba-dashscope", request)["enable_thinking"] is on


def test_anthropic_thinks_only_where_no_call_is_forced() -> None:
    native: dict[str, JSON] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    forced = replace(WITH_ALPHA, tool_choice="required", native={"anthropic-messages": native})
    assert "thinking" not in sent("anthropic", forced, over="anthropic-messages")
    free = replace(WITH_ALPHA, native={"anthropic-messages": native})
    assert "thinking" in sent("anthropic", free, over="anthropic-messages")


# -------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize("name", ["compatible", "groq", "deepseek", "openai"])
def test_a_message_of_reasoning_alone_is_dropped(name: str) -> None:
    history = Request((USER, said("", thought="hm"), USER))
    assert "assistant" not in roles(sent(name, history))


SYSTEM = Message.system
ROLES: list[tuple[str, str, tuple[Message, ...], list[tuple[str, Any]]]] = [
    ("perplexity", "m", (SYSTEM("s"), USER, Message.user("b")), [("system", "s"), ("user", "Hello.\n\nb")]),
    ("xiaomi-mimo", "m", (USER, SYSTEM("s"), USER),
     [("system", "s"), ("user", "Hello."), ("user", "Hello.")]),
    ("minimax", "m", (SYSTEM("s"), USER), [("user", "s\n\nHello.")]),
    ("litellm", "m", (SYSTEM("s"), SYSTEM("t"), USER), [("system", "s\n\nt"), ("user", "Hello.")]),
    ("openai", "o1-mini", (SYSTEM("s"), USER), [("user", "s\n\nHello.")]),
    ("google-gemini", "gemma-3", (SYSTEM("s"), USER), [("user", "s\n\nHello.")]),
    ("anthropic", "claude-x", (SYSTEM("s"), USER, SYSTEM("t")),
     [("system", "s"), ("user", "Hello."), ("user", "Instruction: t")]),
    ("github-copilot", "gemini-3", (USER, SYSTEM("t")), [("user", "Hello."), ("user", "Instruction: t")]),
    ("mistral", "m", (USER, said("")), [("user", "Hello.")]),
    ("cohere", "m", (USER, said(""), USER), [("user", "Hello."), ("user", "Hello.")]),
    ("zai", "m", (SYSTEM("s"),), [("user", "s")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "model", "given", "wanted"), ROLES)
def test_roles_are_where_a_family_takes_them(
    name: str, model: str, given: tuple[Message, ...], wanted: list[tuple[str, Any]]
) -> None:
    body = sent(name, Request(given), model)
    assert [(m["role"], m["content"]) for m in body["messages"]] == wanted


@pytest.mark.parametrize(("name", "role"), [("openai", "developer"), ("vllm", "system"), ("groq", "system")])
def test_only_openai_hears_developers(name: str, role: str) -> None:
    assert roles(sent(name, Request((Message("developer", (Text("d"),)), USER)))) == [role, "user"]


def test_an_assistant_speaks_between_a_result_and_a_user() -> None:
    body = sent("mistral", replace(LOOP, messages=(*LOOP.messages, USER)))
    assert roles(body) == ["user", "assistant", "tool", "assistant", "user"]
    assert body["messages"][3]["content"] == BRIDGE


def test_a_result_without_its_call_is_told_by_the_user() -> None:
    body = sent("mistral", Request((USER, result(CALL, "18"))))
    assert body["messages"][-1] == {"role": "user", "content": f"{ORPHAN}18"}


@pytest.mark.parametrize("over", ["openai-chat", "gemini"])
def test_every_call_has_a_result(over: WireName) -> None:
    other = ToolCall("c2", "alpha", "{}")
    body = sent(
        "google-gemini", replace(LOOP, messages=(USER, said("", CALL, other), result(CALL))), over=over
    )
    assert NO_RESULT in str(body)


CONTENTS: list[tuple[str, Any, Any]] = [
    ("xiaomi-mimo", "", None),  # one wants null beside calls
    ("cerebras", None, ""),  # another refuses it
    ("vllm", None, ""),
    ("compatible", "", ""),
    ("compatible", None, None),
]


@pytest.mark.parametrize(("name", "given", "wanted"), CONTENTS)
def test_empty_content_beside_calls_is_what_a_family_takes(name: str, given: Any, wanted: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}
    body = {"messages": [{"role": "assistant", "content": given, "tool_calls": [call]}]}
    assert sent_for(name, body)["messages"][0]["content"] == wanted


MEMBERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("fireworks", {"role": "user", "content": "a", "timestamp": 1}, {"role": "user", "content": "a"}),
    ("groq", {"role": "assistant", "content": "a", "reasoning_content": "b"},
     {"role": "assistant", "content": "a"}),
    ("moonshot", {"role": "assistant", "content": "a", "reasoning_content": "b", "_marker": 1},
     {"role": "assistant", "content": "a", "reasoning_content": "b"}),
    ("nvidia-nim", {"role": "tool", "tool_call_id": "c1", "name": "alpha", "content": "ok"},
     {"role": "tool", "tool_call_id": "c1", "content": "ok"}),
    ("llama.cpp", {"role": "tool", "tool_call_id": None, "content": "ok"}, {"role": "tool", "content": "ok"}),
    ("xiaomi-mimo", {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "ok"}]},
     {"role": "tool", "tool_call_id": "c1", "content": "ok"}),
    ("xiaomi-mimo", {"role": "assistant", "content": "a",
                     "tool_calls": [{"id": "c1", "name": "alpha", "arguments": "{}"}]},
     {"role": "assistant", "content": "a", "tool_calls": [
         {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}]}),
    ("qwen-portal", {"role": "user", "content": "hi"},
     {"role": "user", "content": [{"type": "text", "text": "hi"}]}),
    ("compatible", {"role": "assistant", "content": "a", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": ""}}]},
     {"role": "assistant", "content": "a", "tool_calls": [
         {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{}"}}]}),
    ("llama.cpp", {"role": "assistant", "content": "a", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "alpha", "arguments": "{"}}]},
     {"role": "assistant", "content": "a", "tool_calls": [
         {"id": "c1", "type": "function",
          "function": {"name": "alpha", "arguments": '{"invalid_json":"{"}'}}]}),
    ("compatible", {"role": "user", "content": "a\ud83d"}, {"role": "user", "content": "a\ufffd"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "wanted"), MEMBERS)
def test_messages_hold_what_a_family_takes(name: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert sent_for(name, {"messages": [given]})["messages"] == [wanted]


SIGNED = {"google": {"thought_signature": "s"}}


@pytest.mark.parametrize(
    ("name", "kept"), [("google-gemini", True), ("mistral", False), ("fireworks", False)]
)
def test_what_gemini_understands_of_a_call_goes_back_to_gemini_alone(name: str, kept: bool) -> None:
    signed = ToolCall("c1", "alpha", "{}", {"openai-chat": {"extra_content": SIGNED}})
    body = sent(name, replace(LOOP, messages=(USER, said("", signed), result(signed))), "gemini-3-pro")
    assert (assistant(body)["tool_calls"][0].get("extra_content") == SIGNED) is kept


def test_the_first_of_foreign_calls_gets_the_signature_that_stands_for_none() -> None:
    other = ToolCall("c2", "alpha", "{}")
    history = (USER, said("", CALL, other), result(CALL), result(other))
    body = sent("google-gemini", replace(LOOP, messages=history), "gemini-3-pro")
    assert ["extra_content" in call for call in assistant(body)["tool_calls"]] == [True, False]


def test_pictures_of_a_result_follow_in_a_users_message() -> None:
    shown = Message("tool", (Image("https://x/y.png"),), tool_call_id="c1")
    body = sent("xiaomi-mimo", replace(LOOP, messages=(*LOOP.messages[:2], shown)))
    assert isinstance(body["messages"][2]["content"], str)
    assert body["messages"][3]["role"] == "user"


# ---------------------------------------------------------------------------------------------- others


def test_ids_are_nine_letters_for_mistral_on_the_call_and_on_its_result() -> None:
    body = sent("mistral", LOOP)
    (call,) = assistant(body)["tool_calls"]
    assert call["id"] == body["messages"][-1]["tool_call_id"]
    assert len(call["id"]) == 9
    assert call["id"].isalnum()


def test_ids_are_what_kimi_writes_where_its_template_is_served() -> None:
    body = sent("vllm", LOOP, "moonshotai/kimi-k2")
    assert (
        assistant(body)["tool_calls"][0]["id"] == "functions.alpha:0" == body["messages"][-1]["tool_call_id"]
    )


def test_kimis_own_ids_go_back_as_they_came() -> None:
    own = ToolCall("functions.alpha:3", "alpha", "{}")
    for name in ("moonshot", "vllm"):
        body = sent(name, replace(LOOP, messages=(USER, said("", own), result(own))), "kimi-k2")
        assert assistant(body)["tool_calls"][0]["id"] == "functions.alpha:3"


def test_an_id_that_comes_twice_in_a_turn_is_told_apart_on_call_and_result() -> None:
    history = (USER, said("", CALL, CALL), result(CALL, "1"), result(CALL, "2"))
    body = sent("compatible", replace(LOOP, messages=history))
    assert [call["id"] for call in assistant(body)["tool_calls"]] == ["c1", "c1_d2"]
    assert [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"] == ["c1", "c1_d2"]


PARAMETERS: list[tuple[str, str, Request, set[str], set[str]]] = [
    ("openai", "gpt-5", replace(HELLO, temperature=0, max_tokens=9), {"max_completion_tokens"},
     {"temperature", "max_tokens"}),
    ("openai", "gpt-4.1", replace(HELLO, temperature=0, max_tokens=9), {"temperature", "max_tokens"}, set()),
    ("openai", "gpt-5.1", replace(asked(reasoning_effort="none"), temperature=0), {"temperature"}, set()),
    ("github-copilot", "gpt-5", replace(HELLO, max_tokens=9), {"max_completion_tokens"}, {"max_tokens"}),
    ("xiaomi-mimo", "m", replace(HELLO, max_tokens=9), {"max_completion_tokens"}, {"max_tokens"}),
    ("openrouter", "m", asked(max_completion_tokens=9), {"max_tokens"}, {"max_completion_tokens"}),
    ("mistral", "m", asked(max_completion_tokens=9), {"max_tokens"}, {"max_completion_tokens"}),
    ("azure", "mistral-large", asked(max_completion_tokens=9), {"max_tokens"}, {"max_completion_tokens"}),
    ("moonshot", "kimi-k2.6", replace(HELLO, temperature=0.3), set(), {"temperature"}),
    ("mistral", "m", asked(think=False, prompt_cache_key="k"), set(), {"think", "prompt_cache_key"}),
    ("nous-portal", "m", asked(provider={"only": ["x"]}), set(), {"provider"}),
    ("openrouter", "m", asked(provider={"only": ["x"]}), {"provider"}, set()),
    ("opencode", "mimo-v2", HELLO, {"max_tokens"}, set()),
    ("ollama", "m", replace(WITH_ALPHA, tools=(replace(ALPHA, strict=True),)), {"tools"}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "model", "request_", "there", "gone"), PARAMETERS)
def test_parameters_are_those_that_a_model_takes(
    name: str, model: str, request_: Request, there: set[str], gone: set[str]
) -> None:
    body = sent(name, request_, model)
    assert there <= body.keys()
    assert not gone & body.keys()


@pytest.mark.parametrize(
    ("name", "strict"),
    [
        ("cerebras", [None, None]),
        ("ollama", [None, None]),
        ("moonshot", [None, None]),
        ("openai", [True, None]),
    ],
)
def test_strict_tools_are_uniform_or_none_where_that_is_asked(name: str, strict: list[Any]) -> None:
    body = sent(name, replace(WITH_ALPHA, tools=(replace(ALPHA, strict=True), BETA)))
    assert [tool["function"].get("strict") for tool in body["tools"]] == strict


def test_anthropics_grammar_holds_six_strict_tools() -> None:
    many = tuple(Tool(f"t{i}", "", {"type": "object"}, strict=True) for i in range(8))
    body = sent("anthropic", replace(HELLO, tools=many), over="anthropic-messages")
    assert [tool["strict"] for tool in body["tools"]] == [True] * 6 + [False] * 2


def test_cerebras_formats_lose_what_it_refuses() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {}, "minItems": 1}}}
    body = sent("cerebras", replace(HELLO, response_format=JsonSchemaFormat("f", schema)))
    assert body["response_format"]["json_schema"]["schema"]["properties"]["a"] == {"type": "array"}


HEADERS: list[tuple[str, WireName, str]] = [
    ("azure", "openai-chat", "api-key"),
    ("anthropic", "anthropic-messages", "x-api-key"),
    ("anthropic", "openai-chat", "Authorization"),
    ("openai", "openai-chat", "Authorization"),
]


@pytest.mark.parametrize(("name", "over", "wanted"), HEADERS)
def test_the_key_goes_into_the_header_that_is_read(name: str, over: WireName, wanted: str) -> None:
    given = dict(profile(name).headers((("Authorization", "Bearer k"),), over))
    assert given[wanted].removeprefix("Bearer ") == "k"


def test_opencode_gets_a_user_agent_that_its_wall_lets_in() -> None:
    assert dict(profile("opencode").headers((), "openai-chat")).keys() == {"User-Agent"}


def test_a_file_stays_a_file() -> None:
    request = Request((Message("user", (File("data:application/pdf;base64,eA=="),)),))
    assert sent("compatible", request)["messages"][0]["content"][0]["type"] == "file"

"""Histories and bodies: the smallest request that is refused, and what is sent in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.profiles import profile
from conformance.profiles.messages import BRIDGE, NO_RESULT, ORPHAN
from conformance.profiles.profile import Headers
from conformance.types import (
    File,
    Image,
    JsonSchemaFormat,
    Message,
    Request,
    Text,
    Tool,
    ToolCall,
    WireName,
)

from .support import (
    ALPHA,
    BETA,
    CALL,
    HELLO,
    LOOP,
    USER,
    WITH_ALPHA,
    asked,
    assistant,
    result,
    roles,
    said,
    sent,
    sent_for,
)

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
    ("litellm-proxy", "m", (SYSTEM("s"), SYSTEM("t"), USER), [("system", "s\n\nt"), ("user", "Hello.")]),
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


def test_pictures_of_a_result_come_after_an_assistants_words_too() -> None:
    shown = Message("tool", (Image("https://x/y.png"),), tool_call_id="c1")
    body = sent("mistral", replace(LOOP, messages=(*LOOP.messages[:2], shown)))
    assert roles(body) == ["user", "assistant", "tool", "assistant", "user"]


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
    ("llama-cpp-python", None, ""),
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
    ("nvidia", {"role": "tool", "tool_call_id": "c1", "name": "alpha", "content": "ok"},
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


@pytest.mark.parametrize(
    ("given", "sent_too"),
    [
        ((("x-api-key", "k"),), (("Authorization", "Bearer k"),)),
        ((("x-api-key", "k"), ("authorization", "Bearer j")), ()),
        ((), ()),
    ],
)
def test_vllm_gets_a_key_of_messages_as_a_bearer_token_too(given: Headers, sent_too: Headers) -> None:
    assert profile("vllm").headers(given, "anthropic-messages") == (*given, *sent_too)
    assert profile("vllm").headers(given, "openai-chat") == given


def test_opencode_gets_a_user_agent_that_its_wall_lets_in() -> None:
    assert dict(profile("opencode").headers((), "openai-chat")).keys() == {"User-Agent"}


def test_a_file_stays_a_file() -> None:
    request = Request((Message("user", (File("data:application/pdf;base64,eA=="),)),))
    assert sent("compatible", request)["messages"][0]["content"][0]["type"] == "file"

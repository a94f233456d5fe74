"""What a canonical request is on the Ollama wire, member by member, and back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import (
    Audio,
    File,
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
)

from .gemini_kit import PNG
from .ollama_kit import SPELLING, WIRE, call, encode, losses_of

HI = Message.user("hi")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool("get_weather", "Tells it.", SCHEMA)
CALL = ToolCall("call_0", "get_weather", '{"city":"Oslo"}')
PICTURE = Image(f"data:image/png;base64,{PNG}")
OTHERS: Any = {"anthropic-messages": {"signature": "abc"}}
ALLOWED = [{"type": "function", "function": {"name": name}} for name in ("get_weather", "g")]


def decode(body: dict[str, Any]) -> Request:
    return WIRE.decode_request(body)


# -------------------------------------------------------------------------------------------- the binding


def test_the_wire_binds_to_its_paths_and_its_key() -> None:
    assert (WIRE.path("m", True), WIRE.models_path) == ("/api/chat", "/api/tags")
    assert WIRE.auth_headers("k") == (("Authorization", "Bearer k"),)
    assert WIRE.auth_headers("") == ()


@pytest.mark.parametrize("stream", [True, False])
def test_streaming_is_always_said(stream: bool) -> None:
    body = encode(HI, stream=stream)
    assert body["stream"] is stream
    assert decode(body).stream is stream


def test_a_request_that_does_not_say_streams() -> None:
    assert decode({"messages": []}).stream


# ----------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (Message.system("s"), {"role": "system", "content": "s"}),
        (HI, {"role": "user", "content": "hi"}),
        (Message("user", ()), {"role": "user", "content": ""}),
        (Message("user", (Text("see"), PICTURE)), {"role": "user", "content": "see", "images": [PNG]}),
        (
            Message("assistant", (Reasoning("r", SPELLING), Text("a"), CALL)),
            {
                "role": "assistant",
                "content": "a",
                "thinking": "r",
                "tool_calls": [call("get_weather", {"city": "Oslo"})],
            },
        ),
        (
            Message("assistant", (CALL,)),
            {"role": "assistant", "content": "", "tool_calls": [call("get_weather", {"city": "Oslo"})]},
        ),
    ],
)
def test_each_message_is_one_message_and_comes_back(message: Message, said: dict[str, Any]) -> None:
    assert encode(message, echo_reasoning=True)["messages"] == [said]
    assert decode({"messages": [said]}).messages == (message,)
    assert losses_of(message, echo_reasoning=True) == []


def test_a_result_is_a_message_with_the_name_of_its_tool() -> None:
    messages = (HI, Message("assistant", (CALL,)), Message.tool(CALL, "cold"))
    body = encode(*messages)
    assert body["messages"][2] == {"role": "tool", "tool_name": "get_weather", "content": "cold"}
    assert decode(body).messages == messages
    assert losses_of(*messages) == []


@pytest.mark.parametrize(
    ("part", "said", "losses"),
    [
        (Refusal("no"), {"content": "no"}, [("", "form")]),
        (Text("a", OTHERS), {"content": "a"}, [("", "form")]),
        (Audio("AA", "wav"), {"content": ""}, [("", "meaning")]),
        (File("https://x.is/a.pdf"), {"content": ""}, [("", "meaning")]),
        (Image("https://x.is/a.png"), {"content": ""}, [("", "meaning")]),
        (Image("data:image/tiff;base64,AAAA"), {"content": "", "images": ["AAAA"]}, [("", "form")]),
        (ToolCall("x", "f", "{}"), {"content": "", "tool_calls": [call("f", {})]}, [("/id", "form")]),
        (
            ToolCall("call_0", "f", "["),
            {"content": "", "tool_calls": [call("f", {"__raw": "["})]},
            [("/arguments", "meaning")],
        ),
    ],
)
def test_what_changes_or_goes_says_so(
    part: Part, said: dict[str, Any], losses: list[tuple[str, str]]
) -> None:
    message = Message("assistant", (part,))
    assert encode(message)["messages"] == [{"role": "assistant"} | said]
    assert losses_of(message) == [(f"/messages/0/parts/0{path}", weight) for path, weight in losses]


@pytest.mark.parametrize(
    ("parts", "losses"),
    [
        ((Text("a"), Text("b")), [("/messages/0/parts/1", "form")]),
        ((Text(""), Text("b")), []),
        ((PICTURE, Text("a")), [("/messages/0", "form")]),
        ((CALL, Text("a")), [("/messages/0", "form")]),
        ((Reasoning("a"), Reasoning("b")), [("/messages/0/parts/1", "form")]),
        ((Text("a"), Reasoning("b")), [("/messages/0", "form")]),
    ],
)
def test_parts_that_are_joined_or_moved_say_so(
    parts: tuple[Part, ...], losses: list[tuple[str, str]]
) -> None:
    assert losses_of(Message("assistant", parts), echo_reasoning=True) == losses


@pytest.mark.parametrize(
    ("part", "echo", "sent", "losses"),
    [
        (Reasoning("r"), False, False, []),
        (Reasoning("r"), True, True, []),
        (Reasoning("r", "thinking", OTHERS), False, False, []),
        (Reasoning("r", "thinking", OTHERS), True, False, [("/messages/0/parts/0", "meaning")]),
    ],
)
def test_reasoning_goes_back_when_asked_for_and_bound_to_no_other_wire(
    part: Part, echo: bool, sent: bool, losses: list[Any]
) -> None:
    message = Message("assistant", (part, Text("a")))
    assert ("thinking" in encode(message, echo_reasoning=echo)["messages"][0]) == sent
    assert losses_of(message, echo_reasoning=echo) == losses


def test_a_developer_message_is_a_system_message() -> None:
    message = Message("developer", (Text("d"),))
    assert encode(message)["messages"] == [{"role": "system", "content": "d"}]
    assert losses_of(message) == [("/messages/0/role", "form")]


def test_a_failed_result_says_so_in_words() -> None:
    messages = (Message("assistant", (CALL,)), Message("tool", (Text("boom"),), "call_0", is_error=True))
    assert encode(*messages)["messages"][1]["content"] == "Error: boom"
    assert losses_of(*messages) == [("/messages/1/is_error", "form")]


# ------------------------------------------------------------------------------------------------ pairing


def test_results_stand_in_the_order_of_their_calls() -> None:
    parts = tuple(ToolCall(f"call_{i}", "f", "{}") for i in range(2))
    messages = (Message("assistant", parts), Message.tool(parts[1], "1"), Message.tool(parts[0], "0"))
    assert [said["content"] for said in encode(*messages)["messages"][1:]] == ["0", "1"]
    assert losses_of(*messages) == [("/messages/2", "form"), ("/messages/1", "form")]


def test_a_result_left_out_before_another_of_its_name_loses_the_pairing() -> None:
    parts = tuple(ToolCall(f"call_{i}", "f", "{}") for i in range(2))
    assert losses_of(Message("assistant", parts), Message.tool(parts[1], "1")) == [("/messages/1", "meaning")]


def test_a_result_left_out_before_one_of_another_name_does_not() -> None:
    parts = (ToolCall("call_0", "f", "{}"), ToolCall("call_1", "g", "{}"))
    assert losses_of(Message("assistant", parts), Message.tool(parts[1], "1")) == []


def test_a_result_without_a_call_has_no_name() -> None:
    orphan = Message("tool", (Text("cold"),), "c9")
    assert encode(orphan)["messages"] == [{"role": "tool", "content": "cold"}]
    assert losses_of(orphan) == [("/messages/0", "form")]


def test_ids_that_newer_clients_send_are_read() -> None:
    said = [call("f", {}, id="a"), call("f", {}, id="b")]
    body = {
        "messages": [
            {"role": "assistant", "tool_calls": said},
            {"role": "tool", "tool_name": "f", "tool_call_id": "b", "content": "2"},
            {"role": "tool", "tool_name": "f", "content": "1"},
        ]
    }
    _, *results = decode(body).messages
    assert [message.tool_call_id for message in results] == ["b", "a"]


# -------------------------------------------------------------------------------------------------- tools


def test_tools_are_declared_as_in_chat() -> None:
    declared = {"name": "get_weather", "description": "Tells it.", "parameters": SCHEMA}
    body = encode(HI, tools=(WEATHER,))
    assert body["tools"] == [{"type": "function", "function": declared}]
    assert decode(body).tools == (WEATHER,)


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    (tool,) = encode(HI, tools=(Tool("g", "", {}),))["tools"]
    assert tool["function"]["parameters"] == {"type": "object", "properties": {}}
    assert losses_of(HI, tools=(Tool("g", "", {}),)) == [("/tools/0/parameters", "form")]


def test_tools_that_say_more_stay_native_beside_the_functions() -> None:
    tools: Any = [{"type": "function", "function": {"name": "f", "parameters": {}, "x": 1}}]
    request = decode({"messages": [], "tools": tools})
    assert request.tools == (Tool("f", "", {}),)
    assert request.native == {"ollama": {"tools": tools}}


@pytest.mark.parametrize(
    ("fields", "sent", "losses"),
    [
        ({}, ["get_weather"], []),
        ({"tool_choice": "auto"}, ["get_weather"], []),
        ({"tool_choice": "none"}, [], [("/tool_choice", "form")]),
        ({"tool_choice": "required"}, ["get_weather"], [("/tool_choice", "meaning")]),
        ({"tool_choice": NamedChoice("get_weather")}, ["get_weather"], [("/tool_choice", "meaning")]),
        ({"extra": {"tool_choice": "auto"}}, ["get_weather"], []),
        ({"extra": {"tool_choice": "none"}}, [], [("/extra/tool_choice", "form")]),
        ({"extra": {"tool_choice": {"type": "x"}}}, ["get_weather"], [("/extra/tool_choice", "meaning")]),
        ({"parallel_tool_calls": False}, ["get_weather"], [("/parallel_tool_calls", "meaning")]),
        ({"parallel_tool_calls": True}, ["get_weather"], []),
    ],
)
def test_a_tool_choice_has_no_word(fields: dict[str, Any], sent: list[str], losses: list[Any]) -> None:
    body = encode(HI, tools=(WEATHER,), **fields)
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == sent
    assert losses_of(HI, tools=(WEATHER,), **fields) == losses


@pytest.mark.parametrize(("mode", "sent", "weight"), [("auto", 1, "form"), ("required", 2, "meaning")])
def test_of_the_allowed_tools_only_those_are_sent(mode: str, sent: int, weight: str) -> None:
    extra = {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": ALLOWED}}}
    tools = (WEATHER, Tool("other", "", SCHEMA))
    assert len(encode(HI, tools=tools, extra=extra)["tools"]) == sent
    assert losses_of(HI, tools=tools, extra=extra) == [("/extra/tool_choice", weight)]


# ----------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_tokens": 5}, {"options": {"num_predict": 5}}),
        ({"temperature": 0.5}, {"options": {"temperature": 0.5}}),
        ({"stop": ("a", "b")}, {"options": {"stop": ["a", "b"]}}),
        ({"extra": {"seed": 7}}, {"options": {"seed": 7}}),
        ({"extra": {"top_p": 0.5}}, {"options": {"top_p": 0.5}}),
        ({"extra": {"presence_penalty": 1}}, {"options": {"presence_penalty": 1}}),
        ({"extra": {"frequency_penalty": 1}}, {"options": {"frequency_penalty": 1}}),
        ({"extra": {"logprobs": True, "top_logprobs": 3}}, {"logprobs": True, "top_logprobs": 3}),
        ({"extra": {"reasoning_effort": "none"}}, {"think": False}),
        ({"extra": {"reasoning_effort": "low"}}, {"think": "low"}),
        ({"extra": {"response_format": {"type": "json_object"}}}, {"format": "json"}),
        ({"response_format": JsonSchemaFormat("response", SCHEMA, False)}, {"format": SCHEMA}),
        ({"native": {"ollama": {"keep_alive": "5m"}}}, {"keep_alive": "5m"}),
        ({"native": {"ollama": {"think": True}}}, {"think": True}),
        ({"native": {"ollama": {"options": {"num_ctx": 4096}}}}, {"options": {"num_ctx": 4096}}),
    ],
)
def test_a_setting_has_its_place(fields: dict[str, Any], said: dict[str, Any]) -> None:
    body = encode(HI, **fields)
    assert body == encode(HI) | said
    assert decode(body) == Request((HI,), **fields)
    assert losses_of(HI, **fields) == []


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"max_tokens": "ten"}, {"options": {"num_predict": "ten"}}),
        ({"max_completion_tokens": 6}, {"options": {"num_predict": 6}}),
        ({"top_k": 3}, {"options": {"top_k": 3}}),
        ({"reasoning_effort": "enormous"}, {"think": "enormous"}),
        ({"response_format": {"type": "text"}}, {}),
    ],
)
def test_words_of_chat_that_stand_in_extra_are_said_whatever_their_value(extra: Any, said: Any) -> None:
    assert encode(HI, extra=extra) == encode(HI) | said
    assert losses_of(HI, extra=extra) == []


@pytest.mark.parametrize(("effort", "nearest"), [("minimal", "low"), ("xhigh", "high"), ("max", "high")])
def test_an_effort_that_is_not_known_is_the_nearest(effort: str, nearest: str) -> None:
    assert encode(HI, extra={"reasoning_effort": effort})["think"] == nearest
    assert losses_of(HI, extra={"reasoning_effort": effort}) == [("/extra/reasoning_effort", "form")]


def test_a_wrong_value_stays_native() -> None:
    body = encode(HI) | {"options": {"num_predict": "ten", "stop": 1}, "format": 7, "think": "x"}
    assert WIRE.encode(decode(body), model="m", losses=[]) == body


@pytest.mark.parametrize("stop", ["a", ["a"]])
def test_one_stop_sequence_may_stand_alone(stop: Any) -> None:
    assert decode({"messages": [], "options": {"stop": stop}}).stop == ("a",)


@pytest.mark.parametrize(
    ("fields", "losses"),
    [
        ({"n": 1}, []),
        ({"n": 2}, [("/n", "meaning")]),
        ({"include_usage": True}, []),
        ({"extra": {"logit_bias": {}}}, [("/extra/logit_bias", "meaning")]),
        ({"extra": {"user": "u"}}, [("/extra/user", "meaning")]),
        ({"extra": {"seed": None}}, [("/extra/seed", "form")]),
        ({"extra": {"response_format": {"type": "xml"}}}, [("/extra/response_format", "meaning")]),
        (
            {
                "extra": {
                    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
                }
            },
            [("/extra/response_format", "form")],
        ),
        ({"extra": {"messages": []}}, [("/extra/messages", "meaning")]),
        ({"extra": {"tools": []}}, [("/extra/tools", "meaning")]),
        ({"response_format": JsonSchemaFormat("x", SCHEMA, False)}, [("/response_format/name", "form")]),
        (
            {"response_format": JsonSchemaFormat("response", SCHEMA, True)},
            [("/response_format/strict", "form")],
        ),
        ({"tools": (Tool("g", "", SCHEMA, True),)}, [("/tools/0/strict", "meaning")]),
        ({"native": {"gemini": {"cachedContent": "c"}}}, [("/native/gemini/cachedContent", "meaning")]),
    ],
)
def test_what_has_no_word_is_a_loss(fields: dict[str, Any], losses: list[tuple[str, str]]) -> None:
    assert losses_of(HI, **fields) == losses


@pytest.mark.parametrize("messages", [None, {}, "hi", [1], [{"content": "x"}], [{"role": "robot"}]])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(ValueError, match="messages"):
        decode({"messages": messages})

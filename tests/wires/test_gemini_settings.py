"""Tools, settings and other spellings of Gemini requests, and what has no word there."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import (
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Request,
    Text,
    Tool,
    ToolCall,
)

from .gemini_kit import PNG, WIRE, encode, losses_of

HI = Message.user("hi")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool("get_weather", "Tells it.", SCHEMA)
ALLOWED = [{"type": "function", "function": {"name": name}} for name in ("get_weather", "g")]


def decode(body: dict[str, Any]) -> Request:
    return WIRE.decode_request(body)


# ----------------------------------------------------------------------------------------------- tools


def test_tools_are_declared_with_json_schema() -> None:
    assert encode(HI, tools=(WEATHER, Tool("g", "", {})))["tools"] == [
        {
            "functionDeclarations": [
                {"name": "get_weather", "description": "Tells it.", "parametersJsonSchema": SCHEMA},
                {"name": "g"},
            ]
        }
    ]


@pytest.mark.parametrize(("strict", "weight"), [(True, "meaning"), (False, "form")])
def test_strict_has_no_word(strict: bool, weight: str) -> None:
    assert losses_of(HI, tools=(Tool("g", "", {}, strict),)) == [("/tools/0/strict", weight)]


def test_a_tool_name_that_gemini_does_not_take_is_renamed_everywhere() -> None:
    odd = ToolCall("c1", "get weather", "{}")
    body = encode(
        HI,
        Message("assistant", (odd,)),
        Message.tool(odd, "cold"),
        tools=(Tool("get weather", "", {}),),
        tool_choice=NamedChoice("get weather"),
    )
    new = "_:get:20:weather"
    assert body["tools"][0]["functionDeclarations"][0]["name"] == new
    assert body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] == [new]
    assert body["contents"][1]["parts"][0]["functionCall"]["name"] == new
    assert body["contents"][2]["parts"][0]["functionResponse"]["name"] == new
    back = decode(body)
    assert (back.tools[0].name, back.tool_choice) == ("get weather", NamedChoice("get weather"))
    assert back.messages[1].parts == (odd,)


def test_tools_of_other_kinds_and_what_declarations_say_more_stay_native_beside_the_functions() -> None:
    tools: Any = [{"functionDeclarations": [{"name": "f", "responseJsonSchema": {}}]}, {"googleSearch": {}}]
    request = decode(encode(HI) | {"tools": tools})
    assert request.tools == (Tool("f", "", {}),)
    assert request.native == {"gemini": {"tools": tools}}
    assert WIRE.encode(request, model="m", losses=[]) == encode(HI) | {"tools": tools}


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("none", {"mode": "NONE"}),
        ("auto", {"mode": "AUTO"}),
        ("required", {"mode": "ANY"}),
        (NamedChoice("f"), {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_a_tool_choice_is_a_mode(choice: Any, config: dict[str, Any]) -> None:
    body = encode(HI, tool_choice=choice)
    assert body["toolConfig"] == {"functionCallingConfig": config}
    assert decode(body).tool_choice == choice
    assert losses_of(HI, tool_choice=choice) == []


def test_the_tools_that_must_be_chosen_from_are_the_allowed_names() -> None:
    extra = {
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": ALLOWED}}
    }
    body = encode(HI, extra=extra)
    config = {"mode": "ANY", "allowedFunctionNames": ["get_weather", "g"]}
    assert body["toolConfig"] == {"functionCallingConfig": config}
    assert decode(body).extra == extra
    assert losses_of(HI, extra=extra) == []


def test_of_the_tools_that_may_be_chosen_from_only_those_are_sent() -> None:
    extra = {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": ALLOWED}}}
    tools = (WEATHER, Tool("other", "", {}))
    body = encode(HI, tools=tools, extra=extra)
    assert [entry["name"] for entry in body["tools"][0]["functionDeclarations"]] == ["get_weather"]
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert losses_of(HI, tools=tools, extra=extra) == [("/extra/tool_choice", "form")]


@pytest.mark.parametrize(
    "config",
    [{"mode": "VALIDATED"}, {"mode": "AUTO", "allowedFunctionNames": ["f"]}, {"mode": "MODE_UNSPECIFIED"}],
)
def test_a_mode_without_a_canonical_word_stays_native(config: dict[str, Any]) -> None:
    body = encode(HI) | {"toolConfig": {"functionCallingConfig": config}}
    request = decode(body)
    assert (request.tool_choice, request.native) == (None, {"gemini": {"toolConfig": body["toolConfig"]}})
    assert WIRE.encode(request, model="m", losses=[]) == body


# -------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        ({"max_tokens": 5}, {"maxOutputTokens": 5}),
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"stop": ("a", "b")}, {"stopSequences": ["a", "b"]}),
        ({"n": 2}, {"candidateCount": 2}),
        ({"extra": {"top_p": 0.5}}, {"topP": 0.5}),
        ({"extra": {"seed": 7}}, {"seed": 7}),
        ({"extra": {"presence_penalty": 1}}, {"presencePenalty": 1}),
        ({"extra": {"frequency_penalty": 1}}, {"frequencyPenalty": 1}),
        ({"extra": {"logprobs": True, "top_logprobs": 3}}, {"responseLogprobs": True, "logprobs": 3}),
        ({"extra": {"reasoning_effort": "none"}}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ({"extra": {"reasoning_effort": "minimal"}}, {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}),
        ({"extra": {"reasoning_effort": "high"}}, {"thinkingConfig": {"thinkingLevel": "HIGH"}}),
        ({"extra": {"reasoning_effort": "enormous"}}, {"thinkingConfig": {"thinkingLevel": "ENORMOUS"}}),
        ({"extra": {"response_format": {"type": "text"}}}, {"responseMimeType": "text/plain"}),
        ({"extra": {"response_format": {"type": "json_object"}}}, {"responseMimeType": "application/json"}),
        (
            {"response_format": JsonSchemaFormat("response", SCHEMA, False)},
            {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
        ),
        ({"native": {"gemini": {"generationConfig": {"topK": 3}}}}, {"topK": 3}),
        (
            {"native": {"gemini": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 1024}}}}},
            {"thinkingConfig": {"thinkingBudget": 1024}},
        ),
        (
            {"native": {"gemini": {"generationConfig": {"responseModalities": ["AUDIO"]}}}},
            {"responseModalities": ["AUDIO"]},
        ),
    ],
)
def test_a_setting_has_its_place_in_the_generation_config(
    fields: dict[str, Any], config: dict[str, Any]
) -> None:
    body = encode(HI, **fields)
    assert body["generationConfig"] == config
    assert decode(body) == Request((HI,), **fields)
    assert losses_of(HI, **fields) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"extra": {"service_tier": "default"}}, {"serviceTier": "standard"}),
        ({"extra": {"service_tier": "flex"}}, {"serviceTier": "flex"}),
        ({"extra": {"store": False}}, {"store": False}),
        ({"native": {"gemini": {"safetySettings": []}}}, {"safetySettings": []}),
        (
            {"native": {"gemini": {"cachedContent": "cachedContents/1"}}},
            {"cachedContent": "cachedContents/1"},
        ),
    ],
)
def test_a_setting_has_its_place_in_the_body(fields: dict[str, Any], said: dict[str, Any]) -> None:
    body = encode(HI, **fields)
    assert body == encode(HI) | said
    assert decode(body) == Request((HI,), **fields)


@pytest.mark.parametrize(
    ("extra", "config"),
    [
        ({"max_tokens": "ten"}, {"maxOutputTokens": "ten"}),
        ({"max_completion_tokens": 6}, {"maxOutputTokens": 6}),
        ({"temperature": 9}, {"temperature": 9}),
        ({"stop": "a"}, {"stopSequences": ["a"]}),
        ({"top_k": 3}, {"topK": 3}),
        ({"tool_choice": "auto"}, None),
    ],
)
def test_words_of_chat_that_stand_in_extra_are_said_whatever_their_value(extra: Any, config: Any) -> None:
    body = encode(HI, extra=extra)
    assert body.get("generationConfig") == config
    assert losses_of(HI, extra=extra) == []


def test_a_wrong_value_stays_native() -> None:
    body = encode(HI) | {"generationConfig": {"maxOutputTokens": "ten", "stopSequences": "a"}}
    request = decode(body)
    assert (request.max_tokens, request.stop) == (None, None)
    assert WIRE.encode(request, model="m", losses=[]) == body


@pytest.mark.parametrize(
    ("fields", "losses"),
    [
        ({"parallel_tool_calls": False}, [("/parallel_tool_calls", "meaning")]),
        ({"parallel_tool_calls": True}, []),
        ({"include_usage": True}, []),
        ({"extra": {"logit_bias": {"1": 2}}}, [("/extra/logit_bias", "meaning")]),
        ({"extra": {"user": "u"}}, [("/extra/user", "meaning")]),
        ({"extra": {"metadata": {}}}, [("/extra/metadata", "meaning")]),
        ({"extra": {"a/b": 1}}, [("/extra/a~1b", "meaning")]),
        ({"extra": {"seed": None}}, [("/extra/seed", "form")]),
        ({"extra": {"service_tier": "scale"}}, [("/extra/service_tier", "meaning")]),
        ({"extra": {"service_tier": "auto"}}, []),
        ({"extra": {"response_format": {"type": "xml"}}}, [("/extra/response_format", "meaning")]),
        (
            {
                "extra": {
                    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
                }
            },
            [("/extra/response_format", "form")],
        ),
        ({"extra": {"tool_choice": {"type": "custom"}}}, [("/extra/tool_choice", "meaning")]),
        ({"extra": {"messages": []}}, [("/extra/messages", "meaning")]),
        ({"extra": {"tools": []}}, [("/extra/tools", "meaning")]),
        ({"response_format": JsonSchemaFormat("x", SCHEMA, False)}, [("/response_format/name", "form")]),
        (
            {"response_format": JsonSchemaFormat("response", SCHEMA, True)},
            [("/response_format/strict", "form")],
        ),
        (
            {"native": {"ollama": {"keep_alive": 1, "think": True}}},
            [("/native/ollama/keep_alive", "meaning"), ("/native/ollama/think", "meaning")],
        ),
    ],
)
def test_what_has_no_word_is_a_loss(fields: dict[str, Any], losses: list[tuple[str, str]]) -> None:
    assert losses_of(HI, **fields) == losses


# --------------------------------------------------------------------------------------- other spellings


def test_snake_case_is_read() -> None:
    body: Any = {
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}]},
            {"role": "model", "parts": [{"function_call": {"name": "f"}, "thought_signature": "AA=="}]},
            {
                "role": "function",
                "parts": [{"function_response": {"name": "f", "response": {"output": "o"}}}],
            },
        ],
        "tools": [{"function_declarations": [{"name": "f"}]}],
        "tool_config": {"function_calling_config": {"mode": "ANY"}},
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_level": "LOW"}},
    }
    opaque: Any = {"gemini": {"thoughtSignature": "AA=="}}
    assert decode(body) == Request(
        (
            Message.system("s"),
            Message("user", (Image(f"data:image/png;base64,{PNG}"),)),
            Message("assistant", (ToolCall("call_0", "f", "{}", opaque),)),
            Message("tool", (Text("o"),), "call_0"),
        ),
        tools=(Tool("f", "", {}),),
        tool_choice="required",
        max_tokens=5,
        extra={"reasoning_effort": "low"},
    )


def test_the_openapi_subset_is_read_as_json_schema() -> None:
    old = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}}
    declared = [{"functionDeclarations": [{"name": "f", "parameters": old}]}]
    config = {"responseMimeType": "application/json", "responseSchema": old}
    request = decode({"contents": [], "tools": declared, "generationConfig": config})
    assert request.tools == (Tool("f", "", SCHEMA),)
    assert request.response_format == JsonSchemaFormat("response", SCHEMA, False)


@pytest.mark.parametrize("contents", [None, {}, "hi", [1], [{"role": "robot", "parts": []}]])
def test_what_is_no_list_of_contents_is_refused(contents: Any) -> None:
    with pytest.raises(ValueError, match="contents"):
        decode({"contents": contents})

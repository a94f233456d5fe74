"""Requests: canonical form to Chat body and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.types import (
    Image,
    JsonSchemaFormat,
    Message,
    NamedChoice,
    Reasoning,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
    Turn,
)
from conformance.wires.openai_chat import to_chat

from .answers import WIRE, arguments, own, words

USER = Message.user("hi")
CALL = ToolCall("call_1", "f", '{"a": 1}')
CALL_JSON = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
SCHEMA = {"type": "object", "properties": {}}


def encode(*messages: Message, **fields: Any) -> dict[str, Any]:
    return WIRE.encode(Request(messages=messages or (USER,), **fields), model="m", losses=[])


def encoded(*parts: Any, role: Any = "assistant", echo: bool = False) -> Any:
    body: Any = encode(Message(role, parts), echo_reasoning=echo)
    return body["messages"][0]


def test_a_plain_request_has_nothing_but_model_and_messages() -> None:
    assert encode() == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("field", "value", "body"),
    [
        (
            "tools",
            (Tool("f", "does f", SCHEMA),),
            {
                "tools": [
                    {
                        "type": "function",
                        "function": {"name": "f", "description": "does f", "parameters": SCHEMA},
                    }
                ]
            },
        ),
        (
            "tools",
            (Tool("f", "", SCHEMA, strict=True),),
            {
                "tools": [
                    {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}
                ]
            },
        ),
        ("tool_choice", "required", {"tool_choice": "required"}),
        ("tool_choice", NamedChoice("f"), {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
        ("parallel_tool_calls", False, {"parallel_tool_calls": False}),
        (
            "response_format",
            JsonSchemaFormat("n", SCHEMA),
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": SCHEMA, "strict": True},
                }
            },
        ),
        ("stream", True, {"stream": True}),
        ("include_usage", True, {"stream_options": {"include_usage": True}}),
        ("max_tokens", 5, {"max_tokens": 5}),
        ("temperature", 0, {"temperature": 0}),
        ("stop", ("a", "b"), {"stop": ["a", "b"]}),
        ("n", 2, {"n": 2}),
        ("extra", {"seed": 1}, {"seed": 1}),
    ],
)
def test_a_field_is_encoded_as_openai_names_it(field: str, value: Any, body: dict[str, Any]) -> None:
    assert encode(**{field: value}) == encode() | body


def test_extra_is_merged_last() -> None:
    assert encode(temperature=0, extra={"temperature": 1, "model": "other"})["temperature"] == 1


def test_the_field_for_max_tokens_can_be_chosen() -> None:
    body = WIRE.encode(
        Request((USER,), max_tokens=5), model="m", losses=[], max_tokens_field="max_completion_tokens"
    )
    assert body["max_completion_tokens"] == 5
    assert "max_tokens" not in body


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((Text("a"), Text("b")), {"content": "ab"}),
        ((CALL,), {"content": None, "tool_calls": [CALL_JSON]}),
        ((Text("a"), CALL), {"content": "a", "tool_calls": [CALL_JSON]}),
        ((Refusal("no"),), {"content": None, "refusal": "no"}),
        ((), {"content": ""}),
        ((Reasoning("r"), Text("a")), {"content": "a"}),
        (
            (Text("a", own(cache_control=1)),),
            {"content": [{"type": "text", "text": "a", "cache_control": 1}]},
        ),
        (
            (ToolCall("call_1", "f", '{"a": 1}', own(extra_content=1)),),
            {"content": None, "tool_calls": [CALL_JSON | {"extra_content": 1}]},
        ),
        (
            (ToolCall("c", "f", "x", own(type="custom")),),
            {
                "content": None,
                "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}],
            },
        ),
        (
            (ToolCall("", "f", "{}", own(function_call=True)),),
            {"content": None, "function_call": {"name": "f", "arguments": "{}"}},
        ),
    ],
)
def test_an_assistant_message_is_encoded(parts: Any, message: dict[str, Any]) -> None:
    assert encoded(*parts) == {"role": "assistant"} | message


@pytest.mark.parametrize(
    ("reasoning", "message"),
    [
        (Reasoning("r"), {"content": "a", "reasoning_content": "r"}),
        (Reasoning("r", "reasoning"), {"content": "a", "reasoning": "r"}),
        (Reasoning("r", "think"), {"content": "<think>r</think>a"}),
        (
            Reasoning("r", "thinking"),
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]},
                    {"type": "text", "text": "a"},
                ]
            },
        ),
        (
            Reasoning("r", "reasoning_details"),
            {"content": "a", "reasoning_details": [{"type": "reasoning.text", "text": "r"}]},
        ),
        (
            Reasoning("r", "reasoning", own(reasoning_details=[{"data": "x"}])),
            {"content": "a", "reasoning": "r", "reasoning_details": [{"data": "x"}]},
        ),
        (Reasoning("r", "signed"), {"content": "a", "reasoning_content": "r"}),
    ],
)
def test_echoed_reasoning_goes_back_in_its_spelling(reasoning: Reasoning, message: dict[str, Any]) -> None:
    assert encoded(reasoning, Text("a"), echo=True) == {"role": "assistant"} | message


def test_content_is_a_list_where_there_is_an_image() -> None:
    assert encoded(Text("see"), Image("data:x", own(detail="low")), role="user") == {
        "role": "user",
        "content": [
            {"type": "text", "text": "see"},
            {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
        ],
    }


def test_a_tool_result_carries_the_id_of_its_call() -> None:
    body: Any = encode(Message.tool(CALL, "42"))
    assert body["messages"][0] == {"role": "tool", "content": "42", "tool_call_id": "call_1"}


# ------------------------------------------------------------------------------------------- inverse

plain_words = words.map(Text)
images = st.builds(Image, words, st.one_of(st.none(), st.just(own(detail="low"))))
assistants = st.builds(
    lambda reasoning, text, refusal, calls: Message("assistant", (*reasoning, *text, *refusal, *calls)),
    st.lists(st.builds(Reasoning, words, st.sampled_from(["reasoning", "reasoning_content"])), max_size=1),
    st.lists(plain_words, max_size=1),
    st.lists(words.map(Refusal), max_size=1),
    st.lists(
        st.builds(ToolCall, words, words, arguments, st.one_of(st.none(), st.just(own(extra_content={})))),
        max_size=3,
    ),
)
messages = st.one_of(
    st.builds(Message.user, words),
    st.builds(Message.system, words),
    assistants,
    st.builds(lambda text, image: Message("user", (text, image)), plain_words, images),
    st.builds(lambda call_id, text: Message("tool", (Text(text),), call_id), words, words),
)
schemas = st.dictionaries(words, st.one_of(words, st.integers()), max_size=2)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    some = tuple(draw(st.lists(messages, max_size=4)))
    return Request(
        messages=some,
        tools=tuple(
            draw(
                st.lists(
                    st.builds(Tool, words, st.one_of(st.just(""), words), schemas, maybe(st.booleans())),
                    max_size=2,
                )
            )
        ),
        tool_choice=draw(
            maybe(st.one_of(st.sampled_from(["none", "auto", "required"]), st.builds(NamedChoice, words)))
        ),
        parallel_tool_calls=draw(maybe(st.booleans())),
        response_format=draw(maybe(st.builds(JsonSchemaFormat, words, schemas, st.booleans()))),
        stream=draw(st.booleans()),
        include_usage=draw(maybe(st.booleans())),
        max_tokens=draw(maybe(st.integers(1, 99))),
        temperature=draw(maybe(st.floats(0, 2))),
        stop=draw(maybe(st.lists(words, max_size=2).map(tuple))),
        n=draw(maybe(st.integers(1, 4))),
        echo_reasoning=any(isinstance(p, Reasoning) for m in some for p in m.parts),
        extra=draw(st.dictionaries(st.sampled_from(["seed", "logit_bias"]), st.integers(), max_size=2)),
    )


@given(requests(), st.sampled_from(["max_tokens", "max_completion_tokens"]))
def test_encoding_and_decoding_are_inverse_on_the_canonical_subset(request: Request, field: str) -> None:
    body = WIRE.encode(request, model="m", losses=[], max_tokens_field=field)
    decoded = WIRE.decode_request(body)
    assert decoded == request
    assert WIRE.encode(decoded, model="m", losses=[], max_tokens_field=field) == body


@pytest.mark.parametrize(
    "field",
    [
        {"tools": [{"type": "custom", "custom": {"name": "f"}}]},
        {"tool_choice": {"type": "allowed_tools"}},
        {"response_format": {"type": "json_object"}},
        {"stream_options": {"include_usage": True, "include_obfuscation": False}},
        {"temperature": "hot"},
        {"max_tokens": True},
        {"stop": [1]},
        {"n": None},
        {"seed": 7},
    ],
)
def test_a_field_without_canonical_form_survives_in_extra(field: dict[str, Any]) -> None:
    request = WIRE.decode_request(encode() | field)
    assert request.extra == field
    assert WIRE.encode(request, model="m", losses=[]) == encode() | field


def test_the_second_spelling_of_max_tokens_survives_in_extra() -> None:
    request = WIRE.decode_request(encode() | {"max_tokens": 5, "max_completion_tokens": 6})
    assert (request.max_tokens, request.extra) == (5, {"max_completion_tokens": 6})


@pytest.mark.parametrize(
    "messages", [None, {}, "hi", [1], [{"content": "x"}], [{"role": "robot", "content": "x"}]]
)
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(ValueError, match="messages"):
        WIRE.decode_request({"messages": messages})


# ------------------------------------------------------------------------------------------- to_chat


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), {"content": None}),
        ((Text("a"),), {"content": "a"}),
        ((Reasoning("r", "thinking"), Text("a")), {"content": "a", "reasoning_content": "r"}),
        ((CALL,), {"content": None, "tool_calls": [CALL_JSON]}),
        ((Text("a"), CALL, Text("b")), {"content": "ab", "tool_calls": [CALL_JSON]}),
        ((Refusal("no"),), {"content": None, "refusal": "no"}),
    ],
)
def test_a_turn_is_viewed_as_one_chat_message(parts: Any, message: dict[str, Any]) -> None:
    assert to_chat(Turn(parts)) == {"role": "assistant"} | message


@pytest.mark.parametrize(
    "odd", [{"type": "video_url", "video_url": {"url": "https://a/b.mp4"}}, {"type": "text", "text": 5}]
)
def test_a_content_part_without_canonical_form_stays_with_its_message(odd: Any) -> None:
    body: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, odd]}],
    }
    request = WIRE.decode_request(body)
    assert request.messages == (Message("user", (Text("a"), Text("", own(**odd)))),)
    assert WIRE.encode(request, model="m", losses=[]) == body


def test_a_picture_may_be_told_by_its_url_alone() -> None:
    body: Any = {
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "https://a/b.png"}]}]
    }
    assert WIRE.decode_request(body).messages == (Message("user", (Image("https://a/b.png"),)),)

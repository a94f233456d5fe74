"""The LangChain message codec, against langchain-core's own classes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from conformance.types import (
    Audio,
    File,
    Image,
    Loss,
    Message,
    NamedChoice,
    Reasoning,
    Refusal,
    Request,
    Text,
    Tool,
    ToolCall,
)
from conformance.wires import langchain

PNG = "data:image/png;base64,iVBORw0="
PDF = "data:application/pdf;base64,JVBERi0="
CALL = ToolCall("c", "f", '{"a":1}')
CALL_JSON = {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}


def encode(*messages: Message, **fields: Any) -> tuple[list[Any], list[Loss]]:
    losses: list[Loss] = []
    return langchain.encode_request(Request(messages, **fields), losses), losses


def decode(*messages: BaseMessage | dict[str, Any]) -> tuple[tuple[Message, ...], list[Loss]]:
    losses: list[Loss] = []
    dumped = [messages_to_dict([m])[0] if isinstance(m, BaseMessage) else m for m in messages]
    return langchain.decode_request(json.loads(json.dumps(dumped)), losses).messages, losses


# ------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("message", "theirs"),
    [
        (Message.system("s"), SystemMessage("s")),
        (
            Message("developer", (Text("s"),)),
            SystemMessage("s", additional_kwargs={"__openai_role__": "developer"}),
        ),
        (Message.user("hi"), HumanMessage("hi")),
        (
            Message("user", (Text("see"), Image(PNG), Image("https://x/a.png"))),
            HumanMessage(
                [
                    {"type": "text", "text": "see"},
                    {"type": "image", "base64": "iVBORw0=", "mime_type": "image/png"},
                    {"type": "image", "url": "https://x/a.png"},
                ]
            ),
        ),
        (
            Message("user", (Audio("UklG", "wav"), File(PDF, "a.pdf"))),
            HumanMessage(
                [
                    {"type": "audio", "base64": "UklG", "mime_type": "audio/wav"},
                    {
                        "type": "file",
                        "base64": "JVBERi0=",
                        "mime_type": "application/pdf",
                        "extras": {"filename": "a.pdf"},
                    },
                ]
            ),
        ),
        (Message("assistant", (Text("a"), CALL)), AIMessage("a", tool_calls=[CALL_JSON])),
        (Message("assistant", (CALL,)), AIMessage("", tool_calls=[CALL_JSON])),
        (
            Message("assistant", (ToolCall("c", "f", "[1"),)),
            AIMessage(
                "",
                invalid_tool_calls=[
                    {
                        "name": "f",
                        "args": "[1",
                        "id": "c",
                        "error": "not a JSON object",
                        "type": "invalid_tool_call",
                    }
                ],
            ),
        ),
        (
            Message("assistant", (Reasoning("r"), CALL, Text("a"), Refusal("no"))),
            AIMessage(
                [
                    {"type": "reasoning", "reasoning": "r"},
                    CALL_JSON,
                    {"type": "text", "text": "a"},
                    {"type": "refusal", "refusal": "no"},
                ],
                tool_calls=[CALL_JSON],
                response_metadata={"output_version": "v1"},
            ),
        ),
        (Message("tool", (Text("42"),), "c"), ToolMessage("42", tool_call_id="c")),
        (
            Message("tool", (Text("no"),), "c", is_error=True),
            ToolMessage("no", tool_call_id="c", status="error"),
        ),
        (
            Message("tool", (Text("see"), Image(PNG)), "c"),
            ToolMessage(
                [
                    {"type": "text", "text": "see"},
                    {"type": "image", "base64": "iVBORw0=", "mime_type": "image/png"},
                ],
                tool_call_id="c",
            ),
        ),
    ],
)
def test_a_message_is_written_and_read_as_langchain_dumps_it(message: Message, theirs: BaseMessage) -> None:
    written, losses = encode(message)
    assert messages_from_dict(written) == [theirs]
    assert losses == []
    assert decode(theirs) == ((message,), [])


def test_calls_among_other_parts_keep_their_place() -> None:
    parts = (Text("a"), CALL, Text("b"), ToolCall("d", "g", "{"), ToolCall("e", "h", "{}"))
    written, _ = encode(Message("assistant", parts))
    assert decode(*written) == ((Message("assistant", parts),), [])
    (theirs,) = messages_from_dict(written)
    assert isinstance(theirs, AIMessage)
    assert [call["name"] for call in theirs.tool_calls] == ["f", "h"]
    assert [block["type"] for block in theirs.content_blocks] == [
        "text",
        "tool_call",
        "text",
        "invalid_tool_call",
        "tool_call",
    ]


def test_an_opaque_slot_and_the_spelling_travel_in_the_extras() -> None:
    parts = (
        Reasoning("r", "thinking", {"anthropic-messages": {"signature": "s"}}),
        Text("a", {"gemini": {"thoughtSignature": "t"}}),
        ToolCall("c", "f", "{}", {"openai-chat": {"extra_content": {"x": 1}}}),
        Image("", {"anthropic-messages": {"source": {"type": "file", "file_id": "f"}}}),
    )
    written, losses = encode(Message("assistant", parts))
    assert losses == []
    again = messages_to_dict(messages_from_dict(written))
    assert decode(*again) == ((Message("assistant", parts),), [])


@pytest.mark.parametrize(
    ("arguments", "read", "weight"),
    [
        ("", "{}", "form"),
        ("null", "{}", "form"),
        ('{"a": 1}', '{"a":1}', "form"),
        ('{"a":"\\u00e9"}', '{"a":"é"}', "form"),
        ('{"a":0.1000000000000000055511}', '{"a":0.1}', "meaning"),
        ('{"a":9007199254740993}', '{"a":9007199254740993}', None),
        ("[]", "[]", None),
        ('"x"', '"x"', None),
        ("{", "{", None),
        ('{"a":1,"a":2}', '{"a":1,"a":2}', None),
        ('{"a":NaN}', '{"a":NaN}', None),
        ('{"a":1e400}', '{"a":1e400}', None),
        ('{"a":"\\ud83d"}', '{"a":"\\ud83d"}', None),
        ("[" * 100_000, "[" * 100_000, None),
    ],
)
def test_arguments_survive_or_their_change_is_told(arguments: str, read: str, weight: str | None) -> None:
    written, losses = encode(Message("assistant", (ToolCall("c", "f", arguments),)))
    (message,), _ = decode(*written)
    assert message.parts == (ToolCall("c", "f", read),)
    assert [loss.weight for loss in losses] == ([weight] if weight else [])
    assert {loss.path for loss in losses} <= {"/messages/0/parts/0/arguments"}


def test_what_is_bound_to_the_model_is_lost_with_a_message_list() -> None:
    _, losses = encode(
        Message.user("hi"),
        tools=(Tool("f", "", {}),),
        tool_choice=NamedChoice("f"),
        parallel_tool_calls=False,
        stream=True,
        max_tokens=0,
        extra={"seed": 1},
        native={"gemini": {"safetySettings": []}},
    )
    assert [(loss.path, loss.weight) for loss in losses] == [
        ("/tools", "meaning"),
        ("/tool_choice", "meaning"),
        ("/parallel_tool_calls", "meaning"),
        ("/max_tokens", "meaning"),
        ("/stream", "form"),
        ("/extra/seed", "meaning"),
        ("/native/gemini/safetySettings", "meaning"),
    ]


# ----------------------------------------------------------------------- what provider packages leave


@pytest.mark.parametrize(
    ("theirs", "parts"),
    [
        pytest.param(
            AIMessage("a", additional_kwargs={"reasoning_content": "r"}),
            (Reasoning("r"), Text("a")),
            id="deepseek-reasoning",
        ),
        pytest.param(
            AIMessage("", additional_kwargs={"refusal": "no"}), (Refusal("no"),), id="openai-refusal"
        ),
        pytest.param(AIMessage("a", additional_kwargs={"refusal": None}), (Text("a"),), id="no-refusal"),
        pytest.param(
            AIMessage(
                "",
                additional_kwargs={
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
                    ]
                },
            ),
            (ToolCall("c", "f", '{"a": 1}'),),
            id="the-string-as-openai-sent-it",
        ),
        pytest.param(
            AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
            (ToolCall("", "f", "{}", {"openai-chat": {"function_call": True}}),),
            id="the-form-before-tools",
        ),
        pytest.param(
            AIMessage(
                [
                    {"type": "thinking", "thinking": "r", "signature": "s"},
                    {"type": "redacted_thinking", "data": "d"},
                    {"type": "text", "text": "a"},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
                    {"type": "text", "text": "b"},
                ],
                tool_calls=[CALL_JSON],
            ),
            (
                Reasoning("r", "thinking", {"anthropic-messages": {"signature": "s"}}),
                Reasoning("", "redacted_thinking", {"anthropic-messages": {"data": "d"}}),
                Text("a"),
                CALL,
                Text("b"),
            ),
            id="anthropic-blocks",
        ),
        pytest.param(
            AIMessage(
                [{"type": "reasoning", "reasoning": "r", "extras": {"signature": "s"}}],
                response_metadata={"model_provider": "anthropic", "output_version": "v1"},
            ),
            (Reasoning("r", "thinking", {"anthropic-messages": {"signature": "s"}}),),
            id="anthropic-v1-blocks",
        ),
        pytest.param(
            HumanMessage(
                [
                    {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
                    {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
                    {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}},
                ]
            ),
            (
                Image(PNG, {"openai-chat": {"detail": "low"}}),
                Audio("UklG", "wav"),
                File(PDF, "a.pdf"),
            ),
            id="openai-media",
        ),
        pytest.param(
            HumanMessage(
                [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="},
                    },
                    {"type": "document", "source": {"type": "url", "url": "https://x/a.pdf"}},
                ]
            ),
            (Image(PNG), File("https://x/a.pdf")),
            id="anthropic-media",
        ),
        pytest.param(
            HumanMessage(
                [{"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "iVBORw0="}]
            ),
            (Image(PNG),),
            id="data-blocks-before-v1",
        ),
        pytest.param(HumanMessage(["a", {"type": "text", "text": "b"}]), (Text("ab"),), id="strings"),
        pytest.param(
            AIMessageChunk(
                "a", tool_call_chunks=[{"name": "f", "args": '{"a":1}', "id": "c", "index": 0}]
            ),
            (Text("a"), CALL),
            id="chunk",
        ),
    ],
)  # fmt: skip
def test_what_provider_packages_leave_is_read(theirs: BaseMessage, parts: Any) -> None:
    (message,), losses = decode(theirs)
    assert (message.parts, losses) == (parts, [])


@pytest.mark.parametrize(
    ("theirs", "path"),
    [
        (HumanMessage("a", name="bob"), "/0/data/name"),
        (AIMessage("a", additional_kwargs={"audio": {"id": "x"}}), "/0/data/additional_kwargs/audio"),
        (HumanMessage([{"type": "video", "url": "https://x"}, "a"]), "/0/data/content/0"),
        (HumanMessage([{"type": "image"}, "a"]), "/0/data/content/0"),
        (HumanMessage([{"type": "audio", "url": "https://x"}, "a"]), "/0/data/content/0"),
        (AIMessage([{"type": "text", "text": "a", "annotations": [{}]}]), "/0/data/content/0"),
        (AIMessage([{"type": "text", "text": "a", "extras": {"x": 1}}]), "/0/data/content/0/extras"),
    ],
)
def test_what_has_no_canonical_form_is_a_loss_of_the_input(theirs: BaseMessage, path: str) -> None:
    (message,), losses = decode(theirs)
    assert message.parts == (Text("a"),)
    assert [loss.path for loss in losses] == [path]


def test_messages_may_stand_in_an_object_and_without_their_wrapping() -> None:
    losses: list[Loss] = []
    body = {"messages": [HumanMessage("hi").model_dump()], "thread": 1}
    assert langchain.decode_request(body, losses).messages == (Message.user("hi"),)
    assert [loss.path for loss in losses] == ["/thread"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "messages: not a list"),
        ({}, "messages: not a list"),
        ([1], "/0: not a LangChain message"),
        ([{"type": "human", "data": {}}], "/0: not a LangChain message"),
        ([{"type": "function", "data": {"content": "", "name": "f"}}], "/0/data: .*'function'"),
        ([{"type": "remove", "data": {"content": "", "id": "1"}}], "/0/data: .*'remove'"),
        ([{"type": "chat", "data": {"content": "", "role": "robot"}}], "/0/data: .*'chat'"),
    ],
)
def test_what_is_no_message_is_refused_by_its_place(value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        langchain.decode_request(value, [])

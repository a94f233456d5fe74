"""Canonical messages as Responses items, and back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import (
    Audio,
    File,
    Image,
    Loss,
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolCall,
)

from .responses_answers import WIRE, decode, encode, own, said

HI = Message.user("hi")
CALL = ToolCall("call_1", "f", '{"a": 1}')
SIGNED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="}


def called(**rest: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a": 1}', **rest}


USER_PARTS: list[tuple[Part, dict[str, Any]]] = [
    (Text("a"), {"type": "input_text", "text": "a"}),
    (Image("https://a/b.png"), {"type": "input_image", "image_url": "https://a/b.png", "detail": "auto"}),
    (
        Image("data:image/png;base64,AA==", own(detail="high")),
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "high"},
    ),
    (Image("", own(file_id="file_1")), {"type": "input_image", "detail": "auto", "file_id": "file_1"}),
    (File("https://a/b.pdf"), {"type": "input_file", "file_url": "https://a/b.pdf"}),
    (
        File("data:application/pdf;base64,AA==", "b.pdf"),
        {"type": "input_file", "filename": "b.pdf", "file_data": "data:application/pdf;base64,AA=="},
    ),
    (File("", "", own(file_id="file_1")), {"type": "input_file", "file_id": "file_1"}),
    (
        Text("", own(part={"type": "input_video", "video_url": "https://a/b.mp4"})),
        {"type": "input_video", "video_url": "https://a/b.mp4"},
    ),
]


@pytest.mark.parametrize(("part", "entry"), USER_PARTS)
def test_a_part_has_its_content_part_in_user_messages_and_results(part: Part, entry: dict[str, Any]) -> None:
    head = {"type": "input_text", "text": "look"}
    parts = (Text("look"), part)
    messages = (Message("user", parts), Message("tool", parts, "call_1"))
    items = [
        said("user", [head, entry]),
        {"type": "function_call_output", "call_id": "call_1", "output": [head, entry]},
    ]
    assert encode(*messages)["input"] == items
    assert decode(*items).messages == messages


def test_a_sound_is_read_and_has_no_content_part() -> None:
    entry = {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}
    message = Message("user", (Text("listen"), Audio("AA==", "wav")))
    assert decode(said("user", [{"type": "input_text", "text": "listen"}, entry])).messages == (message,)
    losses: list[Loss] = []
    assert WIRE.encode(Request((message,)), model="m", losses=losses)["input"] == [said("user", "listen")]
    assert [(loss.path, loss.weight) for loss in losses] == [("/messages/0/parts/1", "meaning")]


def test_reasoning_of_another_wire_does_not_go_back() -> None:
    """The API looks the item up and answers 404."""
    message = Message("assistant", (Reasoning("why", "reasoning_content"), CALL))
    losses: list[Loss] = []
    request = Request((HI, message, Message.tool(CALL, "1")), echo_reasoning=True)
    assert WIRE.encode(request, model="m", losses=losses)["input"][1] == called()
    assert [(loss.path, loss.weight) for loss in losses] == [("/messages/1/parts/0", "meaning")]


def test_bare_base64_of_a_file_becomes_a_data_url_of_the_type_that_its_name_says() -> None:
    entry = {"type": "input_file", "filename": "b.pdf", "file_data": "AA=="}
    assert decode(said("user", [entry])).messages[0].parts == (
        File("data:application/pdf;base64,AA==", "b.pdf"),
    )


def test_an_input_string_is_a_user_message() -> None:
    assert WIRE.decode_request({"input": "hi"}).messages == (HI,)


def test_instructions_are_a_system_message_before_the_input() -> None:
    messages = (Message.system("be brief"), Message.system("be kind"), HI)
    body = encode(*messages)
    assert (body["instructions"], body["input"]) == (
        "be brief",
        [said("system", "be kind"), said("user", "hi")],
    )
    assert WIRE.decode_request(body).messages == messages


@pytest.mark.parametrize(
    ("messages", "extra"),
    [
        ((Message.system("alone"),), {}),
        ((Message.system("answer in JSON"), HI), {"response_format": {"type": "json_object"}}),
        ((Message("developer", (Text("be brief"),)), HI), {}),
        ((Message("system", (Text("a"), Text("b"))), HI), {}),
        ((HI, Message.system("from now on in French")), {}),
    ],
    ids=["nothing else", "json mode", "developer", "two texts", "later"],
)
def test_other_system_text_stays_an_item_where_it_stands(
    messages: tuple[Message, ...], extra: dict[str, Any]
) -> None:
    body = encode(*messages, extra=extra)
    assert "instructions" not in body
    assert [item["role"] for item in body["input"]] == [message.role for message in messages]
    assert WIRE.decode_request(body).messages == messages


TURN: list[tuple[tuple[Part, ...], list[dict[str, Any]]]] = [
    ((Text("a"),), [said("assistant", "a")]),
    (
        (Text("a"), Refusal("no")),
        [
            said(
                "assistant",
                [
                    {"type": "output_text", "text": "a", "annotations": []},
                    {"type": "refusal", "refusal": "no"},
                ],
            )
        ],
    ),
    ((Text("a"), CALL, Text("b")), [said("assistant", "a"), called(), said("assistant", "b")]),
    (
        (Text("a", own(item={"phase": "commentary"})), Text("b", own(item={"phase": "final_answer"}))),
        [said("assistant", "a", phase="commentary"), said("assistant", "b", phase="final_answer")],
    ),
    (
        (Text("a", own(annotations=[{"type": "file_path"}], logprobs=[{"token": "a"}])),),
        [
            said(
                "assistant",
                [
                    {
                        "type": "output_text",
                        "text": "a",
                        "annotations": [{"type": "file_path"}],
                        "logprobs": [{"token": "a"}],
                    }
                ],
            )
        ],
    ),
    (
        (ToolCall("call_1", "f", '{"a": 1}', own(item={"namespace": "n"})),),
        [called(namespace="n")],
    ),
    (
        (ToolCall("call_1", "sql", "select 1", own(item={"type": "custom_tool_call"})),),
        [{"type": "custom_tool_call", "call_id": "call_1", "name": "sql", "input": "select 1"}],
    ),
    (
        (Text("", own(item={"type": "item_reference", "id": "msg_1"})),),
        [{"type": "item_reference", "id": "msg_1"}],
    ),
    (
        (Text("", own(item={"type": "web_search_call", "id": "ws_1", "status": "completed"})), Text("a")),
        [{"type": "web_search_call", "id": "ws_1", "status": "completed"}, said("assistant", "a")],
    ),
    (
        (
            Image(
                "data:image/webp;base64,AA==",
                own(item={"type": "image_generation_call", "id": "ig_1", "output_format": "webp"}),
            ),
        ),
        [{"type": "image_generation_call", "id": "ig_1", "output_format": "webp", "result": "AA=="}],
    ),
]


@pytest.mark.parametrize(("parts", "items"), TURN)
def test_an_assistant_message_is_its_items_in_order(
    parts: tuple[Part, ...], items: list[dict[str, Any]]
) -> None:
    messages = (HI, Message("assistant", parts), HI)
    assert encode(*messages)["input"] == [said("user", "hi"), *items, said("user", "hi")]
    assert decode(said("user", "hi"), *items, said("user", "hi")).messages == messages


REASONED: list[tuple[Reasoning, dict[str, Any]]] = [
    (Reasoning("why", "summary_text"), {"summary": [{"type": "summary_text", "text": "why"}]}),
    (
        Reasoning("why", "reasoning_text"),
        {"summary": [], "content": [{"type": "reasoning_text", "text": "why"}]},
    ),
    (Reasoning("", "summary_text", own(item=SIGNED)), SIGNED),
    (
        Reasoning(
            "a\n\nb",
            "summary_text",
            own(item={**SIGNED, "summary": [{"type": "summary_text", "text": t} for t in "ab"]}),
        ),
        {**SIGNED, "summary": [{"type": "summary_text", "text": t} for t in "ab"]},
    ),
]


@pytest.mark.parametrize(("part", "item"), REASONED)
def test_echoed_reasoning_goes_back_as_it_was_and_before_its_call(
    part: Reasoning, item: dict[str, Any]
) -> None:
    messages = (Message("assistant", (part, CALL)), Message.tool(CALL, "1"))
    body = encode(*messages, echo_reasoning=True)
    assert body["input"][:2] == [{"type": "reasoning", **item}, called()]
    decoded = WIRE.decode_request(body)
    assert (decoded.messages, decoded.echo_reasoning) == (messages, True)


def test_reasoning_that_is_not_echoed_leaves_no_item_and_no_ids_behind() -> None:
    items = [SIGNED, called(id="fc_1", status="completed")]
    messages = decode(*items).messages
    assert encode(*messages, echo_reasoning=True)["input"] == items
    assert encode(*messages)["input"] == [called()]


def test_ids_and_states_of_items_without_opaque_reasoning_say_nothing() -> None:
    bare = [said("assistant", "a"), called()]
    items = [{**item, "id": f"x{i}", "status": "completed"} for i, item in enumerate(bare)]
    assert decode(*items) == decode(*bare)


def test_a_message_of_reasoning_alone_is_left_out_and_an_empty_one_is_not() -> None:
    assert encode(HI, Message("assistant", (Reasoning("why"),)))["input"] == [said("user", "hi")]
    assert encode(HI, Message("assistant", ()))["input"] == [said("user", "hi"), said("assistant", "")]


def test_consecutive_assistant_items_fold_until_someone_else_speaks() -> None:
    result = {"type": "function_call_output", "call_id": "call_1", "output": "1"}
    items = [said("assistant", "a"), called(), result, said("assistant", "b"), said("assistant", "c")]
    assert [(m.role, len(m.parts)) for m in decode(*items).messages] == [
        ("assistant", 2),
        ("tool", 1),
        ("assistant", 2),
    ]


RESULTS: list[tuple[Message, dict[str, Any]]] = [
    (Message.tool(CALL, "1"), {"type": "function_call_output", "call_id": "call_1", "output": "1"}),
    (Message("tool", (), "call_1"), {"type": "function_call_output", "call_id": "call_1", "output": ""}),
    (
        Message("tool", (Text("1", own(item={"type": "custom_tool_call_output"})),), "call_9"),
        {"type": "custom_tool_call_output", "call_id": "call_9", "output": "1"},
    ),
    (
        Message("tool", (Text("1", own(item={"caller": {"type": "direct"}})),), "call_1"),
        {"type": "function_call_output", "call_id": "call_1", "output": "1", "caller": {"type": "direct"}},
    ),
    (
        Message(
            "tool",
            (Text("", own(item={"type": "computer_call_output", "call_id": "call_2", "output": {"a": 1}})),),
            "call_2",
        ),
        {"type": "computer_call_output", "call_id": "call_2", "output": {"a": 1}},
    ),
]


@pytest.mark.parametrize(("message", "item"), RESULTS)
def test_a_tool_message_is_one_output_item(message: Message, item: dict[str, Any]) -> None:
    assert encode(HI, message)["input"][1:] == [item]
    assert decode(said("user", "hi"), item).messages == (HI, message)


def test_the_result_of_a_custom_call_is_of_its_type() -> None:
    call = ToolCall("call_1", "sql", "select 1", own(item={"type": "custom_tool_call"}))
    messages = (Message("assistant", (call,)), Message.tool(call, "1"))
    body = encode(*messages)
    assert body["input"][1] == {"type": "custom_tool_call_output", "call_id": "call_1", "output": "1"}
    assert WIRE.decode_request(body).messages == messages


def test_items_may_leave_out_the_types_that_the_schema_lets_them() -> None:
    messages = decode({"role": "user", "content": "hi"}, {"id": "msg_1"}).messages
    assert messages == (
        HI,
        Message("assistant", (Text("", own(item={"type": "item_reference", "id": "msg_1"})),)),
    )

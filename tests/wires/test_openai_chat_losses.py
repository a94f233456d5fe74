"""What the Chat wire can't say: what it sends instead, and the loss it reports."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import Audio, File, Image, Loss, Message, Reasoning, Refusal, Request, Text, ToolCall

from .answers import WIRE, own

PDF = "data:application/pdf;base64,JVBERi0="
PNG = "data:image/png;base64,iVBORw0="
IMAGE_JSON = {"type": "image_url", "image_url": {"url": PNG}}
CALL = ToolCall("c", "f", "{}")
CALL_JSON = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANTHROPIC: Any = {"anthropic-messages": {"signature": "s"}}


def encode(*messages: Message, **fields: Any) -> tuple[Any, list[Loss]]:
    losses: list[Loss] = []
    body = WIRE.encode(Request(messages, **fields), model="m", losses=losses)
    return body, losses


# ------------------------------------------------------------------------- what Chat has a form for


@pytest.mark.parametrize(
    ("part", "item"),
    [
        (Image("https://x/a.png"), {"type": "image_url", "image_url": {"url": "https://x/a.png"}}),
        (Audio("UklG", "wav"), {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}),
        (File(PDF), {"type": "file", "file": {"file_data": PDF}}),
        (File(PDF, "a.pdf"), {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}}),
        (File("", "", own(file_id="file-1")), {"type": "file", "file": {"file_id": "file-1"}}),
    ],
)
def test_media_of_a_user_message_go_both_ways_without_loss(part: Any, item: dict[str, Any]) -> None:
    body, losses = encode(Message("user", (Text("see"), part)))
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "see"}, item]}]
    assert losses == []
    assert WIRE.decode_request(body).messages[0].parts == (Text("see"), part)


def test_native_members_are_merged_last_and_object_by_object() -> None:
    body, losses = encode(
        Message.user("hi"),
        include_usage=True,
        native={"openai-chat": {"stream_options": {"include_obfuscation": False}, "store": True}},
    )
    assert body["stream_options"] == {"include_usage": True, "include_obfuscation": False}
    assert (body["store"], losses) == (True, [])


def test_reasoning_is_left_out_without_a_loss_where_the_request_does_not_ask_for_it() -> None:
    parts = (Reasoning("r", opaque=ANTHROPIC), Text("a"))
    body, losses = encode(Message("assistant", parts))
    assert (body["messages"], losses) == ([{"role": "assistant", "content": "a"}], [])


# ----------------------------------------------------------------------- what it has no form for


@pytest.mark.parametrize(
    ("message", "content", "loss"),
    [
        pytest.param(
            Message("user", (Text("a", ANTHROPIC),)),
            "a",
            Loss("/messages/0/parts/0", "what only anthropic-messages understands of it", "form"),
            id="opaque-of-another-wire",
        ),
        pytest.param(
            Message("assistant", (Reasoning("r", opaque=ANTHROPIC), Text("a"))),
            "a",
            Loss("/messages/0/parts/0", "reasoning bound to anthropic-messages"),
            id="reasoning-of-another-wire",
        ),
        pytest.param(
            Message("assistant", (Text("a"), Refusal("no", ANTHROPIC))),
            "a",
            Loss("/messages/0/parts/1", "what a wire alone understands of a refusal", "form"),
            id="opaque-refusal",
        ),
        pytest.param(
            Message("user", (Text("a"), File("https://x/a.pdf"))),
            "a",
            Loss("/messages/0/parts/1", "document that Chat has no form for"),
            id="document-by-url",
        ),
        pytest.param(
            Message("user", (Text("a"), Image("", ANTHROPIC))),
            "a",
            Loss("/messages/0/parts/1", "image that Chat has no form for"),
            id="image-that-another-wire-stores",
        ),
        pytest.param(
            Message("assistant", (Text("a"), Image(PNG))),
            "a",
            Loss("/messages/0/parts/1", "image outside a user message"),
            id="image-of-the-assistant",
        ),
        pytest.param(
            Message("system", (Text("a"), Audio("UklG", "wav"))),
            "a",
            Loss("/messages/0/parts/1", "sound outside a user message"),
            id="sound-of-the-system",
        ),
        pytest.param(
            Message("tool", (Text("no such city"),), "c", is_error=True),
            "Error: no such city",
            Loss("/messages/0/is_error", 'told in words: "Error: "', "form"),
            id="failure-of-a-tool",
        ),
    ],
)
def test_what_can_not_be_said_is_lost_alone(message: Message, content: str, loss: Loss) -> None:
    body, losses = encode(message, echo_reasoning=True)
    assert ([sent["content"] for sent in body["messages"]], losses) == ([content], [loss])


@pytest.mark.parametrize(
    "parts",
    [
        (CALL, Text("a")),
        (Text("a"), CALL, Text("b")),
        (Text("a"), Reasoning("r")),
        (Reasoning("r"), CALL, Reasoning("s"), ToolCall("d", "g", "{}")),
        (Refusal("no"), Text("a")),
    ],
)
def test_the_order_of_parts_is_lost_where_chat_has_another(parts: Any) -> None:
    _, losses = encode(Message("assistant", parts), echo_reasoning=True)
    assert [(loss.path, loss.weight) for loss in losses] == [("/messages/0", "form")]


def test_another_wires_native_members_are_lost_one_by_one() -> None:
    body, losses = encode(Message.user("hi"), native={"gemini": {"safetySettings": [], "a/b": 1}})
    assert body.keys() == {"model", "messages"}
    assert losses == [
        Loss("/native/gemini/safetySettings", "a word of gemini alone"),
        Loss("/native/gemini/a~1b", "a word of gemini alone"),
    ]


def test_a_second_call_in_the_form_before_tools_is_lost() -> None:
    body, losses = encode(
        Message("assistant", tuple(ToolCall("", n, "{}", own(function_call=True)) for n in "fg"))
    )
    assert body["messages"][0]["function_call"] == {"name": "f", "arguments": "{}"}
    assert losses == [Loss("/messages/0/parts/1", "a second call in the form before tools")]


# --------------------------------------------------------------------------- media of tool results


def test_media_of_tool_results_follow_the_last_result_in_a_user_message() -> None:
    body, losses = encode(
        Message("assistant", (CALL, ToolCall("d", "f", "{}"))),
        Message("tool", (Text("two files"), Image(PNG), File(PDF, "a.pdf")), "c"),
        Message("tool", (Image(PNG),), "d"),
        Message.user("which?"),
    )
    assert body["messages"][1:] == [
        {
            "role": "tool",
            "content": "two files\n[image: see the user message below]\n"
            "[document: see the user message below]",
            "tool_call_id": "c",
        },
        {"role": "tool", "content": "[image: see the user message below]", "tool_call_id": "d"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Shown by the result of c:"},
                IMAGE_JSON,
                {"type": "file", "file": {"file_data": PDF, "filename": "a.pdf"}},
                {"type": "text", "text": "Shown by the result of d:"},
                IMAGE_JSON,
            ],
        },
        {"role": "user", "content": "which?"},
    ]
    assert losses == [
        Loss("/messages/1/parts/1", "image moved into a user message", "form"),
        Loss("/messages/1/parts/2", "document moved into a user message", "form"),
        Loss("/messages/2/parts/0", "image moved into a user message", "form"),
    ]


def test_a_picture_of_the_last_result_follows_it_too() -> None:
    body, _ = encode(Message("tool", (Image(PNG),), "c"))
    assert [message["role"] for message in body["messages"]] == ["tool", "user"]


def test_a_document_of_a_result_that_chat_can_not_take_is_lost() -> None:
    body, losses = encode(Message("tool", (Text("a"), File("https://x/a.pdf")), "c"))
    assert body["messages"] == [{"role": "tool", "content": "a", "tool_call_id": "c"}]
    assert losses == [Loss("/messages/0/parts/1", "document outside a user message")]


def test_many_parts_cost_no_more_than_their_sum() -> None:
    reasoning = (Reasoning("r" * 20, opaque=own(reasoning_details=[{"data": "x"}])), Text("a"))
    body, losses = encode(Message("assistant", reasoning * 20_000), echo_reasoning=True)
    (message,) = body["messages"]
    assert len(message["reasoning_content"]) == 400_000
    assert len(message["reasoning_details"]) == 20_000
    assert len(losses) == 1

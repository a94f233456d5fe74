"""What the messages of a canonical request are on the Gemini wire, part by part, and back."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.types import (
    Audio,
    File,
    Image,
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    Text,
    ToolCall,
)
from conformance.wires.gemini_request import INSTRUCTION, OPENING

from .gemini_kit import PNG, STREAM_PATH, WIRE, call, encode, losses_of

HI = Message.user("hi")
CALL = ToolCall("c1", "get_weather", '{"city":"Oslo"}')
SIGNED: Any = {"gemini": {"thoughtSignature": "AAAA"}}
OTHERS: Any = {"anthropic-messages": {"signature": "abc"}}


def decode(body: dict[str, Any], path: str = "") -> Request:
    return WIRE.decode_request(body, path=path)


def parts_of(*parts: Part, **fields: Any) -> list[dict[str, Any]]:
    contents = encode(HI, Message("assistant", parts), **fields)["contents"]
    found: list[dict[str, Any]] = contents[1]["parts"]
    return found


# -------------------------------------------------------------------------------------------- the binding


def test_the_wire_binds_to_its_paths_and_its_key() -> None:
    assert WIRE.path("m", False) == "/v1beta/models/m:generateContent"
    assert WIRE.path("models/m", True) == STREAM_PATH
    assert WIRE.models_path == "/v1beta/models"
    assert WIRE.auth_headers("k") == (("x-goog-api-key", "k"),)
    assert WIRE.auth_headers("") == ()


def test_the_path_alone_says_whether_to_stream() -> None:
    assert "stream" not in encode(HI, stream=True)
    assert decode(encode(HI), STREAM_PATH).stream
    assert not decode(encode(HI), "/v1beta/models/m:generateContent").stream


# -------------------------------------------------------------------------------------------- messages


def test_roles_are_user_and_model_and_system_stands_apart() -> None:
    assert encode(Message.system("be kind"), HI, Message("assistant", (Text("yes"),))) == {
        "systemInstruction": {"parts": [{"text": "be kind"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {"role": "model", "parts": [{"text": "yes"}]},
        ],
    }


def test_leading_system_messages_are_joined_with_a_blank_line() -> None:
    messages = (Message.system("a"), Message("developer", (Text("b"),)), HI)
    assert encode(*messages)["systemInstruction"] == {"parts": [{"text": "a\n\nb"}]}
    assert losses_of(*messages) == [("/messages/1/role", "form"), ("/messages/1", "form")]


def test_a_later_system_message_keeps_its_place_as_a_text_of_the_user() -> None:
    messages = (HI, Message("assistant", (Text("yes"),)), Message.system("be brief"), Message.user("go on"))
    contents = encode(*messages)["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert contents[2]["parts"] == [{"text": INSTRUCTION}, {"text": "be brief"}, {"text": "go on"}]
    assert losses_of(*messages) == [("/messages/2", "form"), ("/messages/3", "form")]


def test_neighbours_of_one_role_become_one_content_with_all_their_parts() -> None:
    messages = (HI, Message.user("there"))
    assert encode(*messages)["contents"] == [{"role": "user", "parts": [{"text": "hi"}, {"text": "there"}]}]
    assert losses_of(*messages) == [("/messages/1", "form")]


def test_a_user_message_joins_the_results_before_it_without_a_loss() -> None:
    messages = (HI, Message("assistant", (CALL,)), Message.tool(CALL, "cold"), Message.user("so?"))
    (_, _, last) = encode(*messages)["contents"]
    assert [list(part) for part in last["parts"]] == [["functionResponse"], ["text"]]
    assert losses_of(*messages) == []
    assert decode(encode(*messages)).messages == messages


def test_a_text_before_results_comes_after_them_when_read() -> None:
    body = encode(HI, Message("assistant", (CALL,)), Message.tool(CALL, "cold"), Message.user("so?"))
    body["contents"][2]["parts"].reverse()
    assert [message.role for message in decode(body).messages[2:]] == ["tool", "user"]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_without_anything_is_an_empty_text(role: Any) -> None:
    messages = (Message(role, ()),) if role == "user" else (HI, Message(role, ()))
    assert encode(*messages)["contents"][-1]["parts"] == [{"text": ""}]
    assert decode(encode(*messages)).messages == messages


def test_a_user_speaks_first_where_nobody_did() -> None:
    """The API refuses a call that comes after no turn of the user's with 400."""
    for said in ((Message("assistant", (CALL,)), Message.tool(CALL, "cold")), ()):
        messages = (Message.system("s"), *said)
        assert encode(*messages)["contents"][0] == {"role": "user", "parts": [{"text": OPENING}]}
        assert losses_of(*messages) == [("/messages", "form")]


def test_an_empty_text_beside_calls_is_left_out() -> None:
    assert parts_of(Text(""), CALL) == [call("get_weather", {"city": "Oslo"}, id="c1")]


def test_a_message_of_reasoning_alone_that_is_not_sent_leaves_no_content() -> None:
    messages = (HI, Message("assistant", (Reasoning("r"),)), Message.user("so?"))
    assert len(encode(*messages)["contents"]) == 1
    assert losses_of(*messages) == [("/messages/1", "form"), ("/messages/2", "form")]


# ----------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (Text("a"), {"text": "a"}),
        (Text("a", SIGNED), {"text": "a", "thoughtSignature": "AAAA"}),
        (Text("", SIGNED), {"text": "", "thoughtSignature": "AAAA"}),
        (Reasoning("r", "thought", SIGNED), {"text": "r", "thought": True, "thoughtSignature": "AAAA"}),
        (CALL, call("get_weather", {"city": "Oslo"}, id="c1")),
        (
            ToolCall("c1", "f", "{}", {"gemini": {"functionCall": {"x": 1}, "thoughtSignature": "AA=="}}),
            call("f", {}, id="c1", x=1) | {"thoughtSignature": "AA=="},
        ),
        (Image(f"data:image/png;base64,{PNG}"), {"inlineData": {"mimeType": "image/png", "data": PNG}}),
        (
            Image("https://x.is/a.png"),
            {"fileData": {"mimeType": "image/png", "fileUri": "https://x.is/a.png"}},
        ),
        (
            Image("https://x.is/a", {"gemini": {"fileData": {"mimeType": "image/heic"}}}),
            {"fileData": {"mimeType": "image/heic", "fileUri": "https://x.is/a"}},
        ),
        (Audio("AAAA", "mp3"), {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}}),
        (
            File("data:application/pdf;base64,AAAA", "a.pdf"),
            {"inlineData": {"mimeType": "application/pdf", "data": "AAAA", "displayName": "a.pdf"}},
        ),
        (File("gs://b/1"), {"fileData": {"fileUri": "gs://b/1"}}),
        (
            Text("", {"gemini": {"executableCode": {"language": "PYTHON", "code": "1"}}}),
            {"executableCode": {"language": "PYTHON", "code": "1"}},
        ),
    ],
)
def test_each_part_is_one_part_and_comes_back(part: Part, said: dict[str, Any]) -> None:
    assert parts_of(part, echo_reasoning=True) == [said]
    assert losses_of(HI, Message("assistant", (part,)), echo_reasoning=True) == []
    body = {"contents": [{"role": "model", "parts": [said]}]}
    assert decode(body).messages == (Message("assistant", (part,)),)


@pytest.mark.parametrize(
    ("part", "said", "losses"),
    [
        (Refusal("no"), {"text": "no"}, [("", "form")]),
        (Text("a", OTHERS), {"text": "a"}, [("", "form")]),
        (ToolCall("c1", "f", "{}", OTHERS), call("f", {}, id="c1"), [("", "form")]),
        (ToolCall("c1", "1f", "{}"), call("_:1f", {}, id="c1"), [("/name", "form")]),
        (ToolCall("", "f", ""), call("f", {}), [("/arguments", "form")]),
        (ToolCall("c1", "f", '{"a": 1}'), call("f", {"a": 1}, id="c1"), [("/arguments", "form")]),
        (ToolCall("c1", "f", "[]"), call("f", {"__raw": "[]"}, id="c1"), [("/arguments", "meaning")]),
        (
            Image("https://x.is/a"),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.is/a"}},
            [("", "form")],
        ),
        (
            Image(f"data:;base64,{PNG}"),
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
            [],
        ),
        (
            File(f"data:image/png;base64,{PNG}"),
            {"inlineData": {"mimeType": "image/png", "data": PNG}},
            [("", "form")],
        ),
        (
            File("data:text/plain,a%20b"),
            {"inlineData": {"mimeType": "text/plain", "data": "YSBi"}},
            [("", "form")],
        ),
    ],
)
def test_what_changes_its_form_says_so(
    part: Part, said: dict[str, Any], losses: list[tuple[str, str]]
) -> None:
    assert parts_of(part) == [said]
    where = "/messages/1/parts/0"
    assert losses_of(HI, Message("assistant", (part,))) == [(where + path, weight) for path, weight in losses]


@pytest.mark.parametrize("part", [File(""), Image("")])
def test_a_medium_that_cannot_be_reached_is_lost(part: Part) -> None:
    assert losses_of(Message("user", (Text("a"), part))) == [("/messages/0/parts/1", "meaning")]


# ------------------------------------------------------------------------------------------- reasoning


@pytest.mark.parametrize(
    ("part", "echo", "sent", "losses"),
    [
        (Reasoning("r"), False, False, []),
        (Reasoning("r"), True, True, []),
        (Reasoning("r", "thought", SIGNED), False, True, []),
        (Reasoning("r", "thinking", OTHERS), False, False, []),
        (Reasoning("r", "thinking", OTHERS), True, False, [("/messages/1/parts/0", "meaning")]),
    ],
)
def test_reasoning_goes_back_when_signed_here_or_asked_for_and_bound_to_no_other_wire(
    part: Part, echo: bool, sent: bool, losses: list[Any]
) -> None:
    assert ("r" in [said["text"] for said in parts_of(part, Text("a"), echo_reasoning=echo)]) == sent
    assert losses_of(HI, Message("assistant", (part, Text("a"))), echo_reasoning=echo) == losses


# ------------------------------------------------------------------------------------------ tool calls


def test_results_are_in_one_content_in_the_order_of_their_calls() -> None:
    calls = tuple(ToolCall(f"c{i}", "f", "{}") for i in range(3))
    messages = (HI, Message("assistant", calls), *(Message.tool(calls[i], str(i)) for i in (2, 0, 1)))
    (_, _, results) = encode(*messages)["contents"]
    assert [part["functionResponse"]["id"] for part in results["parts"]] == ["c0", "c1", "c2"]
    assert losses_of(*messages) == [("/messages/3", "form"), ("/messages/4", "form"), ("/messages/2", "form")]


def test_a_result_without_a_call_is_named_by_its_id() -> None:
    orphan = Message("tool", (Text("cold"),), "c9")
    (content,) = encode(orphan)["contents"]
    assert content["parts"][0]["functionResponse"] == {
        "id": "c9",
        "name": "c9",
        "response": {"output": "cold"},
    }
    assert losses_of(orphan) == [("/messages/0", "form")]


def test_calls_without_ids_get_some_and_results_find_theirs_by_name_and_order() -> None:
    said = [call("f", {"n": 1}), call("g"), call("f", {"n": 2})]
    results = [
        {"functionResponse": {"name": name, "response": {"output": text}}}
        for name, text in (("f", "one"), ("f", "two"), ("g", "three"), ("f", "orphan"))
    ]
    body = {"contents": [{"role": "model", "parts": said}, {"role": "user", "parts": results}]}
    first, *rest = decode(body).messages
    assert [part.id for part in first.parts if isinstance(part, ToolCall)] == ["call_0", "call_1", "call_2"]
    assert [message.tool_call_id for message in rest] == ["call_0", "call_2", "call_1", "call_3"]


def test_minted_ids_avoid_given_ones() -> None:
    parts = [call("f"), call("f", id="call_0")]
    (message,) = decode({"contents": [{"role": "model", "parts": parts}]}).messages
    assert [part.id for part in message.parts if isinstance(part, ToolCall)] == ["call_1", "call_0"]


def test_an_image_in_a_result_is_a_part_of_the_response() -> None:
    picture = Image(f"data:image/png;base64,{PNG}")
    messages = (HI, Message("assistant", (CALL,)), Message("tool", (Text("see"), picture), "c1"))
    (_, _, results) = encode(*messages)["contents"]
    assert results["parts"][0]["functionResponse"] == {
        "id": "c1",
        "name": "get_weather",
        "response": {"output": "see"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
    }
    assert decode(encode(*messages)).messages == messages


def test_what_a_response_says_beside_its_result_comes_back_in_it() -> None:
    said = {"id": "c1", "name": "f", "response": {"output": "a"}, "scheduling": "SILENT"}
    contents = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [call("f", {}, id="c1")]},
        {"role": "user", "parts": [{"functionResponse": said}]},
    ]
    assert encode(*decode({"contents": contents}).messages)["contents"] == contents

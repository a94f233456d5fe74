"""Messages as ``system`` and ``messages``, and back."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from conformance.types import File, Image, Loss, Message, Part, Reasoning, Text, ToolCall, Turn
from conformance.wires.anthropic_history import OPENING
from conformance.wires.anthropic_ids import escape, unescape

from .anthropic_answers import WIRE, A, ask, body_of, encode

EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
HI = Message.user("hi")
USER_HI = {"role": "user", "content": "hi"}
SIGNED = Reasoning("hm", "thinking", {A: {"signature": "EqQ="}})
CALL = ToolCall("toolu_1", "f", '{"a":1}')
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
PDF = "data:application/pdf;base64,JVBERi0="
NOTE = "data:text/plain;base64," + base64.b64encode("naïve".encode()).decode()


def assistant(*parts: Part) -> Message:
    return Message("assistant", parts)


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def result(content: Any, **members: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **members}


def text(words: str, **members: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **members}


def forms(losses: list[Loss]) -> list[str]:
    assert {loss.weight for loss in losses} <= {"form"}
    return [loss.path for loss in losses]


BLOCKS: list[tuple[Part, dict[str, Any]]] = [
    (Text("a", {A: EPHEMERAL}), text("a", **EPHEMERAL)),
    (
        Text("a", {A: {"citations": [{"type": "char_location", "cited_text": "b"}]}}),
        text("a", citations=[{"type": "char_location", "cited_text": "b"}]),
    ),
    (Text("", {A: EPHEMERAL}), text("", **EPHEMERAL)),
    (SIGNED, {"type": "thinking", "thinking": "hm", "signature": "EqQ="}),
    (
        Reasoning("", "thinking", {A: {"signature": "s"}}),
        {"type": "thinking", "thinking": "", "signature": "s"},
    ),
    (Reasoning("unsigned", "thinking", {A: {}}), {"type": "thinking", "thinking": "unsigned"}),
    (
        Reasoning("", "redacted_thinking", {A: {"data": "Emw="}}),
        {"type": "redacted_thinking", "data": "Emw="},
    ),
    (CALL, TOOL_USE),
    (
        ToolCall("t", "f", "{}", {A: {"caller": {"type": "direct"}}}),
        {"type": "tool_use", "id": "t", "name": "f", "input": {}, "caller": {"type": "direct"}},
    ),
    (Image("https://x/y.png"), {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}),
    (
        Image("data:image/png;base64,AA==", {A: EPHEMERAL}),
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "AA=="},
            **EPHEMERAL,
        },
    ),
    (
        Image("", {A: {"source": {"type": "file", "file_id": "file_1"}}}),
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
    ),
    (
        Image("", {A: {"source": {"type": "base64", "media_type": "a,b", "data": "AA=="}}}),
        {"type": "image", "source": {"type": "base64", "media_type": "a,b", "data": "AA=="}},
    ),
    (
        File(PDF, "paper.pdf", {A: {"citations": {"enabled": True}}}),
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
            "title": "paper.pdf",
            "citations": {"enabled": True},
        },
    ),
    (File("https://x/y.pdf"), {"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}}),
    (
        File(NOTE),
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "naïve"}},
    ),
    (
        File("data:text/plain;base64,/w=="),
        {"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": "/w=="}},
    ),
    (
        File("data:text/plain;base64,!"),
        {"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": "!"}},
    ),
    (
        File("", "t", {A: {"source": {"type": "content", "content": [text("x")]}}}),
        {"type": "document", "source": {"type": "content", "content": [text("x")]}, "title": "t"},
    ),
    (
        Text("", {A: {"@block": {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}}}),
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    ),
    (
        Text("", {A: {"@block": {"type": "search_result", "source": "u", "title": "t", "content": []}}}),
        {"type": "search_result", "source": "u", "title": "t", "content": []},
    ),
    (
        Text("", {A: {"@block": {"type": "compaction", "content": "summary", "encrypted_content": "x"}}}),
        {"type": "compaction", "content": "summary", "encrypted_content": "x"},
    ),
    (Text("", {A: {"@block": {"type": "from the future"}}}), {"type": "from the future"}),
]


@pytest.mark.parametrize(("part", "block"), BLOCKS)
def test_a_block_is_a_part_and_back(part: Part, block: dict[str, Any]) -> None:
    request = ask(HI, assistant(Text("x"), part), echo_reasoning=isinstance(part, Reasoning))
    body = body_of(USER_HI, said(text("x"), block))
    assert WIRE.decode_request(body) == request
    assert encode(request) == (body, [])


HISTORIES: list[tuple[tuple[Message, ...], dict[str, Any]]] = [
    ((Message.system("s"), HI), {"system": "s", "messages": [USER_HI]}),
    (
        (Message("system", (Text("s"), Text("t", {A: EPHEMERAL}))), HI),
        {"system": [text("s"), text("t", **EPHEMERAL)], "messages": [USER_HI]},
    ),
    (
        (HI, assistant(Text("yo")), HI),
        {"messages": [USER_HI, {"role": "assistant", "content": "yo"}, USER_HI]},
    ),
    (
        (HI, assistant(CALL), Message("tool", (Text("r"),), "toolu_1"), HI),
        {"messages": [USER_HI, said(TOOL_USE), user(result("r"), text("hi"))]},
    ),
    (
        (
            HI,
            assistant(SIGNED, Text("now"), CALL, SIGNED, ToolCall("toolu_2", "f", "{}"), Text("done?")),
            Message("tool", (Text("b"),), "toolu_2"),
            Message("tool", (), "toolu_1", is_error=True),
        ),
        {
            "messages": [
                USER_HI,
                said(
                    {"type": "thinking", "thinking": "hm", "signature": "EqQ="},
                    text("now"),
                    TOOL_USE,
                    {"type": "thinking", "thinking": "hm", "signature": "EqQ="},
                    {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}},
                    text("done?"),
                ),
                user(result("b", tool_use_id="toolu_2"), result("", is_error=True)),
            ]
        },
    ),
    (
        (HI, assistant(CALL), Message("tool", (Text("see"), Image("https://x/y"), File(PDF)), "toolu_1")),
        {
            "messages": [
                USER_HI,
                said(TOOL_USE),
                user(
                    result(
                        [
                            text("see"),
                            {"type": "image", "source": {"type": "url", "url": "https://x/y"}},
                            {
                                "type": "document",
                                "source": {
                                    "type": "base64",
                                    "media_type": "application/pdf",
                                    "data": "JVBERi0=",
                                },
                            },
                        ]
                    )
                ),
            ]
        },
    ),
    (
        (
            HI,
            assistant(CALL),
            Message("tool", (Text("r", {A: {"@tool_result": EPHEMERAL}}),), "toolu_1"),
        ),
        {"messages": [USER_HI, said(TOOL_USE), user(result("r", **EPHEMERAL))]},
    ),
    (
        (
            HI,
            Message("system", (Text("s", {A: {"@system_message": {"clear_at": "never"}}}),)),
            assistant(Text("a")),
        ),
        {
            "messages": [
                USER_HI,
                {"role": "system", "content": "s", "clear_at": "never"},
                {"role": "assistant", "content": "a"},
            ]
        },
    ),
    ((Message.user(""),), {"messages": [{"role": "user", "content": ""}]}),
]


@pytest.mark.parametrize(("messages", "members"), HISTORIES)
def test_a_history_is_said_without_loss(messages: tuple[Message, ...], members: dict[str, Any]) -> None:
    echo = any(isinstance(part, Reasoning) for message in messages for part in message.parts)
    assert encode(ask(*messages, echo_reasoning=echo)) == (body_of() | members, [])


@pytest.mark.parametrize(("messages", "members"), HISTORIES[:-1])
def test_a_history_is_read(messages: tuple[Message, ...], members: dict[str, Any]) -> None:
    assert WIRE.decode_request(body_of() | members).messages == messages


EQUIVALENT: list[tuple[Any, Any]] = [
    (user(text("hi")), USER_HI),
    (user(text("hi"), text("")), USER_HI),
    (user(result([text("r")], is_error=False)), user(result("r"))),
    (user({"type": "tool_result", "tool_use_id": "toolu_1"}), user(result(""))),
    (user(result(None)), user(result([]))),
    (user(text("hi", citations=None)), USER_HI),
]


@pytest.mark.parametrize(("one", "other"), EQUIVALENT)
def test_two_spellings_say_the_same(one: Any, other: Any) -> None:
    assert WIRE.decode_request(body_of(one)) == WIRE.decode_request(body_of(other))


def test_words_around_results_keep_their_order_when_read() -> None:
    request = WIRE.decode_request(body_of(user(text("a"), result("r"), text("b"))))
    assert [(m.role, m.parts) for m in request.messages] == [
        ("user", (Text("a"),)),
        ("tool", (Text("r"),)),
        ("user", (Text("b"),)),
    ]


def test_signed_thinking_goes_back_unasked_and_in_place() -> None:
    turn = Turn((SIGNED, CALL, Reasoning("more", "thinking", {A: {"signature": "x"}}), Text("t")))
    body, losses = encode(ask(HI, Message.assistant(turn)))
    assert [block["type"] for block in body["messages"][1]["content"]] == [
        "thinking",
        "tool_use",
        "thinking",
        "text",
    ]
    assert losses == []


def test_what_an_answer_said_beside_its_content_is_not_sent_back() -> None:
    beside = Text("", {A: {"@message": {"stop_sequence": "END"}}})
    assert encode(ask(HI, assistant(Text("a"), beside))) == encode(ask(HI, assistant(Text("a"))))


# ---------------------------------------------------------------------------- where something gets lost


def test_leading_system_messages_are_joined_by_a_blank_line() -> None:
    body, losses = encode(ask(Message.system("a"), Message("developer", (Text("b"),)), HI))
    assert body["system"] == "a\n\nb"
    assert forms(losses) == ["/messages/1/role", "/messages/1"]


def test_leading_system_messages_with_cache_marks_stay_blocks() -> None:
    body, losses = encode(ask(Message.system("a"), Message("system", (Text("b", {A: EPHEMERAL}),)), HI))
    assert body["system"] == [text("a"), text("b", **EPHEMERAL)]
    assert forms(losses) == ["/messages/1"]


def test_a_later_system_message_is_told_as_user_text_where_it_stands() -> None:
    body, losses = encode(ask(HI, assistant(Text("a")), Message.system("s"), assistant(Text("b"))))
    assert body["messages"][2] == {"role": "user", "content": "<system>\ns\n</system>"}
    assert "system" not in body
    assert forms(losses) == ["/messages/2"]


def test_an_instruction_between_calls_and_results_does_not_stand_between_them() -> None:
    results = Message("tool", (Text("r"),), "toolu_1")
    body, losses = encode(ask(HI, assistant(CALL), Message.system("s"), results))
    assert body["messages"][2] == user(result("r"), text("<system>\ns\n</system>"))
    assert forms(losses) == ["/messages/2", "/messages/3"]


def test_neighbours_of_one_role_are_merged_by_their_blocks() -> None:
    body, losses = encode(ask(HI, HI, assistant(Text("a")), assistant(Text("b"), CALL)))
    assert body["messages"] == [user(text("hi"), text("hi")), said(text("a"), text("b"), TOOL_USE)]
    assert forms(losses) == ["/messages/1", "/messages/3"]


def test_an_empty_message_is_left_out_where_something_else_is_said() -> None:
    results = Message("tool", (Text("r"),), "toolu_1")
    body, losses = encode(ask(HI, assistant(), assistant(CALL), results, Message.user("")))
    assert body["messages"] == [USER_HI, said(TOOL_USE), user(result("r"))]
    assert forms(losses) == ["/messages/1", "/messages/4"]


def test_empty_text_beside_calls_is_no_block() -> None:
    assert encode(ask(HI, assistant(Text(""), CALL))) == encode(ask(HI, assistant(CALL)))


def test_an_id_of_other_characters_is_written_reversibly_and_still_pairs() -> None:
    call = ToolCall("functions.f:0", "f", "{}")
    request = ask(HI, assistant(call), Message("tool", (Text("r"),), "functions.f:0"))
    body, losses = encode(request)
    written = "esc_functions_2e_f_3a_0"
    assert body["messages"][1]["content"][0]["id"] == written
    assert body["messages"][2]["content"][0]["tool_use_id"] == written
    assert forms(losses) == ["/messages/1/parts/0", "/messages/2/tool_call_id"]
    assert WIRE.decode_request(body) == request


def test_calls_without_ids_get_some_and_their_results_take_them_in_order() -> None:
    calls = (ToolCall("", "f", "{}"), ToolCall("call_1", "g", "{}"), ToolCall("", "h", "{}"))
    tool = [
        Message("tool", (Text(name),), call_id) for name, call_id in [("f", ""), ("g", "call_1"), ("h", None)]
    ]
    body, losses = encode(ask(HI, assistant(*calls), *tool))
    _, asked, answered = body["messages"]
    assert [block["id"] for block in asked["content"]] == ["call_2", "call_1", "call_3"]
    assert [(b["tool_use_id"], b["content"]) for b in answered["content"]] == [
        ("call_2", "f"),
        ("call_1", "g"),
        ("call_3", "h"),
    ]
    assert len(forms(losses)) == 4


@pytest.mark.parametrize(
    "call_id",
    ["", "toolu_1", "call-1_x", "functions.f:0", "esc_", "esc_a_2e_b", "_", "é", "\ud800", "a b", "esc_5f_"],
)
def test_an_escaped_id_fits_and_comes_back(call_id: str) -> None:
    written = escape(call_id)
    assert written.replace("_", "").replace("-", "").isascii()
    assert unescape(written) == call_id


@pytest.mark.parametrize("call_id", ["esc_", "esc_a_61_b", "esc_x", "esc__110000_", "esc__2E_", "esc_a b"])
def test_an_id_that_only_looks_escaped_stays(call_id: str) -> None:
    assert unescape(call_id) == call_id


def test_a_user_speaks_first_where_nobody_did() -> None:
    """The API wants a user first (conversion catalogue, property 5)."""
    body, losses = encode(ask(Message.system("s"), assistant(CALL), Message.tool(CALL, "1")))
    assert body["messages"][0] == {"role": "user", "content": OPENING}
    assert forms(losses) == ["/messages"]

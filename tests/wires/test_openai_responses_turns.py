"""Canonical turns as whole Responses answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.types import Fact, Message, Reasoning, Request, Text, ToolCall, Turn, Usage

from .responses_answers import WIRE, answer, own, read, reasoning

TURN = Turn((Text("a"), ToolCall("call_1", "f", "{}")), "tool_calls", Usage(1, 2, 3, 0, 0, 0), "resp_1", "m")


def encode(turn: Turn) -> Any:
    return WIRE.encode_turns([turn], model="other", losses=[])


def test_an_answer_has_items_with_ids_and_states() -> None:
    assert encode(TURN)["output"] == [
        {
            "type": "message",
            "id": "msg_made_0",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a", "annotations": [], "logprobs": []}],
        },
        {
            "type": "function_call",
            "id": "fc_made_1",
            "status": "completed",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
        },
    ]


@pytest.mark.parametrize(
    ("finish", "native", "status", "reason"),
    [
        ("tool_calls", None, "completed", None),
        ("length", None, "incomplete", "max_output_tokens"),
        ("length", "max_messages", "incomplete", "max_messages"),
        ("content_filter", None, "incomplete", "content_filter"),
        (None, "failed", "failed", None),
        (None, "cancelled", "cancelled", None),
        (None, None, "in_progress", None),
        ("error", None, "failed", None),
    ],
)
def test_how_it_finished_is_its_status(
    finish: str | None, native: str | None, status: str, reason: str | None
) -> None:
    body = encode(replace(TURN, finish_reason=finish, native_finish_reason=native))
    assert (body["status"], body["incomplete_details"]) == (status, {"reason": reason} if reason else None)
    assert (body["error"] is not None) == (status == "failed")
    assert body["output"][-1]["status"] == ("completed" if status == "completed" else "incomplete")


def test_the_error_of_a_failed_answer_is_what_the_turn_met() -> None:
    turn = replace(TURN, finish_reason=None, native_finish_reason="failed")
    assert (
        encode(replace(turn, facts=(Fact("error-event", "", "overloaded"),)))["error"]["message"]
        == "overloaded"
    )
    assert encode(turn)["error"]["message"]


def test_model_and_id_stand_in_where_the_turn_has_none() -> None:
    body = encode(replace(TURN, id=None, model=None))
    assert body["model"] == "other"
    assert body["id"].startswith("resp_")
    assert body == encode(replace(TURN, id=None, model=None))


def test_opaque_reasoning_is_said_as_it_came() -> None:
    turn = read(answer(reasoning("why", encrypted_content="gAAA==")))
    assert encode(turn)["output"] == [reasoning("why", encrypted_content="gAAA==")]


def test_reasoning_that_nobody_signed_comes_back_unsigned_from_answer_and_history() -> None:
    part = Reasoning("why", "reasoning_text")
    body = encode(replace(TURN, parts=(part, *TURN.parts)))
    assert body["output"][0]["id"] == "rs_made_0"
    assert read(body).parts == (part, *TURN.parts)
    history = WIRE.decode_request({"input": body["output"]})
    assert history == Request((Message("assistant", (part, *TURN.parts)),), echo_reasoning=True)


def test_other_members_of_a_call_are_said() -> None:
    call = ToolCall("call_1", "f", "{}", own(item={"namespace": "n"}))
    assert encode(replace(TURN, parts=(call,)))["output"][0]["namespace"] == "n"


def test_no_turn_is_an_answer_in_progress_without_output() -> None:
    body: Any = WIRE.encode_turns([], model="m", losses=[])
    assert (body["status"], body["output"]) == ("in_progress", [])

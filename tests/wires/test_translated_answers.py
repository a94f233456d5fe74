"""What holds of answers between any two wires, and of what only one wire understands.

The properties and their numbers are those of the conversion catalogue (section 11).
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.types import HttpResponse, Loss, Message, Part, Refusal, Text, ToolCall, Turn, Usage

from . import canonical
from .trips import SPOKEN, answered, asking, every_pair, every_wire, few, meaning, over, said, some, text_of


@every_pair
@few
@given(canonical.turns())
def test_1_an_answer_says_the_same_after_two_wires(first: str, second: str, turn: Turn) -> None:
    turn = replace(turn, usage=None)  # counts have laws of their own
    (once,), lost_once = answered(first, turn)
    (twice,), lost_twice = answered(second, once)
    assert said([Message.assistant(twice)]) == said([Message.assistant(turn)])
    assert twice.finish_reason == turn.finish_reason
    assert meaning([*lost_once, *lost_twice]) == []


CALL = ToolCall("call_1", "get_weather", '{"city":"Oslo"}')
FINISHES = ["stop", "tool_calls", "length", "content_filter"]


@every_wire
@pytest.mark.parametrize("parts", [(), (Text("a"),), (CALL,), (Text("a"), CALL)])
@pytest.mark.parametrize("reason", FINISHES)
def test_8_11_the_finish_reason_agrees_with_the_calls(
    name: str, reason: str, parts: tuple[Part, ...]
) -> None:
    turns, losses = answered(name, Turn(parts, reason))
    for turn in turns:
        assert not (turn.finish_reason == "stop" and turn.calls), "F1: calls win over an end in good order"
        assert not (turn.finish_reason == "tool_calls" and not turn.calls)
        if reason in ("length", "content_filter"):
            assert turn.finish_reason == reason or losses, "F4: what was cut is not complete"
        agrees = reason == ("tool_calls" if turn.calls else "stop")
        assert turn.finish_reason == reason or losses or not agrees


@every_pair
@few
@given(canonical.usages())
def test_9_totals_are_sums_and_no_count_is_negative(first: str, second: str, usage: Usage) -> None:
    (once,), _ = answered(first, Turn((Text("a"),), "stop", usage))
    (twice,), _ = answered(second, once)
    there = twice.usage
    assert there is not None
    assert (there.prompt_tokens, there.completion_tokens) == (usage.prompt_tokens, usage.completion_tokens)
    assert there.total_tokens == usage.total_tokens
    for field in fields(there):
        assert (getattr(there, field.name) or 0) >= 0
        assert getattr(there, field.name) in (getattr(usage, field.name), None, 0)


@every_wire
@some
@given(canonical.usages())
def test_9_18_a_count_comes_back_or_its_loss_is_told(name: str, usage: Usage) -> None:
    (there,), losses = answered(name, Turn((Text("a"),), "stop", usage))
    gone = [
        f.name for f in fields(usage) if (getattr(usage, f.name) or 0) != (getattr(there.usage, f.name) or 0)
    ]
    assert not gone or [loss for loss in losses if loss.path.startswith("/turns/0/usage")], gone


@pytest.mark.skipif("anthropic-messages" not in SPOKEN, reason="the wire is not there yet")
@some
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_9_anthropics_input_counts_survive_the_trip_over_chat(fresh: int, read: int, written: int) -> None:
    counts = {
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }
    spoken = SPOKEN["anthropic-messages"]
    content = [{"type": "text", "text": "a"}]
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
              "stop_reason": "end_turn", "stop_sequence": None, "usage": counts}  # fmt: skip
    turns = spoken.decode(HttpResponse(200, (), json.dumps(answer).encode()))
    assert turns[0].usage is not None
    assert turns[0].usage.prompt_tokens == fresh + read + written
    over_chat, _ = answered("openai-chat", *turns)
    back: Any = spoken.encode_turns(over_chat, model="m", losses=[])
    assert {key: back["usage"].get(key) for key in counts} == counts


# -------------------------------------------------------------------------------------- opaque slots

TOKEN = "c2lnbmF0dXJlLWJ5dGVzLeKCrA=="
ARGS = {"city": "Oslo"}

SIGNED: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "b",
                    "reasoning": "think",
                    "reasoning_details": [{"type": "reasoning.encrypted", "data": TOKEN, "index": 0}],
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "get_weather", "arguments": json.dumps(ARGS)},
                            "extra_content": {"google": {"thought_signature": TOKEN}},
                        }
                    ],
                },
            }
        ],
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "model": "m",
        "status": "completed",
        "output": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "think"}],
                "encrypted_content": TOKEN,
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "b", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": json.dumps(ARGS),
                "status": "completed",
            },
        ],
    },
    "anthropic-messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "content": [
            {"type": "thinking", "thinking": "think", "signature": TOKEN},
            {"type": "redacted_thinking", "data": TOKEN},
            {"type": "text", "text": "b"},
            {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": ARGS},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "gemini": {
        "responseId": "r",
        "modelVersion": "m",
        "candidates": [
            {
                "index": 0,
                "finishReason": "STOP",
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "think", "thought": True},
                        {"text": "b"},
                        {"functionCall": {"name": "get_weather", "args": ARGS}, "thoughtSignature": TOKEN},
                    ],
                },
            }
        ],
    },
}
"""Answers with something that only their own wire understands; Ollama's have nothing of that kind."""

signed = pytest.mark.parametrize("first", [name for name in SIGNED if name in SPOKEN])


def signed_turn(name: str) -> Turn:
    (turn,) = SPOKEN[name].decode(HttpResponse(200, (), json.dumps(SIGNED[name]).encode()))
    return turn


@signed
@every_wire
def test_12_what_only_one_wire_understands_goes_back_over_that_wire_alone(first: str, name: str) -> None:
    turn = signed_turn(first)
    request = asking(
        Message.user("hi"), Message.assistant(turn), Message.tool(turn.calls[0], "ok"), echo_reasoning=True
    )
    losses: list[Loss] = []
    body = SPOKEN[name].encode(request, model="m", losses=losses)
    there = SPOKEN[name].decode_request(body, path=SPOKEN[name].path("m", False))
    (back,) = [message for message in there.messages if message.role == "assistant"]
    if first == name:
        assert json.dumps(body).count(TOKEN) == json.dumps(SIGNED[first]).count(TOKEN)
        assert back.parts == turn.parts
        assert losses == []
    else:
        assert TOKEN not in json.dumps(body)
        assert [loss for loss in losses if loss.path.startswith("/messages/1")]
        assert text_of(back.parts) == "b"
        assert [call.name for call in back.parts if isinstance(call, ToolCall)] == ["get_weather"]


@signed
@every_wire
def test_12_and_so_it_does_in_answers(first: str, name: str) -> None:
    turn = signed_turn(first)
    losses: list[Loss] = []
    body = SPOKEN[name].encode_turns([turn], model="m", losses=losses)
    (back,) = SPOKEN[name].decode(HttpResponse(200, (), json.dumps(body).encode()))
    if first == name:
        assert back.parts == turn.parts
        assert losses == []
    else:
        assert TOKEN not in json.dumps(body)
        assert [loss for loss in losses if loss.path.startswith("/turns/0")]
        assert back.text == "b"


# ------------------------------------------------------------------------------------- odd texts


@every_wire
@pytest.mark.parametrize(
    "text",
    [
        "🙂",
        "👩‍👩‍👧",
        "e\u0301",
        "漢字",
        "\u202eשלום",
        "a\x00b",
        "\u2028\u0085\ufeff",
        "\ud83d",
        "{{model}}",
        *canonical.MARKERS,
    ],
)
def test_17_text_survives(name: str, text: str) -> None:
    request = asking(
        Message.system(text),
        Message.user(text),
        Message("assistant", (Text(text), CALL)),
        Message.tool(CALL, text),
    )
    there, losses = over(name, request)
    assert said(there.messages) == said(request.messages) or meaning(losses)
    (turn,), lost = answered(name, Turn((Text(text),), "stop"))
    assert turn.text == text or meaning(lost)


@every_wire
def test_18_a_refusal_comes_back_or_is_told_to_betext_of(name: str) -> None:
    (turn,), losses = answered(name, Turn((Refusal("no"),), "stop"))
    assert turn.refusal == "no" or (turn.text == "no" and losses)

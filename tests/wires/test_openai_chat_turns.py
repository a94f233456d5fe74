"""Canonical turns as whole Chat answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.types import Loss, Part, Reasoning, Refusal, Text, ToolCall, Turn, Usage

from .answers import WIRE, answers, own, response

CALL = ToolCall("c", "f", "{}")
LEGACY = ToolCall("", "f", "{}", own(function_call=True))


def encode(*turns: Turn) -> tuple[Any, list[Loss]]:
    losses: list[Loss] = []
    return WIRE.encode_turns(turns, model="m", losses=losses), losses


def message_of(*parts: Part) -> Any:
    return encode(Turn(parts, "stop"))[0]["choices"][0]["message"]


def test_a_turn_is_one_choice_of_a_completion() -> None:
    body, losses = encode(Turn((Text("a"),), "stop", Usage(1, 2, 3), "chatcmpl-1", "gpt"))
    assert body == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "a", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    assert losses == []


def test_a_turn_without_id_and_model_gets_them_and_always_the_same() -> None:
    one, other = encode(Turn((Text("a"),), "stop"))[0], encode(Turn((Text("a"),), "stop"))[0]
    assert one == other
    assert one["id"].startswith("chatcmpl-")
    assert one["id"] != encode(Turn((Text("b"),), "stop"))[0]["id"]
    assert one["model"] == "m"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((), {"content": None}),
        ((CALL,), {"content": None, "tool_calls": [{"id": "c", "type": "function",
                   "function": {"name": "f", "arguments": "{}"}}]}),
        ((Refusal("no"),), {"content": None, "refusal": "no"}),
        ((Reasoning("r"),), {"content": None, "reasoning_content": "r"}),
        ((Reasoning("r", "think"), Text("a")), {"content": "a", "reasoning_content": "r"}),
        ((Reasoning("r", "reasoning"),), {"content": None, "reasoning": "r"}),
    ],
)  # fmt: skip
def test_a_message_says_its_parts(parts: Any, message: dict[str, Any]) -> None:
    assert message_of(*parts) == {"role": "assistant", "refusal": None} | message


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(10, 5, 15, 4, 3, 2), {
            "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 2}}),
        (Usage(10, 5), {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}),
        (Usage(None, 5), {"completion_tokens": 5}),
        (Usage(1, 0, 1, 0), {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1,
                             "prompt_tokens_details": {"cached_tokens": 0}}),
    ],
)  # fmt: skip
def test_counts_are_told_where_they_are_known(usage: Usage, said: dict[str, Any]) -> None:
    assert encode(Turn((), "stop", usage))[0]["usage"] == said


@pytest.mark.parametrize(
    ("parts", "reason", "said"),
    [
        ((Text("a"),), "stop", "stop"),
        ((CALL,), "tool_calls", "tool_calls"),
        ((CALL,), "length", "length"),
        ((CALL,), "content_filter", "content_filter"),
        ((CALL,), None, None),
        ((LEGACY,), "function_call", "function_call"),
    ],
)
def test_a_finish_reason_that_agrees_with_the_calls_stays(
    parts: Any, reason: str | None, said: str | None
) -> None:
    body, losses = encode(Turn(parts, reason))
    assert (body["choices"][0]["finish_reason"], losses) == (said, [])


@pytest.mark.parametrize(
    ("parts", "reason", "said"),
    [
        ((CALL,), "stop", "tool_calls"),
        ((), "tool_calls", "stop"),
        ((LEGACY,), "stop", "function_call"),
        ((LEGACY, CALL), "function_call", "tool_calls"),
    ],
)
def test_a_finish_reason_that_contradicts_the_calls_is_put_right(parts: Any, reason: str, said: str) -> None:
    body, losses = encode(Turn(parts, reason))
    assert body["choices"][0]["finish_reason"] == said
    assert losses == [Loss("/turns/0/finish_reason", f"{reason} said as {said}", "form")]


def test_a_native_finish_reason_stands_beside_the_canonical_one() -> None:
    turn = Turn((Text("a"),), "stop", native_finish_reason="pause_turn", id="i", model="m")
    body, losses = encode(turn)
    assert body["choices"][0]["native_finish_reason"] == "pause_turn"
    assert losses == []
    assert WIRE.decode(response(body)) == (turn,)


def test_a_native_finish_reason_that_says_nothing_more_is_not_kept() -> None:
    body, _ = encode(Turn((), "stop"))
    body["choices"][0]["native_finish_reason"] = "stop"  # OpenRouter sends it always
    (turn,) = WIRE.decode(response(body))
    assert turn.native_finish_reason is None


@pytest.mark.parametrize("spelling", ["thinking", "reasoning_text"])
def test_reasoning_bound_to_another_wire_keeps_its_text_in_the_usual_field(spelling: str) -> None:
    part = Reasoning("r", spelling, {"anthropic-messages": {"signature": "s"}})
    body, losses = encode(Turn((part, Text("a")), "stop"))
    assert body["choices"][0]["message"]["reasoning_content"] == "r"
    assert losses == [Loss("/turns/0/parts/0", "what only anthropic-messages understands of it", "form")]


def test_reasoning_that_another_wire_redacted_is_left_out() -> None:
    part = Reasoning("", "redacted_thinking", {"anthropic-messages": {"data": "d"}})
    body, losses = encode(Turn((part, Text("a")), "stop"))
    assert body["choices"][0]["message"].keys() == {"role", "content", "refusal"}
    assert [loss.path for loss in losses] == ["/turns/0/parts/0"]


def test_what_an_answer_has_once_for_all_choices_is_lost_of_the_others() -> None:
    first = Turn((Text("a"),), "stop", Usage(1, 2, 3), "i", "m")
    _, losses = encode(first, replace(first, id="j", usage=Usage(1, 9, 10)))
    assert [loss.path for loss in losses] == ["/turns/1/id", "/turns/1/usage"]


# -------------------------------------------------------------------------------------------- laws

counts = st.integers(0, 10**6)
details = st.one_of(st.none(), counts)
usages = st.builds(Usage, counts, counts, counts, details, details, details)


@st.composite
def agreeing(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Regular turns with one usage and finish reasons that agree with their calls."""
    usage = draw(st.one_of(st.none(), usages))
    return tuple(
        replace(
            turn,
            usage=usage,
            finish_reason="length"
            if turn.finish_reason == "length"
            else "tool_calls"
            if turn.calls
            else "stop",
        )
        for turn in draw(answers)
    )


@given(agreeing())
def test_decoding_what_was_encoded_gives_the_same_turns_and_nothing_is_lost(turns: tuple[Turn, ...]) -> None:
    body, losses = encode(*turns)
    assert WIRE.decode(response(json.dumps(body))) == turns
    assert losses == []


@settings(deadline=None, max_examples=40)  # the SDK's import and pydantic's first model are slow
@given(agreeing())
def test_the_official_sdk_reads_what_was_encoded(turns: tuple[Turn, ...]) -> None:
    from openai.types.chat import ChatCompletion

    answer = ChatCompletion.model_validate(encode(*turns)[0], strict=True)
    for choice, turn in zip(answer.choices, turns, strict=True):
        assert choice.finish_reason == turn.finish_reason
        assert (choice.message.content or "") == turn.text
        assert (choice.message.refusal or "") == turn.refusal
        calls: list[Any] = choice.message.tool_calls or []
        assert [(c.id, c.function.name, c.function.arguments) for c in calls] == [
            (c.id, c.name, c.arguments) for c in turn.calls
        ]
    if turns[0].usage is not None:
        assert answer.usage is not None
        assert answer.usage.prompt_tokens == turns[0].usage.prompt_tokens

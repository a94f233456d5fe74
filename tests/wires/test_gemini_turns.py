"""Canonical turns as whole Gemini answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.types import Image, Loss, Reasoning, Refusal, Text, ToolCall, Turn, Usage

from .gemini_kit import PNG, WIRE, response

TURN = Turn((Text("hi"),), "stop", Usage(3, 2, 5), "r1", "gemini-x")
CALL = ToolCall("c1", "f", "{}")


def say(*turns: Turn) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    losses: list[Loss] = []
    body = WIRE.encode_turns(turns, model="m", losses=losses)
    return body, [(loss.path, loss.weight) for loss in losses]


def test_a_turn_is_an_answer_of_one_candidate() -> None:
    assert say(TURN) == (
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "hi"}]},
                    "index": 0,
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
            "modelVersion": "gemini-x",
            "responseId": "r1",
        },
        [],
    )


def test_a_turn_that_names_no_model_has_the_one_asked_for() -> None:
    body, _ = say(Turn((Text("hi"),)))
    assert body["modelVersion"] == "m"
    assert "responseId" not in body
    assert "finishReason" not in body["candidates"][0]


@pytest.mark.parametrize(
    ("reason", "native", "parts", "word", "losses"),
    [
        ("stop", None, (), "STOP", []),
        ("tool_calls", None, (CALL,), "STOP", []),
        ("length", None, (CALL,), "MAX_TOKENS", []),
        ("content_filter", None, (), "SAFETY", []),
        ("content_filter", "RECITATION", (), "RECITATION", []),
        ("stop", "OTHER", (), "OTHER", []),
        ("stop", None, (CALL,), "STOP", [("finish_reason", "form")]),
        ("tool_calls", None, (), "STOP", [("finish_reason", "form")]),
        ("stop", "pause_turn", (), "STOP", [("native_finish_reason", "form")]),
        ("length", "RECITATION", (), "MAX_TOKENS", [("native_finish_reason", "form")]),
        ("function_call", None, (CALL,), "STOP", [("finish_reason", "form")]),
        ("eos", None, (), "OTHER", [("finish_reason", "form")]),
    ],
)
def test_a_finish_reason_is_said_in_geminis_words(
    reason: str, native: str | None, parts: Any, word: str, losses: list[tuple[str, str]]
) -> None:
    turn = replace(TURN, parts=(Text("a"), *parts), finish_reason=reason, native_finish_reason=native)
    body, lost = say(turn)
    assert body["candidates"][0]["finishReason"] == word
    assert lost == [(f"/turns/0/{name}", weight) for name, weight in losses]


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "JAILBREAK"])
def test_a_blocked_prompt_is_feedback_without_candidates(reason: str) -> None:
    turn = Turn((), "content_filter", None, "r1", "gemini-x", (), reason)
    body, losses = say(turn)
    assert body == {
        "promptFeedback": {"blockReason": reason},
        "modelVersion": "gemini-x",
        "responseId": "r1",
    }
    assert losses == []
    assert WIRE.decode(response(body)) == (turn,)


@pytest.mark.parametrize("native", [None, "RECITATION"])
def test_an_answer_that_was_filtered_away_is_a_candidate(native: str | None) -> None:
    turn = Turn((), "content_filter", None, "r1", "gemini-x", (), native)
    body, losses = say(turn)
    assert body["candidates"][0]["finishReason"] == (native or "SAFETY")
    assert losses == []
    assert WIRE.decode(response(body)) == (turn,)


@pytest.mark.parametrize(
    ("usage", "counts", "losses"),
    [
        (
            Usage(9, 7, 16, 8, None, 5),
            {
                "promptTokenCount": 9,
                "candidatesTokenCount": 2,
                "totalTokenCount": 16,
                "thoughtsTokenCount": 5,
                "cachedContentTokenCount": 8,
            },
            [],
        ),
        (Usage(3), {"promptTokenCount": 3}, []),
        (
            Usage(3, 2, 5, None, 1),
            {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
            [("cache_write_tokens", "meaning")],
        ),
        (
            Usage(3, 2, 5, None, None, 4),
            {
                "promptTokenCount": 3,
                "candidatesTokenCount": 0,
                "totalTokenCount": 5,
                "thoughtsTokenCount": 4,
            },
            [("completion_tokens", "meaning")],
        ),
    ],
)
def test_thoughts_are_counted_apart_from_the_answer(
    usage: Usage, counts: dict[str, int], losses: list[tuple[str, str]]
) -> None:
    body, lost = say(replace(TURN, usage=usage))
    assert body["usageMetadata"] == counts
    assert lost == [(f"/turns/0/usage/{name}", weight) for name, weight in losses]


def test_several_turns_are_candidates_with_what_the_first_says_of_them_all() -> None:
    other = replace(TURN, parts=(Text("ho"),), id="r2", usage=None)
    body, losses = say(TURN, other)
    assert [candidate["index"] for candidate in body["candidates"]] == [0, 1]
    assert body["responseId"] == "r1"
    assert losses == [("/turns/1/id", "meaning"), ("/turns/1/usage", "meaning")]


def test_reasoning_of_another_wire_is_shown_without_what_binds_it() -> None:
    turn = replace(
        TURN, parts=(Reasoning("r", "thinking", {"anthropic-messages": {"signature": "s"}}), Text("a"))
    )
    body, losses = say(turn)
    assert body["candidates"][0]["content"]["parts"][0] == {"text": "r", "thought": True}
    assert losses == [("/turns/0/parts/0", "form")]


def test_a_refusal_is_a_text_and_a_picture_is_data() -> None:
    turn = replace(TURN, parts=(Refusal("no"), Image(f"data:image/png;base64,{PNG}")))
    body, losses = say(turn)
    assert body["candidates"][0]["content"]["parts"] == [
        {"text": "no"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
    ]
    assert losses == [("/turns/0/parts/0", "form")]

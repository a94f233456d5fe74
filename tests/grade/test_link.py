"""Exchanges of one conversation are found by what each request repeats of the ones before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from conformance.grade import link
from conformance.grade.link import conversations
from conformance.rules.examples import call
from conformance.rules.reading import Reading, read
from conformance.types import Exchange, WireName

from .recordings import exchange

CHAT_URL = "https://h/v1/chat/completions"
QUESTION = {"role": "user", "content": "Weather in Oslo?"}
ANSWER = {"role": "assistant", "content": "18 degrees."}
THANKS = {"role": "user", "content": "Thanks."}
CALL = {"role": "assistant", "content": None, "tool_calls": [call()]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"}


@dataclass(frozen=True)
class One:
    name: str
    reading: Reading
    file: str = "one.yaml"


def chat(name: str, *messages: Any, says: Any = ANSWER, file: str = "one.yaml") -> One:
    answer = {"choices": [{"index": 0, "message": says, "finish_reason": "stop"}]}
    return one(name, exchange(CHAT_URL, {"messages": list(messages)}, answer), "openai-chat", file)


def one(name: str, of: Exchange, wire: WireName, file: str = "one.yaml") -> One:
    return One(name, read(0, replace(of, wire=wire)), file)


def names(items: Sequence[One]) -> set[str]:
    """The conversations, each as the names of its exchanges in their order."""
    return {"".join(item.name for item in conversation) for conversation in conversations(items)}


def test_a_request_continues_the_exchange_whose_messages_and_answer_it_begins_with() -> None:
    items = [chat("a", QUESTION), chat("b", QUESTION, ANSWER, THANKS), chat("c", THANKS)]
    assert names(items) == {"ab", "c"}


def test_the_results_of_calls_continue_the_answer_that_made_them() -> None:
    assert names([chat("a", QUESTION, says=CALL), chat("b", QUESTION, CALL, RESULT)]) == {"ab"}


def test_a_conversation_may_be_continued_in_two_ways() -> None:
    other = {"role": "user", "content": "And in Lima?"}
    items = [chat("a", QUESTION), chat("b", QUESTION, ANSWER, THANKS), chat("c", QUESTION, ANSWER, other)]
    assert names(items) == {"abc"}


def test_conversations_may_run_side_by_side() -> None:
    other, said = {"role": "user", "content": "And in Lima?"}, {"role": "assistant", "content": "20."}
    items = [
        chat("a", QUESTION),
        chat("x", other, says=said),
        chat("b", QUESTION, ANSWER, THANKS),
        chat("y", other, said, THANKS),
    ]
    assert names(items) == {"ab", "xy"}


def test_the_same_question_asked_again_is_another_conversation() -> None:
    assert names([chat("a", QUESTION), chat("b", QUESTION)]) == {"a", "b"}


def test_a_history_with_another_answer_is_another_conversation() -> None:
    changed = {"role": "assistant", "content": "Never mind."}
    assert names([chat("a", QUESTION), chat("b", QUESTION, changed, THANKS)]) == {"a", "b"}


def test_instructions_and_white_space_may_change_on_the_way() -> None:
    system = {"role": "system", "content": "It is noon."}
    spaced = {"role": "assistant", "content": "18  degrees.\n"}
    assert names([chat("a", QUESTION), chat("b", system, QUESTION, spaced, THANKS)]) == {"ab"}


def test_a_streamed_answer_is_continued_like_a_whole_one() -> None:
    events = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("18 ", "degrees.")]
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    begun = one("a", exchange(CHAT_URL, {"messages": [QUESTION]}, body), "openai-chat")
    assert names([begun, chat("b", QUESTION, ANSWER, THANKS)]) == {"ab"}


def test_a_conversation_may_change_its_wire() -> None:
    messages = [{"role": "user", "content": "Weather in Oslo?"}]
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "18 degrees."}]}
    begun = one("a", exchange("https://h/v1/messages", {"messages": messages}, answer), "anthropic-messages")
    assert names([begun, chat("b", QUESTION, ANSWER, THANKS)]) == {"ab"}


def test_a_request_that_names_a_response_continues_it() -> None:
    def response(name: str, asked: dict[str, Any]) -> One:
        output = [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "18."}]}
        ]
        answer = {"id": f"resp_{name}", "object": "response", "status": "completed", "output": output}
        return one(name, exchange("https://h/v1/responses", asked, answer), "openai-responses")

    first = response("a", {"input": "Weather in Oslo?"})
    second = response("b", {"input": "And in Lima?", "previous_response_id": "resp_a"})
    assert names([first, second]) == {"ab"}


@pytest.mark.parametrize(("file", "linked"), [("one.yaml", True), ("two.yaml", False)])
def test_calls_with_other_ids_continue_only_in_the_same_file(file: str, linked: bool) -> None:
    """The same script recorded with another model looks the same, but for the ids."""
    renamed = {**CALL, "tool_calls": [call(id="call_9")]}
    later = chat("b", QUESTION, renamed, {**RESULT, "tool_call_id": "call_9"}, file=file)
    assert names([chat("a", QUESTION, says=CALL), later]) == ({"ab"} if linked else {"a", "b"})


def test_a_conversation_may_go_on_in_another_file_with_the_same_ids() -> None:
    items = [chat("a", QUESTION, says=CALL), chat("b", QUESTION, CALL, RESULT, file="two.yaml")]
    assert names(items) == {"ab"}


def test_what_waits_is_bounded_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MAX_OPEN", 2)
    other = [chat(name, {"role": "user", "content": name}) for name in "xyz"]
    late = chat("b", QUESTION, ANSWER, THANKS)
    assert names([chat("a", QUESTION), *other, late]) == {"a", "x", "y", "z", "b"}


def test_what_waits_is_bounded_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MAX_BYTES", 10)
    assert names([chat("a", QUESTION), chat("b", QUESTION, ANSWER, THANKS)]) == {"a", "b"}


def test_no_exchange_is_lost_or_told_twice() -> None:
    items = [chat(str(n), *[QUESTION, ANSWER] * (n % 3), THANKS) for n in range(9)]
    told = [item.name for conversation in conversations(items) for item in conversation]
    assert sorted(told) == [str(n) for n in range(9)]

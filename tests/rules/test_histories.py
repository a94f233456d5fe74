"""What a client sends back: results that answer calls, calls that are answered, answers as they were."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.anthropic import examples as anth
from conformance.rules.examples import Exchanges, answer, call, conversation, tool
from conformance.rules.gemini import examples as gem
from conformance.rules.responses import examples as resp

QUESTION = {"role": "user", "content": "Weather in Oslo?"}
NEXT = {"role": "user", "content": "And in Lima?"}


def called(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(id: Any = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "18 degrees"}


def sent(*messages: Any, expect: Any = "either", probe: str | None = None, **more: Any) -> Exchanges:
    asked = {"messages": [QUESTION, *messages], "tools": [tool()]}
    return answer(asked=asked, expect=expect, probe=probe, **more)


def clients(exchanges: Exchanges) -> list[tuple[str, str]]:
    """The client's faults: the rule and what was seen."""
    found = check(exchanges)
    return [(f.rule.removeprefix("client."), f.got) for f in found if f.rule.startswith("client.")]


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        ([called(call()), result()], []),
        ([called(call(), call(id="call_2")), result("call_2"), result()], []),
        ([called(call()), result(), NEXT], []),
        ([called(call())], []),
        ([result()], [("results-answer-calls", "the result of call_1 (message 1 of 2)")]),
        (
            [called(call()), result("call_9")],
            [
                ("results-answer-calls", "the result of call_9 (message 2 of 3)"),
                ("calls-are-answered", "the call get_weather, and no result of it (message 1 of 3)"),
            ],
        ),
        (
            [called(call()), NEXT, result()],
            [("calls-are-answered", "the call get_weather, and no result of it (message 1 of 4)")],
        ),
        (
            [called(call(), call(id="call_2")), result()],
            [("calls-are-answered", "the call get_weather, and no result of it (message 1 of 3)")],
        ),
    ],
)
def test_calls_and_results_belong_together(messages: list[Any], faults: list[tuple[str, str]]) -> None:
    assert clients(sent(*messages)) == faults


def test_what_a_scenario_sends_on_purpose_is_no_fault() -> None:
    assert clients(sent(result(), probe="orphan-tool-result")) == []
    assert clients(sent(result(), expect="answer")) == []


@pytest.mark.parametrize(
    ("back", "changed"),
    [
        (called(call()), False),
        (called(call(arguments='{ "city": "Oslo" }')), False),
        (called(call(id="call_9")), False),
        (called(call(arguments='{"city":"Rome"}')), True),
        (called(call(arguments="")), True),
    ],
)
def test_an_answer_goes_back_with_the_arguments_that_were_passed(back: Any, changed: bool) -> None:
    answers = back["tool_calls"][0]["id"]
    run = conversation(answer(calls=[call()], expect="either"), sent(back, result(answers), id="chatcmpl-2"))
    assert ["answers-go-back-unchanged" for _ in clients(run)] == (
        ["answers-go-back-unchanged"] if changed else []
    )


THOUGHT = (anth.thinking(), anth.tool_use())


def thinking(*back: Any) -> Exchanges:
    """A conversation whose answer thought and called, and what the client made of it."""
    ask = anth.user(anth.text("Weather?"))
    first = anth.answer(*THOUGHT, asked=anth.history(ask) | anth.THINKING, expect="either")
    told = anth.history(ask, anth.assistant(*back), anth.user(anth.tool_result())) | anth.THINKING
    return conversation(first, anth.answer(asked=told, expect="either", id="msg_2"))


@pytest.mark.parametrize(
    ("back", "lost"),
    [
        (THOUGHT, False),
        ((anth.tool_use(),), True),
        ((anth.thinking(signature="another"), anth.tool_use()), True),
    ],
)
def test_signed_thinking_goes_back_as_it_came_while_calls_are_answered(back: Any, lost: bool) -> None:
    assert [rule for rule, _ in clients(thinking(*back))] == (["reasoning-goes-back"] if lost else [])


def test_a_history_that_the_server_keeps_is_not_judged_for_what_it_leaves_out() -> None:
    item = {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees"}
    kept = resp.answer(asked={"input": [item], "previous_response_id": "resp_1"}, expect="either")
    whole = resp.answer(asked={"input": [item]}, expect="either")
    assert [rule for rule, _ in clients(kept)] == []
    assert [rule for rule, _ in clients(whole)] == ["results-answer-calls"]


SEALED = gem.call(part={"thoughtSignature": "EpYC/MSsdj+Fu2i=="})


@pytest.mark.parametrize(
    ("back", "lost"),
    [
        (SEALED, False),
        (gem.call(part={"thoughtSignature": "EpYC_MSsdj-Fu2i="}), False),
        (gem.call(part={"thought_signature": "EpYC_MSsdj-Fu2i=="}), False),
        (gem.call(part={"thought_signature": "EpYC"}), True),
        (gem.call(), True),
    ],
)
def test_a_thought_signature_is_the_same_in_either_alphabet_and_spelling(back: Any, lost: bool) -> None:
    ask = gem.user(gem.text("Weather?"))
    told = gem.history(ask, gem.model(back), gem.user(gem.result()))
    run = conversation(
        gem.answer(SEALED, asked=gem.history(ask), expect="either"), gem.answer(asked=told, expect="either")
    )
    assert [rule for rule, _ in clients(run)] == (["reasoning-goes-back"] if lost else [])


@pytest.mark.parametrize(
    ("store", "sealed", "lost"),
    [(True, {}, True), (False, {}, False), (False, {"encrypted_content": "gA"}, True)],
)
def test_a_reasoning_item_that_nobody_stored_can_only_go_back_sealed(
    store: bool, sealed: dict[str, Any], lost: bool
) -> None:
    ask = {"role": "user", "content": "Weather?"}
    thought = resp.reasoning() | sealed
    output = {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees"}
    first = resp.answer(thought, resp.call(), asked={"input": [ask], "store": store}, expect="either")
    told = {"input": [ask, resp.call(), output], "store": store}
    run = conversation(first, resp.answer(asked=told, expect="either"))
    assert [rule for rule, _ in clients(run)] == (["reasoning-goes-back"] if lost else [])

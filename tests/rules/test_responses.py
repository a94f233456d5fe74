"""Rules of the Responses wire: what they leave alone, and where else than in their examples they bite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.eventlists import Event, at, but, but_in
from conformance.rules.examples import Exchanges, conversation
from conformance.rules.reading import ABSENT
from conformance.rules.responses.examples import (
    DONE_MARKER,
    answer,
    call,
    custom_call,
    error,
    failing,
    message,
    numbered,
    open_responses,
    open_run,
    output_text,
    reasoning,
    stream,
    told,
    tool,
    with_event,
    without,
)
from conformance.types import Rulebook

CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
REFUSAL = {"type": "refusal", "refusal": "I won't."}
TWO_PARTS = message(output_text("Hello."), output_text("Bye."))
EVERYTHING = (
    reasoning("Greet.", summary=("A greeting.", "In English.")),
    message(output_text("Hello."), REFUSAL),
    call(1),
    custom_call(call_id="call_2"),
    call(3, arguments="{}"),
)
OFFER = {"tools": [tool(), tool("get_time")]}
CALLED = told(call())
DELTA = "response.output_text.delta"
NESTED = {"type": "server_error", "code": None, "message": "It broke.", "param": None}
BARE = but(but(told(), DELTA, logprobs=ABSENT), "response.output_text.done", sequence_number=ABSENT)

CLEAN = {
    "a text": answer(),
    "calls": answer(call(1), call(2)),
    "everything": answer(*EVERYTHING),
    "nothing": answer(body=None, output=[]),
    "a failure": answer(status="failed", error={"code": "server_error", "message": "It broke."}, usage=None),
    "a cut text": answer(message(status="incomplete"), **CUT),
    "an item of the provider's own": answer({"type": "acme:search", "id": "s_1", "status": "completed"}),
    "a hosted tool's call": answer({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
    "members of the provider's own": answer(billing={"payer": "developer"}, service_tier="default"),
    "tools not used": answer(asked=OFFER),
    "a streamed text": stream(),
    "streamed calls": stream(told(call(1), call(2))),
    "everything, streamed": stream(told(*EVERYTHING)),
    "everything, in Open Responses' words": open_responses(told(*EVERYTHING)),
    "a streamed cut": stream(told(message(status="incomplete"), **CUT)),
    "a streamed failure": stream(failing({"code": None, "message": "It broke.", "param": None})),
    "a streamed failure as OpenAI sends it": stream(failing({"error": NESTED})),
    "a failure in Open Responses' words": open_run(),
    "text in two parts": stream(told(TWO_PARTS)),
    "a queued response": stream(
        [event | {"type": event["type"].replace("in_progress", "queued")} for event in told()]
    ),
    "an event of the provider's own": stream(with_event(told(), 3, type="acme:trace")),
    "numbers from 1": stream([event | {"sequence_number": n} for n, event in enumerate(told(), 1)]),
    "padding": stream(but(told(), DELTA, obfuscation="aZ9")),
    "the tools in another order": answer(asked=OFFER, tools=[tool("get_time"), tool()]),
    "a call that a program made": answer(call(status="in_progress", caller={"type": "program"})),
    "a call that a program made, streamed": stream(
        told(call(status="in_progress", caller={"type": "program"}))
    ),
    "the commands of a shell call": stream(
        with_event(told(), 4, type="response.shell_call_command.delta", output_index=0, delta="ls")
    ),
    "a stream that broke off": stream(told()[:6], ending="cut"),
    "a stream that we closed": stream(told()[:6], ending="closed-by-us"),
    "a refusal": error(),
    "a conversation": conversation(answer(), stream(), error()),
}


@pytest.mark.parametrize("rulebook", ["default", "literal"])
@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_clean_traffic_breaks_no_rule_under_either_rulebook(exchanges: Exchanges, rulebook: Rulebook) -> None:
    assert check(exchanges, rulebook=rulebook) == ()


def broken(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


MORE_BREAKS: dict[str, tuple[set[str], Exchanges]] = {
    "a page in place of a response": (
        {"resp.response.object-literal", "resp.response.content-type-json"},
        answer(raw=b"<h1>Hello</h1>", headers={"content-type": "text/html"}),
    ),
    "an array in place of a response": ({"resp.response.object-literal"}, answer(raw=b"[]")),
    "a valid request that fails": ({"resp.request.accepted"}, error(500, expect="answer")),
    "an error without a message in a failed response": (
        {"resp.response.error-iff-failed"},
        answer(status="failed", error={"code": "server_error"}),
    ),
    "an error in a completed response": (
        {"resp.response.error-iff-failed"},
        answer(error={"code": "server_error", "message": "It broke."}),
    ),
    "a reason in a completed response": (
        {"resp.response.incomplete-details"},
        answer(incomplete_details={"reason": "max_output_tokens"}),
    ),
    "an item without a type": ({"resp.response.output-array"}, answer({"id": "x"})),
    "a message by the user": ({"resp.response.message-item"}, answer(message(role="user"))),
    "a call without a name": ({"resp.response.function-call-item"}, answer(call(name=""))),
    "a custom call without an input": (
        {"resp.response.function-call-item"},
        answer(custom_call(input=ABSENT)),
    ),
    "a text that is none": ({"resp.response.output-text-part"}, answer(message(output_text(None)))),
    "an incomplete item in a completed response": (
        {"resp.response.incomplete-item-last"},
        answer(message(status="incomplete")),
    ),
    "arguments that are a list": ({"resp.response.function-arguments-json"}, answer(call(arguments="[1]"))),
    "a forced call that did not come": (
        {"resp.response.tool-choice-function"},
        answer(asked={"tool_choice": {"type": "function", "name": "get_weather"}, **OFFER}),
    ),
    "a tool that was dropped": ({"resp.response.echo-request-params"}, answer(asked=OFFER, tools=[])),
    "an event numbered twice": (
        {"resp.stream.sequence-number-increasing"},
        stream(but(told(), "response.completed", sequence_number=len(told()) - 2)),
    ),
    "an output before it was told": (
        {"resp.stream.created-status"},
        stream(but_in(told(), "response.created", "response", output=[message()])),
    ),
    "two ends": (
        {"resp.stream.one-terminal-event"},
        stream(numbered([*told(), told()[-1]])),
    ),
    "nothing at all": (
        {"resp.stream.one-terminal-event"},
        stream([], end=b": nothing\n\n"),
    ),
    "an item added in full": (
        {"resp.stream.item-added-in-progress"},
        stream(but_in(CALLED, "response.output_item.added", "item", arguments='{"city":"Oslo"}')),
    ),
    "an item ended twice": (
        {"resp.stream.item-done-paired"},
        stream(
            with_event(CALLED, len(CALLED) - 1, **CALLED[at(CALLED, "response.output_item.done")]),
        ),
    ),
    "arguments that differ in the final response": (
        {"resp.stream.args-concat"},
        stream(but_in(CALLED, "response.completed", "response", output=[call(arguments='{"city":"Lima"}')])),
    ),
    "a text that differs in the final response": (
        {"resp.stream.text-part-item-agree"},
        stream(
            but_in(told(), "response.completed", "response", output=[message(output_text("Bye."))]),
        ),
    ),
    "a summary that is not ended": (
        {"resp.stream.reasoning-summary-pairing"},
        stream(
            without(
                told(reasoning(summary=("A greeting.",)), message()),
                "response.reasoning_summary_part.done",
            )
        ),
    ),
    "padding that was switched off": (
        {"resp.stream.obfuscation"},
        stream(
            but(told(), DELTA, obfuscation="aZ9"), asked={"stream_options": {"include_obfuscation": False}}
        ),
    ),
    "an error event whose error has no code": (
        {"resp.stream.error-event-openai"},
        stream(
            but_in(
                failing({"error": {"type": "server_error", "message": "It broke.", "param": None}}),
                "response.created",
                "response",
                store=ABSENT,
            )
        ),
    ),
    "an error event whose error is a text": (
        {"resp.stream.error-event-openai"},
        stream(but_in(failing({"error": "It broke."}), "response.created", "response", store=ABSENT)),
    ),
    "a marker with space around it": (
        {"resp.stream.done-sentinel-openai"},
        stream(told(store=ABSENT), end=b"data:  [DONE] \n\n"),
    ),
}


@pytest.mark.parametrize(("rules", "exchanges"), MORE_BREAKS.values(), ids=MORE_BREAKS.keys())
def test_a_rule_also_bites_where_its_example_does_not_show_it(rules: set[str], exchanges: Exchanges) -> None:
    assert broken(exchanges) == rules


LEFT_ALONE: dict[str, Exchanges] = {
    "a refusal for quota": error(429, expect="answer"),
    "a refusal of the key": error(401, expect="answer"),
    "a refusal in a probe": error(400, expect="answer", probe="some-probe"),
    "background work": answer(status="queued", asked={"background": True}, usage=None),
    "a forced call that was refused": answer(message(REFUSAL), asked={"tool_choice": "required", **OFFER}),
    "a required call that the cap cut": answer(
        message(status="incomplete"), asked={"tool_choice": "required", **OFFER}, **CUT
    ),
    "a hosted tool's call where a call is required": answer(
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        asked={"tool_choice": "required", **OFFER},
    ),
    "arguments that the cap cut": answer(call(arguments='{"ci', status="incomplete"), **CUT),
    "no arguments": answer(call(arguments="")),
    "the very end at the cap": answer(
        asked={"max_output_tokens": 16},
        usage={
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 16,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 25,
        },
    ),
    "reasoning that is encrypted unasked": answer(reasoning(encrypted_content="gAAA"), message()),
    "a tool_choice that comes back in another form": answer(
        call(), asked={"tool_choice": {"type": "function", "name": "get_weather"}}, tool_choice="required"
    ),
    "a stream that ends in an error": stream(
        failing({"code": None, "message": "It broke.", "param": None})[:-1]
    ),
    "items of a failed stream": stream(
        numbered([*told()[:6], *failing({"code": None, "message": "It broke.", "param": None})[-1:]])
    ),
}


@pytest.mark.parametrize("exchanges", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_proves_nothing_is_left_alone(exchanges: Exchanges) -> None:
    assert not {rule for rule in broken(exchanges) if rule.startswith("resp.")}


def test_a_stream_whose_end_has_no_items_is_judged_by_those_it_told() -> None:
    asked = {"tool_choice": "none", **OFFER}
    events = but_in(told(call(), asked=asked), "response.completed", "response", output=[])
    assert broken(stream(events, asked=asked)) == {
        "resp.response.tool-choice-none",
        "resp.stream.terminal-output-complete",
    }


def test_deltas_that_are_alike_to_the_last_byte_all_count() -> None:
    ha = "ha" * 20
    events: list[Event] = told(message(output_text(ha)))
    first, last = at(events, DELTA), at(events, DELTA, 1)
    deltas = [events[first] | {"delta": "ha"}] * 20
    many = [*events[:first], *deltas, *events[last + 1 :]]
    bare = [{name: value for name, value in event.items() if name != "sequence_number"} for event in many]
    assert broken(stream(bare)) == {"resp.stream.sequence-number-present"}


@pytest.mark.parametrize(
    ("created", "missing"),
    [
        pytest.param(1_747_785_599, set(), id="20 May 2025"),
        pytest.param(1_747_785_600, {"sequence-number-present"}, id="21 May 2025"),
        pytest.param(1_753_833_599.5, {"sequence-number-present"}, id="29 July 2025"),
        pytest.param(1_753_833_600, {"sequence-number-present", "text-delta-logprobs"}, id="30 July 2025"),
        pytest.param(0, {"sequence-number-present", "text-delta-logprobs"}, id="no time"),
        pytest.param(None, {"sequence-number-present", "text-delta-logprobs"}, id="none told"),
    ],
)
def test_what_a_schema_got_later_is_not_asked_of_older_streams(created: Any, missing: set[str]) -> None:
    told_then = [
        event | {"response": {**event["response"], "created_at": created}} if "response" in event else event
        for event in BARE
    ]
    found = broken(stream(told_then))
    assert found & {"resp.stream.sequence-number-present", "resp.stream.text-delta-logprobs"} == {
        f"resp.stream.{name}" for name in missing
    }


def test_the_end_marker_is_no_event_of_the_response() -> None:
    assert broken(stream(told(store=ABSENT), end=DONE_MARKER)) == {"resp.stream.done-sentinel-openai"}


def test_another_wire_is_not_judged() -> None:
    chat = tuple(replace(one, wire="anthropic-messages") for one in answer(object="nothing", id=None))
    assert not {rule for rule in broken(chat) if rule.startswith("resp.")}

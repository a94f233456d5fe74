"""Rules of the Messages wire: what they leave alone, and where else than in their examples they bite."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.rules import check
from conformance.rules.anthropic.examples import (
    QUESTION,
    THINKING,
    USAGE,
    answer,
    assistant,
    entry,
    error,
    history,
    models,
    stream,
    text,
    thinking,
    told,
    tool,
    tool_result,
    tool_use,
    user,
)
from conformance.rules.eventlists import but, but_in, moved, with_event, without
from conformance.rules.examples import Exchanges, conversation
from conformance.rules.reading import ABSENT
from conformance.types import Exchange

DELTA = "content_block_delta"
INTERLEAVED = ("anthropic-beta", "other, interleaved-thinking-2025-05-14")
SEARCHING = {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
MCP = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "input": {}, "server_name": "library"}
MCP_FOUND = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []}
COMPACTED = {"type": "compaction", "content": "They greeted."}
EVERYTHING = (thinking(), text(), tool_use(1), tool_use(2, input={"city": "Lima"}))
ANYTHING = {"tools": [tool(input_schema={"type": "object"})]}
EAGER = {"tools": [tool(eager_input_streaming=True)]}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgB"}
ANY = {"tools": [tool()], "tool_choice": {"type": "any"}}
SINGLE = {"tools": [tool()], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
STOPPED: dict[str, Any] = {"stop_reason": "stop_sequence", "stop_sequence": "END"}
STOP = {"stop_sequences": ["STOP", "END"]}
BROKEN_OFF = b'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Oh."}}\n\n'


def under(header: tuple[str, str], exchanges: Exchanges) -> Exchanges:
    """The exchange with one header of the request more."""
    (one,) = exchanges
    request = one.request
    asked = type(request)(request.method, request.url, (*request.headers, header), request.body)
    return (Exchange(asked, one.response, one.ending, one.wire, probe=one.probe, expect=one.expect),)


def half_called(**top: Any) -> list[dict[str, Any]]:
    """The stream of a call whose arguments break off."""
    return but_in(told(tool_use(), **top), DELTA, "delta", 1, partial_json=' "Os')


RESUMED = but_in(
    [told()[0], told()[-1]],
    "message_start",
    "message",
    container={"id": "container_1"},
    content=[{"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}, tool_use()],
    stop_reason="tool_use",
)
"""As Anthropic answers the results of calls that a tool's own code made."""

CLEAN = {
    "a text": answer(),
    "everything": answer(*EVERYTHING, asked=THINKING | {"tools": [tool()]}),
    "everything, streamed": stream(told(*EVERYTHING), asked=THINKING | {"tools": [tool()]}),
    "nothing to say": answer(content=[]),
    "nothing to say, streamed": stream(told(content=[])[:2] + told()[-2:]),
    "thinking that is not shown": stream(told(thinking(""), text()), asked=THINKING),
    "redacted thinking": answer(REDACTED, text(), asked=THINKING),
    "redacted thinking, streamed": stream(told(REDACTED, text()), asked=THINKING),
    "thinking after a text, interleaved": under(
        INTERLEAVED, answer(text(), thinking(), tool_use(), asked=THINKING | {"tools": [tool()]})
    ),
    "thinking after a text, adaptive": answer(text(), thinking(), asked={"thinking": {"type": "adaptive"}}),
    "thinking after a tool of the server's own": answer(
        thinking(), text(), SEARCH, FOUND, thinking(), text(), asked=THINKING | SEARCHING
    ),
    "a call before the cap": answer(tool_use(), stop_reason="max_tokens"),
    "a call that a tool's code made": answer(
        tool_use(caller={"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}), stop_reason="end_turn"
    ),
    "no call before the cap": answer(asked=ANY, stop_reason="max_tokens"),
    "a refusal where a call was forced": answer(asked=ANY, stop_reason="refusal", content=[]),
    "a paused turn": answer(text(), SEARCH, stop_reason="pause_turn", asked=SEARCHING),
    "arguments that the cap cut": stream(half_called(stop_reason="max_tokens")),
    "arguments that nobody checks": stream(half_called(), asked=EAGER),
    "an empty text that the cap cut": answer(text(""), stop_reason="max_tokens"),
    "a call without arguments": stream(told(tool_use(input={})), asked=ANYTHING),
    "a call without a delta": stream(without(without(told(tool_use()), DELTA), DELTA), asked=ANYTHING),
    "one call where one is allowed": answer(tool_use(), asked=SINGLE),
    "a call of a toolset": answer(
        tool_use(name="left_click"), asked={"tools": [{"type": "computer_toolset_20260801"}]}
    ),
    "a stop sequence": answer(asked=STOP, **STOPPED),
    "a stop sequence, streamed": stream(told(**STOPPED), asked=STOP),
    "no member stop_sequence": answer(stop_sequence=ABSENT),
    "an answer that ends at the cap by itself": answer(
        asked={"max_tokens": 16}, usage=USAGE | {"output_tokens": 16}
    ),
    "several samples of one request": answer(
        text(), SEARCH, FOUND, text(), asked={"max_tokens": 2, **SEARCHING}
    ),
    "several samples, with an MCP server between them": answer(
        text(), MCP, MCP_FOUND, text(), asked={"max_tokens": 2}
    ),
    "a pause after compaction": answer(COMPACTED, stop_reason="compaction", asked=ANY),
    "totals without what a compaction took": stream(
        but_in(told(COMPACTED, text()), "message_start", "message", usage=USAGE | {"output_tokens": 700})
    ),
    "counts that are null": answer(usage=USAGE | {"cache_read_input_tokens": None}),
    "members of later versions": answer(container=None, stop_details=None, diagnostics=None),
    "a block of a later version": answer({"type": "hologram", "rays": []}, text()),
    "an event of a later version": stream(with_event(told(), 3, type="weather_report", sky="clear")),
    "a delta of a later version": stream(
        with_event(told(), 4, type=DELTA, index=0, delta={"type": "colour_delta", "colour": "red"})
    ),
    "a message that goes on with what ran on the server": stream(RESUMED, asked={"tools": [tool()]}),
    "pings all over": stream([ping for event in told() for ping in (event, {"type": "ping"})][:-1]),
    "a ping before all": stream(moved(told(), "ping", 0)),
    "two message_deltas": stream(
        with_event(told(), 6, type="message_delta", delta={}, usage={"output_tokens": 2})
    ),
    "an error instead of a stream": stream([BROKEN_OFF]),
    "an error in mid-stream": stream([*told()[:4], BROKEN_OFF]),
    "a stream that broke off": stream(told()[:4], ending="closed-by-us"),
    "a stream that stalled": stream(told()[:4], ending="stalled"),
    "edits of a later version": answer(context_management={"applied_edits": [{"type": "fold_20270101"}]}),
    "no edits at all": answer(context_management={"applied_edits": []}),
    "an overload": error(529, "overloaded_error"),
    "a 413 in the words of the SDK's types": error(413, "invalid_request_error"),
    "an error without a request id": error(
        500, body={"type": "error", "error": {"type": "api_error", "message": "Oh."}}
    ),
    "an unknown path, in another API's words": error(
        404, body={"error": {"type": "NotFoundError", "message": "x"}}, probe="unknown-route"
    ),
    "a conflict": error(409, "conflict_error"),
    "an empty list of models": models(data=[], first_id=None, last_id=None),
    "two models": models(entry(), entry(id="other", created_at="1970-01-01T00:00:00.5+00:00")),
    "counted tokens are no message": tuple(
        Exchange(
            type(one.request)(one.request.method, one.request.url + "/count_tokens", (), one.request.body),
            one.response,
            "complete",
            "anthropic-messages",
        )
        for one in answer(raw=b'{"input_tokens":9}')
    ),
    "a conversation": conversation(answer(), stream(), error()),
}


@pytest.mark.parametrize("exchanges", CLEAN.values(), ids=CLEAN)
def test_clean_traffic_breaks_no_rule_under_either_rulebook(exchanges: Exchanges) -> None:
    assert check(exchanges) == ()
    assert check(exchanges, rulebook="literal") == ()


BITES = {
    "a status below 300 other than 200": (answer(status=203), "anth.response.content-type-json"),
    "an array for a message": (answer(raw=b"[]"), "anth.response.body-single-json-object"),
    "a message that broke off": (
        answer(raw=b'{"id":"msg_1","con', ending="cut"),
        "anth.response.body-single-json-object",
    ),
    "a role of the user's": (answer(role="user"), "anth.response.type-role-literals"),
    "a block that is a string": (answer(content=["Hello."]), "anth.response.content-array"),
    "counts below zero": (answer(usage=USAGE | {"input_tokens": -1}), "anth.response.usage-keys"),
    "a count that is true": (answer(usage=USAGE | {"output_tokens": True}), "anth.response.usage-keys"),
    "a streamed stop reason of Chat's": (
        stream(told(stop_reason="length")),
        "anth.response.stop-reason-enum",
    ),
    "a streamed call that ends the turn": (
        stream(told(tool_use(), stop_reason="end_turn")),
        "anth.response.stop-tool-use-iff",
    ),
    "a stop sequence that nobody asked for": (
        answer(asked=STOP, stop_reason="stop_sequence", stop_sequence="ENDE"),
        "anth.response.stop-sequence-value",
    ),
    "a streamed text beyond a stop sequence": (
        stream(told(text("The END.")), asked=STOP),
        "anth.response.stop-sequence-excluded",
    ),
    "a streamed answer beyond the cap": (
        stream(told(stop_reason="max_tokens"), asked={"max_tokens": 2}),
        "anth.response.max-tokens-respected",
    ),
    "no call, streamed, where one was forced": (stream(asked=ANY), "anth.response.tool-choice-any"),
    "no call at all where one tool was forced": (
        answer(asked={"tools": [tool()], "tool_choice": {"type": "tool", "name": "get_weather"}}),
        "anth.response.tool-choice-tool",
    ),
    "redacted thinking without data, streamed": (
        stream(told({"type": "redacted_thinking"}, text()), asked=THINKING),
        "anth.response.redacted-thinking-block",
    ),
    "thinking after a text, streamed": (
        stream(told(text(), thinking()), asked=THINKING),
        "anth.response.thinking-first",
    ),
    "thinking that is no string": (
        answer(thinking(None), text(), asked=THINKING),
        "anth.response.thinking-block",
    ),
    "a streamed error under no name": (
        stream([*told()[:4], BROKEN_OFF.replace(b"event: error\n", b"event: oops\n")]),
        "anth.stream.error-event",
    ),
    "a stream without any event": (stream([]), "anth.stream.message-start-first"),
    "a second message_start": (
        stream(with_event(told(), 3, **told()[0])),
        "anth.stream.message-start-first",
    ),
    "a start without a model": (
        stream(but_in(told(), "message_start", "message", model=None)),
        "anth.stream.message-start-shape",
    ),
    "a start that has said something": (
        stream(but_in(told(), "message_start", "message", content=[text("H")])),
        "anth.stream.message-start-shape",
    ),
    "an index twice": (
        stream(
            [{**event, "index": 0} if "index" in event else event for event in told(text(), text("Bye."))]
        ),
        "anth.stream.block-order",
    ),
    "a delta after the stop": (stream(moved(told(), DELTA, 5)), "anth.stream.block-order"),
    "a block that never stops": (stream(without(told(), "content_block_stop")), "anth.stream.block-order"),
    "a signature before the thinking": (
        stream(moved(told(thinking(), text()), DELTA, 3, 2), asked=THINKING),
        "anth.stream.thinking-signature",
    ),
    "thinking deltas that are no strings": (
        stream(but_in(told(thinking(), text()), DELTA, "delta", thinking=3), asked=THINKING),
        "anth.stream.text-delta-string",
    ),
    "arguments that are a list": (
        stream(
            but_in(
                but_in(told(tool_use()), DELTA, "delta", partial_json="["),
                DELTA,
                "delta",
                1,
                partial_json="]",
            )
        ),
        "anth.stream.partial-json-concat",
    ),
    "a message_stop before the end": (
        stream(with_event(told(), 3, type="message_stop")),
        "anth.stream.message-stop-last",
    ),
    "a call that is ready at the start, and ends the turn": (
        stream(but_in(RESUMED, "message_start", "message", stop_reason="end_turn")),
        "anth.response.stop-tool-use-iff",
    ),
    "a text delta in a call": (
        stream(
            with_event(told(tool_use()), 4, type=DELTA, index=0, delta={"type": "text_delta", "text": "x"})
        ),
        "anth.stream.delta-type-matches-block",
    ),
    "a message_delta without its reason": (
        stream(but(told(), "message_delta", delta={"stop_reason": None})),
        "anth.stream.message-delta-present",
    ),
    "a page for an error": (error(body="<h1>Bad.</h1>"), "anth.error.shape"),
    "a missing key that is no invalid request": (
        error(401, "invalid_request_error"),
        "anth.error.type-status-map",
    ),
    "an error under 200, streamed for": (error(200, asked={"stream": True}), "anth.error.status"),
    "applied edits that are none": (
        answer(context_management={"applied_edits": ["all"]}),
        "anth.response.applied-edits",
    ),
    "a model that is OpenAI's": (
        models(entry(type=ABSENT, object="model")),
        "anth.models.list-shape",
    ),
    "a model without a zone in its time": (
        models(entry(created_at="2026-01-31T00:00:00")),
        "anth.models.list-shape",
    ),
}


@pytest.mark.parametrize(("exchanges", "rule"), BITES.values(), ids=BITES)
def test_a_rule_also_bites_here(exchanges: Exchanges, rule: str) -> None:
    assert rule in {finding.rule for finding in check(exchanges)}


@pytest.mark.parametrize(
    ("exchanges", "path"),
    [
        (answer(stop_reason="stop"), "/exchanges/0/response/body/stop_reason"),
        (stream(told(stop_reason="stop")), "/exchanges/0/response/events/6/data/delta/stop_reason"),
        (
            stream(told(tool_use(name="get_moon"))),
            "/exchanges/0/response/events/2/data/content_block/name",
        ),
        (
            stream(but_in(told(), DELTA, "delta", text=None)),
            "/exchanges/0/response/events/3/data/delta/text",
        ),
    ],
)
def test_a_finding_points_at_the_event_that_brought_it(exchanges: Exchanges, path: str) -> None:
    assert path in {finding.path for finding in check(exchanges)}


def test_a_request_is_held_to_its_acceptance_where_no_other_rule_does_so() -> None:
    forms = history(QUESTION, assistant(tool_use()), user(tool_result()))
    assert "anth.request.accepted" in fired(error(asked=forms, probe="tool-result", expect="answer"))
    own = error(asked=forms, probe="result-forms", expect="answer")
    assert fired(own) == {"anth.mt.tool-result-content-forms"}
    assert "anth.request.accepted" in fired(error(probe="context-edit", expect="answer"))


@pytest.mark.parametrize("status", [401, 403, 429, 529])
def test_a_refusal_for_another_reason_than_the_request_is_none_of_it(status: int) -> None:
    refused = error(status, "api_error", expect="answer")
    assert "anth.request.accepted" not in fired(refused)


def test_a_cached_prompt_may_cost_a_token_more_or_less() -> None:
    first = answer(usage=USAGE | {"cache_creation_input_tokens": 2000}, probe="cached-prefix")
    again = answer(usage=USAGE | {"cache_read_input_tokens": 2003}, probe="cached-prefix")
    assert fired(conversation(first, again)) == set()


def fired(exchanges: Exchanges) -> set[str]:
    """The rules that fire, MAY aside."""
    return {finding.rule for finding in check(exchanges) if finding.level != "MAY"}

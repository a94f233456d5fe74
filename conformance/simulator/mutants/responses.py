"""Mutants of responses: the envelope, the items, and conversations of them."""

from __future__ import annotations

import copy
from typing import Any

from conformance.simulator.mutants.edits import (
    body,
    both,
    drop,
    header,
    only,
    put,
    raw,
    refused,
    rewrite,
    to,
)
from conformance.simulator.mutants.mutant import Answer
from conformance.simulator.mutants.responses_edits import (
    FAILURE,
    ITEM,
    PART,
    PROVIDERS_ITEM,
    end,
    in_open_responses,
    lean,
    mutant,
    responded,
    retold,
    says,
    without_everywhere,
)

PLAIN, STREAM, CALL = "chat.plain", "stream.plain", "tools.single-call"
PREVIOUS = "responses.previous-response"
THOUGHT = "reasoning.stream"
CUT = {"reason": "max_output_tokens"}


def _failure_under_200(answer: Answer) -> None:
    answer.status = 200
    answer.body = {"error": {"message": "No.", "type": "server_error", "param": None, "code": None}}


def _text_as_input(answer: Answer) -> bool:
    return isinstance(answer.asked.get("input"), str)


def _nested_tool(answer: Answer) -> bool:
    return any("function" in tool for tool in answer.asked.get("tools") or ())


def _replayed(answer: Answer) -> bool:
    return b"function_call_output" in answer.request.body and b"[[" not in answer.request.body


def _called_again(answer: Answer) -> None:
    """Another call has the id of the one whose output was just sent."""
    if answer.body:
        earlier = next(item for item in answer.asked["input"] if item.get("type") == "function_call")
        arguments = '{"city": "Bergen"}'
        again = {**earlier, "id": "fc_again", "status": "completed", "arguments": arguments}
        answer.body["output"].append(again)


def _of_reasoning(document: Any) -> Any:
    return next(item for item in document["output"] if item["type"] == "reasoning")


def _added(document: Any, **item: Any) -> None:
    document["output"].append(item)


def _again(document: Any, **members: Any) -> None:
    document["output"].append({**copy.deepcopy(document["output"][0]), **members})


def _call(name: str) -> dict[str, Any]:
    return {
        "id": "fc_1",
        "type": "function_call",
        "status": "completed",
        "arguments": "{}",
        "call_id": "call_1",
        "name": name,
    }


def _cheap(document: Any) -> None:
    usage = document["usage"]
    usage |= {"input_tokens": 5, "total_tokens": 5 + usage["output_tokens"]}


def _without_calls(document: Any) -> None:
    part = {"type": "output_text", "text": "I would rather not.", "annotations": [], "logprobs": []}
    document["output"] = [
        {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    ]


ENVELOPE = (
    mutant("resp.request.accepted", PLAIN, refused),
    mutant("resp.error.status-not-200", PLAIN, _failure_under_200),
    mutant("resp.response.content-type-json", PLAIN, header("content-type", "text/plain")),
    mutant("resp.response.object-literal", PLAIN, body(put("object", value="chat.completion"))),
    mutant("resp.response.object-literal", PLAIN, raw(lambda _: b"Hello."), variant="text"),
    mutant("resp.response.id", PLAIN, body(put("id", value=""))),
    mutant("resp.response.required-keys-openai", STREAM, retold(without_everywhere("metadata"))),
    mutant(
        "resp.response.required-keys-open-responses",
        THOUGHT,
        in_open_responses(lean),
    ),
    mutant("resp.response.created-at-seconds", PLAIN, body(put("created_at", value="2026-01-01"))),
    mutant("resp.response.status-enum", PLAIN, body(put("status", value="done"))),
    mutant("resp.response.status-terminal", PLAIN, body(put("status", value="in_progress"))),
    mutant("resp.response.error-iff-failed", PLAIN, body(put("error", value=FAILURE))),
    mutant("resp.response.error-iff-failed", PLAIN, body(put("status", value="failed")), variant="null"),
    mutant("resp.response.incomplete-details", PLAIN, body(put("incomplete_details", value=CUT))),
    mutant(
        "resp.response.incomplete-details", PLAIN, body(put("status", value="incomplete")), variant="null"
    ),
    mutant(
        "resp.response.incomplete-reason-openai",
        STREAM,
        retold(
            lean,
            end(
                both(put("status", value="incomplete"), put("incomplete_details", value={"reason": "length"}))
            ),
            lambda given: given[-1].update(type="response.incomplete"),
        ),
    ),
    mutant(
        "resp.response.cap-gives-incomplete",
        "parameters.max-tokens",
        body(
            both(
                put("status", value="completed"),
                put("incomplete_details", value=None),
                put(*ITEM, "status", value="completed"),
            )
        ),
    ),
    mutant("resp.response.usage-shape", PLAIN, body(drop("usage", "output_tokens_details"))),
    mutant("resp.response.usage-sum", PLAIN, body(rewrite("usage", "total_tokens", by=lambda n: n + 1))),
    mutant("resp.stream.incomplete-usage", STREAM, retold(end(put("usage", value=None)))),
    mutant("resp.response.echo-request-params", "parameters.sampling", body(put("temperature", value=0.123))),
    mutant("resp.response.echo-request-params", CALL, body(put("tools", value=[])), variant="tools"),
    mutant("resp.request.media-not-ignored", "chat.image", only(to("chat.image/0"), body(_cheap))),
)

ITEMS = (
    mutant("resp.response.output-array", PLAIN, body(put("output", value="Hello."))),
    mutant("resp.response.output-array", PLAIN, body(lambda d: _added(d, id="x_1")), variant="untyped"),
    mutant("resp.response.output-text-not-on-wire", PLAIN, body(put("output_text", value="Good day."))),
    mutant("resp.response.item-id-unique", PLAIN, body(_again)),
    mutant("resp.response.item-status", PLAIN, body(put(*ITEM, "status", value="in_progress"))),
    mutant("resp.response.item-fields-openai", "stream.arguments", retold(end(drop(*ITEM, "id")))),
    mutant(
        "resp.response.item-fields-open-responses",
        THOUGHT,
        in_open_responses(lambda given: _added(given[-1]["response"], **PROVIDERS_ITEM)),
    ),
    mutant("resp.response.incomplete-item-last", PLAIN, body(put(*ITEM, "status", value="incomplete"))),
    mutant(
        "resp.response.extension-type-prefixed",
        PLAIN,
        body(lambda d: _added(d, type="my_item", id="my_1", status="completed")),
    ),
    mutant("resp.response.call-id-unique", CALL, body(lambda d: _again(d, id="fc_2"))),
    mutant(
        "resp.response.call-id-unique-conversation",
        "tools.result-round-trip",
        only(to("tools.result-round-trip/1"), _called_again),
    ),
    mutant(
        "resp.response.call-id-vs-item-id",
        CALL,
        body(lambda d: d["output"][0].update(call_id=d["output"][0]["id"])),
    ),
    mutant("resp.response.function-arguments-json", CALL, body(put(*ITEM, "arguments", value="{city"))),
    mutant("resp.response.message-item", PLAIN, body(put(*ITEM, "role", value="user"))),
    mutant("resp.response.output-text-part", PLAIN, body(put(*PART, "type", value="text"))),
    mutant(
        "resp.response.output-text-part", PLAIN, body(put(*PART, "annotations", value=None)), variant="notes"
    ),
    mutant(
        "resp.response.refusal-part",
        PLAIN,
        body(lambda d: d["output"][0]["content"].append({"type": "refusal", "text": "No."})),
    ),
    mutant("resp.response.function-call-item", CALL, body(put(*ITEM, "arguments", value={"city": "Paris"}))),
    mutant(
        "resp.response.reasoning-item",
        "reasoning.effort",
        only(to("reasoning.effort/0"), body(lambda d: _of_reasoning(d).update(summary=None))),
    ),
    mutant(
        "resp.response.reasoning-encrypted-on-request",
        "reasoning.echo",
        only(to("reasoning.echo/0"), body(lambda d: _of_reasoning(d).pop("encrypted_content"))),
    ),
)

CHOICE = (
    mutant(
        "resp.response.tool-choice-none",
        "tools.choice-none",
        body(lambda d: _added(d, **_call("get_weather"))),
    ),
    mutant("resp.response.tool-choice-required", "tools.choice-required", body(_without_calls)),
    mutant(
        "resp.response.tool-choice-function",
        "tools.choice-named",
        body(put(*ITEM, "name", value="get_weather")),
    ),
    mutant("resp.response.tool-choice-function", "tools.choice-named", body(_without_calls), variant="text"),
    mutant(
        "resp.response.allowed-tools-enforced",
        "tools.allowed-tools",
        body(put(*ITEM, "name", value="get_weather")),
    ),
)

CONVERSATIONS = (
    mutant("resp.response.string-input-accepted", "responses.input-forms", only(_text_as_input, refused)),
    mutant(
        "resp.response.flat-tool-shape",
        "responses.input-forms",
        only(_nested_tool, responded("Fine weather.", tools=[])),
    ),
    mutant(
        "resp.response.instructions-not-carried",
        PREVIOUS,
        only(to(f"{PREVIOUS}/2"), body(says("They have the word PLOVER."))),
    ),
    mutant("resp.error.unknown-previous-id", PREVIOUS, only(to(f"{PREVIOUS}/3"), responded("Of the sea."))),
    mutant("resp.mt.previous-response-accepted", PREVIOUS, only(to(f"{PREVIOUS}/1"), refused)),
    mutant(
        "resp.mt.previous-response-order",
        PREVIOUS,
        only(to(f"{PREVIOUS}/1"), body(says("I know of no word."))),
    ),
    mutant("resp.mt.replay-output-items", "responses.replay", only(_replayed, refused)),
    mutant(
        "resp.mt.tool-result-accepted",
        "tools.result-round-trip",
        only(to("tools.result-round-trip/1"), refused),
    ),
    mutant("resp.mt.reasoning-item-echo", "reasoning.echo", only(to("reasoning.echo/2"), refused)),
    mutant(
        "resp.mt.function-output-accepted",
        "history.tool-results",
        only(to("history.tool-results/0"), refused),
    ),
    mutant(
        "resp.mt.function-output-pairing",
        "history.tool-results",
        only(to("history.tool-results/1"), body(says("It has the code HERON."))),
    ),
    mutant("resp.mt.function-output-orphan", "errors.orphan-tool-result", responded("Whose result is that?")),
)

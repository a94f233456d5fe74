"""Mutants of streamed responses: their events as a whole, their items, texts and calls."""

from __future__ import annotations

from typing import Any

from conformance.simulator.mutants.edits import all_of, both, drop, events, put, together
from conformance.simulator.mutants.mutant import Answer, Change
from conformance.simulator.mutants.responses_edits import (
    ADDED,
    ARGS_DELTA,
    ARGS_DONE,
    CREATED,
    DONE,
    ITEM,
    PART,
    PART_ADDED,
    PART_DONE,
    TEXT_DELTA,
    TEXT_DONE,
    broken,
    end,
    in_open_responses,
    items,
    lean,
    marker,
    moved,
    mutant,
    numbered,
    of,
    place,
    raw_reasoning,
    raw_reasoning_of_openai,
    raw_reasoning_twice,
    retold,
    twice,
    without,
)

TEXT, CALLED, THOUGHT = "stream.plain", "stream.arguments", "reasoning.stream"
NOTE = {"type": "url_citation", "url": "https://example.com/", "title": "x", "start_index": 0, "end_index": 1}
ANNOTATED = "response.output_text.annotation.added"
NESTED = {"error": {"type": "server_error", "code": None, "message": "The server failed.", "param": None}}
FLAT = {"code": "server_error", "message": "The server failed.", "param": None}
SUMMARY_ADDED = "response.reasoning_summary_part.added"
SUMMARY_DONE = "response.reasoning_summary_part.done"
SUMMARY_TEXT = "response.reasoning_summary_text.done"


def _unnamed(answer: Answer) -> None:
    answer.named = False


def _misnumbered(given: list[Any]) -> None:
    given[-1]["sequence_number"] = given[-2]["sequence_number"]


def _every_third(given: list[Any]) -> None:
    for number, event in enumerate(given):
        event["sequence_number"] = 3 * number


def _second_end(given: list[Any]) -> None:
    given.append(dict(given[-1]))


def _behind_the_end(given: list[Any]) -> None:
    given.append(given.pop(place(given, DONE)))


def _shifted(member: str, by: int) -> Change:
    def edit(document: Any) -> None:
        if member in document:
            document[member] += by

    return all_of(edit)


# ----------------------------------------------------------------------------- told as something else


def _refusing(given: list[Any]) -> None:
    """The text is told as a refusal."""
    parts = [event["part"] for event in given if "part" in event]
    parts += [part for item in items(given) for part in item["content"]]
    for part in parts:
        text = part["text"]
        part.clear()
        part |= {"type": "refusal", "refusal": text}
    for event in given:
        event["type"] = event["type"].replace("output_text", "refusal")
        event.pop("logprobs", None)
        if "text" in event:
            event["refusal"] = event.pop("text")


def _custom(given: list[Any]) -> None:
    """The call is told as one of a custom tool."""
    for event in given:
        event["type"] = event["type"].replace("function_call_arguments", "custom_tool_call_input")
    for holder in (*items(given), *given):
        if "arguments" in holder:
            holder["input"] = holder.pop("arguments")
    for item in items(given):
        item["type"] = "custom_tool_call"


def _annotated(given: list[Any], index: int, kept: int) -> None:
    """The text gets a citation under this index, of which the ended part keeps so many."""
    where = place(given, TEXT_DONE)
    about = {name: given[where][name] for name in ("item_id", "output_index", "content_index")}
    given.insert(where, {"type": ANNOTATED, **about, "annotation_index": index, "annotation": NOTE})
    given[place(given, PART_DONE)]["part"]["annotations"] = [NOTE] * kept


def _argument_of_a_text(given: list[Any]) -> None:
    where = place(given, PART_DONE)
    about = {name: given[where][name] for name in ("item_id", "output_index")}
    given.insert(where, {"type": ARGS_DELTA, **about, "delta": "{}"})


def _nothing_added(given: list[Any]) -> None:
    given.insert(-1, {"type": ADDED, "output_index": 1, "item": None})


def _without_deltas(given: list[Any]) -> None:
    given[:] = [event for event in given if event["type"] != ARGS_DELTA]


def _as_whole(answer: Answer) -> None:
    """One whole answer to a client that asked for a stream."""
    if answer.events is not None:
        answer.become(200, answer.events[-1]["response"])


def _as_stream(answer: Answer) -> None:
    """A text in events that nobody asked to have streamed."""
    if answer.status >= 300 or answer.events is not None:
        return
    whole = answer.body
    begun = whole | {"status": "in_progress", "output": [], "usage": None}
    said = whole["output"][0]
    part, item = said["content"][0], {"item_id": said["id"], "output_index": 0}
    within = item | {"content_index": 0}
    answer.headers["content-type"] = "text/event-stream"
    answer.named = True
    answer.events = [
        {"type": CREATED, "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": ADDED, "output_index": 0, "item": said | {"status": "in_progress", "content": []}},
        {"type": PART_ADDED, **within, "part": part | {"text": ""}},
        {"type": TEXT_DELTA, **within, "delta": part["text"], "logprobs": []},
        {"type": TEXT_DONE, **within, "text": part["text"], "logprobs": []},
        {"type": PART_DONE, **within, "part": part},
        {"type": DONE, "output_index": 0, "item": said},
        {"type": "response.completed", "response": whole},
    ]
    numbered(answer.events)


AS_A_WHOLE = (
    mutant("resp.stream.is-sse-when-asked", TEXT, _as_whole),
    mutant("resp.stream.is-sse-when-asked", "chat.plain", _as_stream, variant="unasked"),
    mutant("resp.stream.event-name-matches-type-openai", TEXT, together(retold(lean), _unnamed)),
    mutant(
        "resp.stream.event-name-matches-type-open-responses",
        THOUGHT,
        together(in_open_responses(), _unnamed),
    ),
    mutant("resp.stream.done-sentinel-openai", TEXT, together(retold(lean), events(marker))),
    mutant(
        "resp.stream.done-sentinel-open-responses",
        THOUGHT,
        retold(raw_reasoning),
        also=("resp.stream.reasoning-events-openai",),
        because="a stream that is nearer to Open Responses has a word that is foreign to OpenAI's reading",
    ),
    mutant("resp.stream.sequence-number-present", TEXT, events(of(CREATED, drop("sequence_number")))),
    mutant("resp.stream.sequence-number-increasing", TEXT, events(_misnumbered)),
    mutant("resp.stream.sequence-number-dense", TEXT, events(_every_third)),
    mutant("resp.stream.created-first", TEXT, retold(without(CREATED))),
    mutant(
        "resp.stream.created-status", TEXT, retold(of(CREATED, put("response", "status", value="completed")))
    ),
    mutant(
        "resp.stream.created-status",
        TEXT,
        retold(of(CREATED, put("response", "output", value=[{"type": "acme:plan", "id": "plan_1"}]))),
        variant="output",
    ),
    mutant(
        "resp.stream.in-progress-second",
        TEXT,
        retold(moved("response.in_progress", lambda given: place(given, ADDED) + 1)),
    ),
    mutant("resp.stream.one-terminal-event", TEXT, retold(without("response.completed"))),
    mutant("resp.stream.one-terminal-event", TEXT, retold(_second_end), variant="two"),
    mutant("resp.stream.event-before-terminal-only", TEXT, retold(_behind_the_end)),
    mutant(
        "resp.stream.terminal-status-matches",
        TEXT,
        retold(
            end(
                both(
                    put("status", value="incomplete"),
                    put("incomplete_details", value={"reason": "content_filter"}),
                )
            )
        ),
    ),
    mutant("resp.stream.response-id-constant", TEXT, retold(end(put("id", value="resp_2")))),
    mutant("resp.stream.error-event-openai", TEXT, retold(lean, broken({"message": "No."}))),
    mutant("resp.stream.error-event-open-responses", THOUGHT, in_open_responses(broken(FLAT))),
    mutant("resp.stream.failed-after-error", THOUGHT, in_open_responses(broken(NESTED, failed=False))),
    mutant("resp.stream.reasoning-events-openai", THOUGHT, retold(lean, raw_reasoning)),
    mutant(
        "resp.stream.reasoning-events-open-responses",
        THOUGHT,
        together(retold(raw_reasoning_twice), events(marker)),
    ),
)

STREAMED_ITEMS = (
    mutant("resp.stream.terminal-output-complete", TEXT, retold(end(put("output", value=[])))),
    mutant(
        "resp.stream.item-added-first", TEXT, retold(moved(ADDED, lambda given: place(given, PART_ADDED) + 1))
    ),
    mutant("resp.stream.item-added-once", TEXT, retold(twice(ADDED))),
    mutant("resp.stream.no-empty-added-item", TEXT, retold(_nothing_added)),
    mutant("resp.stream.item-added-names", CALLED, retold(of(ADDED, drop("item", "name")))),
    mutant(
        "resp.stream.item-added-zero-values", CALLED, retold(of(ADDED, put("item", "arguments", value=None)))
    ),
    mutant(
        "resp.stream.item-added-in-progress",
        TEXT,
        retold(of(ADDED, put("item", "status", value="completed"))),
    ),
    mutant(
        "resp.stream.item-added-in-progress",
        CALLED,
        retold(of(ADDED, put("item", "arguments", value="{}"))),
        variant="arguments",
    ),
    mutant("resp.stream.item-done-paired", TEXT, retold(without(DONE))),
    mutant(
        "resp.stream.item-done-last", TEXT, retold(moved(PART_DONE, lambda given: place(given, DONE) + 1))
    ),
    mutant(
        "resp.stream.item-identity-stable", CALLED, retold(of(ADDED, put("item", "call_id", value="call_9")))
    ),
    mutant("resp.stream.item-done-final", TEXT, retold(of(DONE, put("item", "status", value="in_progress")))),
    mutant("resp.stream.output-index-contiguous", TEXT, _shifted("output_index", 3)),
    mutant("resp.stream.item-id-consistent", TEXT, retold(of(TEXT_DELTA, put("item_id", value="msg_9")))),
    mutant("resp.stream.args-only-on-function-call", TEXT, retold(_argument_of_a_text)),
)

TEXTS = (
    mutant(
        "resp.stream.content-part-added-first",
        TEXT,
        retold(moved(PART_ADDED, lambda given: place(given, TEXT_DELTA) + 1)),
    ),
    mutant("resp.stream.content-part-done-paired", TEXT, retold(without(PART_DONE))),
    mutant(
        "resp.stream.content-index-contiguous",
        TEXT,
        _shifted("content_index", 1),
        also=("resp.stream.text-part-item-agree",),
        because="no item has a part of that index",
    ),
    mutant("resp.stream.text-done-once", TEXT, retold(without(TEXT_DONE))),
    mutant(
        "resp.stream.text-delta-string",
        TEXT,
        retold(of(TEXT_DELTA, put("delta", value=None))),
    ),
    mutant("resp.stream.text-concat", TEXT, retold(of(TEXT_DELTA, put("delta", value="Zero, ")))),
    mutant(
        "resp.stream.refusal-concat",
        TEXT,
        retold(_refusing, of("response.refusal.delta", put("delta", value="Zero, "))),
    ),
    mutant("resp.stream.text-part-item-agree", TEXT, retold(end(put(*PART, "text", value="Ten to one.")))),
    mutant("resp.stream.text-delta-logprobs", TEXT, retold(of(TEXT_DELTA, drop("logprobs")))),
    mutant("resp.stream.annotation-added", TEXT, retold(lambda given: _annotated(given, 1, 1))),
    mutant(
        "resp.stream.annotation-added", TEXT, retold(lambda given: _annotated(given, 0, 0)), variant="lost"
    ),
    mutant("resp.stream.obfuscation", TEXT, retold(of(TEXT_DELTA, put("obfuscation", value=1)))),
    mutant(
        "resp.stream.reasoning-summary-pairing",
        THOUGHT,
        retold(without(SUMMARY_ADDED)),
    ),
    mutant("resp.stream.reasoning-summary-pairing", THOUGHT, retold(without(SUMMARY_DONE)), variant="open"),
    mutant(
        "resp.stream.reasoning-summary-pairing",
        THOUGHT,
        retold(of(SUMMARY_TEXT, put("text", value="Nothing."))),
        variant="text",
    ),
    mutant(
        "resp.stream.reasoning-text-concat",
        THOUGHT,
        retold(raw_reasoning_of_openai, of("response.reasoning_text.done", put("text", value="Nothing."))),
    ),
)

STREAMED_CALLS = (
    mutant("resp.stream.args-delta-string", CALLED, retold(of(ARGS_DELTA, put("delta", value={})))),
    mutant("resp.stream.args-done-once", CALLED, retold(without(ARGS_DONE))),
    mutant("resp.stream.args-delta-present", CALLED, retold(_without_deltas)),
    mutant("resp.stream.args-concat", CALLED, retold(of(ARGS_DELTA, put("delta", value="[")))),
    mutant(
        "resp.stream.args-concat",
        CALLED,
        retold(end(put(*ITEM, "arguments", value='{"city":"Nowhere"}'))),
        variant="final",
    ),
    mutant("resp.stream.args-done-name", CALLED, retold(of(ARGS_DONE, put("name", value="get_time")))),
    mutant(
        "resp.stream.custom-tool-input-concat",
        CALLED,
        retold(_custom, of("response.custom_tool_call_input.delta", put("delta", value="x"))),
    ),
)

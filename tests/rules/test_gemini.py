"""Rules of the Gemini wire: what they leave alone, and where else than in their examples they bite."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.rules import RULES, check
from conformance.rules.examples import Exchanges, conversation, dumped
from conformance.rules.gemini.examples import (
    KEY_INVALID,
    SIGNATURE,
    USAGE,
    answer,
    call,
    candidate,
    config,
    entry,
    error,
    function,
    history,
    listing,
    model,
    offering,
    response,
    result,
    said,
    stream,
    text,
    thought,
    told,
    user,
)
from conformance.rules.gemini.schemas import plain_schema
from conformance.rules.reading import ABSENT
from conformance.types import Ending, Rulebook

CUT = {"finishReason": "MAX_TOKENS"}
TWO = config(candidateCount=2)
CACHED = {**USAGE, "cachedContentTokenCount": 8}

CLEAN = {
    "a text": answer(),
    "calls": answer(call(1), call(2)),
    "a call without an id and without arguments": answer(call(id=ABSENT, args=ABSENT)),
    "text beside calls": answer(text("Let me see."), call()),
    "thoughts": answer(thought(), text()),
    "a signed text": answer(text("", thoughtSignature=SIGNATURE)),
    "code that ran": answer({"executableCode": {"language": "PYTHON", "code": "1"}}, text()),
    "a part of a newer kind": answer({"hologram": {}}, text()),
    "nothing": answer(more={"content": {"role": "model"}}),
    "a cut text": answer(more=CUT),
    "two candidates": answer(candidates=[candidate(), candidate(index=1)], asked=TWO),
    "a blocked prompt": answer(candidates=ABSENT, promptFeedback={"blockReason": "OTHER"}),
    "a blocked prompt that cost nothing": answer(
        candidates=ABSENT, promptFeedback={"blockReason": "MODEL_ARMOR"}, usageMetadata=ABSENT
    ),
    "a blocked answer": answer(more={"content": ABSENT, "finishReason": "SAFETY"}),
    "a cached prompt": answer(usageMetadata=CACHED),
    "members of the provider's own": answer(usageMetadata={**USAGE, "trafficType": "ON_DEMAND"}, acme={}),
    "functions not used": answer(asked=offering()),
    "a streamed text": stream(),
    "streamed calls": stream(said(call(1)), said(call(2), finish="STOP")),
    "streamed thoughts": stream(said(thought()), *told()),
    "counts at the end alone": stream(
        *(said(text("Hel"), usageMetadata={"trafficType": "ON_DEMAND"}), *told("lo."))
    ),
    "a last chunk without parts": stream(
        *told("Hello."), response(candidate(content=ABSENT, finishReason=ABSENT))
    ),
    "a stream as an array": stream(*told(), array=True),
    "a stream of two": stream(
        response(candidate(finishReason=ABSENT), candidate(index=1, finishReason=ABSENT)),
        response(candidate(text("Bye."))),
        response(candidate(text("Bye."), index=1)),
        asked=TWO,
    ),
    "a stream that fails": stream(
        *told()[:1], {"error": {"code": 500, "message": "It broke.", "status": "INTERNAL"}}
    ),
    "a stream that we closed": stream(*told()[:1], ending="closed-by-us"),
    "a blocked prompt, streamed": stream(
        response(candidates=ABSENT, promptFeedback={"blockReason": "SAFETY"})
    ),
    "a refusal": error(),
    "a refusal of a stream, as an array": error(
        body=[{"error": {"code": 400, "message": "Bad.", "status": "INVALID_ARGUMENT"}}]
    ),
    "a failed precondition": error(400, error={"status": "FAILED_PRECONDITION"}),
    "models": listing(),
    "models and a request": conversation(listing(), answer()),
    "one page of models": conversation(listing(entry(name="models/other"), nextPageToken="p2"), answer()),
}


@pytest.mark.parametrize("rulebook", ["default", "literal"])
@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_clean_traffic_breaks_no_rule_under_either_rulebook(exchanges: Exchanges, rulebook: Rulebook) -> None:
    assert check(exchanges, rulebook=rulebook) == ()


def broken(exchanges: Exchanges) -> set[str]:
    return {finding.rule for finding in check(exchanges)}


def cut(exchanges: Exchanges, size: int, ending: Ending) -> Exchanges:
    """The last answer, broken off after so many bytes."""
    *before, last = exchanges
    assert last.response is not None
    response = replace(last.response, body=last.response.body[:size])
    return (*before, replace(last, response=response, ending=ending))


@pytest.mark.parametrize("ending", ["cut", "stalled"])
@pytest.mark.parametrize("exchanges", [pytest.param(e, id=name) for name, e in CLEAN.items()])
def test_a_clean_answer_that_breaks_off_breaks_only_rules_that_need_its_end(
    exchanges: Exchanges, ending: Ending
) -> None:
    response = exchanges[-1].response
    assert response is not None
    for size in range(0, len(response.body) if response.status < 300 else 0, 5):
        found = broken(cut(exchanges, size, ending))
        assert not [rule for rule in found if not RULES[rule].needs_end], size


MORE_BREAKS: dict[str, tuple[set[str], Exchanges]] = {
    "a page in place of a response": (
        {"gem.response.json-object", "gem.response.content-type-json"},
        answer(raw=b"<h1>Hello</h1>", headers={"content-type": "text/html"}),
    ),
    "an array in place of a response": ({"gem.response.json-object"}, answer(raw=dumped([response()]))),
    "a valid request that fails": ({"gem.request.accepted"}, error(500, expect="answer")),
    "parts that are an object": (
        {"gem.response.parts-array"},
        answer(more={"content": {"role": "model", "parts": {"text": "Hello."}}}),
    ),
    "a part without data": ({"gem.response.parts-array"}, answer({"thoughtSignature": SIGNATURE})),
    "a call that is a text": ({"gem.response.function-call-shape"}, answer({"functionCall": "get_weather"})),
    "a call without a name": ({"gem.response.function-call-shape"}, answer(call(name=""))),
    "a snake in a part": (
        {"gem.response.camel-case"},
        answer({"function_call": {"name": "get_weather", "args": {}}}),
    ),
    "a number as finish reason": ({"gem.response.finish-reason-enum"}, answer(more={"finishReason": 1})),
    "another wire's word for calls": (
        {"gem.response.finish-reason-enum", "gem.response.finish-reason-with-calls"},
        answer(call(), more={"finishReason": "TOOL_CALLS"}),
    ),
    "a negative count": (
        {"gem.response.usage-metadata"},
        answer(usageMetadata={**USAGE, "thoughtsTokenCount": -1}),
    ),
    "no counts at the end of a stream": (
        {"gem.response.usage-metadata"},
        stream(*told()[:1], said(text("lo."), finish="STOP", usageMetadata=ABSENT)),
    ),
    "a thought told twice": (
        {"gem.response.thought-flag"},
        answer(thought("They greet me, so I do."), text("They greet me, so I do. Hello.")),
    ),
    "a signature that is a number": (
        {"gem.response.thought-signature-base64"},
        answer(text(thoughtSignature=5)),
    ),
    "a forced call of another function": (
        {"gem.response.mode-any"},
        answer(
            call(name="get_time"),
            asked=offering(function(), function("get_time"), mode="ANY", only=("get_weather",)),
        ),
    ),
    "a streamed call where none may be": (
        {"gem.response.mode-none"},
        stream(said(call(), finish="STOP"), asked=offering(mode="NONE")),
    ),
    "a page in place of a stream": (
        {"gem.stream.sse-when-alt-sse"},
        stream(raw=b"<h1>Hello</h1>", headers={"content-type": "text/html"}),
    ),
    "a stream of nothing": ({"gem.response.candidates-or-feedback"}, stream(raw=b"")),
    "events where an array was asked for": (
        {"gem.stream.array-without-alt-sse"},
        stream(
            array=True,
            raw=b"data: " + dumped(response()) + b"\n\n",
            headers={"content-type": "text/event-stream"},
        ),
    ),
    "an event with an id": (
        {"gem.stream.no-comments"},
        stream(b"id: 1\r\ndata: " + dumped(told("Hello.")[0]) + b"\r\n\r\n"),
    ),
    "an error that is a text": ({"gem.stream.error-object"}, stream(*told()[:1], {"error": "It broke."})),
    "a stream without its end": ({"gem.response.finish-reason-present"}, stream(*told()[:1])),
    "an error that is a text, as a refusal": ({"gem.error.shape"}, error(body={"error": "Bad."})),
    "a refusal whose code is another status": ({"gem.error.shape"}, error(error={"code": 500})),
    "a refusal that is a page": (
        {"gem.error.shape", "gem.error.json-content-type"},
        error(body="<h1>Bad.</h1>", headers={"content-type": "text/html"}),
    ),
    "a list that fails": ({"gem.models.shape", "gem.error.shape"}, listing(status=500)),
    "a model that only embeds": (
        {"gem.models.tested-present"},
        conversation(answer(), listing(entry(supportedGenerationMethods=["embedContent"]))),
    ),
    "the key in a refusal": (
        {"err.no-key-echo"},
        error(400, error={"message": "API key example-key-0123456789 is not valid.", **KEY_INVALID}),
    ),
    "a trace in a refusal": (
        {"err.no-stack-trace"},
        error(500, error={"message": 'Traceback (most recent call last):\n  File "serve.py", line 7'}),
    ),
}


@pytest.mark.parametrize(("rules", "exchanges"), MORE_BREAKS.values(), ids=MORE_BREAKS.keys())
def test_a_rule_also_bites_where_its_example_does_not_show_it(rules: set[str], exchanges: Exchanges) -> None:
    assert broken(exchanges) == rules


FORCED = offering(mode="ANY")
LEFT_ALONE: dict[str, Exchanges] = {
    "a refusal for quota": error(429, expect="answer"),
    "a refusal of the key": error(403, expect="answer"),
    "a forced call that the cap cut": answer(text("It"), asked=FORCED, more=CUT),
    "a forced call that was blocked": answer(
        asked=FORCED, more={"content": ABSENT, "finishReason": "SAFETY"}
    ),
    "JSON that the cap cut": answer(
        text('{"ci'), asked=config(responseMimeType="application/json"), more=CUT
    ),
    "calls where JSON was asked for": answer(
        call(), asked={**offering(), **config(responseMimeType="application/json")}
    ),
    "the very end at the cap": answer(asked=config(maxOutputTokens=3), usageMetadata=USAGE),
    "one text that repeats another": stream(*told("ha", "haha")),
    "numbers for enumerations that were asked for": answer(
        more={"finishReason": 1}, query="?$alt=json;enum-encoding=int"
    ),
    "probabilities of a cut answer": answer(asked=config(responseLogprobs=True), more=CUT),
    "thoughts in quotation": answer(text("A thought stands in `<think>` tags.")),
    "a call out of cached functions": answer(
        call(), asked={"tools": ABSENT, "cachedContent": "cachedContents/1"}
    ),
    "a call in pieces that were asked for": stream(
        said(call(partialArgs=[{"jsonPath": "$.city"}], willContinue=True, args=ABSENT)),
        said(call(name=ABSENT, args=ABSENT), finish="STOP"),
        asked={
            **offering(),
            "toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}},
        },
    ),
    "results that are whole though they were to be broken": answer(
        asked=history(user(), model(call()), user(result())), probe="tool-result-missing", expect="either"
    ),
    "an answer whose request nobody kept": tuple(
        replace(one, request=replace(one.request, body=b"")) for one in answer(thought(), call())
    ),
    "a stream that broke off": stream(*told()[:1], ending="cut"),
    "a stream that stalled": stream(*told()[:1], ending="stalled"),
}


@pytest.mark.parametrize("exchanges", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_proves_nothing_is_left_alone(exchanges: Exchanges) -> None:
    assert not {rule for rule in broken(exchanges) if rule.startswith("gem.")}


def test_text_in_pieces_is_judged_as_one() -> None:
    asked = config(stopSequences=["END"])
    assert broken(stream(*told("a E", "ND"), asked=asked)) == {"gem.response.stop-sequence-excluded"}


def test_candidates_are_put_together_by_index() -> None:
    mixed = stream(
        response(
            candidate(text('{"city":'), finishReason=ABSENT),
            candidate(text("["), index=1, finishReason=ABSENT),
        ),
        response(candidate(text("]"), index=1), candidate(text('"Oslo"}'))),
        asked={**config(candidateCount=2, responseMimeType="application/json")},
    )
    assert broken(mixed) == set()


def test_another_wire_is_not_judged() -> None:
    other = tuple(replace(one, wire="openai-chat") for one in answer(candidates={}))
    assert not {rule for rule in broken(other) if rule.startswith("gem.")}


@pytest.mark.parametrize(
    ("schema", "plain"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "INTEGER", "nullable": True, "minimum": 1}, {"type": ["integer", "null"], "minimum": 1}),
        (
            {"enum": ["a"], "type": "STRING", "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "ARRAY", "items": {"anyOf": [{"type": "NUMBER"}, {"type": "NULL"}]}},
            {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}},
        ),
        ({"propertyOrdering": ["a"], "format": "int32"}, {}),
    ],
)
def test_gemini_s_schemas_say_the_same_as_json_schemas(schema: dict[str, Any], plain: dict[str, Any]) -> None:
    assert plain_schema(schema) == plain


def test_a_schema_of_any_depth_is_read() -> None:
    deep: dict[str, Any] = {"type": "STRING"}
    for _ in range(5_000):
        deep = {"type": "ARRAY", "items": deep}
    assert plain_schema(deep)["type"] == "array"

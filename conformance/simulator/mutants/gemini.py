"""Mutants of Gemini's answers, whole and streamed."""

from __future__ import annotations

import copy
import json
from typing import Any

from conformance.simulator.mutants.edits import (
    body,
    drop,
    event,
    events,
    header,
    only,
    put,
    raw,
    raw_stream,
    rewrite,
    to,
)
from conformance.simulator.mutants.gemini_edits import (
    A_CALL,
    CALL,
    CANDIDATE,
    CONTENT,
    FINISH,
    PART,
    PARTS,
    TEXT,
    counting,
    failure,
    mutant,
    refused,
    says,
)
from conformance.simulator.mutants.mutant import Answer
from conformance.simulator.mutants.response import MARKUP

PLAIN, STREAM, CALLING = "chat.plain", "stream.plain", "tools.single-call"
CAPPED, ARRAY = "parameters.max-tokens", "gemini.stream-array"
WORD = "gemini.response-schema"


def _answered(answer: Answer) -> bool:
    return answer.status < 300


def _failure_under_200(answer: Answer) -> None:
    answer.body = failure(400, "INVALID_ARGUMENT")


def _twice(document: Any) -> None:
    document["candidates"].append({**copy.deepcopy(document["candidates"][0]), "index": 1})


def _thinks_first(document: Any) -> None:
    document["candidates"][0]["content"]["parts"].insert(0, {"text": "Hm.", "thought": True})


def _same_id(given: list[Any]) -> None:
    first, second = (chunk["candidates"][0]["content"]["parts"][0]["functionCall"] for chunk in given[:2])
    second["id"] = first["id"]


def _signed_late(given: list[Any]) -> None:
    """The second call carries the signature that the first one has."""
    calls = [part for chunk in given for part in chunk["candidates"][0]["content"]["parts"]]
    calls[1]["thoughtSignature"] = calls[0].pop("thoughtSignature")


def _repeating(given: list[Any]) -> None:
    """The text begins with the thoughts before it."""
    parts = [part for chunk in given for part in chunk["candidates"][0]["content"].get("parts", ())]
    thoughts = "".join(part["text"] for part in parts if part.get("thought"))
    spoken = next(part for part in parts if not part.get("thought"))
    spoken["text"] = thoughts + spoken["text"]


def _growing(given: list[Any]) -> None:
    """Each chunk has the whole text so far."""
    text = ""
    for chunk in given:
        for part in chunk["candidates"][0]["content"].get("parts", ()):
            text += part["text"]
            part["text"] = text


def _breaks(given: list[Any]) -> None:
    given[-1] = {"error": {"message": "It broke."}}


def _written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


GEMINI_ENVELOPE = (
    mutant("gem.request.accepted", PLAIN, refused),
    mutant("gem.response.content-type-json", PLAIN, header("content-type", "text/plain", where=_answered)),
    mutant("gem.response.json-object", PLAIN, raw(lambda text: b"\xef\xbb\xbf" + text)),
    mutant("gem.response.json-object", PLAIN, raw(lambda text: b"[" + text + b"]"), variant="array"),
    mutant("gem.error.status-not-200", PLAIN, _failure_under_200),
    mutant("gem.response.candidates-or-feedback", PLAIN, body(drop("candidates"))),
    mutant("gem.response.camel-case", PLAIN, body(put("model_version", value="reference"))),
    mutant("gem.response.model-version", PLAIN, body(drop("modelVersion"))),
    mutant("gem.response.response-id", PLAIN, body(drop("responseId"))),
    mutant("gem.response.response-id", STREAM, event(1, put("responseId", value="other")), variant="changes"),
    mutant("gem.response.candidate-index", "parameters.n", body(put("candidates", 1, "index", value=0))),
    mutant("gem.response.candidate-count", PLAIN, body(_twice)),
    mutant("gem.response.finish-reason-present", PLAIN, body(drop(*FINISH))),
)

GEMINI_PARTS = (
    mutant("gem.response.content-role-model", PLAIN, body(put(*CONTENT, "role", value="assistant"))),
    mutant("gem.response.parts-array", PLAIN, body(put(*PARTS, value={"text": "Hello."}))),
    mutant("gem.response.parts-array", PLAIN, body(put(*PART, value="Hello.")), variant="text"),
    mutant("gem.response.parts-array", CALLING, body(put(*PART, "text", value="Now.")), variant="two"),
    mutant("gem.response.function-call-shape", CALLING, body(put(*CALL, value="get_weather"))),
    mutant("gem.response.function-call-shape", CALLING, body(put(*CALL, "name", value="")), variant="name"),
    mutant("gem.response.function-call-shape", CALLING, body(put(*CALL, "args", value="{}")), variant="args"),
    mutant("gem.response.function-call-id", "stream.parallel-calls", events(_same_id)),
    mutant("gem.response.function-call-declared", CALLING, body(put(*CALL, "name", value="get_forecast"))),
    mutant("gem.response.no-functions-no-calls", PLAIN, body(put(*PART, value=A_CALL))),
    mutant("gem.response.args-schema", CALLING, body(put(*CALL, "args", value={"town": "Paris"}))),
    mutant("gem.response.thought-flag", PLAIN, body(put(*PART, "thought", value=0))),
    mutant(
        "gem.response.thought-flag",
        PLAIN,
        body(rewrite(*TEXT, by=lambda text: f"<think>Hm.</think>{text}")),
        variant="markup",
    ),
    mutant("gem.response.thought-flag", "reasoning.stream", events(_repeating), variant="repeated"),
    mutant("gem.response.thoughts-only-if-asked", PLAIN, body(_thinks_first)),
    mutant("gem.response.thought-signature-base64", PLAIN, body(put(*PART, "thoughtSignature", value="@@"))),
    mutant("gem.response.thought-signature-on-first-call", "stream.parallel-calls", events(_signed_late)),
    mutant("gem.response.mode-none", "tools.choice-none", body(put(*PART, value=A_CALL))),
    mutant("gem.response.mode-any", "tools.choice-required", body(says("I have been there."))),
    mutant("gem.response.mode-any", "tools.choice-required", body(put(*PARTS, value=[])), variant="nothing"),
    mutant(
        "gem.response.mode-any",
        "tools.choice-named",
        body(put(*CALL, "name", value="get_weather")),
        variant="another",
    ),
)

GEMINI_ACCOUNTS = (
    mutant("gem.response.finish-reason-enum", PLAIN, body(put(*FINISH, value="length"))),
    mutant(
        "gem.response.finish-reason-with-calls",
        CALLING,
        body(put(*FINISH, value="FINISH_REASON_UNSPECIFIED")),
    ),
    mutant("gem.response.max-tokens", CAPPED, body(put(*FINISH, value="STOP"))),
    mutant("gem.response.token-cap-respected", CAPPED, body(counting(candidatesTokenCount=40))),
    mutant(
        "gem.response.stop-sequence-excluded",
        "parameters.stop",
        body(rewrite(*TEXT, by=lambda text: f"{text}Thursday")),
    ),
    mutant(
        "gem.response.thinking-budget-zero",
        "reasoning.effort",
        only(to("reasoning.effort/1"), body(counting(thoughtsTokenCount=20))),
    ),
    mutant("gem.response.usage-metadata", PLAIN, body(drop("usageMetadata", "promptTokenCount"))),
    mutant(
        "gem.response.usage-metadata",
        PLAIN,
        body(rewrite("usageMetadata", "promptTokenCount", by=float)),
        variant="fraction",
    ),
    mutant(
        "gem.response.usage-sum",
        PLAIN,
        body(rewrite("usageMetadata", "totalTokenCount", by=lambda total: total + 1)),
    ),
    mutant(
        "gem.response.usage-cached-part",
        PLAIN,
        body(put("usageMetadata", "cachedContentTokenCount", value=999)),
    ),
    mutant("gem.response.logprobs", "parameters.logprobs", body(drop(*CANDIDATE, "logprobsResult"))),
    mutant(
        "gem.response.logprobs",
        "parameters.logprobs",
        body(put(*CANDIDATE, "logprobsResult", "chosenCandidates", 0, "logProbability", value=0.5)),
        variant="positive",
    ),
)

GEMINI_FORMATS = (
    mutant(
        "gem.response.json-mode",
        "structured.json-object",
        body(rewrite(*TEXT, by=lambda text: f"```json\n{text}\n```")),
    ),
    mutant("gem.response.schema", "structured.json-schema", body(says('{"town": "Athens"}'))),
    mutant("gem.response.enum", WORD, only(to(f"{WORD}/1"), body(says("It is a storm.")))),
    mutant("gem.response.no-call-markup-leak", "tools.choice-none", body(says(MARKUP))),
)

GEMINI_STREAM = (
    mutant(
        "gem.stream.sse-when-alt-sse",
        STREAM,
        header("content-type", "text/plain", where=_answered),
        also=("sse.content-type",),
        because="the events are events under any type, and sse.content-type tells which is theirs",
    ),
    mutant(
        "gem.stream.sse-when-alt-sse",
        STREAM,
        events(lambda given: given.__setitem__(slice(None), [_written(list(given))])),
        variant="array",
    ),
    mutant(
        "gem.stream.array-without-alt-sse", ARRAY, raw_stream(lambda text: _written(json.loads(text)[-1]))
    ),
    mutant(
        "gem.stream.array-without-alt-sse",
        ARRAY,
        raw_stream(lambda text: _written([*json.loads(text), "ping"])),
        variant="ping",
    ),
    mutant(
        "gem.stream.data-prefix-with-space",
        STREAM,
        raw_stream(lambda text: text.replace(b"data: ", b"data:", 1)),
        also=("sse.space-after-colon",),
        because="the same byte is missing for everybody",
    ),
    mutant("gem.stream.no-comments", STREAM, raw_stream(lambda text: b": ping\n\n" + text)),
    mutant(
        "gem.stream.no-comments", STREAM, raw_stream(lambda text: b"event: chunk\n" + text), variant="name"
    ),
    mutant(
        "gem.stream.no-comments", STREAM, raw_stream(lambda text: b"event: ping\n\n" + text), variant="ping"
    ),
    mutant("gem.stream.no-done-sentinel", STREAM, events(lambda given: given.append("[DONE]"))),
    mutant(
        "gem.stream.chunk-is-response",
        STREAM,
        events(lambda given: given.insert(1, {"delta": " "})),
        also=("gem.response.model-version", "gem.response.response-id"),
        because="what is no response has none of the members that every response has",
    ),
    mutant(
        "gem.stream.chunk-is-response", STREAM, event(0, put("candidates", value={})), variant="candidates"
    ),
    mutant("gem.stream.text-fragments", STREAM, events(_growing)),
    mutant(
        "gem.stream.function-call-whole", "stream.arguments", event(0, put(*CALL, "willContinue", value=True))
    ),
    mutant("gem.stream.finish-reason-last", STREAM, event(0, put(*FINISH, value="STOP"))),
    mutant(
        "gem.stream.usage-monotone",
        STREAM,
        event(0, put("usageMetadata", "candidatesTokenCount", value=999)),
    ),
    mutant("gem.stream.error-object", STREAM, events(_breaks)),
)

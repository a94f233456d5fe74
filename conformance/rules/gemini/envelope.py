"""The envelope of an answer: its status, its JSON, and the members around its candidates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.examples import dumped
from conformance.rules.gemini.answers import Answer, Reply, Response, is_error
from conformance.rules.gemini.examples import WIRES, answer, candidate, config, error, response, stream, told
from conformance.rules.gemini.views import Candidate
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import PROTO_JSON, gemini_docs, gemini_sdk
from conformance.rules.views import Violation

RESPONSE = gemini_sdk("types.py GenerateContentResponse")
OWN_PROBES = frozenset(
    {
        *("tool-result", "tool-results", "reasoning-echo", "function-result-forms"),
        *("snake-case-request", "roleless"),
    }
)
"""Probes that are to be answered and have a rule of their own which says so."""
SNAKES = {
    "response": ("prompt_feedback", "usage_metadata", "model_version", "response_id", "create_time"),
    "candidate": ("finish_reason", "finish_message", "token_count", "safety_ratings", "avg_logprobs"),
    "part": ("function_call", "inline_data", "file_data", "thought_signature", "executable_code"),
    "usage": ("prompt_token_count", "candidates_token_count", "total_token_count", "thoughts_token_count"),
}
"""Members as their fields are named, which ProtoJSON takes from a client and does not write."""
SNAKE: dict[str, Any] = {"usageMetadata": ABSENT, "usage_metadata": {"totalTokenCount": 12}}


@rule(
    "gem.request.accepted",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=gemini_docs("api/generate-content"),
    violating=error(400, expect="answer"),
    conforming=answer(),
    consequence="the feature cannot be used through this endpoint at all",
)
def accepted(reply: Reply) -> Iterator[Violation]:
    """A request that the published API allows is answered with 2xx.

    Not in the catalogue. Only requests sent to be answered count, histories of calls have rules of their own,
    and statuses about quota, load or credentials say nothing on it.
    """
    exchange = reply.reading.exchange
    if exchange.expect == "answer" and exchange.probe not in OWN_PROBES:
        yield from reply.accepted()


@rule(
    "gem.response.content-type-json",
    wires=WIRES,
    level="SHOULD",
    basis="spec",
    needs=("request",),
    source=("RFC 9110 section 8.3", gemini_docs("api/generate-content")),
    violating=answer(headers={"content-type": "text/plain"}),
    conforming=answer(headers={"content-type": "application/json"}),
    consequence="clients that go by the header show a text",
)
def content_type(one: Answer) -> Iterator[Violation]:
    """An answer that is not framed as events is application/json.

    Not in the catalogue. Streams with alt=sse are gem.stream.sse-when-alt-sse's.
    """
    events = one.asked.streams and one.asked.events
    if one.framing != "events" and not events:
        yield from one.labelled_json()


@rule(
    "gem.response.json-object",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="spec",
    needs=("request", "spelling"),
    source=("RFC 8259 sections 2, 8.1", RESPONSE),
    violating=answer(raw=b"\xef\xbb\xbf" + dumped(response())),
    conforming=answer(),
    consequence="google-genai 3.6.1 raises JSONDecodeError; of an array it makes an empty response",
)
def json_object(one: Answer) -> Iterator[Violation]:
    """The answer of generateContent is one JSON object, in UTF-8 and with nothing around it.

    Not in the catalogue.
    """
    if one.asked.streams or one.framing == "events":
        return
    if one.reading.body.problem:
        yield one.found(wanted="one JSON object in UTF-8", saw=one.reading.body.problem)
    elif one.framing == "array" or not isinstance(one.value, dict):
        yield one.found(wanted="one JSON object")


@rule(
    "gem.error.status-not-200",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=gemini_sdk("errors.py APIError.raise_for_response"),
    violating=error(200),
    conforming=error(400),
    consequence="google-genai 3.6.1 raises by the status alone and hands out a response with nothing in it",
)
def status_of_error(reply: Reply) -> Iterator[Violation]:
    """A request that failed has a 4xx or 5xx status.

    Not in the catalogue. A stream that breaks once it has begun is gem.stream.error-object's.
    """
    body = reply.reading.body.value
    if reply.reading.succeeded and isinstance(body, dict) and is_error(body):
        yield reply.found("status", wanted="400 or above, since the body is an error")


@rule(
    "gem.response.candidates-or-feedback",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    source=(RESPONSE, gemini_sdk("types.py GenerateContentResponsePromptFeedback")),
    violating=answer(body=response(candidates=ABSENT)),
    conforming=answer(body=response(candidates=ABSENT, promptFeedback={"blockReason": "SAFETY"})),
    consequence="google-genai 3.6.1's text is None: an answer that was lost looks like a blocked one",
)
def candidates_or_feedback(one: Answer) -> Iterator[Violation]:
    """The response has a non-empty array of candidates, or promptFeedback.blockReason.

    Of a stream: one of its chunks has.
    """
    if not one.complete or not (one.responses or one.framing != "whole"):
        return
    held = any(_holds_candidates(chunk) for chunk in one.responses)
    blocked = any(isinstance(chunk.get("promptFeedback", "blockReason"), str) for chunk in one.responses)
    if not (held or blocked):
        yield one.found(wanted="candidates, or the reason why the prompt was blocked", saw="neither")


@rule(
    "gem.response.camel-case",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(PROTO_JSON, gemini_sdk("types.py (members by alias)")),
    violating=answer(**SNAKE),
    conforming=answer(),
    consequence="google-genai 3.6.1 finds no counts under usage_metadata, though it reads a call so spelt",
    also=("gem.response.usage-metadata",),
)
def camel_case(one: Response) -> Iterator[Violation]:
    """Member names are in lowerCamelCase.

    Judged are known members, of the response, its counts, its candidates and their parts; what stands in a
    call's args is the model's. Corrected in what breaks: the SDK reads some of them in either spelling.
    """
    yield from _snakes(one, (), "response")
    yield from _snakes(one, ("usageMetadata",), "usage")
    for place, value in enumerate(one.candidates):
        yield from _snakes(one, ("candidates", place), "candidate")
        parts = one.get("candidates", place, "content", "parts") if isinstance(value, dict) else None
        for number in range(len(parts) if isinstance(parts, list) else 0):
            yield from _snakes(one, ("candidates", place, "content", "parts", number), "part")


@rule(
    "gem.response.model-version",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{RESPONSE} model_version",
    violating=answer(modelVersion=ABSENT),
    conforming=answer(),
    consequence="nobody can tell which model answered",
)
def model_version(one: Response) -> Iterator[Violation]:
    """modelVersion is a non-empty string.

    Not in the catalogue. The reference marks it as output only, for every response.
    """
    version = one.get("modelVersion")
    if not (isinstance(version, str) and version):
        yield one.found("modelVersion", wanted="a non-empty string")


@rule(
    "gem.response.response-id",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("values",),
    source=f"{RESPONSE} response_id",
    violating=stream(told("Hel", "lo.")[0], response(candidate(), responseId="r_2")),
    conforming=stream(),
    consequence="chunks can't be put together by it, and no report to the provider can name the response",
)
def response_id(one: Answer) -> Iterator[Violation]:
    """responseId is a non-empty string, the same in all chunks of a stream.

    Not in the catalogue.
    """
    first: Any = None
    for chunk in one.responses:
        given = chunk.get("responseId")
        if not (isinstance(given, str) and given):
            yield chunk.found("responseId", wanted="a non-empty string")
        elif first is not None and given != first:
            yield chunk.found("responseId", wanted=f'"{first}", as in the chunks before')
        else:
            first = given


@rule(
    "gem.response.candidate-index",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    source=gemini_sdk("types.py Candidate.index"),
    violating=answer(candidates=[candidate(), candidate()], asked=config(candidateCount=2)),
    conforming=answer(
        candidates=[candidate(index=ABSENT), candidate(index=1)], asked=config(candidateCount=2)
    ),
    consequence="streamed candidates run into one another",
)
def candidate_index(one: Response) -> Iterator[Violation]:
    """index tells the candidates of a response apart: an integer from 0, each once.

    Not in the catalogue. Left out it is 0, as ProtoJSON leaves zeros out.
    """
    seen: set[int] = set()
    for place, value in enumerate(one.candidates):
        index = value.get("index", 0) if isinstance(value, dict) else None
        if isinstance(value, dict) and (type(index) is not int or index < 0 or index in seen):
            yield one.found("candidates", place, "index", wanted="an index that no other candidate has")
        elif type(index) is int:
            seen.add(index)


@rule(
    "gem.response.candidate-count",
    wires=WIRES,
    level="SHOULD",
    basis="prose",
    needs=("request",),
    source=gemini_sdk("types.py GenerateContentConfig.candidate_count"),
    violating=answer(candidates=[candidate(), candidate(index=1)]),
    conforming=answer(candidates=[candidate(), candidate(index=1)], asked=config(candidateCount=2)),
    consequence="answers that nobody asked for are paid for, or those that were asked for are missing",
)
def candidate_count(one: Answer) -> Iterator[Violation]:
    """An answer has as many candidates as candidateCount says, one unless said.

    Not in the catalogue. Fewer are fine where a filter may have taken them.
    """
    if one.complete and one.asked.known:
        slots = {
            value.get("index", 0)
            for chunk in one.responses
            for value in chunk.candidates
            if isinstance(value, dict) and type(value.get("index", 0)) is int
        }
        if len(slots) > one.asked.n:
            yield one.found("candidates", wanted=f"{one.asked.n}", saw=f"{len(slots)} candidates")


@rule(
    "gem.response.finish-reason-present",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="derived",
    source=gemini_sdk("types.py FinishReason (if empty, the model has not stopped)"),
    violating=answer(more={"finishReason": ABSENT}),
    conforming=stream(),
    consequence="an answer that broke off looks like one that came to its end",
)
def finish_present(one: Candidate) -> Iterator[Violation]:
    """A candidate of an answer that came to its end has a finishReason.

    Not in the catalogue. An empty one means that the model has not stopped.
    """
    if one.complete and one.finish is None:
        yield one.pieces[-1].found("finishReason", wanted="why it ended")


def _holds_candidates(chunk: Response) -> bool:
    return any(isinstance(value, dict) for value in chunk.candidates)


def _snakes(one: Response, path: tuple[str | int, ...], kind: str) -> Iterator[Violation]:
    value = one.get(*path)
    for name in SNAKES[kind] if isinstance(value, dict) else ():
        if name in value:
            yield one.found(*path, name, wanted="its name in lowerCamelCase")

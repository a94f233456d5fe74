"""The envelope of an answer: its status, its JSON, and the members around the message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from conformance.rules.examples import dumped
from conformance.rules.ollama.answers import Answer, Chunk, Reply
from conformance.rules.ollama.examples import WIRES, answer, error, stream, told
from conformance.rules.ollama.views import Message
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import ollama, ollama_sdk
from conformance.rules.views import Violation

RESPONSE = ollama("docs/openapi.yaml ChatResponse")
STREAMING = ollama("docs/api/streaming.mdx")
SDK = ollama_sdk("_types.py ChatResponse")
OWN_PROBES = frozenset({"tool-result", "tool-results", "reasoning-echo"})
"""Probes that are to be answered and have a rule of their own which says so."""
REASONS = ("stop", "length", "load", "unload")
REQUIRED = ("model", "created_at", "message", "done")
DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})")
CAP_PROBE = "token-cap"
"""The purpose of a step that asks for far more text than its cap leaves room for."""
CAPPED = {"options": {"num_predict": 16}}


@rule(
    "oll.request.accepted",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=ollama("docs/openapi.yaml ChatRequest"),
    violating=error(400, expect="answer"),
    conforming=answer(),
    consequence="the feature cannot be used through this endpoint at all",
)
def accepted(reply: Reply) -> Iterator[Violation]:
    """A request that the published schema allows is answered with 2xx.

    Not in the catalogue. Only requests sent to be answered count, histories of calls have rules of their own,
    and statuses about quota, load or credentials say nothing on it.
    """
    exchange = reply.reading.exchange
    if exchange.expect == "answer" and exchange.probe not in OWN_PROBES:
        yield from reply.accepted()


@rule(
    "oll.response.content-type-json",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=STREAMING,
    violating=answer(headers={"content-type": "text/plain"}),
    conforming=answer(headers={"content-type": "application/json; charset=utf-8"}),
    consequence="clients that go by the header show a text",
)
def content_type(one: Answer) -> Iterator[Violation]:
    """With stream false the answer is application/json.

    Not in the catalogue.
    """
    if not one.asked.streams and one.asked.known:
        yield from one.labelled_json()


@rule(
    "oll.response.json-object",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="prose",
    needs=("request", "spelling"),
    source=(STREAMING, "RFC 8259 sections 2, 8.1"),
    violating=answer(raw=b"".join(dumped(one) + b"\n" for one in told())),
    conforming=answer(),
    consequence="ollama-python raises JSONDecodeError",
)
def json_object(one: Answer) -> Iterator[Violation]:
    """With stream false the answer is one JSON object, in UTF-8 and with nothing around it.

    Not in the catalogue.
    """
    if one.asked.streams or not one.asked.known:
        return
    if one.reading.body.problem:
        yield one.found(wanted="one JSON object in UTF-8", saw=one.reading.body.problem)
    elif not isinstance(one.value, dict):
        yield one.found(wanted="one JSON object")


@rule(
    "oll.response.keys",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(RESPONSE, SDK),
    violating=answer(message={"role": ABSENT}, created_at=ABSENT),
    conforming=answer(),
    consequence="without message or its role ollama-python raises ValidationError",
    also=("oll.response.message-role",),
)
def keys(one: Chunk) -> Iterator[Violation]:
    """Each object of an answer has model, a text, created_at, message, an object, and done, a boolean."""
    missing = [name for name in REQUIRED if name not in one.value]
    if missing:
        yield one.found(wanted="all required members", saw=f"no {', '.join(missing)}")
    for name, kind, wanted in (
        ("model", str, "a text"),
        ("message", dict, "an object"),
        ("done", bool, "true or false"),
    ):
        if name in one.value and not isinstance(one.value[name], kind):
            yield one.found(name, wanted=wanted)


@rule(
    "oll.response.created-at-rfc3339",
    wires=WIRES,
    level="MUST",
    basis="schema",
    needs=("values",),
    source=(f"{RESPONSE} created_at", "RFC 3339 section 5.6"),
    violating=answer(created_at=1_764_448_000),
    conforming=answer(created_at="2026-01-31T12:00:00.1+01:00"),
    consequence="a number makes ollama-python raise ValidationError, other texts are no time",
)
def created_at(one: Chunk) -> Iterator[Violation]:
    """created_at is an RFC 3339 timestamp."""
    value = one.get("created_at")
    if value is not ABSENT and not _is_time(value):
        yield one.found("created_at", wanted="a time as in RFC 3339")


@rule(
    "oll.response.message-role",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=(f"{RESPONSE} message", ollama_sdk("_types.py Message")),
    violating=answer(message={"content": ["Hello."]}),
    conforming=answer(),
    consequence="ollama-python raises ValidationError without a role and for a content that is no text",
)
def message_role(one: Chunk) -> Iterator[Violation]:
    """message.role is assistant, and content a string.

    Corrected: content may be left out beside calls or thinking, which ollama-python allows.
    """
    message = one.get("message")
    if not isinstance(message, dict):
        return
    if message.get("role") != "assistant":
        yield one.found("message", "role", wanted='"assistant"')
    content = message.get("content", ABSENT)
    excused = content in (ABSENT, None) and (message.get("tool_calls") or message.get("thinking"))
    if not isinstance(content, str) and not excused:
        yield one.found("message", "content", wanted="a string")


@rule(
    "oll.response.done",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{RESPONSE} done",
    violating=answer(done=False),
    conforming=answer(),
    consequence="a client that waits for done waits for ever, or takes the answer for cut",
)
def done(one: Message) -> Iterator[Violation]:
    """A whole answer is done.

    Not in the catalogue; of streams oll.stream.done-last tells.
    """
    if not one.last.streamed and one.complete and one.last.get("done") is False:
        yield one.last.found("done", wanted="true")


@rule(
    "oll.response.done-reason",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=f"{RESPONSE} done_reason",
    violating=answer(done_reason="tool_calls"),
    conforming=answer(done_reason="length"),
    consequence="an answer that was cut can't be told from one that ended",
)
def done_reason(one: Message) -> Iterator[Violation]:
    """The last object has a done_reason: stop, length, load or unload.

    The schema has it as a string; the words are those of Ollama's server.
    """
    if one.complete and one.last.done and one.last.get("done_reason") not in REASONS:
        yield one.last.found("done_reason", wanted=" or ".join(REASONS))


@rule(
    "oll.response.counts",
    wires=WIRES,
    level="SHOULD",
    basis="schema",
    source=RESPONSE,
    violating=answer(eval_count=2.5),
    conforming=stream(),
    consequence="ollama-python raises ValidationError for a fraction; without counts nobody knows the cost",
)
def counts(one: Message) -> Iterator[Violation]:
    """The last object has prompt_eval_count, eval_count and durations in nanoseconds: integers from 0.

    prompt_eval_count may be left out, as Ollama does where the prompt was in its cache.
    """
    if not one.complete or not one.last.done or one.last.get("done_reason") in ("load", "unload"):
        return
    for name in ("eval_count", "total_duration"):
        if name not in one.last.value:
            yield one.last.found(name, wanted="an integer from 0")
    for name in ("prompt_eval_count", "eval_count", *DURATIONS):
        value = one.last.value.get(name, 0)
        if not (type(value) is int and value >= 0):
            yield one.last.found(name, wanted="an integer from 0")


@rule(
    "oll.response.num-predict-respected",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=ollama("docs/openapi.yaml ModelOptions num_predict"),
    violating=answer(asked=CAPPED, eval_count=40, done_reason="length"),
    conforming=answer(asked=CAPPED, eval_count=16, done_reason="length"),
    consequence="the answer is longer than the request allows",
)
def cap_respected(one: Message) -> Iterator[Violation]:
    """eval_count does not exceed options.num_predict.

    Not in the catalogue.
    """
    spent, cap = one.last.get("eval_count"), one.asked.cap
    if type(spent) is int and cap is not None and spent > cap:
        yield one.last.found("eval_count", wanted=f"at most {cap}")


@rule(
    "oll.response.done-reason-at-cap",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("request", "purpose"),
    source=ollama("llm/server.go DoneReasonLength"),
    violating=answer(asked=CAPPED, eval_count=16, probe=CAP_PROBE),
    conforming=answer(asked=CAPPED, eval_count=16, done_reason="length", probe=CAP_PROBE),
    consequence="half a text is believed to be the whole",
)
def reason_at_cap(one: Message) -> Iterator[Violation]:
    """Output that num_predict cuts has the done_reason length.

    Not in the catalogue. An answer may come to its own end exactly at the cap, so that only one that was
    asked for far more counts.
    """
    spent, cap = one.last.get("eval_count"), one.asked.cap
    at_cap = type(spent) is int and cap is not None and spent >= cap
    if at_cap and one.reading.exchange.probe == CAP_PROBE and one.last.get("done_reason") == "stop":
        yield one.last.found("done_reason", wanted=f'"length" after {spent} of {cap} tokens')


def _is_time(value: object) -> bool:
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return False
    try:
        # A leap second is a time in RFC 3339 and none in Python.
        datetime.fromisoformat(f"{found[1]}T{found[2].replace(':60', ':59')}")
    except ValueError:
        return False
    return True

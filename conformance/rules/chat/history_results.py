"""Histories with tool results: pairing, order, content, and what the answer makes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.conversation import ASSISTANT, QUESTION, RESULT
from conformance.rules.chat.views import ChatReply, Message
from conformance.rules.errortext import error_text
from conformance.rules.examples import Exchanges, answer, call, error
from conformance.rules.pairing import by_question
from conformance.rules.reading import read_json
from conformance.rules.registry import rule
from conformance.rules.sources import schema
from conformance.rules.views import NOT_OURS, Probe, Violation, lookup
from conformance.types import Expect

TOOL_MESSAGE = schema("ChatCompletionRequestToolMessage")
VALIDATOR = "mistral-common 1.13.1 mistral_common/protocol/instruct/validator.py"
OSLO, LIMA = call("call_1", arguments='{"city":"Oslo"}'), call("call_2", arguments='{"city":"Lima"}')
TWO = {"role": "assistant", "content": None, "tool_calls": [OSLO, LIMA]}
LOG = {**RESULT, "content": "wind steady, nothing to report\n" * 8}
FROM_OSLO = {"role": "tool", "tool_call_id": "call_1", "content": "code KESTREL"}
FROM_LIMA = {"role": "tool", "tool_call_id": "call_2", "content": "code HERON"}
WHICH = {"role": "user", "content": "Which code has Oslo?"}
CANARY = "Ærø 東京 😀"
TOO_LONG = re.compile(r"context[ _](?:length|size|window|limit)|too long|\btokens\b", re.IGNORECASE)


def _asked(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


def _refused(*messages: Any, probe: str, status: int = 400, expect: Expect = "answer") -> Exchanges:
    return error(status, asked=_asked(*messages), probe=probe, expect=expect)


def _answered(*messages: Any, probe: str, expect: Expect = "answer", **more: Any) -> Exchanges:
    return answer(asked=_asked(*messages), probe=probe, expect=expect, **more)


@rule(
    "mt.tool-result-missing-400",
    level="SHOULD",
    basis="convention",
    source="issues: BloomLabsInc/genkit-plugins 225, QwenLM/qwen-code 606, MoonshotAI/kimi-cli 2405",
    probe="tool-result-missing",
    violating=_answered(QUESTION, TWO, FROM_OSLO, WHICH, probe="tool-result-missing", expect="either"),
    conforming=_refused(QUESTION, TWO, FROM_OSLO, WHICH, probe="tool-result-missing", expect="either"),
    consequence="a client that lost a result goes unnoticed here and is refused by OpenAI, Qwen and Kimi",
)
def missing(probe: Probe) -> Iterator[Violation]:
    """An assistant tool call without its tool message before the next non-tool message is refused with 400.

    The hosted vendors agree on it, down to the message. 422 is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "mt.tool-result-duplicate",
    level="SHOULD",
    basis="convention",
    source=f"{VALIDATOR} (tool call ids, V11)",
    probe="tool-result-duplicate",
    violating=_answered(QUESTION, ASSISTANT, RESULT, RESULT, probe="tool-result-duplicate", expect="either"),
    conforming=_refused(QUESTION, ASSISTANT, RESULT, RESULT, probe="tool-result-duplicate", expect="either"),
    consequence="a result sent twice goes unnoticed, and the model sees two outcomes of one call",
)
def duplicate(probe: Probe) -> Iterator[Violation]:
    """Two tool messages for one id are refused with 400.

    422 is accepted.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "mt.tool-id-required",
    level="MUST",
    basis="schema",
    source=f"{TOOL_MESSAGE} required",
    probe="tool-id-missing",
    violating=_answered(
        QUESTION, ASSISTANT, {"role": "tool", "content": "18"}, probe="tool-id-missing", expect="refusal"
    ),
    conforming=_refused(
        QUESTION, ASSISTANT, {"role": "tool", "content": "18"}, probe="tool-id-missing", expect="refusal"
    ),
    consequence="a client that forgets the id works here and nowhere else; its parallel results get mixed up",
)
def id_required(probe: Probe) -> Iterator[Violation]:
    """A tool message without tool_call_id is refused.

    With 400 or 422.
    """
    yield from probe.refused_with(400, 422)


@rule(
    "mt.tool-results-consecutive",
    level="MUST",
    basis="derived",
    source=TOOL_MESSAGE,
    probe="tool-results",
    violating=_refused(QUESTION, TWO, FROM_LIMA, FROM_OSLO, WHICH, probe="tool-results"),
    conforming=_answered(QUESTION, TWO, FROM_LIMA, FROM_OSLO, WHICH, probe="tool-results"),
    consequence="no client can answer parallel calls",
)
def consecutive(probe: Probe) -> Iterator[Violation]:
    """Several consecutive tool messages are accepted.

    In any order: the id says which call each answers.
    """
    yield from probe.accepted()


@rule(
    "mt.tool-result-any-order",
    level="MUST",
    basis="derived",
    needs=("values",),
    source=f"{TOOL_MESSAGE} tool_call_id",
    subject="model",
    probe="tool-results",
    violating=_answered(
        QUESTION, TWO, FROM_LIMA, FROM_OSLO, WHICH, probe="tool-results", message={"content": "code HERON"}
    ),
    conforming=_answered(
        QUESTION, TWO, FROM_LIMA, FROM_OSLO, WHICH, probe="tool-results", message={"content": "code KESTREL"}
    ),
    consequence="results of parallel calls are swapped, and nothing in the answer tells",
)
def any_order(message: Message) -> Iterator[Violation]:
    """Results of parallel calls are matched by id, not position.

    It takes an answer to see that, so it judges the model: the last user message names what one call was
    about, and the answer must not hold the result of another one in its place.
    """
    right, wrong = _results_by_question(message)
    said = message.content
    if right and any(text in said for text in wrong) and not any(text in said for text in right):
        yield message.found("content", wanted=f"what the call in question returned: {' or '.join(right)}")


@rule(
    "mt.tool-content-string",
    level="MUST",
    basis="schema",
    source=TOOL_MESSAGE,
    probe="tool-content-string",
    violating=_refused(
        QUESTION, ASSISTANT, {**RESULT, "content": ""}, probe="tool-content-string", status=500
    ),
    conforming=_answered(QUESTION, ASSISTANT, {**RESULT, "content": ""}, probe="tool-content-string"),
    consequence="a tool that returns nothing, or JSON, ends the conversation",
)
def content_string(probe: Probe) -> Iterator[Violation]:
    """Tool content may be any string, including empty, JSON, newlines and non-ASCII."""
    yield from probe.accepted()


@rule(
    "mt.tool-content-parts",
    level="SHOULD",
    basis="schema",
    source=TOOL_MESSAGE,
    probe="tool-content-parts",
    violating=_refused(
        QUESTION,
        ASSISTANT,
        {**RESULT, "content": [{"type": "text", "text": "18"}]},
        probe="tool-content-parts",
    ),
    conforming=_answered(
        QUESTION,
        ASSISTANT,
        {**RESULT, "content": [{"type": "text", "text": "18"}]},
        probe="tool-content-parts",
    ),
    consequence="clients that always send parts, as those with MCP tools do, cannot return a result",
)
def content_parts(probe: Probe) -> Iterator[Violation]:
    """Tool content may be an array of text parts.

    In the published schema; SHOULD, since many compatible servers accept strings only.
    """
    yield from probe.accepted()


@rule(
    "mt.tool-large-result",
    level="SHOULD",
    basis="convention",
    source=TOOL_MESSAGE,
    probe="tool-large-result",
    violating=_refused(QUESTION, ASSISTANT, LOG, probe="tool-large-result", status=500),
    conforming=_answered(QUESTION, ASSISTANT, LOG, probe="tool-large-result"),
    consequence="a tool that returns a page or a log ends the conversation",
)
def large_result(reply: ChatReply) -> Iterator[Violation]:
    """A large tool result is accepted within the context window.

    A refusal that says that the context is too small for it is accepted. Corrected: the scenario sends 24 kB,
    not 100, since a window too small for that is common and leaves nothing to judge.
    """
    response = reply.reading.exchange.response
    if response is None or reply.status < 300 or reply.status in NOT_OURS:
        return
    if reply.status not in (400, 413, 422) or not TOO_LONG.search(error_text(response.body)):
        yield reply.found("status", wanted="2xx, or 400 for the length of the context")


@rule(
    "mt.unicode-round-trip",
    level="MUST",
    basis="spec",
    source="RFC 8259 section 8.1",
    probe="tool-content-string",
    violating=_answered(
        QUESTION,
        ASSISTANT,
        {**RESULT, "content": CANARY},
        probe="tool-content-string",
        message={"content": CANARY.encode().decode("latin-1")},
    ),
    conforming=_answered(
        QUESTION,
        ASSISTANT,
        {**RESULT, "content": CANARY},
        probe="tool-content-string",
        message={"content": CANARY},
    ),
    consequence="names and places in any language but English are garbled on their way through a tool",
)
def unicode(message: Message) -> Iterator[Violation]:
    """Non-ASCII text in arguments and results survives a round trip.

    Corrected: the catalogue judges the model by it. Whether the model repeats a text is its own affair (the
    scenario asks for it); a text of which UTF-8 was read as Latin-1, or that arrives as escapes, no model
    makes, so only that is found here, and it is the endpoint's.
    """
    for text in _results(message).values():
        for word in text.split():
            if word.isascii() or word in message.content:
                continue
            if damage := next((d for d in _damaged(word) if d in message.content), None):
                yield message.found("content", wanted=word, saw=damage)


@rule(
    "mt.no-call-loop",
    level="SHOULD",
    basis="convention",
    source="reference behaviour; no published text",
    subject="model",
    probe="tool-result",
    violating=_answered(QUESTION, ASSISTANT, RESULT, probe="tool-result", calls=[call("call_2")]),
    conforming=_answered(QUESTION, ASSISTANT, RESULT, probe="tool-result"),
    consequence="an agent runs the same call until its budget is spent",
)
def call_loop(message: Message) -> Iterator[Violation]:
    """After a successful result the same call with the same arguments is not repeated."""
    answered = _results(message)
    past = [_call(one) for call_id, one in _calls(message).items() if call_id in answered]
    for one in message.calls:
        if one.arguments is not None and _call(one.value) in past:
            yield one.found(wanted="a text, or another call: this one has its result")


def _messages(message: Message) -> list[Any]:
    messages = message.asked.body.get("messages") if message.asked else None
    return messages if isinstance(messages, list) else []


def _results(message: Message) -> dict[str, str]:
    """The texts of the tool messages that were sent, by the id of their call."""
    found = {}
    for sent in _messages(message):
        call_id, content = lookup(sent, ("tool_call_id",)), lookup(sent, ("content",))
        if lookup(sent, ("role",)) == "tool" and isinstance(call_id, str) and isinstance(content, str):
            found[call_id] = content
    return found


def _calls(message: Message) -> dict[str, Any]:
    """The calls in the history that was sent, by id."""
    found = {}
    for sent in _messages(message):
        calls = lookup(sent, ("tool_calls",))
        for one in calls if isinstance(calls, list) else ():
            call_id = lookup(one, ("id",))
            if isinstance(call_id, str):
                found[call_id] = one
    return found


def _call(value: Any) -> tuple[Any, Any]:
    """What a call does: the function and its arguments, however these are spaced."""
    name, arguments = lookup(value, ("function", "name")), lookup(value, ("function", "arguments"))
    return name, read_json(arguments).value if isinstance(arguments, str) else arguments


def _results_by_question(message: Message) -> tuple[list[str], list[str]]:
    """The results of the calls that the last user message is about, and those of the other calls."""
    users = [m for m in _messages(message) if lookup(m, ("role",)) == "user"]
    question = lookup(users[-1], ("content",)) if users else None
    results = _results(message)
    answered = (
        (_call(one)[1], results[call_id]) for call_id, one in _calls(message).items() if results.get(call_id)
    )
    return by_question(question, answered) if isinstance(question, str) else ([], [])


def _damaged(word: str) -> Iterator[str]:
    """What a word looks like whose bytes were misread, or that was escaped once too often."""
    yield word.encode("utf-8", "surrogatepass").decode("latin-1")
    yield word.encode("utf-8", "surrogatepass").decode("cp1252", "replace")
    yield json.dumps(word)[1:-1]

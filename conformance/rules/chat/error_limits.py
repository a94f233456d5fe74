"""Refusals of what is too much: too long, too often, unpaid, or not wanted by a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.views import ChatReply
from conformance.rules.errortext import error_text
from conformance.rules.examples import USAGE, answer, error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import OPENAPI, docs, schema, sdk
from conformance.rules.views import NOT_OURS, OPENAI_WIRES, ErrorAnswer, Probe, Violation, lookup

CODES = docs("guides/error-codes")
TOO_MANY = f"{OPENAPI} #/components/responses/TooManyRequests"
BYTES_PER_TOKEN = 16
"""At most, for digits: no tokenizer in use has tokens of so many."""

UNPAID = re.compile(r"quota|billing|credit|balance|payment", re.IGNORECASE)
THROTTLED = re.compile(r"rate|limit|throttl|too_?many|requests|tokens", re.IGNORECASE)
POLICY = re.compile(r"content[ _-]?(?:filter|policy|management|moderation)|ResponsibleAI", re.IGNORECASE)

LONG = {"messages": [{"role": "user", "content": "100000 " * 400}]}


@rule(
    "err.body-too-large-413",
    level="SHOULD",
    basis="spec",
    source="RFC 9110 section 15.5.14",
    probe="body-too-large",
    opt_in=True,
    violating=error(500, probe="body-too-large", expect="either"),
    conforming=error(413, probe="body-too-large", expect="either"),
    consequence="a client retries what can never succeed, and is not told to send less",
)
def body_too_large(probe: Probe) -> Iterator[Violation]:
    """An oversized body gets 413 (400 tolerated), never a reset or 5xx.

    An endpoint that answers takes bodies of that size. A reset cannot be told from a broken network, and
    shows as an error of the run. Nothing advertises a limit, so the suite chose the size.
    """
    if not probe.reading.succeeded:
        yield from probe.refused_with(413, 400)


@rule(
    "err.context-length-400",
    level="SHOULD",
    basis="convention",
    source=(CODES, "openresponses/openresponses src/pages/specification.mdx section truncation"),
    probe="context-length",
    opt_in=True,
    violating=answer(asked=LONG, usage=USAGE, probe="context-length", expect="either"),
    conforming=error(
        asked=LONG,
        error={"param": "messages", "code": "context_length_exceeded"},
        probe="context-length",
        expect="either",
    ),
    consequence="agents shorten their history on this code; a prompt cut in silence is answered by half",
)
def context_length(reply: ChatReply) -> Iterator[Violation]:
    """A prompt above the context window gets 400 with code context_length_exceeded.

    413 is accepted where the body was what was too large. An answer is right where the context is larger;
    one whose prompt_tokens are too few for the prompt shows that it was cut.
    """
    if reply.reading.succeeded:
        counted = lookup(reply.reading.body.value, ("usage", "prompt_tokens"))
        least = len(reply.reading.exchange.request.body) // BYTES_PER_TOKEN
        if type(counted) is int and counted < least:
            wanted = f"a refusal, or at least {least} prompt tokens"
            yield reply.found(wanted=wanted, saw=f"an answer to {counted} prompt tokens")
    elif reply.status == 400:
        code = lookup(reply.reading.body.value, ("error", "code"))
        if code != "context_length_exceeded":
            text = error_text(reply.reading.exchange.response.body) if reply.reading.exchange.response else ""
            yield reply.found(wanted="the code context_length_exceeded", saw=f"400: {text}")
    elif reply.status != 413 and reply.status not in NOT_OURS:
        yield reply.found("status", wanted="400")


@rule(
    "err.retry-after-present",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="schema",
    source=(TOO_MANY, sdk("_base_client.py _parse_retry_after_header")),
    violating=error(429, headers={"retry-after": ABSENT}),
    conforming=error(429, headers={"retry-after": ABSENT}, error={"code": "insufficient_quota"}),
    consequence="openai-python guesses: it waits half a second, then one, and gives up after the third try",
)
def retry_after(refusal: ErrorAnswer) -> Iterator[Violation]:
    """429 carries Retry-After (or retry-after-ms).

    The schema lets it out where the user has to act, as for a spent quota. Corrected: of 503, RFC 9110 says
    only that it may carry one, so that is not judged.
    """
    if refusal.reading.status != 429 or UNPAID.search(_kind(refusal)):
        return
    if not (refusal.http.header("retry-after") or refusal.http.header("retry-after-ms")):
        yield refusal.http.found("headers", "retry-after", wanted="when to come back")


@rule(
    "err.rate-limit-vs-quota",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="prose",
    source=f"{CODES} 429",
    violating=error(429, error={"code": None, "type": "invalid_request_error"}),
    conforming=error(429, error={"code": "insufficient_quota", "type": "insufficient_quota"}),
    consequence="a client waits for a limit to pass when what is missing is money",
)
def quota(refusal: ErrorAnswer) -> Iterator[Violation]:
    """Quota exhaustion is told apart from rate limiting by code.

    A type that says which it is will do; a status and a sentence will not.
    """
    said = _kind(refusal)
    if refusal.reading.status == 429 and not (UNPAID.search(said) or THROTTLED.search(said)):
        yield refusal.found("error", "code", wanted="rate_limit_exceeded, insufficient_quota or the like")


@rule(
    "err.failed-generation",
    level="MAY",
    basis="convention",
    source="Groq docs tool use (seen in sipeed/picoclaw#748, agno-agi/agno#4090)",
    violating=error(error={"code": "tool_use_failed", "failed_generation": {"name": "f"}}),
    conforming=error(error={"code": "tool_use_failed", "failed_generation": "<function=f{}>"}),
    consequence="what the model wrote is lost, and the client cannot try to read the call itself",
)
def failed_generation(refusal: ErrorAnswer) -> Iterator[Violation]:
    """A server that validates calls may answer 400 code tool_use_failed with failed_generation.

    Then that is the text the model wrote.
    """
    if refusal.error is not None and "failed_generation" in refusal.error:
        if not isinstance(refusal.error["failed_generation"], str):
            yield refusal.found("error", "failed_generation", wanted="a string")
        if refusal.reading.status != 400:
            yield refusal.http.found("status", wanted="400, since the model's call was at fault")


@rule(
    "err.content-filter",
    wires=OPENAI_WIRES,
    level="SHOULD",
    basis="convention",
    source=(
        schema("CreateChatCompletionResponse finish_reason"),
        sdk("_exceptions.py ContentFilterFinishReasonError"),
    ),
    violating=error(500, error={"message": "Blocked by content policy.", "type": "server_error"}),
    conforming=error(400, error={"message": "Blocked by policy.", "code": "content_policy_violation"}),
    consequence="clients retry a prompt that will be blocked again, or cannot tell why it was",
)
def content_filter(refusal: ErrorAnswer) -> Iterator[Violation]:
    """A prompt blocked by policy gets 400 with a policy code.

    Seen where an error speaks of one. That a completion blocked midway finishes with content_filter cannot
    be seen from outside, so it is not judged; nor does the suite send a prompt that would have to be blocked.
    """
    if refusal.error is None or refusal.reading.status in NOT_OURS:
        return
    codes = _kind(refusal) + " " + _text(lookup(refusal.error, ("innererror", "code")))
    coded = POLICY.search(codes) is not None
    if coded or POLICY.search(_text(refusal.error.get("message"))):
        if refusal.reading.status != 400:
            yield refusal.http.found("status", wanted="400")
        elif not coded:
            yield refusal.found("error", "code", wanted="content_policy_violation or the like")


def _kind(refusal: ErrorAnswer) -> str:
    """The code and type of an error, as one text."""
    error = refusal.error or {}
    return f"{_text(error.get('code'))} {_text(error.get('type'))}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

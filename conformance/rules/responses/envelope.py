"""The envelope of a response: the status of the answer, and the members around its output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.responses.examples import USAGE, WIRES, answer, call, error, open_run, stream, told
from conformance.rules.responses.views import Answer, Reply, Result, Snapshot, hidden_error
from conformance.rules.sources import open_responses as prose
from conformance.rules.sources import open_schema, schema, sdk
from conformance.rules.views import Violation

RESPONSE = schema("Response")
STATUSES = ("completed", "failed", "in_progress", "cancelled", "queued", "incomplete")
UNFINISHED = ("in_progress", "queued")
REASONS = ("max_output_tokens", "content_filter", "max_messages", "steered")
REQUIRED = (
    *("created_at", "error", "id", "incomplete_details", "instructions", "metadata", "model", "object"),
    *("output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p"),
)
OPEN_REQUIRED = (
    *REQUIRED,
    *("background", "completed_at", "frequency_penalty", "max_output_tokens", "max_tool_calls"),
    *("presence_penalty", "previous_response_id", "prompt_cache_key", "reasoning", "safety_identifier"),
    *("service_tier", "status", "store", "text", "top_logprobs", "truncation", "usage"),
)
CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@rule(
    "resp.request.accepted",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=schema("CreateResponse"),
    violating=error(400, expect="answer"),
    conforming=answer(),
    consequence="the feature cannot be used through this endpoint at all",
)
def accepted(reply: Reply) -> Iterator[Violation]:
    """A request that the published schema allows is answered with 2xx.

    The rule is this suite's own: the schema lists what a client may send. Only requests sent to be answered
    count, probes have rules of their own, and statuses about quota, load or credentials say nothing on it.
    """
    exchange = reply.reading.exchange
    if exchange.expect == "answer" and exchange.probe is None:
        yield from reply.accepted()


@rule(
    "resp.error.status-not-200",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    source=sdk("_client.py _make_status_error"),
    violating=error(200),
    conforming=error(400),
    consequence="openai-python 3.57.0 raises by status alone and hands out a Response full of None: "
    "reading output_text raises TypeError",
)
def status_of_error(reply: Reply) -> Iterator[Violation]:
    """A failed request has a 4xx or 5xx status.

    A response that failed while it was made is another matter: it is a response, with an error in it.
    """
    if reply.reading.succeeded and hidden_error(reply.reading):
        yield reply.found("status", wanted="400 or above, since the body is an error")


@rule(
    "resp.response.content-type-json",
    wires=WIRES,
    level="MUST",
    basis="spec",
    source=(prose("HTTP Responses"), "RFC 9110 section 8.3"),
    violating=answer(headers={"content-type": "text/plain"}),
    conforming=answer(headers={"content-type": "application/json; charset=utf-8"}),
    consequence="openai-python 3.57.0 reads the JSON all the same; clients that go by the header show a text",
)
def content_type(reply: Answer) -> Iterator[Violation]:
    """A response that is not streamed is application/json."""
    yield from reply.labelled_json()


@rule(
    "resp.response.object-literal",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(object="chat.completion"),
    conforming=answer(),
    consequence="clients that tell documents apart by it take this for something else",
)
def object_literal(reply: Answer) -> Iterator[Violation]:
    """The body is a JSON object whose object is response."""
    if not isinstance(reply.value, dict):
        problem = reply.reading.body.problem
        yield reply.found(wanted="a response object", saw=problem or None)
    elif reply.get("object") not in ("response", ABSENT):
        yield reply.found("object", wanted='"response"')


@rule(
    "resp.response.id",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(id=None),
    conforming=answer(),
    consequence="nothing can be said of the response again: no previous_response_id, no retrieval",
)
def response_id(one: Snapshot) -> Iterator[Violation]:
    """id is a non-empty string."""
    given = one.get("id")
    if given is not ABSENT and not (isinstance(given, str) and given):
        yield one.found("id", wanted="a non-empty string")


@rule(
    "resp.response.required-keys-openai",
    wires=WIRES,
    flavour="openai",
    level="MUST",
    basis="schema",
    source=f"{RESPONSE} required",
    violating=stream(told(metadata=ABSENT)),
    conforming=answer(service_tier=ABSENT, store=ABSENT),
    consequence="openai-python hands out None for what its type says is there, and clients that loop over "
    "tools fail",
)
def required_openai(one: Snapshot) -> Iterator[Violation]:
    """A response has every member that OpenAI's schema requires.

    Those are created_at, error, id, incomplete_details, instructions, metadata, model, object, output,
    parallel_tool_calls, temperature, tool_choice, tools and top_p; several of them may be null.
    """
    yield from _missing(one, REQUIRED)


@rule(
    "resp.response.required-keys-open-responses",
    wires=WIRES,
    flavour="open-responses",
    level="MUST",
    basis="schema",
    source=open_schema("ResponseResource"),
    violating=open_run(answer(service_tier=ABSENT, store=ABSENT)),
    conforming=open_run(answer()),
    consequence="clients generated from the Open Responses schema refuse the response",
)
def required_open(one: Snapshot) -> Iterator[Violation]:
    """A response has every member that the Open Responses schema requires.

    Beside OpenAI's: background, completed_at, frequency_penalty, max_output_tokens, max_tool_calls,
    presence_penalty, previous_response_id, prompt_cache_key, reasoning, safety_identifier, service_tier,
    status, store, text, top_logprobs, truncation and usage.
    """
    yield from _missing(one, OPEN_REQUIRED)


@rule(
    "resp.response.created-at-seconds",
    wires=WIRES,
    level="MUST",
    basis="schema",
    needs=("values",),
    source=RESPONSE,
    violating=answer(created_at="2026-01-01"),
    conforming=answer(created_at=1_764_000_000.5),
    consequence="clients that compute with it fail, or file the response under another century",
)
def created_at(one: Snapshot) -> Iterator[Violation]:
    """created_at is a number of Unix seconds.

    A fraction is allowed: OpenAI's schema says number.
    """
    value = one.get("created_at")
    if value is not ABSENT and not (type(value) in (int, float) and 10**9 <= value < 10**11):
        yield one.found("created_at", wanted="Unix seconds")


@rule(
    "resp.response.status-enum",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(RESPONSE, prose("State machines")),
    violating=answer(status="done"),
    conforming=answer(status="completed"),
    consequence="agent loops branch on the value and wait for ever, or take an unknown one for a failure",
)
def status_enum(one: Snapshot) -> Iterator[Violation]:
    """status is completed, failed, in_progress, cancelled, queued or incomplete.

    OpenAI's schema does not list it as required, its prose and every SDK take it for granted.
    """
    if one.get("status") not in STATUSES:
        yield one.found("status", wanted=" or ".join(STATUSES))


@rule(
    "resp.response.status-terminal",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{RESPONSE} background", prose("State machines")),
    violating=answer(status="in_progress"),
    conforming=answer(status="queued", asked={"background": True}, usage=None),
    consequence="a client that did not ask for background work takes half an answer for all of it",
)
def status_terminal(reply: Answer) -> Iterator[Violation]:
    """Unless background work was asked for, a response comes when it is finished.

    Its status is completed, failed, incomplete or cancelled. For streams see resp.stream.one-terminal-event.
    """
    background = reply.asked is not None and reply.asked.background
    if reply.get("status") in UNFINISHED and not background:
        yield reply.found("status", wanted="completed, failed, incomplete or cancelled")


@rule(
    "resp.response.error-iff-failed",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=schema("ResponseError"),
    violating=answer(status="failed"),
    conforming=answer(status="failed", error={"code": "server_error", "message": "It broke."}),
    consequence="a client shows an empty answer where the model failed, or a failure where it did not",
)
def error_iff_failed(result: Result) -> Iterator[Violation]:
    """error is an object with code and message when status is failed, and null otherwise."""
    status, told_error = result.get("status"), result.get("error")
    if status == "failed":
        texts = told_error if isinstance(told_error, dict) else {}
        if not all(isinstance(texts.get(name), str) for name in ("code", "message")):
            yield result.found("error", wanted="an object with code and message (status is failed)")
    elif status in STATUSES and told_error not in (None, ABSENT):
        yield result.found("error", wanted=f"null (status is {status})")


@rule(
    "resp.response.incomplete-details",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(f"{RESPONSE} incomplete_details", open_schema("IncompleteDetails")),
    violating=answer(status="incomplete"),
    conforming=answer(**CUT),
    consequence="a client cannot tell a cap that it may lift from a filter that it may not",
)
def incomplete_details(result: Result) -> Iterator[Violation]:
    """incomplete_details has a reason when status is incomplete, and is null otherwise."""
    status, details = result.get("status"), result.get("incomplete_details")
    if status == "incomplete":
        if not isinstance(result.get("incomplete_details", "reason"), str):
            yield result.found("incomplete_details", wanted="an object with a reason (status is incomplete)")
    elif status in STATUSES and details not in (None, ABSENT):
        yield result.found("incomplete_details", wanted=f"null (status is {status})")


@rule(
    "resp.response.incomplete-reason-openai",
    wires=WIRES,
    flavour="openai",
    level="MUST",
    basis="schema",
    source=(f"{RESPONSE} incomplete_details", sdk("types/responses/response.py IncompleteDetails")),
    violating=stream(told(**{**CUT, "incomplete_details": {"reason": "length"}}, store=ABSENT)),
    conforming=stream(told(**{**CUT, "incomplete_details": {"reason": "content_filter"}}, store=ABSENT)),
    consequence="clients that map the reason to a finish reason call it unknown",
)
def incomplete_reason(result: Result) -> Iterator[Violation]:
    """incomplete_details.reason is max_output_tokens, content_filter, max_messages or steered.

    Corrected: the catalogue has the first two only; the SDK's type has four. Open Responses allows any text.
    """
    reason = result.get("incomplete_details", "reason")
    if isinstance(reason, str) and reason not in REASONS:
        yield result.found("incomplete_details", "reason", wanted=" or ".join(REASONS))


@rule(
    "resp.response.cap-gives-incomplete",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request",),
    source=(f"{RESPONSE} incomplete_details", schema("CreateResponse max_output_tokens")),
    violating=answer(
        call(arguments='{"city":"Os'),
        asked={"max_output_tokens": 16},
        usage={**USAGE, "output_tokens": 16, "total_tokens": 25},
    ),
    conforming=answer(
        call(arguments='{"city":"Os', status="incomplete"),
        asked={"max_output_tokens": 16},
        usage={**USAGE, "output_tokens": 16, "total_tokens": 25},
        **CUT,
    ),
    also=("resp.response.function-arguments-json",),
    consequence="a cut answer looks like an ended one: half a call is run, half a text is believed",
)
def cap(result: Result) -> Iterator[Violation]:
    """Output that max_output_tokens cuts has the status incomplete.

    An answer may come to its own end exactly at the cap, so that the count alone proves nothing: it must
    have been asked for far more than the cap allows, or stop in the middle of a call's arguments.
    """
    limit = result.asked.cap if result.asked else None
    spent = result.get("usage", "output_tokens")
    if limit is None or type(spent) is not int or spent < limit or result.get("status") != "completed":
        return
    half = any(item.halved for item in result.calls)
    if half or result.reading.exchange.probe == "token-cap":
        yield result.found("status", wanted=f'"incomplete": {spent} of at most {limit} tokens')


def _missing(one: Snapshot, required: tuple[str, ...]) -> Iterator[Violation]:
    missing = [name for name in required if name not in one.value]
    if missing:
        yield one.found(wanted="all required members", saw=f"no {', '.join(missing)}")

"""The envelope of a message: status, headers, JSON, the members around the content."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.anthropic.examples import USAGE, WIRES, answer, error, stream
from conformance.rules.anthropic.views import Answer, Message, Reply
from conformance.rules.reading import ABSENT
from conformance.rules.registry import RULES, rule
from conformance.rules.sources import anthropic_docs, anthropic_sdk
from conformance.rules.views import Probe, Violation

MESSAGE = anthropic_sdk("types/message.py")
PARAMS = anthropic_sdk("types/message_create_params.py")
REASONS = (
    "end_turn",
    "max_tokens",
    "stop_sequence",
    "tool_use",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
    "compaction",
)
LITERALS = {"type": "message", "role": "assistant"}
FROM_A_PROXY = frozenset({502, 503, 504})


@rule(
    "anth.request.accepted",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=PARAMS,
    violating=error(400, expect="answer"),
    conforming=answer(),
    consequence="the feature cannot be used through this endpoint at all",
)
def accepted(reply: Reply) -> Iterator[Violation]:
    """A request that the published API allows is answered with 2xx.

    The rule is this suite's own: the schema lists what a client may send. Only requests sent to be answered
    count, those of a probe with a rule of its own aside; statuses about quota, load or credentials say
    nothing on it.
    """
    exchange = reply.reading.exchange
    if exchange.expect == "answer" and not _has_own_rule(exchange.probe):
        yield from reply.accepted()


def _has_own_rule(probe: str | None) -> bool:
    """Whether a rule judges the status of the answer to the probe."""
    mine = (one for one in RULES.values() if one.probe == probe and "anthropic-messages" in one.wires)
    return probe is not None and any(one.view is Probe for one in mine)


@rule(
    "anth.response.content-type-json",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=anthropic_docs("api/overview (the API always returns JSON)"),
    violating=answer(headers={"content-type": "text/html"}),
    conforming=answer(headers={"content-type": "application/json; charset=utf-8"}),
    consequence="anthropic 2.14.0 reads the JSON all the same, or hands out a page as a str in place of a "
    "Message",
)
def content_type(reply: Answer) -> Iterator[Violation]:
    """A successful request without streaming is answered with 200 and media type application/json.

    The rule is this suite's own; the catalogue has it for Chat alone.
    """
    if reply.reading.status != 200:
        yield reply.http.found("status", wanted="200")
    yield from reply.labelled_json()


@rule(
    "anth.response.body-single-json-object",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="spec",
    needs=("spelling",),
    source="RFC 8259 sections 2, 8.1",
    violating=answer(raw=b'{"id":"msg_1","usage":NaN}'),
    conforming=answer(),
    consequence="strict JSON parsers refuse the whole answer",
)
def single_object(reply: Answer) -> Iterator[Violation]:
    """The body is exactly one RFC 8259 JSON object encoded as UTF-8 with no byte-order mark.

    The rule is this suite's own; the catalogue has it for Chat alone.
    """
    problem = reply.reading.body.problem
    if problem or not isinstance(reply.value, dict):
        yield reply.found(wanted="one JSON object in UTF-8", saw=problem or None)


@rule(
    "anth.response.required-keys",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(model=ABSENT),
    conforming=answer(),
    consequence="anthropic 2.14.0 builds a Message with what is missing None: message.usage.output_tokens "
    "raises AttributeError",
)
def required(reply: Answer) -> Iterator[Violation]:
    """A message has id, type, role, model, content, stop_reason and usage.

    Corrected: stop_sequence may be left out; its type allows null and no client reads it without a stop.
    """
    if isinstance(reply.value, dict):
        for name in ("id", "type", "role", "model", "content", "stop_reason", "usage"):
            if name not in reply.value:
                yield reply.found(name, wanted=f"a member {name}")


@rule(
    "anth.response.type-role-literals",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(type="completion"),
    conforming=answer(),
    consequence="clients that tell answers apart by type take this for another kind, and one that appends it "
    "to the history is refused for its role",
)
def literals(reply: Answer) -> Iterator[Violation]:
    """type is message and role is assistant."""
    for name, literal in LITERALS.items():
        if reply.get(name) not in (literal, ABSENT):
            yield reply.found(name, wanted=f'"{literal}"')


@rule(
    "anth.response.content-array",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=MESSAGE,
    violating=answer(content="Hello."),
    conforming=answer(),
    consequence="every client loops over the blocks: one over a string gets its letters",
)
def content_array(reply: Answer) -> Iterator[Violation]:
    """content is an array of blocks with type."""
    content = reply.get("content")
    if content is ABSENT:
        return
    if not isinstance(content, list):
        yield reply.found("content", wanted="an array")
        return
    for place, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if not (isinstance(kind, str) and kind):
            yield reply.found("content", place, wanted="an object with a type")


@rule(
    "anth.response.stop-reason-enum",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=(anthropic_sdk("types/stop_reason.py"), anthropic_sdk("types/beta/beta_stop_reason.py")),
    violating=answer(stop_reason="stop"),
    conforming=answer(stop_reason="end_turn"),
    consequence="agent loops branch on the value and treat an unknown one as a failure or as the end",
)
def reason_enum(message: Message) -> Iterator[Violation]:
    """stop_reason is one of the eight that are published.

    They are end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal,
    model_context_window_exceeded and, in beta, compaction (asked for by pause_after_compaction). In a stream,
    that of its last message_delta.
    """
    if message.end is not None:
        reason = message.end.get("stop_reason")
        if reason is not ABSENT and reason is not None and reason not in REASONS:
            yield message.end.found("stop_reason", wanted=" or ".join(REASONS))


@rule(
    "anth.response.stop-reason-not-null",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=f"{MESSAGE} stop_reason",
    violating=answer(stop_reason=None),
    conforming=stream(),
    consequence="a client cannot tell an ended answer from a cut one",
)
def reason_not_null(reply: Answer) -> Iterator[Violation]:
    """stop_reason is non-null in a non-streamed message."""
    if reply.get("stop_reason") is None:
        yield reply.found("stop_reason", wanted="a reason")


@rule(
    "anth.response.usage-keys",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=anthropic_sdk("types/usage.py"),
    violating=answer(usage={"input_tokens": 9}),
    conforming=answer(usage=USAGE),
    consequence="anthropic 2.14.0 gives None for a missing count, and sums over it raise TypeError",
)
def usage_keys(reply: Answer) -> Iterator[Violation]:
    """usage has input_tokens and output_tokens, integers of 0 or more.

    In streams anth.stream.message-start-shape and anth.stream.message-delta-usage say so.
    """
    usage = reply.get("usage")
    if usage is ABSENT:
        return
    for name in ("input_tokens", "output_tokens"):
        count = reply.get("usage", name)
        if not (type(count) is int and count >= 0):
            yield reply.found("usage", name, wanted="an integer of 0 or more")


@rule(
    "anth.response.request-id-header",
    wires=WIRES,
    level="MAY",
    strict_level="SHOULD",
    basis="prose",
    source=(
        anthropic_docs("api/errors (request id)"),
        anthropic_sdk("_exceptions.py APIStatusError.request_id"),
    ),
    violating=answer(headers={"request-id": ABSENT, "x-request-id": "req_1"}),
    conforming=answer(headers={"request-id": "req_1"}),
    consequence="anthropic 2.14.0's _request_id is None, and no report to the provider can name the request",
)
def request_id(reply: Reply) -> Iterator[Violation]:
    """Every response has a request-id header.

    Demoted from SHOULD, like x-request-id on Chat: the SDK's field is optional, so its absence breaks no
    client, and it would otherwise colour every cell of most servers.
    """
    if reply.status not in FROM_A_PROXY and not reply.header("request-id"):
        yield reply.found("headers", "request-id", wanted="an id of the request")

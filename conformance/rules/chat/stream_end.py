"""How a stream ends: finish reasons, and failures on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.rules.chat.response import FINISH_REASONS
from conformance.rules.chat.stream import CHUNK, HELPER
from conformance.rules.chat.streams import ChatStream, ChoiceStream, Delta
from conformance.rules.examples import opened, piece, start, stream, tool_stream
from conformance.rules.registry import rule
from conformance.rules.sources import sdk
from conformance.rules.views import Violation

# A failure's head and a word of the machinery: prose about failures seldom begins so.
FAILURE_TEXT = re.compile(
    r"""\s*(?: \[?error\]?\s*[:-] | exception\b | traceback\ \(most | internal\ server\ error
          | http\ ?(?:error\ )?5\d\d | \{\s*"error"\s*: )
    .{0,400}?
    (?: cuda | out\ of\ memory | oom\b | upstream | timed?[ -]?out | connection | server\ error
      | service\ unavailable | overloaded | status\ code | http | traceback | exception )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
ERROR_EVENT = b'data: {"error":{"message":"No memory.","type":"server_error","param":null,"code":null}}\n\n'


@rule(
    "chat.stream.nothing-after-finish",
    level="MUST",
    basis="derived",
    source=CHUNK,
    violating=stream(start(), piece("stop"), piece(content="Hello.")),
    conforming=stream(),
    consequence="clients that stop at the finish reason lose what follows",
)
def nothing_after(choice: ChoiceStream) -> Iterator[Violation]:
    """After its finish_reason a choice receives no further content, refusal or tool deltas."""
    over = False
    for one in choice.deltas:
        if over and one.payload:
            yield one.found("delta", one.payload, wanted="nothing after the finish reason")
        over = over or bool(one.finish_reason)


@rule(
    "chat.stream.finish-before-done",
    level="MUST",
    basis="derived",
    source=CHUNK,
    violating=stream(start(), piece(content="Hello.")),
    conforming=stream(),
    consequence="openai-python returns finish_reason None: a cut answer looks like an ended one",
)
def finish_before_done(choice: ChoiceStream) -> Iterator[Violation]:
    """Every choice has finished before [DONE].

    Also where the server ends the stream without [DONE]; a broken connection is sse.done-sentinel's.
    """
    if choice.settled and choice.finish_reason is None:
        yield choice.deltas[-1].found("finish_reason", wanted="a reason before the stream ends")


@rule(
    "chat.stream.finish-reason-null-until-end",
    level="MUST",
    basis="schema",
    source=CHUNK,
    violating=stream(start(), piece("", content="Hello."), piece("stop")),
    conforming=stream(),
    consequence="clients that test for null take the first chunk for the last",
)
def null_until_end(one: Delta) -> Iterator[Violation]:
    """finish_reason is null on every chunk before the finishing chunk of that choice.

    The finishing chunk is the first with a reason; more than one is chat.stream.finish-reason-once's.
    """
    reason = one.finish_reason
    if reason is not None and not (isinstance(reason, str) and reason):
        yield one.found("finish_reason", wanted="null, or a reason")


@rule(
    "chat.stream.finish-reason-once",
    level="SHOULD",
    basis="convention",
    source=(CHUNK, f"{HELPER} get_done_events"),
    violating=stream(start(), piece(content="Hello."), piece("stop"), piece("stop")),
    conforming=stream(),
    consequence="clients that close the turn at a finish reason close it twice; openai-python does not mind",
)
def finish_once(choice: ChoiceStream) -> Iterator[Violation]:
    """Each choice gets exactly one non-null finish_reason."""
    for one in [delta for delta in choice.deltas if delta.finish_reason][1:]:
        yield one.found("finish_reason", wanted="one finish reason per choice")


@rule(
    "chat.stream.finish-reason-enum",
    level="MUST",
    basis="schema",
    source=CHUNK,
    violating=stream(start(), piece(content="Hello."), piece("eos")),
    conforming=stream(),
    consequence="agent loops branch on the value and treat an unknown one as a failure or as the end",
)
def finish_enum(one: Delta) -> Iterator[Violation]:
    """A non-null finish_reason is one of the five enum values."""
    if isinstance(one.finish_reason, str) and one.finish_reason and one.finish_reason not in FINISH_REASONS:
        yield one.found("finish_reason", wanted=" or ".join(FINISH_REASONS))


@rule(
    "chat.stream.finish-chunk-empty-delta",
    level="MAY",
    basis="convention",
    source=(f"{CHUNK} example", "ollama/ollama@fb307609 openai/openai.go FinishChunk"),
    violating=stream(start(), piece("stop", content="Hello.")),
    conforming=stream(),
    consequence="clients that skip the delta of a finishing chunk lose its text",
)
def finish_empty(one: Delta) -> Iterator[Violation]:
    """The finishing chunk has an empty delta.

    Reference behaviour only: content on the finishing chunk is legal and the SDK handles it, so no warning.
    """
    if one.finish_reason and one.payload:
        yield one.found("delta", one.payload, wanted="an empty delta beside the finish reason")


@rule(
    "chat.stream.finish-tool-calls",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{CHUNK} finish_reason",
    violating=tool_stream(opened(arguments='{"city":"Oslo"}'), finish="stop"),
    conforming=tool_stream(opened(arguments='{"city":"Oslo"}')),
    consequence="agent loops that branch on finish_reason never run the call",
)
def finish_tool_calls(choice: ChoiceStream) -> Iterator[Violation]:
    """A choice that streamed tool calls finishes with tool_calls.

    With a forced call OpenAI itself finishes with stop, so that is accepted.
    """
    forced = choice.asked is None or choice.asked.forced is not None
    if choice.calls and choice.finish_reason in ("stop", "function_call") and not forced:
        one = next(delta for delta in choice.deltas if delta.finish_reason is not None)
        yield one.found("finish_reason", wanted='"tool_calls"')


@rule(
    "chat.stream.error-object",
    level="MUST",
    basis="sdk",
    needs=("framing",),
    source=sdk("_streaming.py Stream"),
    violating=stream(start(), b'event: error\ndata: {"message":"Out of memory."}\n\n', done=b""),
    conforming=stream(start(), ERROR_EVENT, done=b"", expect="either"),
    consequence="openai-python raises only on a truthy error member: the failure is delivered as a chunk",
)
def error_object(one: ChatStream) -> Iterator[Violation]:
    """A failure after streaming began is sent as a data event with an error object holding a message."""
    if one.error is not None and not isinstance(one.error.get("error", "message"), str):
        yield one.error.found("error", wanted="an object with a message")


@rule(
    "chat.stream.error-ends-stream",
    level="SHOULD",
    basis="convention",
    source=sdk("_streaming.py"),
    violating=stream(start(), ERROR_EVENT, piece(content="Hello."), done=b"", expect="either"),
    conforming=stream(start(), ERROR_EVENT, done=b"", expect="either"),
    consequence="clients raise at the error and never see what follows",
)
def error_ends(one: ChatStream) -> Iterator[Violation]:
    """Nothing but an optional [DONE] follows a mid-stream error."""
    if one.error is not None:
        for later in one.chunks:
            if (later.event or 0) > (one.error.event or 0):
                yield later.found(wanted="nothing after the error")


@rule(
    "chat.stream.validation-error-before-stream",
    level="MUST",
    basis="sdk",
    needs=("purpose",),
    source=sdk("_client.py _make_status_error"),
    violating=stream(ERROR_EVENT, done=b"", expect="refusal"),
    conforming=stream(start(), ERROR_EVENT, done=b"", expect="either"),
    consequence="openai-python's status exceptions depend on the HTTP status: a refusal looks like a "
    "broken stream",
)
def error_before(one: ChatStream) -> Iterator[Violation]:
    """A bad request is refused with a 4xx JSON error, also when stream is true.

    Seen where a stream begins with the error: what was known before the first chunk belongs in the status. A
    model that failed, or what it made, is no bad request: recordings of others don't tell the two apart.
    """
    if one.error is not None and one.error.event == 0:
        yield one.http.found("status", wanted="400 or above, since the stream begins with an error")


@rule(
    "chat.stream.error-not-as-content",
    level="SHOULD",
    basis="convention",
    needs=("request",),
    source="OpenRouter docs errors-and-debugging",
    violating=stream(start(), piece(content="Error: CUDA out of memory"), piece("stop")),
    conforming=stream(start(), piece(content="Hel"), ERROR_EVENT, done=b"", expect="either"),
    consequence="the failure is shown and stored as the assistant's words, and nothing retries",
)
def error_not_as_content(choice: ChoiceStream) -> Iterator[Violation]:
    """Failures are never sent as assistant text.

    Seen without a fault of our making where the text, or its last delta, is plainly the report of one, in a
    choice that ends with stop. Requests that speak of errors themselves are left alone.
    """
    texts = [one for one in choice.deltas if one.text("content")]
    asked = choice.asked
    if choice.finish_reason != "stop" or not texts or asked is None or asked.format not in (None, "text"):
        return
    reports = (choice.value["content"], texts[-1].text("content"))
    failed = next((text for text in reports if FAILURE_TEXT.match(text)), None)
    if failed is not None and not any(asked.says(word) for word in ("rror", "xception", "raceback")):
        yield texts[-1].found("delta", "content", wanted="an error event", saw=f"as text: {failed}")

"""The envelope of a whole answer: headers, JSON, the members around the message, finish reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.rules.chat.streams import ChatStream, ChoiceStream
from conformance.rules.chat.views import Answer, ChatReply, Choice, envelopes
from conformance.rules.examples import answer, call, conversation, error
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import OPENAPI, schema
from conformance.rules.views import Run, Violation

RESPONSE = schema("CreateChatCompletionResponse")
CHUNK = schema("CreateChatCompletionStreamResponse")
DUPLICATED = (
    b'{"id":"a","id":"chatcmpl-1","object":"chat.completion","created":1764000000,"model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hello.","refusal":null},"logprobs":null,"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}'
)
FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter", "function_call")


@rule(
    "chat.request.accepted",
    level="MUST",
    basis="schema",
    source=schema("CreateChatCompletionRequest"),
    violating=error(400, expect="answer"),
    conforming=answer(),
    consequence="the feature cannot be used through this endpoint at all",
)
def accepted(reply: ChatReply) -> Iterator[Violation]:
    """A request that the published schema allows is answered with 2xx.

    The rule is this suite's own: the schema lists what a client may send. Only requests sent to be answered
    count, probes have rules of their own, and statuses about quota, load or credentials say nothing on it.
    """
    exchange = reply.reading.exchange
    if exchange.expect == "answer" and exchange.probe is None:
        yield from reply.accepted()


@rule(
    "chat.response.content-type-json",
    level="MUST",
    basis="schema",
    source=f"{OPENAPI} #/paths/~1chat~1completions/post",
    violating=answer(headers={"content-type": "text/html"}),
    conforming=answer(headers={"content-type": "application/json; charset=utf-8"}),
    consequence="openai-python 3.57.0 reads the JSON all the same, or hands out a page as a str in place "
    "of a completion",
)
def content_type(reply: Answer) -> Iterator[Violation]:
    """A successful non-streaming call answers 200 with media type application/json."""
    if reply.reading.status != 200:
        yield reply.http.found("status", wanted="200")
    yield from reply.labelled_json()


@rule(
    "chat.response.body-single-json-object",
    needs_end=True,
    level="MUST",
    basis="spec",
    needs=("spelling",),
    source="RFC 8259 sections 2, 8.1",
    violating=answer(raw=b'{"id":"chatcmpl-1","created":NaN}'),
    conforming=answer(),
    consequence="strict JSON parsers refuse the whole answer",
)
def single_object(reply: Answer) -> Iterator[Violation]:
    """The body is exactly one RFC 8259 JSON object encoded as UTF-8 with no byte-order mark."""
    problem = reply.reading.body.problem
    if reply.reading.exchange.ending == "cut" and not reply.is_object:
        response = reply.reading.exchange.response
        size = len(response.body) if response else 0
        yield reply.found(wanted="a whole JSON object", saw=f"the connection broke after {size} bytes")
    elif problem:
        yield reply.found(wanted="one JSON object in UTF-8", saw=problem)
    elif not reply.is_object:
        yield reply.found(wanted="one JSON object")


@rule(
    "chat.response.no-duplicate-keys",
    level="SHOULD",
    basis="spec",
    needs=("spelling",),
    source="RFC 8259 section 4",
    violating=answer(raw=DUPLICATED),
    conforming=answer(),
    consequence="parsers keep different ones of the values",
)
def no_duplicates(reply: Answer) -> Iterator[Violation]:
    """No object in the body repeats a member name."""
    if names := reply.reading.body.duplicates:
        yield reply.found(wanted="each name once in an object", saw="repeated: " + ", ".join(names))


@rule(
    "chat.response.required-keys",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(created=ABSENT),
    conforming=answer(),
    consequence="openai-python builds a ChatCompletion with every missing field None and raises nothing",
)
def required(reply: Answer) -> Iterator[Violation]:
    """The object has id, object, created, model and choices."""
    if reply.is_object:
        for name in ("id", "object", "created", "model", "choices"):
            if name not in reply.value:
                yield reply.found(name, wanted=f"a member {name}")


@rule(
    "chat.response.id-nonempty-string",
    level="MUST",
    basis="schema",
    source=(RESPONSE, CHUNK),
    violating=answer(id=12),
    conforming=answer(id="chatcmpl-1"),
    consequence="logs and stores that key completions by id lose or mix them",
)
def id_string(run: Run) -> Iterator[Violation]:
    """id is a non-empty string.

    In streams too, but for a chunk of bookkeeping (no choices and no id), as Azure sends first.
    """
    yield from _nonempty(run, "id")


@rule(
    "chat.response.id-unique",
    level="SHOULD",
    basis="prose",
    needs=("values",),
    source=f"{RESPONSE} id",
    violating=conversation(answer(id="chatcmpl-1"), answer(id="chatcmpl-1")),
    conforming=conversation(answer(id="chatcmpl-1"), answer(id="chatcmpl-2")),
    consequence="logs and stores that key completions by id overwrite one with the other",
)
def id_unique(run: Run) -> Iterator[Violation]:
    """Two responses do not share an id.

    The schema describes the id as unique.
    """
    seen: dict[str, int] = {}
    views = [*run.views(Answer), *(first for s in run.views(ChatStream) if (first := s.opening))]
    for view in views:
        given = view.get("id")
        if not (isinstance(given, str) and given):
            continue
        if seen.setdefault(given, view.reading.index) != view.reading.index:
            yield view.found("id", wanted=f"another id than exchange {seen[given]} had")


@rule(
    "chat.response.object-literal",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(object="text_completion"),
    conforming=answer(),
    consequence="clients that tell answers apart by object take this for another kind",
)
def object_literal(reply: Answer) -> Iterator[Violation]:
    """object is the literal chat.completion."""
    if reply.get("object") not in ("chat.completion", ABSENT):
        yield reply.found("object", wanted='"chat.completion"')


@rule(
    "chat.response.created-unix-seconds",
    level="MUST",
    basis="schema",
    needs=("values",),
    source=(RESPONSE, CHUNK),
    violating=answer(created=1_764_448_000_123),
    conforming=answer(created=1_764_448_000),
    consequence="typed clients refuse a fraction or a string; milliseconds land in the far future",
)
def created(run: Run) -> Iterator[Violation]:
    """created is an integer Unix time in seconds.

    In streams too, but for a chunk of bookkeeping (no choices and no id), as Azure sends first.
    """
    for view in envelopes(run, "created"):
        value = view.get("created")
        if value is not ABSENT and not is_unix_time(value):
            yield view.found("created", wanted="an integer number of seconds since 1970")


@rule(
    "chat.response.model-nonempty-string",
    level="MUST",
    basis="schema",
    source=(RESPONSE, CHUNK),
    violating=answer(model=None),
    conforming=answer(model="example-model"),
    consequence="cost and usage are booked under no model",
)
def model_string(run: Run) -> Iterator[Violation]:
    """model is a non-empty string.

    In streams too, but for a chunk of bookkeeping (no choices and no id), as Azure sends first.
    """
    yield from _nonempty(run, "model")


@rule(
    "chat.response.model-as-asked",
    level="MAY",
    basis="convention",
    needs=("request", "values"),
    source=f"{RESPONSE} model",
    violating=answer(asked={"model": "org/large-1"}, model="small-2"),
    conforming=answer(asked={"model": "org/large-1"}, model="large-1-2026-01-31"),
    consequence="nobody can tell an alias from another model in its place",
)
def model_as_asked(reply: Answer) -> Iterator[Violation]:
    """model is the model that was asked for, or a name that contains it or is contained in it.

    The rule is this suite's own, and MAY: aliases are common and legitimate, and often dated or qualified.
    """
    if reply.reading.exchange.expect == "refusal":
        return
    asked, given = reply.asked.body.get("model") if reply.asked else None, reply.get("model")
    if isinstance(asked, str) and isinstance(given, str) and asked and given:
        one, other = (name.rpartition("/")[2].lower() for name in (asked, given))
        if one not in other and other not in one:
            yield reply.found("model", wanted=f'"{asked}", or a name made of it')


@rule(
    "chat.response.choices-array",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choices={}),
    conforming=answer(),
    consequence="every client reads choices[0] and fails",
)
def choices_array(reply: Answer) -> Iterator[Violation]:
    """choices is an array with at least one element.

    The schema gives the type; n defaults to 1.
    """
    if reply.get("choices") is not ABSENT and not reply.choices:
        yield reply.found("choices", wanted="a non-empty array")


@rule(
    "chat.response.choices-count-n",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=schema("CreateChatCompletionRequest n"),
    violating=answer(asked={"n": 2}),
    conforming=answer(asked={"n": 1}),
    consequence="sampling several answers silently gives fewer",
)
def choices_count(reply: Answer) -> Iterator[Violation]:
    """choices has exactly n elements."""
    if reply.choices and reply.asked and len(reply.choices) != reply.asked.n:
        yield reply.found("choices", wanted=f"{reply.asked.n} choices", saw=f"{len(reply.choices)} choices")


@rule(
    "chat.response.choice-required-keys",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choice={"finish_reason": ABSENT}),
    conforming=answer(),
    consequence="openai-python gives None for what is missing; choice.message.content raises AttributeError",
)
def choice_required(choice: Choice) -> Iterator[Violation]:
    """Each choice has index, message and finish_reason."""
    for name in ("index", "message", "finish_reason"):
        if choice.get(name) is ABSENT:
            yield choice.found(name, wanted=f"a member {name}")


@rule(
    "chat.response.choice-index-contiguous",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choice={"index": 1}),
    conforming=answer(choice={"index": 0}),
    consequence="clients that sort or pick by index lose a choice",
)
def choice_index(reply: Answer) -> Iterator[Violation]:
    """Choice indexes are integers and form the set 0..len-1."""
    indexes = [choice.get("index", ABSENT) for choice in reply.choices if isinstance(choice, dict)]
    present = [index for index in indexes if index is not ABSENT]
    if len(present) == len(reply.choices) and (
        any(type(index) is not int for index in present) or sorted(present) != list(range(len(present)))
    ):
        place = next((p for p, index in enumerate(present) if type(index) is not int or index != p), 0)
        yield reply.found("choices", place, "index", wanted=f"indexes 0 to {len(present) - 1}, each once")


@rule(
    "chat.response.finish-reason-enum",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choice={"finish_reason": "eos"}),
    conforming=answer(choice={"finish_reason": "stop"}),
    consequence="agent loops branch on the value and treat an unknown one as a failure or as the end",
)
def finish_enum(choice: Choice) -> Iterator[Violation]:
    """finish_reason is stop, length, tool_calls, content_filter or function_call."""
    if choice.finish_reason is not None and choice.finish_reason not in FINISH_REASONS:
        yield choice.found("finish_reason", wanted=" or ".join(FINISH_REASONS))


@rule(
    "chat.response.finish-reason-not-null",
    level="MUST",
    basis="schema",
    source=RESPONSE,
    violating=answer(choice={"finish_reason": None}),
    conforming=answer(choice={"finish_reason": "stop"}),
    consequence="a client cannot tell an ended answer from a cut one",
)
def finish_not_null(choice: Choice) -> Iterator[Violation]:
    """finish_reason is not null in a finished response."""
    if choice.get("finish_reason") is None:
        yield choice.found("finish_reason", wanted="a reason")


@rule(
    "chat.response.finish-tool-calls-when-called",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{RESPONSE} finish_reason",
    violating=answer(calls=[call()], choice={"finish_reason": "stop"}),
    conforming=answer(calls=[call()]),
    consequence="agent loops that branch on finish_reason never run the call",
)
def finish_when_called(choice: Choice) -> Iterator[Violation]:
    """A choice whose message has tool calls finishes with tool_calls.

    The enum's description ties the value to a call. With a forced call OpenAI itself finishes with stop (112
    of 112 recordings of a named tool_choice), so that is accepted.
    """
    forced = choice.asked is None or choice.asked.forced is not None
    if choice.calls and choice.finish_reason in ("stop", "function_call") and not forced:
        yield choice.found("finish_reason", wanted='"tool_calls"')


@rule(
    "chat.response.finish-tool-calls-needs-calls",
    level="MUST",
    basis="prose",
    source=(f"{RESPONSE} finish_reason", f"{CHUNK} finish_reason"),
    violating=answer(choice={"finish_reason": "tool_calls"}),
    conforming=answer(calls=[call()]),
    consequence="agent loops look for calls, find none and stop or crash",
)
def finish_needs_calls(run: Run) -> Iterator[Violation]:
    """finish_reason tool_calls implies a non-empty tool_calls array.

    In streams: at least one delta of a call in that choice.
    """
    for choice in run.views(Choice):
        if choice.finish_reason == "tool_calls" and not choice.calls:
            yield choice.found("message", "tool_calls", wanted="at least one call")
    for merged in run.views(ChoiceStream):
        if merged.finish_reason == "tool_calls" and not merged.calls:
            last = next(delta for delta in merged.deltas if delta.finish_reason is not None)
            yield last.found("finish_reason", wanted="another reason, since no call was streamed")


def is_name(value: Any) -> bool:
    """Whether a value is a non-empty string."""
    return isinstance(value, str) and bool(value)


def is_unix_time(value: Any) -> bool:
    """Whether a value is an integer that can be a time in seconds since 1970, and not in milliseconds."""
    return type(value) is int and 10**9 <= value < 10**11


def _nonempty(run: Run, name: str) -> Iterator[Violation]:
    for view in envelopes(run, name):
        value = view.get(name)
        if value is not ABSENT and not is_name(value):
            yield view.found(name, wanted="a non-empty string")

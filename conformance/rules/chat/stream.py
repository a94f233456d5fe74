"""Streams of chunks: framing asked for and got, envelopes, choices and their deltas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from conformance.rules.chat.response import is_name, is_unix_time
from conformance.rules.chat.streams import ChatStream, ChoiceStream, Chunk, Delta
from conformance.rules.chat.views import ChatReply, hidden_error
from conformance.rules.examples import answer, chunk, piece, start, stream
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import schema, sdk
from conformance.rules.views import Violation

CHUNK = schema("CreateChatCompletionStreamResponse")
DELTA = schema("ChatCompletionStreamResponseDelta")
REQUEST = schema("CreateChatCompletionRequest")
HELPER = sdk("lib/streaming/chat/_completions.py")
ACCUMULATE = sdk("lib/streaming/_deltas.py accumulate_delta")


@rule(
    "chat.stream.is-sse-when-asked",
    level="MUST",
    basis="prose",
    needs=("request", "framing"),
    source=f"{REQUEST} stream",
    violating=answer(asked={"stream": True}),
    conforming=stream(),
    consequence="openai-python iterates a JSON body as a stream and silently yields zero chunks",
)
def is_sse(reply: ChatReply) -> Iterator[Violation]:
    """stream true yields an event stream, stream false or absent yields one JSON object."""
    if reply.asked is not None and not hidden_error(reply.reading):
        yield from reply.as_asked(reply.asked.stream)


@rule(
    "chat.stream.chunk-required-keys",
    level="MUST",
    basis="schema",
    source=CHUNK,
    violating=stream(start(), piece(content="Hello."), piece("stop"), piece() | {"created": None}),
    conforming=stream(),
    consequence="a first chunk without choices raises KeyError in openai-python's helper",
)
def chunk_keys(one: Chunk) -> Iterator[Violation]:
    """Every chunk has id, object, created, model and choices."""
    for name in ("id", "object", "created", "model", "choices"):
        if one.value.get(name) is None:
            yield one.found(name, wanted=f"a member {name}")


@rule(
    "chat.stream.object-literal",
    level="MUST",
    basis="sdk",
    source=(CHUNK, f"{HELPER} _is_valid_chat_completion_chunk_weak"),
    violating=stream(start(), piece(content="Hi.") | {"object": "chat.completion"}, piece("stop")),
    conforming=stream(),
    consequence="openai-python's helper skips the chunk; a stream of such chunks ends with AssertionError",
)
def object_literal(one: Chunk) -> Iterator[Violation]:
    """object is chat.completion.chunk on every chunk.

    A literal of the schema, and the SDK's helper skips any other chunk. The empty object of a bookkeeping
    chunk loses nothing and is left alone.
    """
    if one.get("object") not in ("chat.completion.chunk", None, ABSENT) and not one.bookkeeping:
        yield one.found("object", wanted='"chat.completion.chunk"')


@rule(
    "chat.stream.id-constant",
    level="MUST",
    basis="prose",
    needs=("values",),
    source=f"{CHUNK} id",
    violating=stream(start(), piece(content="Hello.") | {"id": "chatcmpl-2"}, piece("stop")),
    conforming=stream(),
    consequence="clients that gather chunks by id see several answers",
)
def id_constant(one: ChatStream) -> Iterator[Violation]:
    """All chunks of a stream share one id.

    What is no id at all is chat.response.id-nonempty-string's.
    """
    yield from _constant(one, "id", is_name)


@rule(
    "chat.stream.created-constant",
    level="MUST",
    basis="prose",
    needs=("values",),
    source=(f"{CHUNK} created", "ollama/ollama@fb307609 middleware/openai.go ChatWriter.createdAt"),
    violating=stream(start(), piece(content="Hello.") | {"created": 1_764_000_001}, piece("stop")),
    conforming=stream(),
    consequence="clients that read the time from the last chunk and from the first disagree",
)
def created_constant(one: ChatStream) -> Iterator[Violation]:
    """All chunks share one created value.

    What is no time at all is chat.response.created-unix-seconds'.
    """
    yield from _constant(one, "created", is_unix_time)


@rule(
    "chat.stream.model-constant",
    level="SHOULD",
    basis="convention",
    needs=("values",),
    source=f"{CHUNK} model",
    violating=stream(start(), piece(content="Hello.") | {"model": "example-model-2"}, piece("stop")),
    conforming=stream(),
    consequence="clients that read the model from the last chunk and from the first book it differently",
)
def model_constant(one: ChatStream) -> Iterator[Violation]:
    """All chunks share one model value.

    What is no name at all is chat.response.model-nonempty-string's.
    """
    yield from _constant(one, "model", is_name)


@rule(
    "chat.stream.fingerprint-constant",
    level="SHOULD",
    basis="convention",
    needs=("values",),
    source=f"{CHUNK} system_fingerprint",
    violating=stream(
        start() | {"system_fingerprint": "fp_a"},
        piece(content="Hello.") | {"system_fingerprint": "fp_b"},
        piece("stop"),
    ),
    conforming=stream(),
    consequence="clients that watch it with seed see a change of backend in the middle of an answer",
)
def fingerprint_constant(one: ChatStream) -> Iterator[Violation]:
    """All chunks share one system_fingerprint if present."""
    yield from _constant(one, "system_fingerprint", lambda value: isinstance(value, str))


@rule(
    "chat.stream.choices-empty-only-bookkeeping",
    level="SHOULD",
    basis="prose",
    source=f"{CHUNK} choices",
    violating=stream(start(), chunk(), piece(content="Hello."), piece("stop")),
    conforming=stream(chunk(prompt_filter_results=[]), start(), piece(content="Hello."), piece("stop")),
    consequence="clients that read choices[0] of every chunk crash in the middle of the text",
)
def choices_empty(one: Chunk) -> Iterator[Violation]:
    """choices is empty only on the usage chunk or a leading provider bookkeeping chunk.

    openai-python's helper accepts an empty first chunk, as Azure sends for its prompt filter. The schema has
    one more: the chunk with moderation results.
    """
    excused = one.first or one.bookkeeping or one.usage is not None or bool(one.value.get("moderation"))
    if one.get("choices") == [] and not excused:
        yield one.found("choices", wanted="a choice, or usage beside the empty array")


@rule(
    "chat.stream.choices-array",
    level="MUST",
    basis="schema",
    source=CHUNK,
    violating=stream(start(), piece(content="Hello."), piece("stop"), chunk(choices={})),
    conforming=stream(),
    consequence="iterating over a number raises TypeError, in openai-python's helper too",
)
def choices_array(one: Chunk) -> Iterator[Violation]:
    """choices is an array on every chunk."""
    if not isinstance(one.get("choices"), list) and one.value.get("choices") is not None:
        yield one.found("choices", wanted="an array")


@rule(
    "chat.stream.choice-required-keys",
    level="MUST",
    basis="schema",
    source=CHUNK,
    violating=stream(start(), piece(choice={"finish_reason": ABSENT}, content="Hello."), piece("stop")),
    conforming=stream(),
    consequence="typed clients refuse the chunk; openai-python tolerates a missing finish_reason",
)
def choice_keys(one: Delta) -> Iterator[Violation]:
    """Each chunk choice has index, delta and finish_reason.

    A missing delta crashes the SDK and is chat.stream.delta-object's.
    """
    for name in ("index", "finish_reason"):
        if one.get(name) is ABSENT:
            yield one.found(name, wanted=f"a member {name}")


@rule(
    "chat.stream.delta-object",
    level="MUST",
    basis="sdk",
    source=(CHUNK, HELPER),
    violating=stream(start(), piece(content="Hello."), piece("stop", choice={"delta": None})),
    conforming=stream(),
    consequence="openai-python's helper raises AttributeError: NoneType has no attribute to_dict",
)
def delta_object(one: Delta) -> Iterator[Violation]:
    """delta is an object, never null or absent."""
    if not isinstance(one.get("delta"), dict):
        yield one.found("delta", wanted="an object")


@rule(
    "chat.stream.choice-index-zero-based",
    level="MUST",
    basis="sdk",
    source=f"{HELPER} _convert_initial_chunk_into_snapshot",
    violating=stream(
        piece(choice={"index": 1}, role="assistant", content="Hello."), piece("stop", choice={"index": 1})
    ),
    conforming=stream(),
    consequence="openai-python's helper raises IndexError: list assignment index out of range",
    also=("chat.stream.choice-index-range",),
)
def index_zero_based(one: ChatStream) -> Iterator[Violation]:
    """Choice indexes are integers that start at 0 and are introduced in order.

    Corrected: the type belongs here too, since the helper takes the index for a place in a list (TypeError).
    An absent index is chat.stream.choice-required-keys'.
    """
    for expected, choice in enumerate(one.choices):
        for delta in choice.deltas:
            if delta.get("index") is not ABSENT and type(delta.get("index")) is not int:
                yield delta.found("index", wanted="an integer")
        if choice.index != expected:
            yield choice.deltas[0].found("index", wanted=f"{expected}, the next index")


@rule(
    "chat.stream.choice-index-range",
    level="MUST",
    basis="prose",
    needs=("request",),
    source=f"{REQUEST} n",
    violating=stream(asked={"n": 2}),
    conforming=stream(asked={"n": 1}),
    consequence="sampling several answers silently gives fewer, or a stream holds no answer at all",
)
def index_range(one: ChatStream) -> Iterator[Violation]:
    """Every index is below n and every index below n occurs."""
    if one.asked is None:
        return
    for choice in one.choices:
        if choice.index >= one.asked.n:
            yield choice.deltas[0].found("index", wanted=f"an index below {one.asked.n}")
    known = {choice.index for choice in one.choices}
    missing = [index for index in range(min(one.asked.n, 128)) if index not in known]
    if missing and one.finished:
        yield one.found(wanted=f"a choice {missing[0]}", saw=f"choices {sorted(known)} in the whole stream")


@rule(
    "chat.stream.first-delta-role",
    level="SHOULD",
    basis="convention",
    source=(f"{CHUNK} example", ACCUMULATE),
    violating=stream(piece(content="Hello."), piece("stop")),
    conforming=stream(),
    consequence="openai-python's helper puts together a message whose role is None",
)
def first_role(one: Delta) -> Iterator[Violation]:
    """The first delta of a choice carries role assistant.

    Optional in the schema; without it the message that clients put together has no role.
    """
    if one.first and isinstance(one.get("delta"), dict) and one.get("delta", "role") != "assistant":
        yield one.found("delta", "role", wanted='"assistant"')


@rule(
    "chat.stream.role-once",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=stream(start(), piece(role="assistant", content="Hello."), piece("stop")),
    conforming=stream(),
    consequence='openai-python concatenates string members: role "assistantassistant"',
)
def role_once(choice: ChoiceStream) -> Iterator[Violation]:
    """role appears in at most one delta of a choice."""
    for one in [delta for delta in choice.deltas if delta.text("role")][1:]:
        yield one.found("delta", "role", wanted="no role after the first")


@rule(
    "chat.stream.content-string-or-null",
    level="MUST",
    basis="schema",
    source=DELTA,
    violating=stream(start(), piece(content=["Hel"]), piece(content="lo."), piece("stop")),
    conforming=stream(),
    consequence="concatenating the content raises TypeError; openai-python's helper drops it in silence",
)
def content_string(one: Delta) -> Iterator[Violation]:
    """delta.content is a string or null."""
    if not isinstance(one.get("delta", "content"), str | None) and one.get("delta", "content") is not ABSENT:
        yield one.found("delta", "content", wanted="a string or null")


@rule(
    "chat.stream.content-is-fragment",
    level="MUST",
    basis="sdk",
    source=ACCUMULATE,
    violating=stream(start(), *(piece(content=text) for text in ("He", "Hello", "Hello.")), piece("stop")),
    conforming=stream(),
    consequence="clients concatenate: the text comes out once per delta",
)
def content_fragment(choice: ChoiceStream) -> Iterator[Violation]:
    """Content deltas are fragments, not growing snapshots.

    At least three deltas, each of which repeats the whole text so far: one repetition may be the text's own.
    """
    said = choice.said("content")
    if len(said) >= 3 and all(
        len(later.text) > len(earlier.text) and later.text.startswith(earlier.text)
        for earlier, later in pairwise(said)
    ):
        yield choice.delta_at(said[1].event).found("delta", "content", wanted="only what is new")


def _constant(one: ChatStream, name: str, counts: Callable[[Any], bool]) -> Iterator[Violation]:
    chunks = [c for c in one.chunks if not c.bookkeeping and counts(c.value.get(name))]
    for later in chunks[1:]:
        if later.value[name] != chunks[0].value[name]:
            yield later.found(name, wanted=f"the same {name} as before")

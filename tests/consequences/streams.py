"""What breaks at a stream that breaks a rule."""

from __future__ import annotations

import json
from typing import Any

from conformance.rules.examples import Exchanges, chunk, patched, piece, start, stream
from conformance.rules.reading import ABSENT

from .claims import STRICT_TOOL, City, Claim, Raised, call, chunks, events, helper, itself, message, typed

ARGUMENTS = '{"city":"Oslo"}'
HELLO = (start(), piece(content="Hello."), piece("stop"))


def delta(index: Any, arguments: Any = "", **more: Any) -> dict[str, Any]:
    """A chunk with one delta of a tool call."""
    return piece(tool_calls=[patched({}, {"index": index, "function": {"arguments": arguments}, **more})])


def opened(index: Any, arguments: Any = "") -> dict[str, Any]:
    """A chunk with the first delta of a tool call."""
    function = {"name": "get_weather", "arguments": arguments}
    return delta(index, id=f"call_{index}", type="function", function=function)


def calling(*chunks: Any) -> Exchanges:
    """A stream of tool calls."""
    return stream(start(), *chunks, piece("tool_calls"))


def framed(*events: bytes) -> Exchanges:
    """A stream of these bytes."""
    return stream(raw=b"".join(events))


def event(value: Any, end: bytes = b"\n\n") -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + end


def texts(chunks: list[Any]) -> list[str | None]:
    return [choice.delta.content for chunk in chunks for choice in chunk.choices]


def joined(chunks: list[Any]) -> str:
    return "".join(text for text in texts(chunks) if text is not None)


def joined_refusal(chunks: list[Any]) -> str:
    return "".join(c.choices[0].delta.refusal for c in chunks if c.choices[0].delta.refusal is not None)


def called(chunks: list[Any]) -> list[Any]:
    return [one for chunk in chunks for one in chunk.choices[0].delta.tool_calls]


def of_calls(fired: list[Any]) -> list[tuple[str, int]]:
    """The events about tool calls."""
    return [(one.type.rpartition(".")[2], one.index) for one in fired if one.type.startswith("tool_calls")]


def chunk_type(types: Any) -> Any:
    return types.chat.ChatCompletionChunk


def last_chunk(body: bytes) -> bytes:
    return body.split(b"\n\n")[-3].removeprefix(b"data: ")


SHAPES = (
    Claim(
        "chat.stream.is-sse-when-asked",
        "openai-python iterates a JSON body as a stream and silently yields zero chunks",
        chunks(len),
        0,
    ),
    Claim(
        "chat.stream.chunk-required-keys",
        "a first chunk without choices raises KeyError in openai-python's helper",
        helper(itself),
        Raised("KeyError", "choices"),
        stream(patched(start(), {"choices": ABSENT}), *HELLO[1:]),
    ),
    Claim(
        "chat.stream.object-literal",
        "openai-python's helper skips the chunk",
        helper(lambda done: message(done).content),
        "",
    ),
    Claim(
        "chat.stream.object-literal",
        "a stream of such chunks ends with AssertionError",
        helper(itself),
        Raised("AssertionError"),
        stream(*(one | {"object": "chat.completion"} for one in HELLO)),
    ),
    Claim(
        "chat.stream.choices-array",
        "iterating over a number raises TypeError, in openai-python's helper too",
        helper(itself),
        Raised("TypeError", "not iterable"),
        stream(*HELLO, chunk(choices=3)),
    ),
    Claim(
        "chat.stream.choice-required-keys",
        "typed clients refuse the chunk",
        typed(chunk_type, last_chunk),
        Raised("ValidationError", "index"),
        stream(*HELLO, piece(choice={"index": ABSENT})),
    ),
    Claim(
        "chat.stream.choice-required-keys",
        "openai-python tolerates a missing finish_reason",
        helper(lambda done: message(done).content),
        "Hello.",
    ),
    Claim(
        "chat.stream.delta-object",
        "openai-python's helper raises AttributeError: NoneType has no attribute to_dict",
        helper(itself),
        Raised("AttributeError", "'NoneType' object has no attribute 'to_dict'"),
    ),
    Claim(
        "chat.stream.choice-index-zero-based",
        "openai-python's helper raises IndexError: list assignment index out of range",
        helper(itself),
        Raised("IndexError", "list assignment index out of range"),
    ),
    Claim(
        "chat.stream.first-delta-role",
        "openai-python's helper puts together a message whose role is None",
        helper(lambda done: message(done).role),
        None,
    ),
    Claim(
        "chat.stream.role-once",
        'openai-python concatenates string members: role "assistantassistant"',
        helper(lambda done: message(done).role),
        "assistantassistant",
    ),
    Claim(
        "chat.stream.content-string-or-null",
        "concatenating the content raises TypeError",
        chunks(joined),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.content-string-or-null",
        "openai-python's helper drops it",
        helper(lambda done: message(done).content),
        "lo.",
    ),
    Claim(
        "chat.stream.refusal-string",
        "concatenating the refusal raises TypeError",
        chunks(joined_refusal),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.refusal-string",
        "openai-python's helper drops it",
        helper(lambda done: message(done).refusal),
        "I",
        stream(start(), piece(refusal="I"), piece(refusal=True), piece("stop")),
    ),
    Claim(
        "chat.stream.refusal-xor-content",
        "openai-python's helper raises ValueError where it should parse",
        helper(itself, response_format=City),
        Raised("ValueError"),
    ),
    Claim(
        "chat.stream.obfuscation-string",
        "inside a delta openai-python makes the padding a member of the message",
        helper(lambda done: message(done).obfuscation),
        "k3Zp",
    ),
    Claim(
        "chat.stream.delta-extra-lists-indexed",
        "openai-python's helper raises RuntimeError: it expects an index in each entry",
        helper(itself),
        Raised("RuntimeError", "Expected list delta entry to have an `index` key"),
    ),
    Claim(
        "chat.stream.delta-extra-numbers",
        "openai-python adds the numbers up: 1 and 2 become 3",
        helper(lambda done: message(done).seq),
        3,
    ),
    Claim(
        "chat.stream.finish-before-done",
        "openai-python returns finish_reason None",
        helper(lambda done: done.choices[0].finish_reason),
        None,
    ),
    Claim(
        "chat.stream.finish-reason-once",
        "openai-python does not mind",
        helper(lambda done: done.choices[0].finish_reason),
        "stop",
    ),
    Claim(
        "chat.stream.error-object",
        "openai-python raises only on a truthy error member: the failure is delivered as a chunk",
        chunks(lambda seen: seen[-1].message),
        "Out of memory.",
    ),
    Claim(
        "chat.stream.error-ends-stream",
        "clients raise at the error and never see what follows",
        chunks(itself),
        Raised("APIError", "No memory."),
    ),
    Claim(
        "chat.stream.validation-error-before-stream",
        "openai-python's status exceptions depend on the HTTP status",
        chunks(itself),
        Raised("APIError", "No memory."),
    ),
    Claim(
        "chat.stream.logprobs-shape",
        "openai-python's helper reads choice.logprobs.content and raises AttributeError",
        helper(itself),
        Raised("AttributeError", "'list' object has no attribute 'content'"),
    ),
    Claim(
        "chat.stream.usage-chunk-last",
        "openai-python's helper takes usage from the last chunk: it ends up None",
        helper(lambda done: done.usage),
        None,
    ),
    Claim(
        "chat.stream.usage-sum",
        "typed clients refuse a chunk that lacks a part",
        typed(chunk_type, last_chunk),
        Raised("ValidationError", "prompt_tokens"),
        stream(
            *HELLO,
            chunk(usage={"completion_tokens": 3, "total_tokens": 12}),
            asked={"stream_options": {"include_usage": True}},
        ),
    ),
    Claim(
        "so.json-schema-parses",
        "openai-python's helpers raise: parse a ValidationError, stream a ValueError",
        helper(itself, response_format=City),
        Raised("ValueError"),
    ),
)

CALLS = (
    Claim(
        "chat.stream.tool-index-present",
        "openai-python's helper raises TypeError at a first delta and RuntimeError at a later one",
        helper(itself),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.tool-index-present",
        "openai-python's helper raises TypeError at a first delta and RuntimeError at a later one",
        helper(itself),
        Raised("RuntimeError", "Expected list delta entry to have an `index` key"),
        calling(opened(0), delta(ABSENT, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        "openai-python's helper raises TypeError at null or a fraction",
        helper(itself),
        Raised("TypeError", "not an integer; None"),
        calling(opened(None, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        "openai-python's helper raises TypeError at null or a fraction",
        helper(itself),
        Raised("TypeError", "not an integer; 0.5"),
        calling(opened(0.5, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-integer",
        'takes "0" for 0',
        helper(lambda done: call(done).function.arguments),
        ARGUMENTS,
    ),
    Claim(
        "chat.stream.tool-index-contiguous",
        "openai-python's helper raises IndexError for a first index of 1",
        helper(itself),
        Raised("IndexError"),
    ),
    Claim(
        "chat.stream.tool-index-contiguous",
        "and for 0 then 2",
        helper(itself),
        Raised("IndexError"),
        calling(opened(0, ARGUMENTS), opened(2, ARGUMENTS)),
    ),
    Claim(
        "chat.stream.tool-index-distinct",
        'openai-python merges the two calls into one: id "call_acall_b"',
        helper(lambda done: [one.id for one in message(done).tool_calls]),
        ["call_acall_b"],
    ),
    Claim(
        "chat.stream.tool-first-has-type",
        "openai-python's helper fires no events for the call's arguments",
        events(of_calls),
        [],
    ),
    Claim(
        "chat.stream.tool-id-once",
        'openai-python concatenates string members: id "call_acall_a"',
        helper(lambda done: call(done).id),
        "call_acall_a",
    ),
    Claim(
        "chat.stream.tool-name-once",
        'concatenate: name "get_weatherget_weather"',
        helper(lambda done: call(done).function.name),
        "get_weatherget_weather",
    ),
    Claim(
        "chat.stream.tool-type-never-nulled",
        "openai-python overwrites the type and its helper raises AssertionError",
        helper(itself),
        Raised("AssertionError"),
    ),
    Claim(
        "chat.stream.tool-function-present",
        "openai-python's helper raises AssertionError",
        helper(itself),
        Raised("AssertionError"),
    ),
    Claim(
        "chat.stream.tool-arguments-string",
        "openai-python's helper hands out the dict as arguments",
        helper(lambda done: call(done).function.arguments),
        {"city": "Oslo"},
    ),
    Claim(
        "chat.stream.tool-arguments-string",
        "or drops it where a string came before",
        helper(lambda done: call(done).function.arguments),
        "",
        calling(opened(0), delta(0, {"city": "Oslo"})),
    ),
    Claim(
        "chat.stream.tool-arguments-concat-json",
        "with strict tools openai-python's helper raises ValueError",
        helper(itself, tools=[STRICT_TOOL]),
        Raised("ValueError"),
    ),
    Claim(
        "chat.stream.tool-no-return-to-earlier-index",
        "openai-python fires the done event of a call as soon as another index appears",
        events(of_calls),
        [("delta", 0), ("delta", 1), ("done", 0), ("delta", 0), ("done", 1)],
    ),
    Claim(
        "chat.stream.tool-calls-not-null",
        "clients that iterate over the member crash",
        chunks(called),
        Raised("TypeError"),
    ),
    Claim(
        "chat.stream.tool-calls-not-null",
        "openai-python tolerates null",
        helper(lambda done: len(message(done).tool_calls)),
        1,
    ),
)

FRAMING = (
    Claim(
        "sse.utf8",
        "openai-python raises UnicodeDecodeError",
        chunks(itself),
        Raised("UnicodeDecodeError"),
    ),
    Claim(
        "sse.no-bom",
        "openai-python silently drops the first chunk (1.109.1, 2.54.0 and 3.57.0)",
        chunks(joined),
        "lo.",
        framed(
            b"\xef\xbb\xbf",
            *map(event, (piece(role="assistant", content="Hel"), piece(content="lo."), piece("stop"))),
        ),
    ),
    Claim(
        "sse.event-separated-by-blank-line",
        "openai-python joins the lines and raises JSONDecodeError: Extra data",
        chunks(itself),
        Raised("JSONDecodeError", "Extra data"),
    ),
    Claim(
        "sse.final-event-terminated",
        "openai-python drops the unterminated event without an error",
        chunks(texts),
        [""],
        framed(event(start()), event(piece(content="Hello."), end=b"\n")),
    ),
    Claim(
        "sse.known-fields-only",
        "openai-python ignores the line",
        helper(lambda done: message(done).content),
        "Hello.",
    ),
    Claim(
        "sse.no-empty-data-event",
        'openai-python dispatches it and json.loads("") raises JSONDecodeError',
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
    ),
    Claim(
        "sse.no-id-field",
        "with comment heartbeats openai-python then raises JSONDecodeError at every blank line",
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
        framed(b"id: 1\n", event(HELLO[0]), b": ping\n\n", *map(event, HELLO[1:])),
    ),
    Claim(
        "sse.no-retry-field",
        "a block of retry alone makes openai-python raise JSONDecodeError",
        chunks(itself),
        Raised("JSONDecodeError", "Expecting value: line 1 column 1"),
        framed(b"retry: 100\n\n", *map(event, HELLO)),
    ),
    Claim(
        "sse.single-line-json",
        "openai-python joins them",
        chunks(joined),
        "Hello.",
    ),
    Claim(
        "sse.one-json-object-per-event",
        "openai-python raises JSONDecodeError in the middle of the stream",
        chunks(itself),
        Raised("JSONDecodeError"),
    ),
    Claim(
        "sse.done-sentinel",
        "openai-python tolerates a missing marker",
        helper(lambda done: message(done).content),
        "Hello.",
    ),
    Claim(
        "sse.done-once-and-last",
        "clients stop reading at the marker: what follows is lost",
        chunks(joined),
        "Hello.",
        framed(*map(event, HELLO), b"data: [DONE]\n\n", event(piece(content="More."))),
    ),
)

STREAMS = (*SHAPES, *CALLS, *FRAMING)

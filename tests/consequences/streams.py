"""What breaks at a stream that breaks a rule."""

from __future__ import annotations

from typing import Any

from conformance.rules.examples import chunk, patched, piece, start, stream
from conformance.rules.reading import ABSENT

from .claims import HELLO, City, Claim, Raised, chunks, helper, itself, joined, message, typed


def joined_refusal(chunks: list[Any]) -> str:
    return "".join(c.choices[0].delta.refusal for c in chunks if c.choices[0].delta.refusal is not None)


def chunk_type(types: Any) -> Any:
    return types.chat.ChatCompletionChunk


def last_chunk(body: bytes) -> bytes:
    return body.split(b"\n\n")[-3].removeprefix(b"data: ")


STREAMS = (
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

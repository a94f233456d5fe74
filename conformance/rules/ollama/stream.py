"""Streams: how they are framed, what their lines hold, how they end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.rules.examples import dumped
from conformance.rules.ollama.answers import LINES_TYPE, Answer
from conformance.rules.ollama.examples import WIRES, answer, call, chunk, said, stream, told
from conformance.rules.ollama.views import Message
from conformance.rules.reading import ABSENT
from conformance.rules.registry import rule
from conformance.rules.sources import ollama, ollama_sdk
from conformance.rules.views import Violation

EVENT = ollama("docs/openapi.yaml ChatStreamEvent")
STREAMING = ollama("docs/api/streaming.mdx")
CLIENT = ollama_sdk("_client.py Client._request")
ERRORS = ollama("docs/api/errors.mdx")
SEPARATORS = "\u2028\u2029"
FEWEST_SNAPSHOTS = 3
BARE = {"type": "function", "function": {"name": "get_weather"}}
FIRST, SECOND = ({"arguments": {"city": "Oslo"}}, {"arguments": {"unit": "C"}})


@rule(
    "oll.stream.default-true",
    wires=WIRES,
    level="MUST",
    basis="prose",
    needs=("request", "framing"),
    source=(STREAMING, ollama("docs/openapi.yaml ChatRequest stream")),
    violating=answer(asked={"stream": ABSENT}),
    conforming=stream(asked={"stream": ABSENT}),
    consequence="a client that reads line by line waits for the whole answer",
)
def default_true(one: Answer) -> Iterator[Violation]:
    """stream defaults to true: without it the answer comes in JSON lines."""
    if one.single and one.asked.leaves_stream_out:
        yield one.http.found("headers", "content-type", wanted=f"{LINES_TYPE}: nothing was said of stream")


@rule(
    "oll.stream.ndjson",
    wires=WIRES,
    level="MUST",
    basis="sdk",
    needs=("request", "headers", "framing"),
    source=(STREAMING, ollama_sdk("_client.py Client._request")),
    violating=stream(*(b"data: " + dumped(one) + b"\n\n" for one in told())),
    conforming=stream(),
    consequence="ollama-python raises JSONDecodeError for a line that is empty or has a prefix",
)
def ndjson(one: Answer) -> Iterator[Violation]:
    """A stream is application/x-ndjson: one JSON object per line, no blank lines, no prefix.

    Where nothing was said of stream, oll.stream.default-true tells of an answer that is none.
    """
    if not one.asked.streams or not one.asked.known:
        return
    if one.reading.media_type != LINES_TYPE and not (one.single and one.asked.leaves_stream_out):
        yield one.http.found("headers", "content-type", wanted=LINES_TYPE)
    for line in one.lines:
        if not isinstance(line.value, dict) and not line.read.beyond:
            problem = f"{line.read.problem}: {line.text}" if line.read.problem else None
            yield line.found(wanted="one JSON object", saw=problem)


@rule(
    "oll.stream.done-last",
    wires=WIRES,
    needs_end=True,
    level="MUST",
    basis="schema",
    source=f"{EVENT} done",
    violating=stream(*told()[:2]),
    conforming=stream(),
    consequence="clients that stop at done lose what follows, and without it can't tell the end from a break",
)
def done_last(one: Answer) -> Iterator[Violation]:
    """done is false on every line but the last, and true on the last.

    A stream that broke off or ended in an error has none.
    """
    if not one.streamed:
        return
    for part in one.chunks:
        if part.done and not part.last:
            yield part.found("done", wanted="false: more lines follow")
    if one.complete and one.chunks and not one.chunks[-1].done:
        yield one.chunks[-1].found("done", wanted="true on the last line")
    if one.complete and not one.lines:
        yield one.found(wanted="lines, and done in the last", saw="an empty body")


@rule(
    "oll.stream.line-separators-escaped",
    wires=WIRES,
    level="SHOULD",
    basis="sdk",
    needs=("spelling",),
    source=(CLIENT, "httpx LineDecoder (lines as str.splitlines ends them)", "Go encoding/json"),
    violating=stream(chunk(said(content="one\u2028two")), *told()[1:]),
    conforming=stream(dumped(chunk(said(content="one@two"))).replace(b"@", rb"\u2028") + b"\n", *told()[1:]),
    consequence="ollama-python raises JSONDecodeError: to it a line ends there",
)
def separators(one: Answer) -> Iterator[Violation]:
    """U+2028 and U+2029 are escaped in a line.

    Not in the catalogue. Ollama's own encoder escapes both.
    """
    for line in one.lines:
        if any(mark in line.text for mark in SEPARATORS):
            yield line.found(wanted="U+2028 and U+2029 as escapes", saw="one of them as it is")


@rule(
    "oll.stream.content-fragments",
    wires=WIRES,
    level="MUST",
    basis="schema",
    source=f"{EVENT} message",
    violating=stream(*told("He", "Hello", "Hello.")),
    conforming=stream(),
    consequence="clients join the pieces: the text comes out once per line",
)
def fragments(one: Message) -> Iterator[Violation]:
    """The contents of successive lines are fragments, not growing snapshots.

    At least three, each of which repeats the whole text so far: one repetition may be the text's own.
    """
    texts = [part for part in one.chunks if part.text("content")]
    if len(texts) >= FEWEST_SNAPSHOTS and all(
        len(later.text("content")) > len(earlier.text("content"))
        and later.text("content").startswith(earlier.text("content"))
        for earlier, later in pairwise(texts)
    ):
        yield texts[1].found("message", "content", wanted="only what is new")


@rule(
    "oll.stream.tool-call-whole",
    wires=WIRES,
    level="SHOULD",
    basis="convention",
    needs=("values",),
    source=ollama("docs/capabilities/tool-calling.mdx"),
    violating=stream(
        chunk(said(call(function=FIRST))),
        chunk(said(call(function=SECOND))),
        *told()[2:],
        asked={"tools": [BARE]},
    ),
    conforming=stream(chunk(said(call())), chunk(said(call(2))), *told()[2:]),
    consequence="clients run each piece as a call of its own",
)
def call_whole(one: Message) -> Iterator[Violation]:
    """A tool call arrives whole, in one line; several may be in one line or in successive ones.

    A piece is told by the id of a call in an earlier line.
    """
    seen: set[str] = set()
    for part in one.calls if one.last.streamed else ():
        given = part.get("id")
        if isinstance(given, str) and given in seen:
            yield part.found("id", wanted="a call that no earlier line has begun")
        elif isinstance(given, str) and given:
            seen.add(given)


@rule(
    "oll.stream.error-line",
    wires=WIRES,
    level="MUST",
    basis="prose",
    source=(ERRORS, CLIENT),
    violating=stream(*told()[:1], {"error": {"message": "It broke."}}),
    conforming=stream(*told()[:1], {"error": "It broke."}),
    consequence="ollama-python raises TypeError in place of a ResponseError that says what went wrong",
)
def error_line(one: Answer) -> Iterator[Violation]:
    """A stream that fails says so in a line {error: text}, the last one; the status stays."""
    for view in one.errors if one.streamed else ():
        if not isinstance(view.get("error"), str):
            yield view.found("error", wanted="a text")
        elif one.chunks and (one.chunks[-1].event or 0) > (view.event or 0):
            yield view.found(wanted="the last line", saw="lines behind the error")
            return

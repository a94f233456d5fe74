"""What becomes of a stream on its way: pieces of characters, lines, bursts, caches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from conformance.rules.chat.streams import ChoiceStream
from conformance.rules.chat.text import REPLACEMENT
from conformance.rules.examples import Exchanges, piece, start, stream
from conformance.rules.reading import ABSENT, read_json
from conformance.rules.registry import rule
from conformance.rules.sources import WHATWG, schema
from conformance.rules.views import SSE_WIRES, EventStream, StreamEvent, Violation

LONG_ANSWER = 50
"""Deltas with text from which on an answer is long enough to tell a burst from haste."""
LONG_WAIT_MS = 1000.0
FEWEST_READS = 3
SEPARATOR = "\u2028"
MOST_LINES = 8
"""Into so many lines a payload may be broken and still be put together."""
BROKEN = ("Unterminated string", "Invalid control character")
FAR = 65_536
LINE_END = re.compile(r"\r\n?|\n")
CACHEABLE = re.compile(r"\bpublic\b|\b(?:s-)?max-?age=0*[1-9]", re.IGNORECASE)
UNCACHED = re.compile(r"\bno-cache\b|\bno-store\b|\bprivate\b", re.IGNORECASE)
WORDS = stream(start(), *(piece(content="word ") for _ in range(LONG_ANSWER)), piece("stop"))


def _arriving(exchanges: Exchanges, *at: float) -> Exchanges:
    """The same, with the body read in equal parts at these milliseconds."""
    (one,) = exchanges
    assert one.response is not None
    size, parts = len(one.response.body), len(at)
    sizes = [size // parts] * (parts - 1)
    reads = tuple(zip(at, [*sizes, size - sum(sizes)], strict=True))
    return (replace(one, response=replace(one.response, parts=reads)),)


@rule(
    "sse.no-split-utf8-replacement",
    level="MUST",
    basis="spec",
    needs=("request",),
    source=("RFC 3629 section 3", "ollama/ollama@fb307609 server (holds back incomplete characters)"),
    violating=stream(start(), piece(content="Well \ufffd"), piece(content="\ufffd done."), piece("stop")),
    conforming=stream(start(), piece(content="Well "), piece(content="😀 done."), piece("stop")),
    consequence="emoji and CJK text are lost for good, and only in streams",
    also=("chat.response.content-unicode-intact",),
)
def no_split_characters(choice: ChoiceStream) -> Iterator[Violation]:
    """Characters spanning several tokens are held back, never emitted as U+FFFD.

    Judged where a delta ends with U+FFFD and the next one begins with it, as it does when each half of a
    character is decoded by itself; a single U+FFFD may be what the model wrote.
    """
    if choice.asked is None or choice.asked.says(REPLACEMENT):
        return
    before = ""
    for event, text in choice.said("content"):
        if text.startswith(REPLACEMENT) and before.endswith(REPLACEMENT):
            saw = f"{before[-20:]} | {text[:20]} (event {event})"
            yield choice.delta_at(event).found("delta", "content", wanted="whole characters", saw=saw)
            return
        before = text


@rule(
    "sse.line-separators-inside-json",
    wires=SSE_WIRES,
    level="SHOULD",
    basis="spec",
    source=f"{WHATWG} 9.2.5 (only CR, LF and CRLF end a line)",
    violating=stream(
        start(),
        b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764000000,"model":"m",'
        b'"choices":[{"index":0,"delta":{"content":"one\n\ntwo"},"finish_reason":null}]}\n\n',
        piece(content="Hello."),
        piece("stop"),
    ),
    conforming=stream(start(), piece(content="one\u2028two"), piece("stop")),
    consequence="the event is lost: neither half of it is JSON",
    also=("sse.known-fields-only", "sse.one-json-object-per-event"),
)
def separators(event: StreamEvent) -> Iterator[Violation]:
    """U+2028, U+2029 and U+0085 inside payloads are not treated as line ends by any hop.

    Seen where a payload breaks off inside a string and the lines behind it, with or without an empty one
    between, complete the JSON: a hop that splits lines as Python's splitlines does has taken such a
    character for a line end. A line feed that the server itself left unescaped looks the same.
    """
    if event.value is not ABSENT or not event.payload.problem.startswith(BROKEN):
        return
    # A hop may have begun each line anew as a data field: then the payload has them all.
    said, *tails = event.raw.data.split("\n")
    whole = said
    for tail in [*tails, *_lines_after(event)][:MOST_LINES]:
        whole += SEPARATOR + tail
        if isinstance(read_json(whole).value, dict):
            yield event.found(wanted="the payload on one line", saw=f"{said[-40:]} | {tail[:40]}")
            return


@rule(
    "sse.incremental-delivery",
    level="SHOULD",
    basis="convention",
    needs=("arrival",),
    source=f"{schema('CreateChatCompletionRequest')} stream",
    violating=_arriving(WORDS, 4000.0),
    conforming=_arriving(WORDS, 400.0, 900.0, 1400.0, 1900.0),
    consequence="the user waits for the whole answer: something between buffers the stream",
)
def incremental(choice: ChoiceStream) -> Iterator[Violation]:
    """Events arrive while the answer is generated, not in one burst.

    Corrected: no share of the total time, since a model may think long before its first word. An answer of 50
    deltas or more that came after a second or later is in a burst if it came in fewer than three reads.
    """
    response, one = choice.reading.exchange.response, choice.reading.stream
    told = (*choice.said("content"), *choice.said("refusal"), *(p for c in choice.calls for p in c.arguments))
    texts = sorted({piece.event for piece in told})
    if response is None or one is None or len(texts) < LONG_ANSWER:
        return
    reads = _reads([one.events[place].end for place in texts], response.parts)
    if 0 < len(reads) < FEWEST_READS and reads[0] >= LONG_WAIT_MS:
        saw = f"{len(texts)} deltas in {len(reads)} reads, the first after {reads[0]:.0f} ms"
        yield choice.found(wanted="deltas one by one as they are generated", saw=saw)


@rule(
    "sse.no-cache",
    wires=SSE_WIRES,
    level="MAY",
    basis="convention",
    needs=("headers",),
    source="no normative text for API servers; common server behaviour",
    violating=stream(headers={"cache-control": "public, max-age=60"}),
    conforming=stream(headers={"cache-control": "no-cache"}),
    consequence="a cache in between may answer one user with another's stream",
)
def no_cache(one: EventStream) -> Iterator[Violation]:
    """No Cache-Control header lets a cache that users share keep the stream.

    Corrected: the catalogue asks for no-cache or no-store. None at all is common, and answers to POST are
    hardly ever cached; what is found is public, or an age above 0, without no-cache, no-store or private.
    """
    value = one.http.header("cache-control") or ""
    if CACHEABLE.search(value) and not UNCACHED.search(value):
        yield one.http.found("headers", "cache-control", wanted="no-cache, no-store or private, or none")


def _lines_after(event: StreamEvent) -> list[str]:
    """The lines between an event's last data line and the next event, those that are empty aside."""
    response, one = event.reading.exchange.response, event.reading.stream
    if response is None or one is None or event.event is None:
        return []
    after = one.events[event.event + 1 : event.event + 2]
    end = after[0].start if after else event.raw.end + FAR
    lines = LINE_END.split(response.body[event.raw.start : end].decode(errors="replace"))
    last = max(place for place, line in enumerate(lines) if line.partition(":")[0] == "data")
    return [line for line in lines[last + 1 :] if line]


def _reads(ends: Sequence[int], parts: Sequence[tuple[float, int]]) -> list[float]:
    """The first few milliseconds at which any of the bytes before these offsets (ascending) arrived."""
    found: list[float] = []
    received = 0
    reads = iter(parts)
    ms = 0.0
    for end in ends:
        while received < end:
            part = next(reads, None)
            if part is None:
                return found
            ms, received = part[0], received + part[1]
        if not found or ms != found[-1]:
            found.append(ms)
        if len(found) >= FEWEST_READS:
            break
    return found
